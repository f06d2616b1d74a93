// Products with the data.

#include <algorithm>
#include <cassert>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "tamis/data/passes/pass.h"
#include "tamis/data/passes/row_entries.h"
#include "tamis/data/passes/tile.h"
#include "tamis/linalg/kernels.h"

namespace tamis {

namespace {

// --- Z V ---------------------------------------------------------------------------------------------------------

Index padded_width(Index cols) { return pieces(cols, kWidthStep<double>) * kWidthStep<double>; }

// V with its columns padded to whole vectors, as the skinny product takes it: V itself where they are.
class Padded {
 public:
  explicit Padded(const Matrix& v) : v_(v) {
    if (padded_width(v.cols()) == v.cols()) return;
    own_ = Matrix(v.rows(), padded_width(v.cols()));
    for (Index i = 0; i < v.rows(); ++i) std::copy_n(v.row(i), v.cols(), own_.row(i));
  }
  const Matrix& matrix() const { return padded_width(v_.cols()) == v_.cols() ? v_ : own_; }

 private:
  const Matrix& v_;
  Matrix own_;
};

// Z as the dense products take it: T - 1 offset', where T holds X itself and the offset is its center
// (z.defers_center()), or T holds Z and the offset is 0. Which of them is a property of the values, so that twins in
// other layouts keep their bits.
struct OffsetRows {
  explicit OffsetRows(const Centered& z)
      : plain(z.defers_center() ? std::optional<Centered>(std::in_place, z.source(), zeros(z), 1.0) : std::nullopt),
        rows(plain ? *plain : z),
        offset(plain ? z.center() : zeros(z)) {}
  static std::vector<double> zeros(const Centered& z) { return std::vector<double>(z.center().size()); }
  const std::optional<Centered> plain;
  const Centered& rows;
  const std::vector<double> offset;
};

// The V that Z is to be multiplied by.
const Matrix& factor_of(const Centered& z, const Matrix& v) {
  require(v.rows() == z.cols(), ErrorCode::internal, "a factor of ", v.rows(), " rows, need ", z.cols());
  return v;
}

// offset' V.
std::vector<double> times_rows(const std::vector<double>& offset, const Matrix& v) {
  std::vector<double> out(v.cols());
  for (Index j = 0; j < v.rows(); ++j) {
    kernels<double>().axpy(v.cols(), offset[j], v.row(j), out.data());
  }
  return out;
}

// Columns of a few rows that are copied at a time where each is used once: they and their rows of V stay in the nearest
// cache.
constexpr Index kNearCols = 128;

// A few rows of T, in pieces of neighboring columns: straight from the store where it holds doubles row by row in runs
// of some length, else copied into a tile.
class DenseRows {
 public:
  struct Piece {
    const double* data;
    Index step, first, cols;
  };

  DenseRows(const OffsetRows& z, Index most_cols)
      : rows_(z.rows), step_(tile_step(std::min(most_cols, z.rows.cols()))) {}

  void load(const Block& block, Index row, Index count, Index col0, Index cols) {
    const DenseView& view = block.dense;
    pieces_.clear();
    if (view.dtype == DType::f64 && view.col_stride == 1 && rows_.plain_rows()) {
      const double* data = static_cast<const double*>(view.data) + row * view.row_stride;
      for (Index j = col0; j < col0 + cols;) {
        const Index end = std::min(rows_.run_end(j), col0 + cols);
        pieces_.push_back({data + rows_.source().columns()[j], view.row_stride, j, end - j});
        j = end;
      }
      return;
    }
    tile_.resize(kTileRows * step_);
    load_tile(rows_, block, row, count, col0, cols, tile_.data(), step_);
    pieces_.push_back({tile_.data(), step_, col0, cols});
  }

  // y (count x width) += T V, a stretch of V at a time that stays in the nearest cache. Meanwhile the memory at `ahead`
  // (as much as was loaded; may be null) is fetched.
  void add_product(Index count, const Matrix& v, double* y, const char* ahead, std::size_t item_size) const {
    constexpr Index kStretch = 256;
    const Index item = ahead == nullptr ? 0 : static_cast<Index>(item_size);
    for (const Piece& piece : pieces_) {
      for (Index k = 0; k < piece.cols; k += kStretch) {
        const Index depth = std::min(kStretch, piece.cols - k);
        kernels<double>().skinny_product(count, depth, piece.data + k, piece.step, 1, v.row(piece.first + k), v.cols(),
                                         y, ahead, item);
        ahead += count * depth * item;
      }
    }
  }

  // sum (cols loaded x width, from its row `first` on) += T'Y.
  void add_transposed(Index count, const double* y, Index first, Matrix& sum) const {
    for (const Piece& piece : pieces_) {
      kernels<double>().skinny_product(piece.cols, count, piece.data, 1, piece.step, y, sum.cols(),
                                       sum.row(piece.first - first), nullptr, 0);
    }
  }

 private:
  const Centered& rows_;
  const Index step_;
  std::vector<double> tile_;
  std::vector<Piece> pieces_;
};

// Where the rows after these lie, for fetching them early; null where rows are not simply one after the other.
const char* rows_ahead(const Block& block, Index row) {
  const DenseView& view = block.dense;
  if (view.col_stride != 1 || row >= view.rows) return nullptr;
  return static_cast<const char*>(view.data) + row * view.row_stride * static_cast<Index>(size_of(view.dtype));
}

// Z V, row by row.
class MultiplyPass {
 public:
  static constexpr const char* kName = "multiply";
  static constexpr Index kReadings = 1;
  using Result = Matrix;

  MultiplyPass(const Centered& z, const Matrix& v) : z_(z), v_(factor_of(z, v)) {}
  auto given() const { return std::tie(z_, v_); }
  Index row_count() const { return z_.rows(); }
  Index row_width() const { return v_.cols(); }

  Matrix whole(Context& context) const {
    Matrix out(z_.rows(), v_.cols());
    if (z_.source().sparse()) {
      multiply_sparse(out, context);
    } else {
      multiply_dense(out, context);
    }
    return out;
  }

 private:
  void multiply_dense(Matrix& out, Context& context) const {
    const OffsetRows offset_rows(z_);
    const Padded whole(v_);
    const Matrix& vp = whole.matrix();
    const std::vector<double> offset = times_rows(offset_rows.offset, vp);
    const Index d = z_.cols(), width = vp.cols();
    for_each_piece(z_.source(), context, [&](const Block& block, Index row0, Index rows) {
      DenseRows some(offset_rows, kNearCols);
      std::vector<double> y(kTileRows * width);
      for (Index row = row0; row < row0 + rows; row += kTileRows) {
        const Index count = std::min(kTileRows, row0 + rows - row);
        const char* ahead = d <= kTileCols ? rows_ahead(block, row + count) : nullptr;
        std::fill(y.begin(), y.end(), 0.0);
        for (Index col0 = 0; col0 < d; col0 += kNearCols) {
          const Index cols = std::min(kNearCols, d - col0);
          some.load(block, row, count, col0, cols);
          some.add_product(count, vp, y.data(), ahead, size_of(block.dense.dtype));
          if (ahead != nullptr) ahead += count * cols * static_cast<Index>(size_of(block.dense.dtype));
        }
        for (Index i = 0; i < count; ++i) {
          double* to = out.row(block.first + row + i);
          for (Index k = 0; k < out.cols(); ++k) {
            to[k] = y[i * width + k] - offset[k];
          }
        }
      }
    });
  }

  void multiply_sparse(Matrix& out, Context& context) const {
    const std::vector<double> offset = times_rows(implicit_center(z_), v_);
    const Padded whole(v_);
    const Matrix& vp = whole.matrix();
    for_each_piece(z_.source(), context, [&](const Block& block, Index row0, Index rows) {
      RowEntries entries;
      std::vector<double> y(vp.cols());
      for (Index i = row0; i < row0 + rows; ++i) {
        entries.load(z_, block, i);
        std::fill(y.begin(), y.end(), 0.0);
        kernels<double>().sparse_gather(entries.count, entries.values, entries.columns, vp.data(), vp.cols(), y.data());
        const double root = z_.root(block.first + i);
        for (std::size_t k = 0; k < offset.size(); ++k) {
          out(block.first + i, static_cast<Index>(k)) = y[k] - root * offset[k];
        }
      }
    });
  }

  const Centered& z_;
  const Matrix& v_;
};

}  // namespace

Matrix multiply(const Centered& z, const Matrix& v, Context& context) { return reduce(MultiplyPass(z, v), context); }

// --- Z'T ---------------------------------------------------------------------------------------------------------

namespace {

// What is taken off the products in sum: Z = T - 1 offset'.
std::vector<double> offset_of(const Centered& z) {
  if (z.source().sparse()) return implicit_center(z);
  return z.defers_center() ? z.center() : std::vector<double>(z.center().size());
}

// Z'Y = T'Y - offset (1'Y) out of the sums T'Y over pieces of T's columns, the first of which ends with 1'Y; where rows
// have weights, 1 stands for their roots.
Matrix without_offset(Sums sums, const std::vector<double>& offset, Index cols) {
  Matrix out(static_cast<Index>(offset.size()), cols);
  Index j = 0;
  for (std::size_t q = 0; q < sums.size(); ++q) {
    const double* total = sums.front().row(sums.front().rows() - 1);
    const Index rows = sums[q].rows() - (q == 0 ? 1 : 0);
    for (Index i = 0; i < rows; ++i, ++j) {
      const double center = offset[j];
      for (Index k = 0; k < cols; ++k) out(j, k) = sums[q](i, k) - center * total[k];
    }
    if (q > 0) sums[q] = Matrix();
  }
  return out;
}

void add_rows(const Centered& z, Index first, Index count, const double* y, Index width, double* total) {
  for (Index i = 0; i < count; ++i) kernels<double>().axpy(width, z.root(first + i), y + i * width, total);
}

Index transposed_pieces(const Centered& z) { return z.source().sparse() ? 1 : pieces(z.cols(), kTileCols); }

// Whether these are [T 1]'Y, over pieces of T's columns, for a Y of so many columns.
bool transposed_fit(const Sums& sums, const Centered& z, Index piece_count, Index cols) {
  Index begin = 0;
  const Index step = piece_count == 1 ? z.cols() : kTileCols;
  for (const Matrix& sum : sums) {
    if (!has_shape(sum, std::min(step, z.cols() - begin) + (begin == 0 ? 1 : 0), padded_width(cols))) return false;
    begin += step;
  }
  return static_cast<Index>(sums.size()) == piece_count;
}

// [T 1]'Y with the rows of Y that belong to those of T.
class TransposedPass {
 public:
  static constexpr const char* kName = "multiply_transposed";
  static constexpr Index kReadings = 1;
  using Result = Sums;

  TransposedPass(const Centered& z, const Matrix& t)
      : z_(z), t_(t), offset_rows_(z.source().sparse() ? nullptr : std::make_unique<OffsetRows>(z)), padded_(t) {}
  auto given() const { return std::tuple<const Centered&, ByRow<Matrix>>(z_, ByRow{t_}); }

  Index pieces() const { return transposed_pieces(z_); }
  bool fits(const Sums& sums) const { return transposed_fit(sums, z_, pieces(), t_.cols()); }

  Matrix partial(const Block& block, Index q) const {
    return offset_rows_ == nullptr ? partial_sparse(block) : partial_dense(block, q);
  }

 private:
  Matrix partial_dense(const Block& block, Index q) const {
    const Matrix& tp = padded_.matrix();
    const Index col0 = q * kTileCols, cols = std::min(kTileCols, z_.cols() - col0);
    DenseRows some(*offset_rows_, kTileCols);
    Matrix sum(cols + (q == 0 ? 1 : 0), tp.cols());
    for (Index row = 0; row < block.rows; row += kTileRows) {
      const Index count = std::min(kTileRows, block.rows - row);
      some.load(block, row, count, col0, cols);
      some.add_transposed(count, tp.row(block.first + row), col0, sum);
    }
    if (q == 0) add_rows(z_, block.first, block.rows, tp.row(block.first), tp.cols(), sum.row(cols));
    return sum;
  }

  Matrix partial_sparse(const Block& block) const {
    const Matrix& tp = padded_.matrix();
    Matrix sum(z_.cols() + 1, tp.cols());
    RowEntries entries;
    for (Index i = 0; i < block.rows; ++i) {
      entries.load(z_, block, i);
      kernels<double>().sparse_scatter(entries.count, entries.values, entries.columns, tp.row(block.first + i),
                                       tp.cols(), sum.data());
    }
    add_rows(z_, block.first, block.rows, tp.row(block.first), tp.cols(), sum.row(z_.cols()));
    return sum;
  }

  const Centered& z_;
  const Matrix& t_;
  const std::unique_ptr<const OffsetRows> offset_rows_;  // where dense
  const Padded padded_;
};

}  // namespace

Matrix multiply_transposed(const Centered& z, const Matrix& t, Context& context) {
  assert(t.rows() == z.rows());
  return without_offset(reduce(TransposedPass(z, t), context), offset_of(z), t.cols());
}

// --- Z'(ZV) ------------------------------------------------------------------------------------------------------

namespace {

// From this many blocks on, one sweep that keeps a few rows in cache for both products keeps all threads busy.
constexpr Index kSweepBlocks = 3;
constexpr Index kSweepCols = 4096;

// sum (d + 1 x width) += [T 1]'(T V - 1 offset') for the rows of one block, a few at a time.
void sweep_block(const OffsetRows& z, const Block& block, const Matrix& v, const std::vector<double>& offset,
                 Matrix& sum) {
  const Index d = v.rows(), width = v.cols();
  DenseRows some(z, d);
  Matrix y(kTileRows, width);
  for (Index row = 0; row < block.rows; row += kTileRows) {
    const Index count = std::min(kTileRows, block.rows - row);
    for (Index i = 0; i < count; ++i) {
      std::transform(offset.begin(), offset.end(), y.row(i), [](double value) { return -value; });
    }
    some.load(block, row, count, 0, d);
    some.add_product(count, v, y.data(), rows_ahead(block, row + count), size_of(block.dense.dtype));
    some.add_transposed(count, y.data(), 0, sum);
    add_rows(z.rows, block.first + row, count, y.data(), width, sum.row(d));
  }
}

// The same of sparse rows, one at a time.
void sweep_sparse_block(const Centered& z, const Block& block, const Matrix& v, const std::vector<double>& offset,
                        Matrix& sum) {
  RowEntries entries;
  std::vector<double> y(v.cols());
  for (Index i = 0; i < block.rows; ++i) {
    entries.load(z, block, i);
    std::fill(y.begin(), y.end(), 0.0);
    kernels<double>().sparse_gather(entries.count, entries.values, entries.columns, v.data(), v.cols(), y.data());
    const double root = z.root(block.first + i);
    for (std::size_t k = 0; k < y.size(); ++k) y[k] -= root * offset[k];
    kernels<double>().sparse_scatter(entries.count, entries.values, entries.columns, y.data(), v.cols(), sum.data());
    add_rows(z, block.first + i, 1, y.data(), v.cols(), sum.row(z.cols()));
  }
}

// [T 1]'(Z V) in one reading.
class SweepPass {
 public:
  static constexpr const char* kName = "sweep";
  static constexpr Index kReadings = 1;
  using Result = Sums;

  SweepPass(const Centered& z, const Matrix& v)
      : z_(z),
        v_(factor_of(z, v)),
        offset_rows_(z.source().sparse() ? nullptr : std::make_unique<OffsetRows>(z)),
        padded_(v),
        offset_(times_rows(offset_rows_ == nullptr ? implicit_center(z) : offset_rows_->offset, padded_.matrix())) {}
  auto given() const { return std::tie(z_, v_); }

  Index pieces() const { return 1; }
  bool fits(const Sums& sums) const { return transposed_fit(sums, z_, 1, v_.cols()); }

  Matrix partial(const Block& block, Index) const {
    const Matrix& vp = padded_.matrix();
    Matrix sum(z_.cols() + 1, vp.cols());
    if (offset_rows_ == nullptr) {
      sweep_sparse_block(z_, block, vp, offset_, sum);
    } else {
      sweep_block(*offset_rows_, block, vp, offset_, sum);
    }
    return sum;
  }

 private:
  const Centered& z_;
  const Matrix& v_;
  const std::unique_ptr<const OffsetRows> offset_rows_;  // where dense
  const Padded padded_;
  const std::vector<double> offset_;
};

// The same in two: Z V stays where its rows are.
class ScatterPass {
 public:
  static constexpr const char* kName = "scatter";
  static constexpr Index kReadings = 2;
  using Result = Sums;

  ScatterPass(const Centered& z, const Matrix& v) : z_(z), v_(v) {}
  auto given() const { return std::tie(z_, v_); }
  bool fits(const Sums& sums) const { return transposed_fit(sums, z_, transposed_pieces(z_), v_.cols()); }

  Sums whole(Context& context) const {
    return reduce_here(TransposedPass(z_, reduce_here(MultiplyPass(z_, v_), context)), context);
  }

 private:
  const Centered& z_;
  const Matrix& v_;
};

// A function of all the rows' shape, wherever they are.
bool sweeps(const Source& source) {
  return source.store().block_count() >= kSweepBlocks && source.cols() <= kSweepCols;
}

}  // namespace

Matrix scatter_product(const Centered& z, const Matrix& v, Context& context) {
  Sums sums = sweeps(z.source()) ? reduce(SweepPass(z, v), context) : reduce(ScatterPass(z, v), context);
  return without_offset(std::move(sums), offset_of(z), v.cols());
}

std::vector<WirePass> product_passes() {
  return {wire_pass<MultiplyPass>(), wire_pass<TransposedPass>(), wire_pass<SweepPass>(), wire_pass<ScatterPass>()};
}

}  // namespace tamis
