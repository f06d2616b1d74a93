// For each row the others that may be among its nearest, given lower and upper bounds of their distances. Distances are
// computed for those only that no bound rules out in the end. Used by the searches of this room only.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "tamis/graph/nearest.h"

namespace tamis {

// The lists of all rows, for tasks at the same time. What is found does not depend on the order of what is offered.
template <class T>
class Shortlists {
 public:
  // `lists` are cleared, and filled by finish().
  Shortlists(Neighbors& lists, Index rows)
      : lists_(lists),
        k_(lists.count),
        room_(2 * k_ + kSpare),
        count_(rows),
        index_(rows * room_),
        lower_(index_.size()),
        upper_(rows * k_, std::numeric_limits<T>::infinity()) {
    Nearest::clear(lists);
  }

  // No row with a lower bound above this is among the nearest of row i.
  T limit(Index i) {
    const std::lock_guard<std::mutex> lock(mutex_of(i));
    return limit_now(i);
  }

  // exact(i, j) computes a squared distance. Returns the limit of row i.
  template <class Exact>
  T offer(Index i, Index row, T lower, T upper, Exact& exact) {
    const std::lock_guard<std::mutex> lock(mutex_of(i));
    if (!(lower <= limit_now(i)) || comes_after_copies(i, row)) return limit_now(i);
    T* uppers = upper_.data() + i * k_;
    if (upper < uppers[k_ - 1]) {
      Index at = k_ - 1;
      for (; at > 0 && upper < uppers[at - 1]; --at) uppers[at] = uppers[at - 1];
      uppers[at] = upper;
    }
    if (count_[i] == room_) {
      drop_far(i);
      if (2 * count_[i] > room_ + k_) settle(i, exact);
    }
    index_[i * room_ + count_[i]] = static_cast<std::int32_t>(row);
    lower_[i * room_ + count_[i]++] = lower;
    return limit_now(i);
  }

  // Row i's nearest to the lists.
  template <class Exact>
  void finish(Index i, Exact& exact) {
    drop_far(i);
    settle(i, exact);
  }

  // The same, by index and without distances: those that bounds alone decide about need none. upper(j, lower) is the
  // upper bound that belongs to a lower one of row j.
  template <class Exact, class Upper>
  void finish_unordered(Index i, Exact& exact, Upper upper) {
    drop_far(i);
    const bool settled = lists_.index[i * k_] != std::numeric_limits<std::int32_t>::max();
    if (settled || !decide(i, exact, upper)) settle(i, exact);
    std::sort(lists_.index.data() + i * k_, lists_.index.data() + (i + 1) * k_);
    std::fill_n(lists_.distance.data() + i * k_, k_, std::numeric_limits<double>::quiet_NaN());
  }

 private:
  static constexpr Index kSpare = 22;
  static constexpr std::size_t kMutexes = 256;
  std::mutex& mutex_of(Index i) { return mutexes_[static_cast<std::size_t>(i) % kMutexes]; }
  T limit_now(Index i) const { return upper_[(i + 1) * k_ - 1]; }

  // Among copies only those with smaller indices are worth a look.
  bool comes_after_copies(Index i, Index row) const {
    const Index last = (i + 1) * k_ - 1;
    return lists_.distance[last] == 0 && row > lists_.index[last];
  }

  void drop_far(Index i) {
    const T limit = limit_now(i);
    const Index first = i * room_;
    Index kept = first;
    for (Index at = first; at < first + count_[i]; ++at) {
      if (!(lower_[at] <= limit)) continue;
      index_[kept] = index_[at];
      lower_[kept++] = lower_[at];
    }
    count_[i] = static_cast<std::int32_t>(kept - first);
  }

  // Takes the rows that are nearer than all but k - 1 others could be, and of the rest those with the least distances.
  template <class Exact, class Upper>
  bool decide(Index i, Exact& exact, Upper upper) {
    const Index first = i * room_, end = first + count_[i];
    if (count_[i] < k_) return false;
    std::int32_t* out = lists_.index.data() + i * k_;
    Index sure = 0;
    std::vector<std::pair<double, std::int32_t>> open;
    for (Index at = first; at < end; ++at) {
      Index rivals = 0;  // that may be as near
      if (count_[i] > k_) {
        const T most = upper(index_[at], lower_[at]);
        for (Index other = first; other < end; ++other) rivals += other != at && lower_[other] <= most ? 1 : 0;
      }
      if (count_[i] == k_ || rivals < k_) {
        out[sure++] = index_[at];
      } else {
        open.emplace_back(0.0, index_[at]);
      }
    }
    for (auto& [distance, row] : open) distance = exact(i, row);
    std::sort(open.begin(), open.end());
    for (Index q = 0; sure < k_; ++q) out[sure++] = open[q].second;
    count_[i] = 0;
    return true;
  }

  // Distances in the place of bounds. All that are worth one are in the list, at least k unless it is the end.
  template <class Exact>
  void settle(Index i, Exact& exact) {
    Nearest nearest(k_, lists_.index.data() + i * k_, lists_.distance.data() + i * k_);
    for (Index at = i * room_; at < i * room_ + count_[i]; ++at) nearest.offer(index_[at], exact(i, index_[at]));
    count_[i] = 0;
    for (Index at = i * k_; at < (i + 1) * k_; ++at) {
      upper_[at] = std::min(upper_[at], rounded_up<T>(lists_.distance[at]));
    }
  }

  Neighbors& lists_;
  const Index k_, room_;
  std::vector<std::int32_t> count_, index_;  // of each row, and its list
  std::vector<T> lower_, upper_;
  std::array<std::mutex, kMutexes> mutexes_;
};

}  // namespace tamis
