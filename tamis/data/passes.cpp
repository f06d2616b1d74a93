// Products with the data.

#include <algorithm>
#include <cassert>

#include "tamis/data/blocks.h"
#include "tamis/data/tile.h"
#include "tamis/linalg/kernels.h"

namespace tamis {

namespace {

// --- Z V ---------------------------------------------------------------------------------------------------------

// V with its columns padded to whole vectors, as the skinny product takes it.
template <class T>
BasicMatrix<T> padded(const Matrix& v) {
  const Index width = pieces(v.cols(), kWidthStep<T>) * kWidthStep<T>;
  BasicMatrix<T> out(v.rows(), width);
  for (Index i = 0; i < v.rows(); ++i) {
    for (Index k = 0; k < v.cols(); ++k) out(i, k) = static_cast<T>(v(i, k));
  }
  return out;
}

// y (rows x width) += tile V, a stretch of V at a time that stays in the nearest cache.
// Meanwhile the memory at `ahead`, as large as the tile in the store, is fetched.
template <class T>
void add_tile_product(const T* tile, Index rows, Index cols, Index step, const T* v, Index width, T* y,
                      const char* ahead, Index item) {
  constexpr Index kStretch = 256;
  for (Index k = 0; k < cols; k += kStretch) {
    const Index depth = std::min(kStretch, cols - k);
    kernels<T>().skinny_product(rows, depth, tile + k, step, 1, v + k * width, width, y, ahead + k * rows * item, item);
  }
}

// Where the rows after these lie, for fetching them early; null where rows are not simply one after the other.
const char* rows_ahead(const Block& block, Index row) {
  const DenseView& view = block.dense;
  if (view.col_stride != 1 || row >= view.rows) return nullptr;
  return static_cast<const char*>(view.data) + row * view.row_stride * static_cast<Index>(size_of(view.dtype));
}

template <class T>
void multiply_dense_piece(const Centered& z, const Block& block, Index row0, Index rows, const BasicMatrix<T>& v,
                          BasicMatrix<T>& out) {
  const Index d = z.cols(), width = v.cols(), step = tile_step(std::min(d, kTileCols));
  std::vector<T> tile(static_cast<std::size_t>(kTileRows * step)), y(static_cast<std::size_t>(kTileRows * width));
  for (Index r = 0; r < rows; r += kTileRows) {
    const Index count = std::min(kTileRows, rows - r);
    std::fill(y.begin(), y.end(), T(0));
    for (Index col0 = 0; col0 < d; col0 += kTileCols) {
      const Index cols = std::min(kTileCols, d - col0);
      load_tile(z, block, row0 + r, count, col0, cols, tile.data(), step);
      const char* ahead = d <= kTileCols ? rows_ahead(block, row0 + r + count) : nullptr;
      add_tile_product(tile.data(), count, cols, step, v.row(col0), width, y.data(), ahead,
                       ahead == nullptr ? 0 : static_cast<Index>(size_of(block.dense.dtype)));
    }
    for (Index i = 0; i < count; ++i) {
      std::copy_n(y.data() + i * width, out.cols(), out.row(block.first + row0 + r + i));
    }
  }
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

// offset = center' V: what every row of a sparse product lacks.
std::vector<double> center_times(const std::vector<double>& center, const Matrix& v) {
  std::vector<double> out(static_cast<std::size_t>(v.cols()));
  for (Index j = 0; j < v.rows(); ++j) {
    kernels<double>().axpy(v.cols(), center[static_cast<std::size_t>(j)], v.row(j), out.data());
  }
  return out;
}

}  // namespace

template <class T>
BasicMatrix<T> multiply(const Centered& z, const Matrix& v, Context& context) {
  assert(v.rows() == z.cols());
  BasicMatrix<T> out(z.rows(), v.cols());
  if (!z.source().sparse()) {
    const BasicMatrix<T> vt = padded<T>(v);
    for_each_piece(z.source(), context, [&](const Block& block, Index row0, Index rows) {
      multiply_dense_piece(z, block, row0, rows, vt, out);
    });
    return out;
  }
  const std::vector<double> offset = center_times(implicit_center(z), v);
  const Matrix vp = padded<double>(v);
  for_each_piece(z.source(), context, [&](const Block& block, Index row0, Index rows) {
    RowEntries entries;
    std::vector<double> y(static_cast<std::size_t>(vp.cols()));
    for (Index i = row0; i < row0 + rows; ++i) {
      entries.load(z, block, i);
      std::fill(y.begin(), y.end(), 0.0);
      kernels<double>().sparse_gather(entries.count, entries.values, entries.columns, vp.data(), vp.cols(), y.data());
      for (std::size_t k = 0; k < offset.size(); ++k) {
        out(block.first + i, static_cast<Index>(k)) = static_cast<T>(y[k] - offset[k]);
      }
    }
  });
  return out;
}

template BasicMatrix<double> multiply<double>(const Centered&, const Matrix&, Context&);
template BasicMatrix<float> multiply<float>(const Centered&, const Matrix&, Context&);

// --- Z'T ---------------------------------------------------------------------------------------------------------

namespace {

Matrix multiply_transposed_dense(const Centered& z, const Matrix& t, Context& context) {
  const Index d = z.cols();
  Matrix out(d, t.cols());
  const Matrix tp = padded<double>(t);
  const auto partial = [&](const Block& block, Index q) {
    const Index col0 = q * kTileCols, cols = std::min(kTileCols, d - col0);
    const Index step = tile_step(cols);
    std::vector<double> tile(static_cast<std::size_t>(kTileRows * step));
    Matrix sum(cols, tp.cols());
    for (Index row0 = 0; row0 < block.rows; row0 += kTileRows) {
      const Index rows = std::min(kTileRows, block.rows - row0);
      load_tile(z, block, row0, rows, col0, cols, tile.data(), step);
      kernels<double>().skinny_product(cols, rows, tile.data(), 1, step, tp.row(block.first + row0), tp.cols(),
                                       sum.data(), nullptr, 0);
    }
    return sum;
  };
  reduce_pieces<Matrix>(z.source().store(), pieces(d, kTileCols), context, partial, add_matrix,
                        [&](Index q, Matrix&& sum) {
                          for (Index j = 0; j < sum.rows(); ++j) {
                            std::copy_n(sum.row(j), out.cols(), out.row(q * kTileCols + j));
                          }
                        });
  return out;
}

Matrix multiply_transposed_sparse(const Centered& z, const Matrix& t, Context& context) {
  const Index m = t.cols();
  const Matrix tp = padded<double>(t);
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

// sum (d x width) += T'(T V) for the rows of one block, a few at a time.
void sweep_block(const Centered& z, const Block& block, const Matrix& v, Matrix& sum) {
  const Index d = z.cols(), width = v.cols(), step = tile_step(d);
  std::vector<double> tile(static_cast<std::size_t>(kTileRows * step));
  Matrix y(kTileRows, width);
  for (Index row0 = 0; row0 < block.rows; row0 += kTileRows) {
    const Index rows = std::min(kTileRows, block.rows - row0);
    std::fill_n(y.data(), y.size(), 0.0);
    load_tile(z, block, row0, rows, 0, d, tile.data(), step);
    const char* ahead = rows_ahead(block, row0 + rows);
    add_tile_product(tile.data(), rows, d, step, v.data(), width, y.data(), ahead,
                     ahead == nullptr ? 0 : static_cast<Index>(size_of(block.dense.dtype)));
    kernels<double>().skinny_product(d, rows, tile.data(), 1, step, y.data(), width, sum.data(), nullptr, 0);
  }
}

}  // namespace

Matrix scatter_product(const Centered& z, const Matrix& v, Context& context) {
  const Store& store = z.source().store();
  if (z.source().sparse() || store.block_count() < kSweepBlocks || z.cols() > kSweepCols) {
    return multiply_transposed(z, multiply<double>(z, v, context), context);
  }
  context.count_pass();
  const Matrix vp = padded<double>(v);
  const Matrix sum = reduce_blocks<Matrix>(
      store, context,
      [&](const Block& block) {
        Matrix partial(z.cols(), vp.cols());
        sweep_block(z, block, vp, partial);
        return partial;
      },
      add_matrix);
  Matrix out(z.cols(), v.cols());
  for (Index j = 0; j < z.cols(); ++j) std::copy_n(sum.row(j), v.cols(), out.row(j));
  return out;
}

}  // namespace tamis
