#include "tamis/select/row_sparse.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tamis/select/selection.h"

namespace tamis {

namespace {

constexpr double kLeastScore = 1e-4;  // of a column of S, so that the others come below

}  // namespace

std::vector<Index> largest_of(const std::vector<double>& merits, Index k, const std::vector<Index>& forced) {
  std::vector<Index> out = forced;
  std::vector<char> taken(merits.size());
  for (const Index j : forced) taken[j] = 1;
  for (const Index j : rank_by_score(merits)) {
    if (static_cast<Index>(out.size()) >= k) break;
    if (!taken[j]) out.push_back(j);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<double> row_sparse_scores(const std::vector<double>& squares, const std::vector<Index>& columns,
                                      const std::vector<double>& merits) {
  const double most = std::max(*std::max_element(merits.begin(), merits.end()), std::numeric_limits<double>::min());
  std::vector<double> out;
  for (const double merit : merits) out.push_back(0.5 * kLeastScore * merit / most);
  for (const Index j : columns) out[j] = std::max(kLeastScore, std::sqrt(squares[j]));
  return out;
}

}  // namespace tamis
