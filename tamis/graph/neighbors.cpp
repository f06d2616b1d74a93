#include "tamis/graph/neighbors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/base/random.h"
#include "tamis/data/passes/passes.h"
#include "tamis/data/passes/tile.h"
#include "tamis/graph/all_pairs.h"
#include "tamis/graph/cells.h"
#include "tamis/graph/distances.h"
#include "tamis/graph/nearest.h"
#include "tamis/linalg/blas.h"

namespace tamis {

namespace {

constexpr Index kRowsAtOnce = 256;         // rows whose neighbors one task finds
constexpr Index kOthersAtOnce = 512;       // rows they are compared with at a time
constexpr Index kColsAtOnce = 1024;        // and the columns of both that are loaded at a time
constexpr Index kCellsAtOnce = 64 * 1024;  // numbers of whole rows loaded at a time
// Past so many columns products in float say too little: what rounding leaves open takes more than double would.
constexpr Index kFloatCols = 4096;

// A point near the mean of each column with so few bits that subtracting it is exact for whole numbers and the like:
// their products are then exact too, and equal distances come out equal.
std::vector<double> round_centers(const Source& source, const ColumnMoments& moments) {
  std::vector<double> out(moments.mean.size());
  for (std::size_t j = 0; j < out.size(); ++j) {
    const double spread = std::sqrt(moments.scatter[j] / static_cast<double>(moments.rows)) * moments.unit;
    const double scale = source.column_scale().empty() ? 1.0 : source.column_scale()[j];
    if (!(spread > 0) || scale == 0) continue;
    const double step = std::ldexp(1.0, std::ilogb(spread));
    out[j] = std::round(moments.mean[j] / step) * step / scale;
  }
  return out;
}

// What a search of all rows shares.
struct Search {
  Neighbors& out;
  std::vector<double> square;          // ||z_i||^2
  double rounding = 0, underflow = 0;  // of the products

  template <class T>
  void set_precision(Index d) {
    rounding = rounding_of_products<T>(d);
    underflow = underflow_of_products<T>(d);
  }
  // What row i adds to a lower bound of its squared distances: bound_ij = part_i + part_j - 2 z_i.z_j.
  double part(Index i) const { return (1 - rounding) * square[i] - underflow / 2; }
};

// ||z_i||^2 of every row.
void fill_squares(const Centered& z, Search& search, Context& context) {
  const Index n = z.rows(), d = z.cols(), step = std::clamp<Index>(kCellsAtOnce / d, 1, kRowsAtOnce);
  context.count_pass();
  walk_rows(context, (n + step - 1) / step, n, [&](Index task) {
    const Index first = task * step, rows = std::min(step, n - first);
    Matrix own(rows, d);
    const std::vector<double> zero(d);
    load_rows(z, first, rows, own.data());
    for (Index i = 0; i < rows; ++i) {
      search.square[first + i] = squared_difference(own.row(i), zero.data(), d);
    }
  });
}

// The sum of the distances of row i to rows [first, first + count), given -2 times their products: those that rounding
// leaves open are computed exactly.
template <class Exact>
double sum_of_distances(const Search& search, Index i, Index first, Index count, const double* products, Exact& exact) {
  const double own = search.square[i];
  const double* square = search.square.data() + first;
  double sum = 0;
  for (Index j = 0; j < count; ++j) {
    if (first + j == i) continue;
    const double value = own + square[j] + products[j];
    const bool clear = value > search.rounding * (own + square[j]) + search.underflow;
    sum += std::sqrt(clear ? value : exact(i, first + j));
  }
  return sum;
}

// -2 times the products of rows [first, first + rows) with [other, other + count), a stretch of columns at a time. Rows
// are kept for the next call where they fit a stretch; the first ones also where they are not in memory.
template <class T>
class RowProducts {
 public:
  RowProducts(const Centered& z, Index rows, Index others)
      : z_(z),
        own_(rows, z.source().store().in_memory() ? std::min(kColsAtOnce, z.cols()) : z.cols()),
        other_(others, std::min(kColsAtOnce, z.cols())),
        products_(rows, others) {}

  // start(i, to) sets what the products of row i are added to.
  template <class Start>
  void compute(Index first, Index rows, Index other, Index count, Start start) {
    const Index d = z_.cols();
    const bool whole = own_.cols() == d;
    if (whole && first != held_) load_part(z_, first, rows, 0, d, own_.data());
    held_ = first;
    for (Index i = 0; i < rows; ++i) start(first + i, products_.row(i));
    for (Index col0 = 0; col0 < d; col0 += kColsAtOnce) {
      const Index cols = std::min(kColsAtOnce, d - col0);
      if (!whole) load_part(z_, first, rows, col0, cols, own_.data());
      if (cols < d || other != held_other_) load_part(z_, other, count, col0, cols, other_.data());
      blas::gemm(false, true, rows, count, cols, T(-2), own_.data() + (whole ? col0 : 0), whole ? d : cols,
                 other_.data(), cols, T(1), products_.data(), products_.cols());
    }
    held_other_ = other;
  }
  const T* row(Index i) const { return products_.row(i); }

 private:
  const Centered& z_;
  BasicMatrix<T> own_, other_, products_;
  Index held_ = -1, held_other_ = -1;  // the first of the rows in own_ and other_
};

// All pairs of rows, in float where that is enough to say which rows may be near.
template <class T>
void search_dense(const Centered& z, Search& search, Context& context) {
  search.set_precision<T>(z.cols());
  fill_squares(z, search, context);
  PairDistance distance;
  distance.stretches = {0};
  distance.square = search.square;
  distance.rounding = rounding_of_panels<T>(z.cols());
  distance.underflow = search.underflow;
  distance.found = &search.out;
  distance.exact = [&z] {
    return [exact = std::make_shared<DenseDistance>(z)](Index i, Index j) { return (*exact)(i, j); };
  };
  const PanelRows<T> rows(
      z.rows(), z.cols(), z.source().store().in_memory(),
      [&z](Index first, Index count, Index col0, Index cols, T* out) { load_part(z, first, count, col0, cols, out); },
      context);
  AllPairs<T>(rows, {z.cols()}, {std::move(distance)}).run(context);
}

// The mean of all distances, each row with itself included; from products where those are exact enough.
double dense_mean_distance(const Centered& z, Search& search, Context& context) {
  search.set_precision<double>(z.cols());
  fill_squares(z, search, context);
  const Index n = z.rows(), step = std::min(kRowsAtOnce, n), others = std::min(kOthersAtOnce, n);
  std::vector<double> sums(n);
  context.count_pass();
  walk_rows(context, (n + step - 1) / step, n, [&](Index task) {
    const Index first = task * step, rows = std::min(step, n - first);
    RowProducts<double> products(z, rows, others);
    DenseDistance exact(z);
    for (Index begin = 0; begin < n; begin += others) {
      context.check_cancelled();
      const Index count = std::min(others, n - begin);
      products.compute(first, rows, begin, count, [&](Index, double* to) { std::fill_n(to, count, 0.0); });
      for (Index i = first; i < first + rows; ++i) {
        sums[i] += sum_of_distances(search, i, begin, count, products.row(i - first), exact);
      }
    }
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(n) / static_cast<double>(n);
}

// Adds -2 times the products of row i with all rows.
void add_sparse_products(const Entries& rows, const Entries& columns, Index i, double* products) {
  for (Index k = rows.offsets[i]; k < rows.offsets[i + 1]; ++k) {
    const double value = -2 * rows.values[k];
    const Index column = rows.columns[k];
    for (Index q = columns.offsets[column]; q < columns.offsets[column + 1]; ++q) {
      products[columns.columns[q]] += value * columns.values[q];
    }
  }
}

// Every row against all; their mean distance too, where it is asked for.
void search_sparse(const Centered& z, bool with_mean, Search& search, Context& context) {
  search.set_precision<double>(z.cols());
  const Index n = z.rows();
  const Entries rows = gather_entries(z, context), columns = transposed(rows, z.cols());
  for (std::size_t i = 0; i < search.square.size(); ++i) {
    for (Index k = rows.offsets[i]; k < rows.offsets[i + 1]; ++k) {
      search.square[i] += rows.values[k] * rows.values[k];
    }
  }
  SparseDistance exact(rows);
  const Index tasks = (n + kRowsAtOnce - 1) / kRowsAtOnce;
  std::vector<double> sums(with_mean ? n : 0);
  Board board(search.out);
  walk_rows(context, tasks, n, [&](Index task) {
    std::vector<double> products(n);
    Opposite<double> others(board, nullptr, 0, n);
    for (Index i = task * kRowsAtOnce; i < std::min((task + 1) * kRowsAtOnce, n); ++i) {
      context.check_cancelled();
      std::fill(products.begin(), products.end(), 0.0);
      add_sparse_products(rows, columns, i, products.data());
      if (with_mean) sums[i] = sum_of_distances(search, i, 0, n, products.data(), exact);
      const double own = search.part(i);
      for (Index j = 0; j < n; ++j) products[j] += own + search.part(j);
      others.seed(i, search.out.count, products.data(), exact);
    }
  });
  if (with_mean) {
    const double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
    search.out.mean_distance = sum / static_cast<double>(n) / static_cast<double>(n);
  }
}

Centered around_centers(const Source& source, const ColumnMoments& moments) {
  std::vector<double> reference(moments.mean.size());
  if (!source.sparse()) reference = round_centers(source, moments);
  return Centered(source, std::move(reference), moments.unit);
}

}  // namespace

Neighbors nearest_neighbors(const Source& source, const NeighborSearch& wanted, Context& context) {
  require(!source.weighted(), ErrorCode::usage, "graphs of nearest rows do not use the weights of rows");
  context.phase("nearest rows");
  const ColumnMoments moments = column_moments(source, context);
  const Index n = source.rows();
  Neighbors out;
  out.count = std::min(wanted.count, n - 1);
  out.unit = moments.unit;
  out.index.resize(n * out.count);
  out.distance.resize(out.index.size());
  Nearest::clear(out);
  const Centered z = around_centers(source, moments);
  if (wanted.in_cells(n) && search_cells(z, wanted.recall, out, context)) return out;
  Search search{out, std::vector<double>(n)};
  if (source.sparse()) {
    search_sparse(z, wanted.with_mean, search, context);
    return out;
  }
  if (wanted.with_mean) out.mean_distance = dense_mean_distance(z, search, context);
  if (source.cols() > kFloatCols) {
    search_dense<double>(z, search, context);
  } else {
    search_dense<float>(z, search, context);
  }
  return out;
}

double sampled_mean_distance(const Source& source, Index pairs, Context& context) {
  constexpr std::uint64_t kStream = 0x70616972;  // its own stream of the seed
  constexpr Index kPairsAtOnce = 4096;
  const Random random(context.seed, kStream);
  const ColumnMoments moments = column_moments(source, context);
  const Centered z = around_centers(source, moments);
  const Index n = source.rows(), d = source.cols(), tasks = (pairs + kPairsAtOnce - 1) / kPairsAtOnce;
  const Entries rows = source.sparse() ? gather_entries(z, context) : Entries();
  std::vector<double> sums(tasks);
  context.count_pass();
  context.phase("mean distance of the rows");
  context.pool().run(tasks, [&](Index task) {
    context.check_cancelled();
    std::vector<double> a(source.sparse() ? 0 : d), b(a.size());
    double sum = 0;
    for (Index pair = task * kPairsAtOnce; pair < std::min((task + 1) * kPairsAtOnce, pairs); ++pair) {
      const Index i = random.below(static_cast<std::uint64_t>(2 * pair), n);
      const Index j = random.below(static_cast<std::uint64_t>(2 * pair + 1), n);
      if (source.sparse()) {
        sum += std::sqrt(squared_difference(rows, i, j));
        continue;
      }
      load_rows(z, i, 1, a.data());
      load_rows(z, j, 1, b.data());
      sum += std::sqrt(squared_difference(a.data(), b.data(), d));
    }
    sums[task] = sum;
  });
  double sum = 0;
  for (const double value : sums) sum += value;
  return sum / static_cast<double>(pairs) * moments.unit;
}

}  // namespace tamis
