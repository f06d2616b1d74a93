#include "tamis/run/profile.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "tamis/base/random.h"
#include "tamis/data/passes/passes.h"
#include "tamis/data/passes/reduce.h"
#include "tamis/data/passes/tile.h"

namespace tamis {

namespace {

constexpr std::size_t kVerifyColumns = 64;

// A fingerprint of each column: the sum over rows of mix(row, value), so blocks may be added in any order, and a zero
// adds nothing, so that sparse rows need not be filled.
struct Fingerprints {
  std::vector<std::uint64_t> hash;
  std::vector<Index> filled;  // values that are not 0
};

void add_value(Fingerprints& prints, std::size_t column, Index row, double value) {
  if (value == 0.0) return;
  prints.hash[column] += mix64(mix64(static_cast<std::uint64_t>(row) + 1) ^ std::bit_cast<std::uint64_t>(value));
  ++prints.filled[column];
}

Fingerprints block_fingerprints(const Store& store, const Block& block) {
  Fingerprints prints{std::vector<std::uint64_t>(store.cols()), std::vector<Index>(store.cols())};
  for (Index i = 0; i < block.rows; ++i) {
    const Index row = block.first + i;
    if (!block.sparse) {
      for (Index j = 0; j < store.cols(); ++j) add_value(prints, j, row, element(block.dense, i, j));
      continue;
    }
    for (Index at = block.csr.offsets[i]; at < block.csr.offsets[i + 1]; ++at) {
      add_value(prints, block.csr.columns[at], row, block.csr.value(at));
    }
  }
  return prints;
}

// Of the store's columns.
Fingerprints fingerprints(const Store& store, Context& context) {
  return reduce_blocks<Fingerprints>(
      store, context, [&](const Block& block) { return block_fingerprints(store, block); },
      [](Fingerprints& into, Fingerprints from) {
        for (std::size_t j = 0; j < into.hash.size(); ++j)
          into.hash[j] += from.hash[j], into.filled[j] += from.filled[j];
      });
}

// Which of `group` (increasing) really equal its first column.
void verify(const Source& source, const std::vector<Index>& group, std::vector<std::pair<Index, Index>>& duplicates,
            Context& context) {
  for (std::size_t start = 1; start < group.size(); start += kVerifyColumns) {
    const std::size_t end = std::min(group.size(), start + kVerifyColumns);
    std::vector<Index> columns = {group.front()};
    columns.insert(columns.end(), group.begin() + static_cast<std::ptrdiff_t>(start),
                   group.begin() + static_cast<std::ptrdiff_t>(end));
    const Matrix values = gather(source.with_columns(columns), context);
    for (std::size_t k = 1; k < columns.size(); ++k) {
      bool equal = true;
      for (Index i = 0; i < values.rows() && equal; ++i) equal = values(i, 0) == values(i, static_cast<Index>(k));
      if (equal) duplicates.emplace_back(columns[k], columns[0]);
    }
  }
}

void find_duplicates(const Source& source, const Fingerprints& prints, const std::vector<char>& skip, Profile& result,
                     Context& context) {
  std::map<std::pair<std::uint64_t, Index>, std::vector<Index>> groups;
  for (Index j = 0; j < source.cols(); ++j) {
    const Index stored = source.columns()[j];
    if (!skip[j]) groups[{prints.hash[stored], prints.filled[stored]}].push_back(j);
  }
  for (const auto& [print, group] : groups) {
    if (group.size() > 1) verify(source, group, result.duplicates, context);
  }
  std::sort(result.duplicates.begin(), result.duplicates.end());
}

void add_moments(const Source& finite, const std::vector<Index>& columns, std::vector<char>& skip, Profile& result,
                 Context& context) {
  const auto moments = column_moments(finite, context);
  result.min = *std::min_element(moments.min.begin(), moments.min.end());
  result.max = *std::max_element(moments.max.begin(), moments.max.end());
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (!moments.varies(static_cast<Index>(i))) {
      result.constant.push_back(columns[i]);
      skip[columns[i]] = 1;
      continue;
    }
    const double sd = moments.unit * std::sqrt(moments.scatter[i] / static_cast<double>(moments.rows - 1));
    least = std::min(least, sd);
    result.deviation_most = std::max(result.deviation_most, sd);
  }
  if (std::isfinite(least)) result.deviation_least = least;
}

}  // namespace

Profile profile(const Source& source, Context& context) {
  Profile result;
  std::vector<Index> finite;
  std::vector<char> skip(source.cols(), 0);
  const auto missing = count_not_finite(source, context);
  for (Index j = 0; j < source.cols(); ++j) {
    result.not_finite += missing[j];
    skip[j] = missing[j] > 0;
    (missing[j] > 0 ? result.columns_not_finite : finite).push_back(j);
  }
  const auto prints = fingerprints(source.store(), context);
  for (const Index stored : source.columns()) result.zeros += source.rows() - prints.filled[stored];
  if (finite.empty()) return result;
  add_moments(source.with_columns(finite), finite, skip, result, context);
  find_duplicates(source, prints, skip, result, context);
  return result;
}

}  // namespace tamis
