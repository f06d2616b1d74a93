#include "tamis/select/copies.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

namespace tamis {

namespace {

// Of moments of equal columns: sparse columns that store some of their zeros add in another order.
constexpr double kRounding = 1e-9;

using ColumnSets = std::vector<std::vector<Index>>;

// Cuts sets where neighbors in the order of `key` differ by more than `slack` of a column; single columns are dropped.
template <class Slack>
ColumnSets cut(ColumnSets sets, const std::vector<double>& key, Slack slack) {
  const auto at = [&](Index j) { return key[j]; };
  ColumnSets out;
  for (std::vector<Index>& set : sets) {
    std::sort(set.begin(), set.end(), [&](Index a, Index b) { return std::pair(at(a), a) < std::pair(at(b), b); });
    for (auto begin = set.begin(); begin != set.end();) {
      auto end = begin + 1;
      while (end != set.end() && at(*end) - at(*(end - 1)) <= slack(*end)) ++end;
      if (end - begin > 1) out.emplace_back(begin, end);
      begin = end;
    }
  }
  return out;
}

// Columns that may be copies of each other: all that the moments cannot tell apart.
ColumnSets candidates(const ColumnMoments& moments) {
  std::vector<Index> all(moments.mean.size());
  std::iota(all.begin(), all.end(), Index{0});
  const auto none = [](Index) { return 0.0; };
  const auto of_range = [&](Index j) { return kRounding * (moments.max[j] - moments.min[j]); };
  const auto of_scatter = [&](Index j) { return kRounding * moments.scatter[j]; };
  ColumnSets sets = cut({std::move(all)}, moments.min, none);
  sets = cut(std::move(sets), moments.max, none);
  sets = cut(std::move(sets), moments.mean, of_range);
  return cut(std::move(sets), moments.scatter, of_scatter);
}

// The first column of the group that each column stands in.
std::vector<Index> first_of_each(const Source& source, const ColumnSets& sets, Context& context) {
  std::vector<Index> first(source.cols());
  std::iota(first.begin(), first.end(), Index{0});
  std::vector<std::pair<Index, std::size_t>> suspects;  // with their sets
  for (std::size_t s = 0; s < sets.size(); ++s) {
    for (const Index j : sets[s]) suspects.emplace_back(j, s);
  }
  if (suspects.empty()) return first;
  std::sort(suspects.begin(), suspects.end());
  std::vector<Index> columns;
  for (const auto& suspect : suspects) columns.push_back(suspect.first);
  const auto prints = column_fingerprints(source.with_columns(columns), Fingerprint::values, context);
  std::map<std::pair<std::size_t, std::uint64_t>, Index> seen;
  for (std::size_t i = 0; i < suspects.size(); ++i) {
    const auto [column, set] = suspects[i];
    first[column] = seen.emplace(std::pair(set, prints[i]), column).first->second;
  }
  return first;
}

}  // namespace

std::vector<Index> Copies::firsts() const {
  std::vector<Index> out;
  for (Index j = 0; j < columns(); ++j) {
    if (group[j] == static_cast<Index>(out.size())) out.push_back(j);
  }
  return out;
}

Copies find_copies(const Source& source, const ColumnMoments& moments, Context& context) {
  const std::vector<Index> first = first_of_each(source, candidates(moments), context);
  Copies out;
  out.group.reserve(first.size());
  out.number.reserve(first.size());
  for (Index j = 0; j < source.cols(); ++j) {
    const Index f = first[j];
    if (f == j) out.number.push_back(0);
    out.group.push_back(f == j ? out.groups() - 1 : out.group[f]);
    ++out.number[out.group.back()];
  }
  out.root.reserve(out.number.size());
  for (const double m : out.number) out.root.push_back(std::sqrt(m));
  return out;
}

}  // namespace tamis
