// Passes that add, pick or measure single rows.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "tamis/base/random.h"
#include "tamis/data/passes/pass.h"
#include "tamis/data/passes/tile.h"
#include "tamis/linalg/kernels.h"

namespace tamis {

// --- Sums of clusters --------------------------------------------------------------------------------------------

namespace {

void move_dense(const Centered& z, const Block& block, Index q, const int* before, const int* after, Matrix& sums) {
  const Index col0 = q * kTileCols, cols = sums.cols();
  std::vector<double> row(cols);
  for (Index i = 0; i < block.rows; ++i) {
    if (before[i] == after[i]) continue;
    load_tile(z, block, i, 1, col0, cols, row.data(), cols);
    const double root = z.root(block.first + i);
    if (after[i] >= 0) kernels<double>().axpy(cols, root, row.data(), sums.row(after[i]));
    if (before[i] >= 0) kernels<double>().axpy(cols, -root, row.data(), sums.row(before[i]));
  }
}

void move_sparse(const Centered& z, const Block& block, const int* before, const int* after,
                 const std::vector<double>& center, Matrix& sums) {
  std::vector<double> gained(sums.rows());
  for (Index i = 0; i < block.rows; ++i) {
    if (before[i] == after[i]) continue;
    double* plus = after[i] >= 0 ? sums.row(after[i]) : nullptr;
    double* minus = before[i] >= 0 ? sums.row(before[i]) : nullptr;
    const double root = z.root(block.first + i);
    if (plus != nullptr) gained[after[i]] += root * root;
    if (minus != nullptr) gained[before[i]] -= root * root;
    for_each_shifted(z, block, i, 1, [&](Index, Index j, double value) {
      if (plus != nullptr) plus[j] += root * value;
      if (minus != nullptr) minus[j] -= root * value;
    });
  }
  for (Index k = 0; k < sums.rows(); ++k) {
    if (gained[k] != 0) kernels<double>().axpy(sums.cols(), -gained[k], center.data(), sums.row(k));
  }
}

class MovePass {
 public:
  static constexpr const char* kName = "move_rows";
  static constexpr Index kReadings = 1;
  using Result = Sums;
  using Labels = ByRow<std::vector<int>>;

  MovePass(const Centered& z, Index clusters, const std::vector<int>& before, const std::vector<int>& after)
      : z_(z),
        clusters_(clusters),
        before_(before),
        after_(after),
        center_(z.source().sparse() ? implicit_center(z) : std::vector<double>()) {}
  auto given() const {
    return std::tuple<const Centered&, Index, Labels, Labels>(z_, clusters_, Labels{before_}, Labels{after_});
  }

  Index width() const { return z_.source().sparse() ? z_.cols() : kTileCols; }
  Index width(Index q) const { return std::min(width(), z_.cols() - q * width()); }
  Index pieces() const { return tamis::pieces(z_.cols(), width()); }
  Index result_size() const { return clusters_ * z_.cols(); }
  bool fits(const Sums& sums) const {
    for (std::size_t q = 0; q < sums.size(); ++q) {
      if (!has_shape(sums[q], 0, 0) && !has_shape(sums[q], clusters_, width(static_cast<Index>(q)))) return false;
    }
    return static_cast<Index>(sums.size()) == pieces();
  }
  void check_arguments() const {
    const bool sound = are_labels(before_, clusters_) && are_labels(after_, clusters_);
    require(sound, ErrorCode::internal, "rows of a chunk in clusters that are not among ", clusters_);
  }

  Matrix partial(const Block& block, Index q) const {
    const int* from = before_.data() + block.first;
    const int* to = after_.data() + block.first;
    if (std::equal(from, from + block.rows, to)) return Matrix();
    Matrix sum(clusters_, width(q));
    if (block.sparse) {
      move_sparse(z_, block, from, to, center_, sum);
    } else {
      move_dense(z_, block, q, from, to, sum);
    }
    return sum;
  }

 private:
  const Centered& z_;
  const Index clusters_;
  const std::vector<int>&before_, &after_;
  const std::vector<double> center_;  // where sparse
};

}  // namespace

void move_rows(const Centered& z, const std::vector<int>& before, const std::vector<int>& after, Matrix& sums,
               Context& context) {
  const MovePass pass(z, sums.rows(), before, after);
  const Sums moved = reduce(pass, context);
  for (std::size_t q = 0; q < moved.size(); ++q) {
    for (Index k = 0; k < moved[q].rows(); ++k) {
      kernels<double>().axpy(moved[q].cols(), 1.0, moved[q].row(k), sums.row(k) + static_cast<Index>(q) * pass.width());
    }
  }
}

// --- Copies of a few rows or columns -----------------------------------------------------------------------------

namespace {

// The source itself as a "centered" matrix with center 0.
Centered uncentered(const Source& source) { return Centered(source, std::vector<double>(source.cols()), 1.0); }

void copy_rows(const Centered& x, const Block& block, Index row0, Index rows, double* out) {
  if (!block.sparse) {
    load_tile(x, block, row0, rows, 0, x.cols(), out, x.cols());
    return;
  }
  const Index first = block.first + row0;
  for_each_shifted(x, block, row0, rows,
                   [&](Index row, Index j, double value) { out[(row - first) * x.cols() + j] = value; });
}

class GatherPass {
 public:
  static constexpr const char* kName = "gather_rows";
  static constexpr Index kReadings = 0;  // of a few rows
  using Result = Matrix;

  GatherPass(const Source& source, const std::vector<Index>& rows) : source_(source), rows_(rows) {}
  auto given() const { return std::tuple<const Source&, RowList>(source_, RowList{rows_}); }
  Index row_count() const { return static_cast<Index>(rows_.size()); }
  Index row_width() const { return source_.cols(); }
  Index end_row() const { return rows_.empty() ? 0 : rows_.back() + 1; }

  Matrix whole(Context& context) const {
    const Store& store = source_.store();
    const Centered x = uncentered(source_);
    Matrix out(row_count(), source_.cols());
    walk_rows(context, store.block_count(), store.rows(), [&](Index b) {
      const auto begin = std::lower_bound(rows_.begin(), rows_.end(), b * store.block_rows());
      const auto end = std::lower_bound(begin, rows_.end(), (b + 1) * store.block_rows());
      context.check_cancelled();
      for (auto at = begin; at != end; ++at) {
        copy_rows(x, store.some_rows(*at, 1), 0, 1, out.row(at - rows_.begin()));
      }
    });
    return out;
  }

 private:
  const Source& source_;
  const std::vector<Index>& rows_;
};

}  // namespace

std::vector<Index> sample_rows(Index n, Index count, std::uint64_t seed) {
  constexpr std::uint64_t kStream = 0x726f7773;  // its own stream of the seed
  const Random random(seed, kStream);
  std::vector<Index> rows(count);
  for (Index i = 0; i < count; ++i) {
    const Index begin = i * n / count, end = (i + 1) * n / count;
    rows[i] = begin + random.below(static_cast<std::uint64_t>(i), end - begin);
  }
  return rows;
}

Matrix gather_rows(const Source& source, const std::vector<Index>& rows, Context& context) {
  return reduce(GatherPass(source, rows), context);
}

Matrix gather(const Source& source, Context& context) {
  const Centered x = uncentered(source);
  Matrix out(source.rows(), source.cols());
  context.count_pass();
  for_each_piece(source, context, [&](const Block& block, Index row0, Index rows) {
    copy_rows(x, block, row0, rows, out.row(block.first + row0));
  });
  return out;
}

void load_rows(const Centered& z, Index first, Index count, double* out) {
  assert(!z.source().sparse());
  load_part(z, first, count, 0, z.cols(), out);
}

namespace {

// Rows of a store may come in any order of columns.
void sort_rows(Entries& entries) {
  std::vector<std::pair<std::int32_t, double>> row;
  for (std::size_t i = 0; i + 1 < entries.offsets.size(); ++i) {
    const auto begin = entries.offsets[i], end = entries.offsets[i + 1];
    if (std::is_sorted(entries.columns.begin() + begin, entries.columns.begin() + end)) continue;
    row.clear();
    for (Index k = begin; k < end; ++k) {
      row.emplace_back(entries.columns[k], entries.values[k]);
    }
    std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (Index k = begin; k < end; ++k) {
      std::tie(entries.columns[k], entries.values[k]) = row[k - begin];
    }
  }
}

}  // namespace

Entries gather_entries(const Centered& z, Context& context) {
  assert(z.source().sparse());
  Entries out;
  out.offsets.assign(z.rows() + 1, 0);
  context.count_pass();
  for (Index b = 0; b < z.source().store().block_count(); ++b) {
    context.check_cancelled();
    const Block block = z.source().store().block(b);
    for_each_shifted(z, block, 0, block.rows, [&](Index row, Index j, double value) {
      out.columns.push_back(static_cast<std::int32_t>(j));
      out.values.push_back(value);
      ++out.offsets[row + 1];
    });
  }
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  sort_rows(out);
  return out;
}

Entries transposed(const Entries& entries, Index cols) {
  Entries out;
  out.offsets.assign(cols + 1, 0);
  for (const std::int32_t j : entries.columns) ++out.offsets[j + 1];
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  out.columns.resize(entries.columns.size());
  out.values.resize(entries.values.size());
  std::vector<Index> next(out.offsets.begin(), out.offsets.end() - 1);
  for (std::size_t i = 0; i + 1 < entries.offsets.size(); ++i) {
    for (Index k = entries.offsets[i]; k < entries.offsets[i + 1]; ++k) {
      const Index at = next[entries.columns[k]]++;
      out.columns[at] = static_cast<std::int32_t>(i);
      out.values[at] = entries.values[k];
    }
  }
  return out;
}

// --- Numbers of columns and rows -----------------------------------------------------------------------------------

namespace {

std::uint64_t print_of(double value, Fingerprint of) {
  if (of == Fingerprint::values || !std::isfinite(value)) return std::bit_cast<std::uint64_t>(value);
  int exponent = 0;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53)));
}

class FingerprintPass {
 public:
  static constexpr const char* kName = "column_fingerprints";
  static constexpr Index kReadings = 1;
  using Result = std::vector<std::uint64_t>;

  explicit FingerprintPass(const Source& source, Fingerprint of, Index first = 0)
      : source_(source), of_(of), first_(first), x_(uncentered(source)) {}
  auto given() const { return std::tuple<const Source&, Fingerprint, FirstRow>(source_, of_, FirstRow{first_}); }

  Result partial(const Block& block) const {
    Result prints(source_.cols());
    const auto add = [&](Index row, Index j, double value) {
      if (value == 0) return;  // sparse and dense twins agree
      if (source_.weighted() && source_.weights()[row] == 0) return;
      prints[j] += mix64(print_of(value, of_) ^ mix64(static_cast<std::uint64_t>(first_ + row)));
    };
    if (block.sparse) {
      for_each_shifted(x_, block, 0, block.rows, add);
      return prints;
    }
    std::vector<double> values(x_.cols());
    for (Index i = 0; i < block.rows; ++i) {
      load_tile(x_, block, i, 1, 0, x_.cols(), values.data(), x_.cols());
      for (std::size_t j = 0; j < values.size(); ++j) add(block.first + i, static_cast<Index>(j), values[j]);
    }
    return prints;
  }

  static void merge(Result& into, Result&& from) { add_counts(into, from); }
  bool fits(const Result& prints) const { return static_cast<Index>(prints.size()) == source_.cols(); }

 private:
  const Source& source_;
  const Fingerprint of_;
  const Index first_;
  const Centered x_;
};

}  // namespace

std::vector<std::uint64_t> column_fingerprints(const Source& source, Fingerprint of, Context& context) {
  return reduce(FingerprintPass(source, of), context);
}

namespace {

class RowNormsPass {
 public:
  static constexpr const char* kName = "row_norms";
  static constexpr Index kReadings = 1;
  using Result = Matrix;

  explicit RowNormsPass(const Source& source) : source_(source), x_(uncentered(source)) {}
  auto given() const { return std::tie(source_); }
  Index row_count() const { return source_.rows(); }
  static Index row_width() { return 1; }

  Matrix whole(Context& context) const {
    Matrix out(source_.rows(), 1);
    for_each_piece(source_, context, [&](const Block& block, Index row0, Index rows) {
      if (block.sparse) {
        for_each_shifted(x_, block, row0, rows, [&](Index row, Index, double value) { out(row, 0) += value * value; });
        return;
      }
      std::vector<double> row(x_.cols());
      for (Index i = 0; i < rows; ++i) {
        load_tile(x_, block, row0 + i, 1, 0, x_.cols(), row.data(), x_.cols());
        for (const double value : row) out(block.first + row0 + i, 0) += value * value;
      }
    });
    return out;
  }

 private:
  const Source& source_;
  const Centered x_;
};

}  // namespace

std::vector<double> row_squared_norms(const Source& source, Context& context) {
  const Matrix norms = reduce(RowNormsPass(source), context);
  return {norms.data(), norms.data() + norms.size()};
}

std::vector<WirePass> row_passes() {
  return {wire_pass<MovePass>(), wire_pass<GatherPass>(), wire_pass<FingerprintPass>(), wire_pass<RowNormsPass>()};
}

}  // namespace tamis
