// Numbers that are seldom meant as they stand: -9999 and the like for missing values, identifiers and times.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include "tamis/base/types.h"
#include "tamis/data/csv/cells.h"

namespace tamis {

// Written for missing values by instruments, by GIS and well logs (-999.25), and as the ends of integer types.
inline constexpr std::array<double, 24> kSentinels = {
    -99.0,    -999.0, -9999.0, -99999.0, -999999.0, -99.9,  -99.99,  -999.9, -999.99, -999.25, -9999.9, -9999.99,
    -32768.0, 999.0,  9999.0,  99999.0,  999999.0,  -888.0, -8888.0, -777.0, -7777.0, 7777.0,  8888.0,  65535.0};

// Equal but for the rounding of a sum: the ends of a column may come from numbers that were shifted.
inline bool is_about(double value, double other) { return std::abs(value - other) <= 1e-12 * std::abs(other); }

inline bool is_sentinel(double value) {
  constexpr double kWholeType = 2147483647.0;  // 2^31 - 1, and -2^31 or its negative
  return std::any_of(kSentinels.begin(), kSentinels.end(), [&](double one) { return is_about(value, one); }) ||
         is_about(std::abs(value), kWholeType) || is_about(value, -kWholeType - 1.0);
}

// The numbers of a column beside such a value, and how often it occurs.
struct Rest {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  Index found = 0;

  void add(double value) { low = std::min(low, value), high = std::max(high, value); }
  // Whether the value is so many times farther from the others than these are from each other.
  bool leaves_apart(double sentinel, double times = 1.0) const {
    const double range = high - low;
    return range > 0.0 && std::min(std::abs(sentinel - low), std::abs(sentinel - high)) > times * range;
  }
  // Whether the value stands for missing ones: a number that is known for it; any that is far off, more than once; or
  // one of the size at which instruments, netCDF and LAS files put theirs (9.91e37, 1e20, -3.4e38).
  bool makes_sentinel(double value) const {
    constexpr double kFarOff = 1000.0, kHuge = 1e19;
    if (is_sentinel(value)) return leaves_apart(value);
    return (found > 1 || std::abs(value) >= kHuge) && leaves_apart(value, kFarOff);
  }
};

// How the numbers of a column go from row to row.
class Course {
 public:
  // Whether they still go one way.
  bool add(double value) {
    if (count_ == 0) {
      first_ = value;
    } else {
      const double step = std::abs(value - last_);
      rises_ = rises_ && value >= last_, falls_ = falls_ && value <= last_;
      least_ = std::min(least_, step), most_ = std::max(most_, step);
    }
    whole_ = whole_ && value == std::floor(value);
    last_ = value;
    ++count_;
    return rises_ || falls_;
  }

  bool whole() const { return whole_; }
  bool rises() const { return rises_; }
  // As identifiers and times do: different whole numbers, or even steps, or a name or values that say so. Few rows are
  // often in order by chance.
  bool is_index(std::string_view name) const {
    constexpr Index kFewest = 8;
    constexpr double kEven = 2.0;  // the longest step by the shortest
    if (count_ < kFewest || !(rises_ || falls_) || most_ == 0.0) return false;
    return (least_ > 0.0 && (whole_ || most_ <= kEven * least_)) || is_id_like(name) || is_time_like(name) ||
           is_clock();
  }

 private:
  // Seconds since 1970, or thousandths and so on, of the years 2000 to 2040; days as Excel and Matlab count them.
  bool is_clock() const {
    const double low = std::min(first_, last_), high = std::max(first_, last_);
    for (const double unit : {1.0, 1e3, 1e6, 1e9}) {
      if (low >= 946684800.0 * unit && high <= 2208988800.0 * unit) return true;
    }
    return least_ > 0.0 && ((low >= 36526.0 && high <= 51136.0) || (low >= 730486.0 && high <= 745096.0));
  }

  Index count_ = 0;
  double first_ = 0.0, last_ = 0.0, least_ = std::numeric_limits<double>::infinity(), most_ = 0.0;
  bool whole_ = true, rises_ = true, falls_ = true;
};

}  // namespace tamis
