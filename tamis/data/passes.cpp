// Products with the data.

#include <algorithm>
#include <cassert>

#include "tamis/data/blocks.h"
#include "tamis/data/tile.h"
#include "tamis/linalg/kernels.h"

namespace tamis {

namespace {

// --- Z V ---------------------------------------------------------------------------------------------------------

Index padded_width(Index cols) { return pieces(cols, kWidthStep<double>) * kWidthStep<double>; }

// V with its columns padded to whole vectors, as the skinny product takes it.
Matrix padded(const Matrix& v) {
  Matrix out(v.rows(), padded_width(v.cols()));
  for (Index i = 0; i < v.rows(); ++i) std::copy_n(v.row(i), v.cols(), out.row(i));
  return out;
}

// Z as the dense products take it: T - 1 offset', where T holds X itself and the offset is its centre (z.folds()), or T
// holds Z and the offset is 0. Which of them is a property of the values, so that twins in other layouts keep their
// bits.
struct Folded {
  explicit Folded(const Centered& z)
      : rows(z.folds() ? Centered(z.source(), std::vector<double>(z.center().size()), 1.0) : z),
        offset(z.folds() ? z.center() : std::vector<double>(z.center().size())) {}
  const Centered rows;
  const std::vector<double> offset;
};

// offset' V.
std::vector<double> times_rows(const std::vector<double>& offset, const Matrix& v) {
  std::vector<double> out(static_cast<std::size_t>(v.cols()));
  for (Index j = 0; j < v.rows(); ++j) {
    kernels<double>().axpy(v.cols(), offset[static_cast<std::size_t>(j)], v.row(j), out.data());
  }
  return out;
}

// A few rows of T, in pieces of neighbouring columns: straight from the store where it holds doubles row by row in runs
// of some length, else copied into a tile.
class DenseRows {
 public:
  struct Piece {
    const double* data;
    Index step, first, cols;
  };

  DenseRows(const Folded& z, Index most_cols) : rows_(z.rows), step_(tile_step(std::min(most_cols, z.rows.cols()))) {}

  void load(const Block& block, Index row, Index count, Index col0, Index cols) {
    const DenseView& view = block.dense;
    pieces_.clear();
    if (view.dtype == DType::f64 && view.col_stride == 1 && rows_.plain_rows()) {
      const double* data = static_cast<const double*>(view.data) + row * view.row_stride;
      for (Index j = col0; j < col0 + cols;) {
        const Index end = std::min(rows_.run_end(j), col0 + cols);
        pieces_.push_back({data + rows_.source().columns()[static_cast<std::size_t>(j)], view.row_stride, j, end - j});
        j = end;
      }
      return;
    }
    tile_.resize(static_cast<std::size_t>(kTileRows * step_));
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

Matrix multiply_dense(const Centered& z, const Matrix& v, Context& context) {
  const Folded folded(z);
  const Matrix vp = padded(v);
  const std::vector<double> offset = times_rows(folded.offset, vp);
  const Index d = z.cols(), width = vp.cols();
  Matrix out(z.rows(), v.cols());
  for_each_piece(z.source(), context, [&](const Block& block, Index row0, Index rows) {
    DenseRows some(folded, kTileCols);
    std::vector<double> y(static_cast<std::size_t>(kTileRows * width));
    for (Index row = row0; row < row0 + rows; row += kTileRows) {
      const Index count = std::min(kTileRows, row0 + rows - row);
      const char* ahead = d <= kTileCols ? rows_ahead(block, row + count) : nullptr;
      std::fill(y.begin(), y.end(), 0.0);
      for (Index col0 = 0; col0 < d; col0 += kTileCols) {
        some.load(block, row, count, col0, std::min(kTileCols, d - col0));
        some.add_product(count, vp, y.data(), ahead, size_of(block.dense.dtype));
      }
      for (Index i = 0; i < count; ++i) {
        double* to = out.row(block.first + row + i);
        for (Index k = 0; k < out.cols(); ++k) {
          to[k] = y[static_cast<std::size_t>(i * width + k)] - offset[static_cast<std::size_t>(k)];
        }
      }
    }
  });
  return out;
}

// Entries of one row, shifted and scaled, as the sparse kernels take them: the store's own where nothing changes them.
struct RowEntries {
  const double* values = nullptr;
  const std::int32_t* columns = nullptr;
  Index count = 0;

  void load(const Centered& z, const Block& block, Index i) {
    const Index first = block.csr.offsets[i], stored = block.csr.offsets[i + 1] - first;
    if (z.plain_entries() && block.csr.dtype == DType::f64) {
      values = static_cast<const double*>(block.csr.values) + first;
      columns = block.csr.columns + first;
      count = stored;
      return;
    }
    if (static_cast<Index>(own_values_.size()) < stored) {
      own_values_.resize(static_cast<std::size_t>(stored));
      own_columns_.resize(static_cast<std::size_t>(stored));
    }
    std::size_t used = 0;
    for_each_shifted(z, block, i, 1, [&](Index, Index j, double value) {
      own_values_[used] = value;
      own_columns_[used++] = static_cast<std::int32_t>(j);
    });
    values = own_values_.data();
    columns = own_columns_.data();
    count = static_cast<Index>(used);
  }

 private:
  std::vector<double> own_values_;
  std::vector<std::int32_t> own_columns_;
};

}  // namespace

Matrix multiply(const Centered& z, const Matrix& v, Context& context) {
  assert(v.rows() == z.cols());
  if (!z.source().sparse()) return multiply_dense(z, v, context);
  Matrix out(z.rows(), v.cols());
  const std::vector<double> offset = times_rows(implicit_center(z), v);
  const Matrix vp = padded(v);
  for_each_piece(z.source(), context, [&](const Block& block, Index row0, Index rows) {
    RowEntries entries;
    std::vector<double> y(static_cast<std::size_t>(vp.cols()));
    for (Index i = row0; i < row0 + rows; ++i) {
      entries.load(z, block, i);
      std::fill(y.begin(), y.end(), 0.0);
      kernels<double>().sparse_gather(entries.count, entries.values, entries.columns, vp.data(), vp.cols(), y.data());
      for (std::size_t k = 0; k < offset.size(); ++k) {
        out(block.first + i, static_cast<Index>(k)) = y[k] - offset[k];
      }
    }
  });
  return out;
}

// --- Z'T ---------------------------------------------------------------------------------------------------------

namespace {

// The sums of T's columns come with a last row for 1'Y, by which the offset is taken off: Z'Y = T'Y - offset (1'Y).
Matrix without_offset(const Matrix& sums, const std::vector<double>& offset, Index cols) {
  Matrix out(sums.rows() - 1, cols);
  const double* total = sums.row(out.rows());
  for (Index j = 0; j < out.rows(); ++j) {
    const double center = offset[static_cast<std::size_t>(j)];
    for (Index k = 0; k < cols; ++k) out(j, k) = sums(j, k) - center * total[k];
  }
  return out;
}

void add_rows(Index count, const double* y, Index width, double* total) {
  for (Index i = 0; i < count; ++i) kernels<double>().axpy(width, 1.0, y + i * width, total);
}

Matrix multiply_transposed_dense(const Centered& z, const Matrix& t, Context& context) {
  const Folded folded(z);
  const Index d = z.cols();
  const Matrix tp = padded(t);
  Matrix sums(d + 1, tp.cols());
  add_rows(t.rows(), tp.data(), tp.cols(), sums.row(d));
  const auto partial = [&](const Block& block, Index q) {
    const Index col0 = q * kTileCols, cols = std::min(kTileCols, d - col0);
    DenseRows some(folded, kTileCols);
    Matrix sum(cols, tp.cols());
    for (Index row = 0; row < block.rows; row += kTileRows) {
      const Index count = std::min(kTileRows, block.rows - row);
      some.load(block, row, count, col0, cols);
      some.add_transposed(count, tp.row(block.first + row), col0, sum);
    }
    return sum;
  };
  reduce_pieces<Matrix>(z.source().store(), pieces(d, kTileCols), context, partial, add_matrix,
                        [&](Index q, Matrix&& sum) { std::copy_n(sum.data(), sum.size(), sums.row(q * kTileCols)); });
  return without_offset(sums, folded.offset, t.cols());
}

Matrix multiply_transposed_sparse(const Centered& z, const Matrix& t, Context& context) {
  const Index m = t.cols();
  const Matrix tp = padded(t);
  context.count_pass();
  const Matrix sums = reduce_blocks<Matrix>(
      z.source().store(), context,
      [&](const Block& block) {
        Matrix sum(z.cols(), tp.cols());
        RowEntries entries;
        for (Index i = 0; i < block.rows; ++i) {
          entries.load(z, block, i);
          kernels<double>().sparse_scatter(entries.count, entries.values, entries.columns, tp.row(block.first + i),
                                           tp.cols(), sum.data());
        }
        return sum;
      },
      add_matrix);
  Matrix out(z.cols(), m);
  for (Index j = 0; j < z.cols(); ++j) std::copy_n(sums.row(j), m, out.row(j));
  std::vector<double> total(static_cast<std::size_t>(m));
  for (Index i = 0; i < t.rows(); ++i) kernels<double>().axpy(m, 1.0, t.row(i), total.data());
  const std::vector<double> center = implicit_center(z);
  for (Index j = 0; j < z.cols(); ++j) {
    kernels<double>().axpy(m, -center[static_cast<std::size_t>(j)], total.data(), out.row(j));
  }
  return out;
}

}  // namespace

Matrix multiply_transposed(const Centered& z, const Matrix& t, Context& context) {
  assert(t.rows() == z.rows());
  return z.source().sparse() ? multiply_transposed_sparse(z, t, context) : multiply_transposed_dense(z, t, context);
}

// --- Z'(ZV) ------------------------------------------------------------------------------------------------------

namespace {

// From this many blocks on, one sweep that keeps a few rows in cache for both products keeps all threads busy.
constexpr Index kSweepBlocks = 3;
constexpr Index kSweepCols = 4096;

// sum (d + 1 x width) += [T 1]'(T V - 1 offset') for the rows of one block, a few at a time.
void sweep_block(const Folded& z, const Block& block, const Matrix& v, const std::vector<double>& offset, Matrix& sum) {
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
    add_rows(count, y.data(), width, sum.row(d));
  }
}

}  // namespace

Matrix scatter_product(const Centered& z, const Matrix& v, Context& context) {
  const Store& store = z.source().store();
  if (z.source().sparse() || store.block_count() < kSweepBlocks || z.cols() > kSweepCols) {
    return multiply_transposed(z, multiply(z, v, context), context);
  }
  context.count_pass();
  const Folded folded(z);
  const Matrix vp = padded(v);
  const std::vector<double> offset = times_rows(folded.offset, vp);
  const Matrix sums = reduce_blocks<Matrix>(
      store, context,
      [&](const Block& block) {
        Matrix partial(z.cols() + 1, vp.cols());
        sweep_block(folded, block, vp, offset, partial);
        return partial;
      },
      add_matrix);
  return without_offset(sums, folded.offset, v.cols());
}

}  // namespace tamis
