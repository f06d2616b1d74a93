// Numbers that often stand for missing values: -9999 and the like.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tamis/base/types.h"

namespace tamis {

inline constexpr std::array<double, 9> kSentinels = {-99.0, -999.0, -9999.0, -99999.0, -32768.0,
                                                     999.0, 9999.0, 99999.0, 999999.0};

inline bool is_sentinel(double value) {
  return std::find(kSentinels.begin(), kSentinels.end(), value) != kSentinels.end();
}

// The numbers of a column beside such a value, and how often it occurs.
struct Rest {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  Index found = 0;

  void add(double value) { low = std::min(low, value), high = std::max(high, value); }
  // Whether the value is farther from the others than these are from each other.
  bool leaves_apart(double sentinel) const {
    const double range = high - low;
    return range > 0.0 && std::min(std::abs(sentinel - low), std::abs(sentinel - high)) > range;
  }
};

}  // namespace tamis
