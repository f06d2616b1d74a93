#include "tamis/eval/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tamis/base/elementary.h"
#include "tamis/base/error.h"

namespace tamis {

namespace {

// Counts of (class, cluster) pairs. The pairs that occur are kept as a list: with many small classes the full table
// would be far larger than the rows it came from.
struct Contingency {
  struct Cell {
    Index row, col, count;
  };
  std::vector<Cell> cells;
  std::vector<Index> row_sums, col_sums;
  Index total = 0;
};

// The distinct values that are not -1, in order.
std::vector<int> distinct(const std::vector<int>& labels) {
  std::vector<int> values = labels;
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::erase(values, -1);
  return values;
}

Index position(const std::vector<int>& values, int label) {
  return std::lower_bound(values.begin(), values.end(), label) - values.begin();
}

Contingency count_pairs(const std::vector<int>& truth, const std::vector<int>& clusters) {
  require(truth.size() == clusters.size(), ErrorCode::usage, "metrics: ", truth.size(), " classes and ",
          clusters.size(), " clusters, need as many of each");
  const auto row_values = distinct(truth), col_values = distinct(clusters);
  std::vector<std::pair<Index, Index>> pairs;
  pairs.reserve(truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] == -1 || clusters[i] == -1) continue;
    pairs.emplace_back(position(row_values, truth[i]), position(col_values, clusters[i]));
  }
  require(!pairs.empty(), ErrorCode::bad_data, "metrics: 0 labeled rows, need at least 1");
  std::sort(pairs.begin(), pairs.end());

  Contingency table;
  table.row_sums.assign(row_values.size(), 0);
  table.col_sums.assign(col_values.size(), 0);
  table.total = static_cast<Index>(pairs.size());
  for (const auto& [row, col] : pairs) {
    const bool seen = !table.cells.empty() && table.cells.back().row == row && table.cells.back().col == col;
    if (!seen) table.cells.push_back({row, col, 0});
    ++table.cells.back().count;
    ++table.row_sums[row];
    ++table.col_sums[col];
  }
  return table;
}

double entropy(const std::vector<Index>& sums, double total) {
  double sum = 0.0;
  for (const Index count : sums) {
    if (count > 0) sum -= static_cast<double>(count) / total * elementary::log(static_cast<double>(count) / total);
  }
  return sum;
}

Index occupied(const std::vector<Index>& sums) {
  return std::count_if(sums.begin(), sums.end(), [](Index count) { return count > 0; });
}

double pairs_within(double count) { return 0.5 * count * (count - 1.0); }

double sum_pairs(const std::vector<Index>& sums) {
  double sum = 0.0;
  for (const Index count : sums) sum += pairs_within(static_cast<double>(count));
  return sum;
}

// Shortest augmenting paths with potentials (Jonker & Volgenant's form of Kuhn-Munkres), rows <= cols; the result is
// the row of each column, or -1. Rows and columns count from 1 inside, 0 being "none".
std::vector<Index> match_columns(const BasicMatrix<Index>& cost) {
  const Index rows = cost.rows(), cols = cost.cols();
  std::vector<Index> row_price(rows + 1), col_price(cols + 1), match(cols + 1), way(cols + 1);
  for (Index i = 1; i <= rows; ++i) {
    match[0] = i;
    Index j = 0;
    std::vector<Index> slack(cols + 1, std::numeric_limits<Index>::max());
    std::vector<char> used(cols + 1);
    do {
      used[j] = 1;
      const Index row = match[j];
      Index step = std::numeric_limits<Index>::max();
      Index next = 0;
      for (Index k = 1; k <= cols; ++k) {
        if (used[k]) continue;
        const Index reduced = cost(row - 1, k - 1) - row_price[row] - col_price[k];
        if (reduced < slack[k]) slack[k] = reduced, way[k] = j;
        if (slack[k] < step) step = slack[k], next = k;
      }
      for (Index k = 0; k <= cols; ++k) {
        if (used[k]) {
          row_price[match[k]] += step, col_price[k] -= step;
        } else {
          slack[k] -= step;
        }
      }
      j = next;
    } while (match[j] != 0);
    while (j != 0) {
      match[j] = match[way[j]];
      j = way[j];
    }
  }
  std::vector<Index> row_of(cols);
  for (std::size_t j = 0; j < row_of.size(); ++j) row_of[j] = match[j + 1] - 1;
  return row_of;
}

}  // namespace

std::vector<Index> best_assignment(const BasicMatrix<Index>& weights) {
  const bool wide = weights.rows() <= weights.cols();
  const Index rows = wide ? weights.rows() : weights.cols(), cols = wide ? weights.cols() : weights.rows();
  BasicMatrix<Index> cost(rows, cols);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j) cost(i, j) = -(wide ? weights(i, j) : weights(j, i));
  }
  const auto row_of = match_columns(cost);
  if (!wide) return row_of;  // the columns of `cost` are the rows of `weights`
  std::vector<Index> col_of(rows, -1);
  for (Index j = 0; j < cols; ++j) {
    const Index row = row_of[j];
    if (row >= 0) col_of[row] = j;
  }
  return col_of;
}

double clustering_accuracy(const std::vector<int>& truth, const std::vector<int>& clusters) {
  constexpr double kMaxCells = 1e8;  // 0.8 GB of counts; also far beyond what O(n^3) could finish
  const auto table = count_pairs(truth, clusters);
  const auto rows = static_cast<Index>(table.row_sums.size()), cols = static_cast<Index>(table.col_sums.size());
  require(static_cast<double>(rows) * static_cast<double>(cols) <= kMaxCells, ErrorCode::resources, "accuracy: ", rows,
          " classes x ", cols, " clusters, need at most ", kMaxCells, " pairs");
  BasicMatrix<Index> weights(rows, cols);
  for (const auto& cell : table.cells) weights(cell.row, cell.col) = cell.count;
  const auto col_of = best_assignment(weights);
  Index hits = 0;
  for (Index i = 0; i < rows; ++i) {
    const Index col = col_of[i];
    if (col >= 0) hits += weights(i, col);
  }
  return static_cast<double>(hits) / static_cast<double>(table.total);
}

double normalized_mutual_info(const std::vector<int>& truth, const std::vector<int>& clusters) {
  const auto table = count_pairs(truth, clusters);
  const bool one_class = occupied(table.row_sums) == 1, one_cluster = occupied(table.col_sums) == 1;
  if (one_class || one_cluster) return one_class && one_cluster ? 1.0 : 0.0;
  const auto total = static_cast<double>(table.total);
  double information = 0.0;  // sum p_ij log(p_ij / (p_i p_j))
  for (const auto& cell : table.cells) {
    const auto count = static_cast<double>(cell.count);
    const auto row = static_cast<double>(table.row_sums[cell.row]);
    const auto col = static_cast<double>(table.col_sums[cell.col]);
    information += count / total * elementary::log(count * total / (row * col));
  }
  const double scale = std::sqrt(entropy(table.row_sums, total) * entropy(table.col_sums, total));
  return std::clamp(information / scale, 0.0, 1.0);
}

double adjusted_rand(const std::vector<int>& truth, const std::vector<int>& clusters) {
  const auto table = count_pairs(truth, clusters);
  double together = 0.0;
  for (const auto& cell : table.cells) together += pairs_within(static_cast<double>(cell.count));
  const double rows = sum_pairs(table.row_sums), cols = sum_pairs(table.col_sums);
  const double all = pairs_within(static_cast<double>(table.total));
  // Both all in one, or both all alone: equal partitions, and 0 / 0 in the formula.
  if (rows == cols && (rows == all || rows == 0.0)) return 1.0;
  const double expected = rows / all * cols;
  return (together - expected) / (0.5 * (rows + cols) - expected);
}

}  // namespace tamis
