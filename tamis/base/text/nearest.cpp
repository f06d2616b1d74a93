#include "tamis/base/text/nearest.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "tamis/base/text/quote.h"

namespace tamis {

namespace {

// Letters to insert, delete or change, and neighbors to swap.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_name(const std::string& word, const std::vector<std::string>& names) {
  constexpr std::size_t kLongest = 64;  // longer names are seldom typed by hand
  if (word.size() > kLongest) return {};
  const std::string* nearest = nullptr;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const auto& name : names) {
    if (name.size() > kLongest || name.empty()) continue;
    const std::size_t distance = edit_distance(word, name);
    if (distance < least) least = distance, nearest = &name;
  }
  return nearest == nullptr ? std::string() : *nearest;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  const std::string nearest = nearest_name(word, names);
  return nearest.empty() ? std::string() : "; did you mean '" + printable(nearest) + "'?";
}

}  // namespace tamis
