// Gram matrices of passes.h.

#include <algorithm>
#include <utility>
#include <vector>

#include "tamis/base/error.h"
#include "tamis/data/passes/blocks.h"
#include "tamis/data/passes/tile.h"
#include "tamis/data/stores/remote_pass.h"
#include "tamis/linalg/blas.h"

namespace tamis {

namespace {

// Columns of a panel of Z'Z, and the rows that are loaded for it at a time.
constexpr Index kGramCols = 512;
constexpr Index kGramRows = 256;
// Rows of a panel of ZZ'. Its sums run along a tree of stretches of columns, loaded a few at a time.
constexpr Index kPanelRows = 256;
constexpr Index kStretchCols = 1024;
constexpr Index kLoadedCols = 256;
// Columns of a Gram matrix of sparse rows that are made together.
constexpr Index kSparseCols = 64;

// Copies the computed triangle onto the other.
void symmetrize(Matrix& a) {
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < i; ++j) a(i, j) = a(j, i);
  }
}

// Two panels of the upper triangle's rows and columns.
struct PanelPair {
  Index left0, left, right0, right;
  bool diagonal() const { return left0 == right0; }
};

// Pairs of panels of `width`, left <= right, row by row.
std::vector<PanelPair> upper_pairs(Index total, Index width) {
  std::vector<PanelPair> out;
  for (Index left = 0; left < total; left += width) {
    for (Index right = left; right < total; right += width) {
      out.push_back({left, std::min(width, total - left), right, std::min(width, total - right)});
    }
  }
  return out;
}

void put(const PanelPair& at, const Matrix& sum, Matrix& out) {
  for (Index i = 0; i < at.left; ++i) std::copy_n(sum.row(i), at.right, out.row(at.left0 + i) + at.right0);
}

// finish(q, sum) for Z'Z of every pair of panels. Few pairs are under way at a time, unless rows are costly to read.
template <class Finish>
void gram_pairs(const Centered& z, const std::vector<PanelPair>& pairs, Context& context, Finish finish) {
  const Store& store = z.source().store();
  const auto partial = [&](const Block& block, Index q) {
    const PanelPair& at = pairs[static_cast<std::size_t>(q)];
    const Index left = at.left, right = at.right;
    Matrix sum(left, right), a(kGramRows, left), b(at.diagonal() ? 0 : kGramRows, right);
    for (Index row0 = 0; row0 < block.rows; row0 += kGramRows) {
      const Index rows = std::min(kGramRows, block.rows - row0);
      load_tile(z, block, row0, rows, at.left0, left, a.data(), left);
      if (at.diagonal()) {
        blas::syrk(false, left, rows, a.data(), left, sum.data(), right);
        continue;
      }
      load_tile(z, block, row0, rows, at.right0, right, b.data(), right);
      blas::gemm(true, false, left, right, rows, 1.0, a.data(), left, b.data(), right, 1.0, sum.data(), right);
    }
    return sum;
  };
  reduce_pieces<Matrix>(store, static_cast<Index>(pairs.size()), store.in_memory() ? Order::by_piece : Order::by_leaf,
                        context, partial, add_matrix, finish);
}

// The matrix of the linear map `image`, a few of its columns at a time.
template <class Image>
Matrix by_unit_columns(Index dim, Image image) {
  Matrix out(dim, dim);
  for (Index first = 0; first < dim; first += kSparseCols) {
    const Index count = std::min(kSparseCols, dim - first);
    Matrix unit(dim, count);
    for (Index k = 0; k < count; ++k) unit(first + k, k) = 1;
    const Matrix columns = image(unit);
    for (Index i = 0; i < dim; ++i) std::copy_n(columns.row(i), count, out.row(i) + first);
  }
  symmetrize(out);
  return out;
}

Sums remote_gram_sums(const Centered& z, Context& context) {
  context.count_pass();
  return Unpacker(RemoteRequest("gram", z).merged(context).bytes).matrices();
}

}  // namespace

Matrix gram(const Centered& z, Context& context) {
  if (z.source().sparse()) {
    return by_unit_columns(z.cols(), [&](const Matrix& unit) { return scatter_product(z, unit, context); });
  }
  Matrix out(z.cols(), z.cols());
  const auto pairs = upper_pairs(z.cols(), kGramCols);
  if (is_remote(z.source())) {
    const Sums sums = remote_gram_sums(z, context);
    require(sums.size() == pairs.size(), ErrorCode::internal, "sums of ", sums.size(), " pieces");
    for (std::size_t q = 0; q < sums.size(); ++q) {
      require(sums[q].rows() == pairs[q].left && sums[q].cols() == pairs[q].right, ErrorCode::internal,
              "sums of other shapes");
      put(pairs[q], sums[q], out);
    }
  } else {
    gram_pairs(z, pairs, context, [&](Index q, Matrix&& sum) { put(pairs[static_cast<std::size_t>(q)], sum, out); });
  }
  symmetrize(out);
  return out;
}

Bytes gram_sums_of_chunk(ChunkTask& task, Context& context) {
  const Centered z = task.centered();
  const auto pairs = upper_pairs(z.cols(), kGramCols);
  Sums sums(pairs.size());
  gram_pairs(z, pairs, context, [&](Index q, Matrix&& sum) { sums[static_cast<std::size_t>(q)] = std::move(sum); });
  return Packer().put(sums).take();
}

Matrix gram_of_rows(const Centered& z, Context& context) {
  if (z.source().sparse()) {
    return by_unit_columns(
        z.rows(), [&](const Matrix& unit) { return multiply(z, multiply_transposed(z, unit, context), context); });
  }
  if (is_remote(z.source())) {
    // A sum over columns, not rows: for rows of one block, which are in one chunk.
    require(z.rows() <= z.source().store().block_rows(), ErrorCode::internal, "gram_of_rows: ", z.rows(), " rows");
    context.count_pass();
    return RemoteRequest("gram_of_rows", z).rows_of_all(z.rows(), z.rows(), context);
  }
  const Index n = z.rows(), d = z.cols();
  Matrix out(n, n);
  const auto pairs = upper_pairs(n, kPanelRows);
  const auto partial = [&](Index stretch, Index q) {
    const PanelPair& at = pairs[static_cast<std::size_t>(q)];
    const Index end = std::min(d, (stretch + 1) * kStretchCols);
    Matrix sum(at.left, at.right), a(at.left, kLoadedCols), b(at.diagonal() ? 0 : at.right, kLoadedCols);
    for (Index col0 = stretch * kStretchCols; col0 < end; col0 += kLoadedCols) {
      const Index cols = std::min(kLoadedCols, end - col0);
      load_part(z, at.left0, at.left, col0, cols, a.data());
      if (at.diagonal()) {
        blas::syrk(true, at.left, cols, a.data(), cols, sum.data(), at.right);
        continue;
      }
      load_part(z, at.right0, at.right, col0, cols, b.data());
      blas::gemm(false, true, at.left, at.right, cols, 1.0, a.data(), cols, b.data(), cols, 1.0, sum.data(), at.right);
    }
    return sum;
  };
  const Order order = z.source().store().in_memory() ? Order::by_piece : Order::by_leaf;
  reduce_leaves<Matrix>(pieces(d, kStretchCols), static_cast<Index>(pairs.size()), order, context, partial, add_matrix,
                        [&](Index q, Matrix&& sum) { put(pairs[static_cast<std::size_t>(q)], sum, out); });
  symmetrize(out);
  return out;
}

Bytes gram_of_rows_of_chunk(ChunkTask& task, Context& context) {
  return Packer().put(gram_of_rows(task.centered(), context)).take();
}

}  // namespace tamis
