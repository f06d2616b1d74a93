#include "tamis/data/passes.h"

#include <algorithm>
#include <cassert>

#include "tamis/base/random.h"
#include "tamis/data/reduce.h"
#include "tamis/data/sparse_rows.h"
#include "tamis/data/tile.h"
#include "tamis/linalg/blas.h"
#include "tamis/linalg/kernels.h"

namespace tamis {

namespace {

// Rows whose results do not depend on each other are handed out in pieces of this size.
constexpr Index kPieceRows = 256;
// Columns of a panel of the Gram matrix, and the rows that are loaded for it at a time.
constexpr Index kGramCols = 512;
constexpr Index kGramRows = 256;

Index pieces(Index total, Index size) { return (total + size - 1) / size; }

// visit(block, row0, rows) for pieces of rows, in parallel.
template <class Visit>
void for_each_piece(const Source& source, Context& context, Visit visit) {
  const Store& store = source.store();
  const Index per_block = pieces(std::min(store.block_rows(), std::max<Index>(store.rows(), 1)), kPieceRows);
  context.count_pass();
  context.pool().run(store.block_count() * per_block, [&](Index task) {
    const Block block = store.block(task / per_block);
    const Index row0 = task % per_block * kPieceRows;
    if (row0 >= block.rows) return;
    context.check_cancelled();
    visit(block, row0, std::min(kPieceRows, block.rows - row0));
  });
}

// partial(block, piece) for every block and every piece of the columns; each piece has its own tree over the blocks.
template <class Partial, class Leaf, class Merge, class Finish>
void reduce_pieces(const Store& store, Index piece_count, Context& context, Leaf leaf, Merge merge, Finish finish) {
  const Index blocks = store.block_count();
  std::vector<std::unique_ptr<TreeMerger<Partial, Merge>>> mergers;
  for (Index q = 0; q < piece_count; ++q) {
    mergers.push_back(std::make_unique<TreeMerger<Partial, Merge>>(blocks, merge));
  }
  context.count_pass();
  context.pool().run(blocks * piece_count, [&](Index task) {
    context.check_cancelled();
    const Index q = task % piece_count, b = task / piece_count;
    mergers[static_cast<std::size_t>(q)]->add(b, leaf(store.block(b), q));
  });
  for (Index q = 0; q < piece_count; ++q) finish(q, mergers[static_cast<std::size_t>(q)]->take());
}

void add_matrix(Matrix& into, Matrix&& from) {
  for (Index i = 0; i < into.size(); ++i) into.data()[i] += from.data()[i];
}

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

// The centring that stored entries do not carry: (center - shift)_j scale_j, taken off in sum.
std::vector<double> implicit_center(const Centered& z) {
  std::vector<double> out(z.center().size());
  for (std::size_t j = 0; j < out.size(); ++j) {
    out[j] = (z.center()[j] - z.shift()[j]) * (z.scale().empty() ? 1.0 : z.scale()[j]);
  }
  return out;
}

// visit(row, j, value) for stored entries of rows [row0, row0 + rows): the shift removed, scaled.
template <class Visit>
void for_each_shifted(const Centered& z, const Block& block, Index row0, Index rows, Visit visit) {
  const auto& csr = block.csr;
  const auto& row_scale = z.source().row_scale();
  const auto walk = [&](const auto* values) {
    for (Index i = row0; i < row0 + rows; ++i) {
      const double r = row_scale.empty() ? 1.0 : row_scale[static_cast<std::size_t>(block.first + i)];
      for (Index k = csr.offsets[i]; k < csr.offsets[i + 1]; ++k) {
        const auto column = static_cast<std::size_t>(csr.columns[k]);
        const Index j = z.position().empty() ? static_cast<Index>(column) : z.position()[column];
        if (j < 0) continue;
        const auto at = static_cast<std::size_t>(j);
        const double value = static_cast<double>(values[k]) * r - z.shift()[at];
        visit(block.first + i, j, z.scale().empty() ? value : value * z.scale()[at]);
      }
    }
  };
  if (csr.dtype == DType::f32) {
    walk(static_cast<const float*>(csr.values));
  } else {
    walk(static_cast<const double*>(csr.values));
  }
}

// Entries of one row, shifted and scaled, as the sparse kernels take them.
struct RowEntries {
  std::vector<double> values;
  std::vector<std::int32_t> columns;
  std::size_t used = 0;

  void load(const Centered& z, const Block& block, Index i) {
    const auto most = static_cast<std::size_t>(block.csr.offsets[i + 1] - block.csr.offsets[i]);
    if (values.size() < most) {
      values.resize(most);
      columns.resize(most);
    }
    used = 0;
    for_each_shifted(z, block, i, 1, [&](Index, Index j, double value) {
      values[used] = value;
      columns[used++] = static_cast<std::int32_t>(j);
    });
  }
  Index count() const { return static_cast<Index>(used); }
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
      kernels<double>().sparse_gather(entries.count(), entries.values.data(), entries.columns.data(), vp.data(),
                                      vp.cols(), y.data());
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
          kernels<double>().sparse_scatter(entries.count(), entries.values.data(), entries.columns.data(),
                                           tp.row(block.first + i), tp.cols(), sum.data());
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

// --- Gram matrices -----------------------------------------------------------------------------------------------

namespace {

// Copies the computed triangle onto the other.
void symmetrize(Matrix& a) {
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < i; ++j) a(i, j) = a(j, i);
  }
}

// Panel pairs (i <= j) of the upper triangle, counted row by row.
std::vector<std::pair<Index, Index>> upper_pairs(Index panels) {
  std::vector<std::pair<Index, Index>> out;
  for (Index i = 0; i < panels; ++i) {
    for (Index j = i; j < panels; ++j) out.emplace_back(i * kGramCols, j * kGramCols);
  }
  return out;
}

}  // namespace

Matrix gram(const Centered& z, Context& context) {
  assert(!z.source().sparse());
  const Index d = z.cols();
  Matrix out(d, d);
  const auto pairs = upper_pairs(pieces(d, kGramCols));
  const auto width = [&](Index col0) { return std::min(kGramCols, d - col0); };
  const auto partial = [&](const Block& block, Index q) {
    const auto [left0, right0] = pairs[static_cast<std::size_t>(q)];
    const Index left = width(left0), right = width(right0);
    Matrix sum(left, right), a(kGramRows, left), b(left0 == right0 ? 0 : kGramRows, right);
    for (Index row0 = 0; row0 < block.rows; row0 += kGramRows) {
      const Index rows = std::min(kGramRows, block.rows - row0);
      load_tile(z, block, row0, rows, left0, left, a.data(), left);
      if (left0 == right0) {
        blas::syrk(false, left, rows, a.data(), left, sum.data(), right);
        continue;
      }
      load_tile(z, block, row0, rows, right0, right, b.data(), right);
      blas::gemm(true, false, left, right, rows, 1.0, a.data(), left, b.data(), right, 1.0, sum.data(), right);
    }
    return sum;
  };
  reduce_pieces<Matrix>(z.source().store(), static_cast<Index>(pairs.size()), context, partial, add_matrix,
                        [&](Index q, Matrix&& sum) {
                          const auto [left0, right0] = pairs[static_cast<std::size_t>(q)];
                          for (Index i = 0; i < sum.rows(); ++i) {
                            std::copy_n(sum.row(i), sum.cols(), out.row(left0 + i) + right0);
                          }
                        });
  symmetrize(out);
  return out;
}

Matrix gram_of_rows(const Centered& z, Context& context) {
  assert(!z.source().sparse());
  const Index n = z.rows(), d = z.cols(), panels = pieces(d, kGramCols);
  const Store& store = z.source().store();
  TreeMerger<Matrix, decltype(&add_matrix)> merger(panels, add_matrix);
  context.count_pass();
  context.pool().run(panels, [&](Index q) {
    context.check_cancelled();
    const Index col0 = q * kGramCols, cols = std::min(kGramCols, d - col0);
    Matrix columns(n, cols), sum(n, n);
    for (Index b = 0; b < store.block_count(); ++b) {
      const Block block = store.block(b);
      load_tile(z, block, 0, block.rows, col0, cols, columns.row(block.first), cols);
    }
    blas::syrk(true, n, cols, columns.data(), cols, sum.data(), n);
    merger.add(q, std::move(sum));
  });
  Matrix out = merger.take();
  symmetrize(out);
  return out;
}

// --- Sums of clusters --------------------------------------------------------------------------------------------

namespace {

void move_dense(const Centered& z, const Block& block, Index q, const int* before, const int* after, Matrix& sums) {
  const Index col0 = q * kTileCols, cols = sums.cols();
  std::vector<double> row(static_cast<std::size_t>(cols));
  for (Index i = 0; i < block.rows; ++i) {
    if (before[i] == after[i]) continue;
    load_tile(z, block, i, 1, col0, cols, row.data(), cols);
    if (after[i] >= 0) kernels<double>().axpy(cols, 1.0, row.data(), sums.row(after[i]));
    if (before[i] >= 0) kernels<double>().axpy(cols, -1.0, row.data(), sums.row(before[i]));
  }
}

void move_sparse(const Centered& z, const Block& block, const int* before, const int* after,
                 const std::vector<double>& center, Matrix& sums) {
  std::vector<Index> gained(static_cast<std::size_t>(sums.rows()));
  for (Index i = 0; i < block.rows; ++i) {
    if (before[i] == after[i]) continue;
    double* plus = after[i] >= 0 ? sums.row(after[i]) : nullptr;
    double* minus = before[i] >= 0 ? sums.row(before[i]) : nullptr;
    if (plus != nullptr) ++gained[static_cast<std::size_t>(after[i])];
    if (minus != nullptr) --gained[static_cast<std::size_t>(before[i])];
    for_each_shifted(z, block, i, 1, [&](Index, Index j, double value) {
      if (plus != nullptr) plus[j] += value;
      if (minus != nullptr) minus[j] -= value;
    });
  }
  for (Index k = 0; k < sums.rows(); ++k) {
    const auto count = static_cast<double>(gained[static_cast<std::size_t>(k)]);
    if (count != 0) kernels<double>().axpy(sums.cols(), -count, center.data(), sums.row(k));
  }
}

}  // namespace

void move_rows(const Centered& z, const std::vector<int>& before, const std::vector<int>& after, Matrix& sums,
               Context& context) {
  const Index d = z.cols(), clusters = sums.rows();
  const bool sparse = z.source().sparse();
  const Index width = sparse ? d : kTileCols;
  const std::vector<double> center = sparse ? implicit_center(z) : std::vector<double>();
  const auto partial = [&](const Block& block, Index q) {
    const int* from = before.data() + block.first;
    const int* to = after.data() + block.first;
    if (std::equal(from, from + block.rows, to)) return Matrix();
    Matrix sum(clusters, std::min(width, d - q * width));
    if (sparse) {
      move_sparse(z, block, from, to, center, sum);
    } else {
      move_dense(z, block, q, from, to, sum);
    }
    return sum;
  };
  const auto merge = [](Matrix& into, Matrix&& from) {
    if (into.empty()) {
      into = std::move(from);
    } else if (!from.empty()) {
      add_matrix(into, std::move(from));
    }
  };
  reduce_pieces<Matrix>(z.source().store(), pieces(d, width), context, partial, merge, [&](Index q, Matrix&& sum) {
    for (Index k = 0; k < sum.rows(); ++k) {
      kernels<double>().axpy(sum.cols(), 1.0, sum.row(k), sums.row(k) + q * width);
    }
  });
}

// --- Copies of a few rows or columns -----------------------------------------------------------------------------

namespace {

// The source itself as a "centred" matrix with centre 0.
Centered uncentered(const Source& source) {
  return Centered(source, std::vector<double>(static_cast<std::size_t>(source.cols())), 1.0);
}

void copy_rows(const Centered& x, const Block& block, Index row0, Index rows, double* out) {
  if (!block.sparse) {
    load_tile(x, block, row0, rows, 0, x.cols(), out, x.cols());
    return;
  }
  const Index first = block.first + row0;
  for_each_shifted(x, block, row0, rows,
                   [&](Index row, Index j, double value) { out[(row - first) * x.cols() + j] = value; });
}

}  // namespace

std::vector<Index> sample_rows(Index n, Index count, std::uint64_t seed) {
  constexpr std::uint64_t kStream = 0x726f7773;  // its own stream of the seed
  const Random random(seed, kStream);
  std::vector<Index> rows(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) {
    const Index begin = i * n / count, end = (i + 1) * n / count;
    rows[static_cast<std::size_t>(i)] = begin + random.below(static_cast<std::uint64_t>(i), end - begin);
  }
  return rows;
}

Matrix gather_rows(const Source& source, const std::vector<Index>& rows, Context& context) {
  const Centered x = uncentered(source);
  Matrix out(static_cast<Index>(rows.size()), source.cols());
  const Index block_rows = source.store().block_rows();
  context.pool().run(source.store().block_count(), [&](Index b) {
    const Block block = source.store().block(b);
    const auto begin = std::lower_bound(rows.begin(), rows.end(), b * block_rows);
    const auto end = std::lower_bound(begin, rows.end(), (b + 1) * block_rows);
    for (auto at = begin; at != end; ++at) copy_rows(x, block, *at - block.first, 1, out.row(at - rows.begin()));
  });
  return out;
}

Matrix gather(const Source& source, Context& context) {
  const Centered x = uncentered(source);
  Matrix out(source.rows(), source.cols());
  for_each_piece(source, context, [&](const Block& block, Index row0, Index rows) {
    copy_rows(x, block, row0, rows, out.row(block.first + row0));
  });
  return out;
}

std::vector<double> row_squared_norms(const Source& source, Context& context) {
  const Centered x = uncentered(source);
  std::vector<double> out(static_cast<std::size_t>(source.rows()));
  for_each_piece(source, context, [&](const Block& block, Index row0, Index rows) {
    if (block.sparse) {
      for_each_shifted(x, block, row0, rows,
                       [&](Index row, Index, double value) { out[static_cast<std::size_t>(row)] += value * value; });
      return;
    }
    std::vector<double> row(static_cast<std::size_t>(x.cols()));
    for (Index i = 0; i < rows; ++i) {
      load_tile(x, block, row0 + i, 1, 0, x.cols(), row.data(), x.cols());
      for (const double value : row) out[static_cast<std::size_t>(block.first + row0 + i)] += value * value;
    }
  });
  return out;
}

}  // namespace tamis
