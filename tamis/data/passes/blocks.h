// How a pass walks the blocks: pieces of rows in parallel, partial results merged along fixed trees, and the entries
// of sparse rows. Used by the passes only.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "tamis/data/passes/passes.h"
#include "tamis/data/passes/reduce.h"

namespace tamis {

inline Index pieces(Index total, Index size) { return (total + size - 1) / size; }

// visit(block, row0, rows) for pieces of rows whose results do not depend on each other, in parallel.
template <class Visit>
void for_each_piece(const Source& source, Context& context, Visit visit) {
  const Store& store = source.store();
  const Index per_block = pieces(std::min(store.block_rows(), std::max<Index>(store.rows(), 1)), kPieceRows);
  // From disk a thread takes a whole block where there are enough of them, so that no two read the same.
  const bool alone = !store.in_memory() && store.block_count() >= 4 * context.threads();
  const Index together = alone ? per_block : 1;
  walk_rows(context, store.block_count() * per_block / together, store.rows(), [&](Index task) {
    for (Index at = task * together; at < (task + 1) * together; ++at) {
      const Index b = at / per_block, row0 = at % per_block * kPieceRows;
      if (b * store.block_rows() + row0 >= store.rows()) return;
      context.check_cancelled();
      const Block block = store.piece(b, at % per_block);
      visit(block, 0, block.rows);
    }
  });
}

// What is handed out first: all pieces of a leaf, where leaves are costly to read, or all leaves of a piece, so that
// few pieces are under way at a time.
enum class Order { by_leaf, by_piece };

// leaf(i, piece) for i = 0 .. leaf_count - 1 of every piece. Each piece has its own tree over the leaves; its sum goes
// to finish(piece, sum) once it is whole, in the thread that made it so. The leaves have `rows` rows together.
template <class Partial, class Leaf, class Merge, class Finish>
void reduce_leaves(Index leaf_count, Index piece_count, Index rows, Order order, Context& context, Leaf leaf,
                   Merge merge, Finish finish) {
  std::vector<std::unique_ptr<TreeMerger<Partial, Merge>>> mergers;
  for (Index q = 0; q < piece_count; ++q) {
    mergers.push_back(std::make_unique<TreeMerger<Partial, Merge>>(leaf_count, merge));
  }
  walk_rows(context, leaf_count * piece_count, rows, [&](Index task) {
    context.check_cancelled();
    const bool by_leaf = order == Order::by_leaf;
    const Index q = by_leaf ? task % piece_count : task / leaf_count;
    const Index i = by_leaf ? task / piece_count : task % leaf_count;
    TreeMerger<Partial, Merge>& merger = *mergers[q];
    if (merger.add(i, leaf(i, q))) finish(q, merger.take());
  });
}

// The same with the blocks of a store as leaves.
template <class Partial, class Leaf, class Merge, class Finish>
void reduce_pieces(const Store& store, Index piece_count, Order order, Context& context, Leaf leaf, Merge merge,
                   Finish finish) {
  reduce_leaves<Partial>(
      store.block_count(), piece_count, store.rows(), order, context,
      [&](Index b, Index q) { return leaf(store.block(b), q); }, merge, finish);
}

inline void add_matrix(Matrix& into, Matrix&& from) {
  for (Index i = 0; i < into.size(); ++i) into.data()[i] += from.data()[i];
}

// What a pass sums up, one matrix for each piece of the columns; an empty one is 0.
using Sums = std::vector<Matrix>;

inline void add_sums(Matrix& into, Matrix&& from) {
  if (into.empty()) {
    into = std::move(from);
  } else if (!from.empty()) {
    add_matrix(into, std::move(from));
  }
}

// The centering that stored entries do not carry: (center - shift)_j scale_j, times the root of each row, taken off in
// sum.
inline std::vector<double> implicit_center(const Centered& z) {
  std::vector<double> out(z.center().size());
  for (std::size_t j = 0; j < out.size(); ++j) {
    out[j] = (z.center()[j] - z.shift()[j]) * (z.scale().empty() ? 1.0 : z.scale()[j]);
  }
  return out;
}

// visit(row, j, value) for stored entries of rows [row0, row0 + rows): the shift removed, scaled and weighted.
template <class Visit>
void for_each_shifted(const Centered& z, const Block& block, Index row0, Index rows, Visit visit) {
  const auto& csr = block.csr;
  const auto& row_scale = z.source().row_scale();
  with_values(csr, [&](const auto* values) {
    for (Index i = row0; i < row0 + rows; ++i) {
      const double r = row_scale.empty() ? 1.0 : row_scale[block.first + i], root = z.root(block.first + i);
      for (Index k = csr.offsets[i]; k < csr.offsets[i + 1]; ++k) {
        const Index j = z.position().empty() ? csr.columns[k] : z.position()[csr.columns[k]];
        if (j < 0) continue;
        const double value = static_cast<double>(values[k]) * r - z.shift()[j];
        visit(block.first + i, j, (z.scale().empty() ? value : value * z.scale()[j]) * root);
      }
    }
  });
}

}  // namespace tamis
