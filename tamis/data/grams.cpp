// Gram matrices of passes.h.

#include <algorithm>
#include <cassert>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/data/blocks.h"
#include "tamis/data/remote_pass.h"
#include "tamis/data/tile.h"
#include "tamis/linalg/blas.h"

namespace tamis {

namespace {

// Columns of a panel of the Gram matrix, and the rows that are loaded for it at a time.
constexpr Index kGramCols = 1024;
constexpr Index kGramRows = 256;

}  // namespace

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

// Z'Z in pairs of panels.
Sums gram_sums(const Centered& z, Context& context) {
  const Index d = z.cols();
  const auto pairs = upper_pairs(pieces(d, kGramCols));
  const auto width = [&](Index col0) { return std::min(kGramCols, d - col0); };
  return reduce_sums(z.source().store(), static_cast<Index>(pairs.size()), context, [&](const Block& block, Index q) {
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
  });
}

Sums remote_gram_sums(const Centered& z, Context& context) {
  context.count_pass();
  return Unpacker(RemoteRequest("gram", z).merged(context).bytes).matrices();
}

}  // namespace

Matrix gram(const Centered& z, Context& context) {
  assert(!z.source().sparse());
  const Index d = z.cols();
  Matrix out(d, d);
  const auto pairs = upper_pairs(pieces(d, kGramCols));
  const Sums sums = is_remote(z.source()) ? remote_gram_sums(z, context) : gram_sums(z, context);
  for (std::size_t q = 0; q < sums.size(); ++q) {
    const auto [left0, right0] = pairs[q];
    for (Index i = 0; i < sums[q].rows(); ++i) {
      std::copy_n(sums[q].row(i), sums[q].cols(), out.row(left0 + i) + right0);
    }
  }
  symmetrize(out);
  return out;
}

Bytes gram_sums_of_chunk(ChunkTask& task, Context& context) {
  return Packer().put(gram_sums(task.centered(), context)).take();
}

Matrix gram_of_rows(const Centered& z, Context& context) {
  assert(!z.source().sparse());
  if (is_remote(z.source())) {
    // A sum over columns, not rows: for rows of one block, which are in one chunk.
    require(z.rows() <= z.source().store().block_rows(), ErrorCode::internal, "gram_of_rows: ", z.rows(), " rows");
    context.count_pass();
    return RemoteRequest("gram_of_rows", z).rows_of_all(z.rows(), z.rows(), context);
  }
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

Bytes gram_of_rows_of_chunk(ChunkTask& task, Context& context) {
  return Packer().put(gram_of_rows(task.centered(), context)).take();
}

}  // namespace tamis
