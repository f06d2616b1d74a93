// Sums over blocks along a fixed binary tree, whatever the order in which blocks are finished.
#pragma once

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/source.h"

namespace tamis {

// Collects the partial results of leaves 0 .. count-1 and merges neighbors as soon as both are there: (0,1), (2,3),
// ... then pairs of pairs. A node without a right neighbor moves up as it is.
template <class Partial, class Merge>
class TreeMerger {
 public:
  TreeMerger(Index count, Merge merge) : count_(count), merge_(std::move(merge)) {}

  // True where this leaf was the last one that the root waited for.
  bool add(Index leaf, Partial partial) {
    Index level = 0, index = leaf, width = count_;
    while (width > 1) {
      const Index sibling = index ^ 1;
      if (sibling < width) {
        std::unique_lock lock(mutex_);
        const auto waiting = nodes_.find({level, sibling});
        if (waiting == nodes_.end()) {
          nodes_.emplace(std::pair(level, index), std::move(partial));
          return false;
        }
        Partial other = std::move(waiting->second);
        nodes_.erase(waiting);
        lock.unlock();
        if (sibling < index) std::swap(other, partial);
        merge_(partial, std::move(other));
      }
      ++level;
      index /= 2;
      width = (width + 1) / 2;
    }
    const std::lock_guard lock(mutex_);
    root_ = std::move(partial);
    return true;
  }

  Partial take() { return std::move(root_); }

 private:
  Index count_;
  Merge merge_;
  std::mutex mutex_;
  std::map<std::pair<Index, Index>, Partial> nodes_;
  Partial root_{};
};

// The same of parts that are all there, in place: the result stands first.
template <class Partial, class Merge>
void merge_in_tree(std::vector<Partial>& parts, Merge merge) {
  for (std::size_t step = 1; step < parts.size(); step *= 2) {
    for (std::size_t i = 0; i + step < parts.size(); i += 2 * step) merge(parts[i], std::move(parts[i + step]));
  }
}

// partial(block) of every block of the store, merged by merge(into, from).
template <class Partial, class Leaf, class Merge>
Partial reduce_blocks(const Store& store, Context& context, Leaf leaf, Merge merge) {
  const Index count = store.block_count();
  TreeMerger<Partial, Merge> merger(count, merge);
  walk_rows(context, count, store.rows(), [&](Index b) {
    context.check_cancelled();
    merger.add(b, leaf(store.block(b)));
  });
  return merger.take();
}

}  // namespace tamis
