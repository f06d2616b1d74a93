#include "tamis/graph/neighbors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tamis/base/random.h"
#include "tamis/data/passes/passes.h"
#include "tamis/data/passes/tile.h"
#include "tamis/linalg/blas.h"

namespace tamis {

namespace {

constexpr Index kRowsAtOnce = 256;         // rows whose neighbours one task finds
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

// The best k so far of one row, nearest first; ties by index, whatever the order of arrival.
class Nearest {
 public:
  Nearest(Index k, std::int32_t* index, double* distance) : k_(k), index_(index), distance_(distance) {
    std::fill_n(distance_, k_, std::numeric_limits<double>::infinity());
    std::fill_n(index_, k_, std::numeric_limits<std::int32_t>::max());
  }
  void offer(Index row, double distance) {
    const auto before = [&](Index at) {
      return distance_[at] < distance || (distance_[at] == distance && index_[at] < row);
    };
    if (before(k_ - 1)) return;
    Index at = k_ - 1;
    for (; at > 0 && !before(at - 1); --at) {
      distance_[at] = distance_[at - 1];
      index_[at] = index_[at - 1];
    }
    distance_[at] = distance;
    index_[at] = static_cast<std::int32_t>(row);
  }

 private:
  Index k_;
  std::int32_t* index_;
  double* distance_;
};

// ||a||^2 + ||b||^2 - 2 a.b is off by at most this part of ||a||^2 + ||b||^2, with products in T ...
template <class T>
double rounding_of_products(Index d) {
  return 4 * static_cast<double>(d + 8) * static_cast<double>(std::numeric_limits<T>::epsilon());
}
// ... and by this much where they are too small for T.
template <class T>
double underflow_of_products(Index d) {
  return 4 * static_cast<double>(d) * static_cast<double>(std::numeric_limits<T>::min());
}

double squared_difference(const double* a, const double* b, Index d) {
  double lanes[8] = {};
  Index j = 0;
  for (; j + 8 <= d; j += 8) {
    for (Index lane = 0; lane < 8; ++lane) lanes[lane] += (a[j + lane] - b[j + lane]) * (a[j + lane] - b[j + lane]);
  }
  for (; j < d; ++j) lanes[0] += (a[j] - b[j]) * (a[j] - b[j]);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

// Keeps what the search of all rows shares.
struct Search {
  Neighbors out;
  std::vector<double> square;          // ||z_i||^2
  std::vector<double> distance_sum;    // over all rows, of each row; empty where not asked for
  double rounding = 0, underflow = 0;  // of the products

  template <class T>
  void set_precision(Index d) {
    rounding = rounding_of_products<T>(d);
    underflow = underflow_of_products<T>(d);
  }
};

// The rows that may be among the k nearest of one row, by what products say: between a lower and an upper bound.
class MayBeNear {
 public:
  explicit MayBeNear(Index k) : upper_(static_cast<std::size_t>(k), std::numeric_limits<double>::infinity()) {}
  double worst() const { return upper_.back(); }  // k rows are no farther than this
  void add(Index row, double lower, double upper) {
    if (rows_.size() == kPruneFrom + kept_) prune();
    rows_.push_back({row, lower});
    if (!(upper < worst())) return;
    std::size_t at = upper_.size() - 1;
    for (; at > 0 && upper < upper_[at - 1]; --at) upper_[at] = upper_[at - 1];
    upper_[at] = upper;
  }
  // visit(row) for all that are left.
  template <class Visit>
  void for_each(Visit visit) {
    prune();
    for (const auto& candidate : rows_) visit(candidate.row);
  }

 private:
  static constexpr std::size_t kPruneFrom = 64;
  struct Candidate {
    Index row;
    double lower;
  };
  void prune() {
    std::erase_if(rows_, [&](const Candidate& candidate) { return candidate.lower > worst(); });
    kept_ = rows_.size();
  }

  std::vector<double> upper_;  // the k smallest, rising
  std::vector<Candidate> rows_;
  std::size_t kept_ = 0;  // of the last pruning
};

// Row i against rows [first, first + count), given the products z_i.z_j and, for the mean, a way to compute a distance
// exactly.
template <class T, class Exact>
void scan(Search& search, MayBeNear& near, Index i, Index first, Index count, const T* products,
          std::vector<double>& distance, Exact exact) {
  const double own = search.square[i];
  const double* square = search.square.data() + first;
  for (Index j = 0; j < count; ++j) {
    distance[j] = own + square[j] - 2 * static_cast<double>(products[j]);
  }
  if (!search.distance_sum.empty()) {
    double sum = 0;
    for (Index j = 0; j < count; ++j) {
      if (first + j == i) continue;
      const double value = distance[j];
      const bool clear = value > search.rounding * (own + square[j]) + search.underflow;
      sum += std::sqrt(clear ? value : exact(first + j));
    }
    search.distance_sum[i] += sum;
  }
  for (Index j = 0; j < count; ++j) {
    const double value = distance[j];
    const double margin = search.rounding * (own + square[j]) + search.underflow;
    if (value - margin > near.worst() || first + j == i) continue;
    near.add(first + j, value - margin, value + margin);
  }
}

Nearest nearest_of(Search& search, Index i) {
  const Index k = search.out.count;
  return Nearest(k, search.out.index.data() + i * k, search.out.distance.data() + i * k);
}

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

// Products of rows [first, first + rows) with [other, other + count), a stretch of columns at a time. The first ones
// are kept whole where they fit a stretch, or are not in memory: the others come and go.
template <class T>
class RowProducts {
 public:
  RowProducts(const Centered& z, Index rows, Index others)
      : z_(z),
        own_(rows, z.source().store().in_memory() ? std::min(kColsAtOnce, z.cols()) : z.cols()),
        other_(others, std::min(kColsAtOnce, z.cols())),
        products_(rows, others) {}

  void compute(Index first, Index rows, Index other, Index count) {
    const Index d = z_.cols();
    const bool whole = own_.cols() == d;
    if (whole && first != held_) load_part(z_, first, rows, 0, d, own_.data());
    held_ = first;
    for (Index col0 = 0; col0 < d; col0 += kColsAtOnce) {
      const Index cols = std::min(kColsAtOnce, d - col0);
      if (!whole) load_part(z_, first, rows, col0, cols, own_.data());
      load_part(z_, other, count, col0, cols, other_.data());
      blas::gemm(false, true, rows, count, cols, T(1), own_.data() + (whole ? col0 : 0), whole ? d : cols,
                 other_.data(), cols, T(col0 == 0 ? 0 : 1), products_.data(), products_.cols());
    }
  }
  const T* row(Index i) const { return products_.row(i); }

 private:
  const Centered& z_;
  BasicMatrix<T> own_, other_, products_;
  Index held_ = -1;  // the first of the rows in own_
};

// Products of rows in T: in float where they only say which rows may be near, and that is enough. The mean distance
// needs double.
template <class T>
void search_dense(const Centered& z, Search& search, Context& context) {
  search.set_precision<T>(z.cols());
  fill_squares(z, search, context);
  const Index n = z.rows(), d = z.cols(), step = std::min(kRowsAtOnce, n), others = std::min(kOthersAtOnce, n);
  context.count_pass();
  walk_rows(context, (n + step - 1) / step, n, [&](Index task) {
    const Index first = task * step, rows = std::min(step, n - first);
    RowProducts<T> products(z, rows, others);
    std::vector<double> distance(others), own(static_cast<std::size_t>(d)), other(own.size());
    std::vector<MayBeNear> near(rows, MayBeNear(search.out.count));
    const auto exact = [&](Index j) {
      load_rows(z, j, 1, other.data());
      return squared_difference(own.data(), other.data(), d);
    };
    for (Index begin = 0; begin < n; begin += others) {
      context.check_cancelled();
      const Index count = std::min(others, n - begin);
      products.compute(first, rows, begin, count);
      for (Index i = 0; i < rows; ++i) {
        if (!search.distance_sum.empty()) load_rows(z, first + i, 1, own.data());
        scan(search, near[i], first + i, begin, count, products.row(i), distance, exact);
      }
    }
    for (Index i = 0; i < rows; ++i) {
      Nearest nearest = nearest_of(search, first + i);
      load_rows(z, first + i, 1, own.data());
      near[i].for_each([&](Index j) { nearest.offer(j, exact(j)); });
    }
  });
}

double squared_difference(const Entries& rows, Index a, Index b) {
  auto i = static_cast<std::size_t>(rows.offsets[a]);
  auto j = static_cast<std::size_t>(rows.offsets[b]);
  const auto i_end = static_cast<std::size_t>(rows.offsets[static_cast<std::size_t>(a) + 1]);
  const auto j_end = static_cast<std::size_t>(rows.offsets[static_cast<std::size_t>(b) + 1]);
  double sum = 0;
  while (i < i_end || j < j_end) {
    const bool left = j == j_end || (i < i_end && rows.columns[i] <= rows.columns[j]);
    const bool right = i == i_end || (j < j_end && rows.columns[j] <= rows.columns[i]);
    const double delta = (left ? rows.values[i] : 0.0) - (right ? rows.values[j] : 0.0);
    sum += delta * delta;
    i += left ? 1 : 0;
    j += right ? 1 : 0;
  }
  return sum;
}

void search_sparse(const Centered& z, Search& search, Context& context) {
  search.set_precision<double>(z.cols());
  const Index n = z.rows();
  const Entries rows = gather_entries(z, context), columns = transposed(rows, z.cols());
  for (std::size_t i = 0; i < search.square.size(); ++i) {
    for (auto k = static_cast<std::size_t>(rows.offsets[i]); k < static_cast<std::size_t>(rows.offsets[i + 1]); ++k) {
      search.square[i] += rows.values[k] * rows.values[k];
    }
  }
  walk_rows(context, (n + kRowsAtOnce - 1) / kRowsAtOnce, n, [&](Index task) {
    std::vector<double> products(n), distance(static_cast<std::size_t>(n));
    for (Index i = task * kRowsAtOnce; i < std::min((task + 1) * kRowsAtOnce, n); ++i) {
      context.check_cancelled();
      std::fill(products.begin(), products.end(), 0.0);
      for (Index k = rows.offsets[i]; k < rows.offsets[static_cast<std::size_t>(i) + 1]; ++k) {
        const double value = rows.values[k];
        const auto column = static_cast<std::size_t>(rows.columns[k]);
        for (auto q = static_cast<std::size_t>(columns.offsets[column]);
             q < static_cast<std::size_t>(columns.offsets[column + 1]); ++q) {
          products[columns.columns[q]] += value * columns.values[q];
        }
      }
      const auto exact = [&](Index j) { return squared_difference(rows, i, j); };
      MayBeNear near(search.out.count);
      scan(search, near, i, 0, n, products.data(), distance, exact);
      Nearest nearest = nearest_of(search, i);
      near.for_each([&](Index j) { nearest.offer(j, exact(j)); });
    }
  });
}

Centered around_centers(const Source& source, const ColumnMoments& moments) {
  std::vector<double> reference(moments.mean.size());
  if (!source.sparse()) reference = round_centers(source, moments);
  return Centered(source, std::move(reference), moments.unit);
}

}  // namespace

Neighbors nearest_neighbors(const Source& source, Index count, bool with_mean, Context& context) {
  context.phase("nearest rows");
  const ColumnMoments moments = column_moments(source, context);
  const Index n = source.rows();
  Search search;
  search.out.count = std::min(count, n - 1);
  search.out.unit = moments.unit;
  search.out.index.resize(n * search.out.count);
  search.out.distance.resize(search.out.index.size());
  search.square.resize(n);
  if (with_mean) search.distance_sum.resize(search.square.size());
  const Centered z = around_centers(source, moments);
  if (source.sparse()) {
    search_sparse(z, search, context);
  } else if (with_mean || source.cols() > kFloatCols) {
    search_dense<double>(z, search, context);
  } else {
    search_dense<float>(z, search, context);
  }
  if (with_mean) {
    double sum = 0;
    for (const double value : search.distance_sum) sum += value;
    search.out.mean_distance = sum / static_cast<double>(n) / static_cast<double>(n);
  }
  return std::move(search.out);
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
