// The nearest rows found so far, of all rows, for tasks that compare pairs of rows in any order: what is found does not
// depend on it. Used by the searches of this room only.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "tamis/graph/neighbors.h"
#include "tamis/linalg/kernels.h"

namespace tamis {

// ||a||^2 + ||b||^2 - 2 a.b is off by at most this part of ||a||^2 + ||b||^2, with products in T ...
template <class T>
double rounding_of_products(Index d) {
  return 4 * static_cast<double>(d + 8) * static_cast<double>(std::numeric_limits<T>::epsilon());
}
// ... and by this much where they are too small for T.
template <class T>
double underflow_of_products(Index d) {
  return 4 * static_cast<double>(d) * static_cast<double>(std::numeric_limits<T>::min());
}

// The k nearest of one row among those offered, nearest first; ties by index, whatever the order of arrival.
class Nearest {
 public:
  Nearest(Index k, std::int32_t* index, double* distance) : k_(k), index_(index), distance_(distance) {}
  static void clear(Neighbors& lists) {
    std::fill(lists.distance.begin(), lists.distance.end(), std::numeric_limits<double>::infinity());
    std::fill(lists.index.begin(), lists.index.end(), std::numeric_limits<std::int32_t>::max());
  }
  // A row may be offered again.
  void offer(Index row, double distance) {
    const auto before = [&](Index at) {
      return distance_[at] < distance || (distance_[at] == distance && index_[at] < row);
    };
    if (before(k_ - 1)) return;
    Index to = 0;
    while (before(to)) ++to;
    if (index_[to] == row) return;
    for (Index at = k_ - 1; at > to; --at) {
      distance_[at] = distance_[at - 1];
      index_[at] = index_[at - 1];
    }
    distance_[to] = distance;
    index_[to] = static_cast<std::int32_t>(row);
  }

 private:
  Index k_;
  std::int32_t* index_;
  double* distance_;
};

// The last of the k nearest of a row: what another must come before, to be one of them.
struct Last {
  double distance;
  std::int32_t row;
};

// The lists of all rows, for tasks at the same time.
class Board {
 public:
  explicit Board(Neighbors& lists) : lists_(lists) {}

  Last last(Index i) {
    const std::lock_guard<std::mutex> lock(mutex_of(i));
    return last_now(i);
  }
  Last offer(Index i, Index row, double distance) {
    const std::lock_guard<std::mutex> lock(mutex_of(i));
    Nearest(lists_.count, lists_.index.data() + i * lists_.count, lists_.distance.data() + i * lists_.count)
        .offer(row, distance);
    return last_now(i);
  }

 private:
  static constexpr std::size_t kMutexes = 256;
  std::mutex& mutex_of(Index i) { return mutexes_[static_cast<std::size_t>(i) % kMutexes]; }
  Last last_now(Index i) const {
    const Index at = (i + 1) * lists_.count - 1;
    return {lists_.distance[at], lists_.index[at]};
  }

  Neighbors& lists_;
  std::array<std::mutex, kMutexes> mutexes_;
};

// No less than the value, in T.
template <class T>
T rounded_up(double value) {
  const T near = static_cast<T>(value);
  return static_cast<double>(near) < value ? std::nextafter(near, std::numeric_limits<T>::infinity()) : near;
}

// The rows that others are compared with at a time, and the last of their nearest as far as one task knows.
template <class T>
class Opposite {
 public:
  // The rows are index[0 .. count), or first, first + 1, ... where index is null.
  Opposite(Board& board, const std::int32_t* index, Index first, Index count)
      : board_(board), index_(index), first_(first), limit_(count), last_(limit_.size()) {
    found_.resize(limit_.size());
    none_.assign(limit_.size(), -std::numeric_limits<T>::infinity());
    for (Index j = 0; j < count; ++j) set(j, board.last(row(j)));
  }
  Index size() const { return static_cast<Index>(limit_.size()); }
  Index row(Index j) const { return index_ == nullptr ? first_ + j : index_[j]; }

  // Row i against rows [0, count) of these, given lower bounds of the squared distances: both may be among the nearest
  // of the other. exact(i, j) computes a distance.
  template <class Exact>
  void meet(Index i, const T* bounds, Index count, Exact& exact) {
    Last own = board_.last(i);
    T limit = rounded_up<T>(own.distance);
    const Index found = kernels<T>().find_below(count, bounds, limit, limit_.data(), found_.data());
    for (Index h = 0; h < found; ++h) {
      const Index j = found_[h], other = row(j);
      const bool forth = bounds[j] <= limit && may_enter(own, other);
      const bool back = bounds[j] <= limit_[j] && may_enter(last_[j], i);
      if (other == i || (!forth && !back)) continue;
      const double distance = exact(i, other);
      if (forth) {
        own = board_.offer(i, other, distance);
        limit = rounded_up<T>(own.distance);
      }
      if (back) set(j, board_.offer(other, i, distance));
    }
  }

  // Row i against all of these, for i alone: those with the least bounds are looked at first.
  template <class Exact>
  void seed(Index i, Index k, const T* bounds, Exact& exact) {
    take_least(i, k, bounds);
    Last own = board_.last(i);
    for (const auto& [bound, j] : least_) own = board_.offer(i, row(j), exact(i, row(j)));
    const Index found =
        kernels<T>().find_below(size(), bounds, rounded_up<T>(own.distance), none_.data(), found_.data());
    for (Index h = 0; h < found; ++h) {
      const Index j = found_[h];
      const bool seen = std::any_of(least_.begin(), least_.end(), [&](const auto& one) { return one.second == j; });
      if (seen || row(j) == i || bounds[j] > own.distance || !may_enter(own, row(j))) continue;
      own = board_.offer(i, row(j), exact(i, row(j)));
    }
  }

 private:
  // Among equal rows only those with smaller indices are worth a look.
  static bool may_enter(const Last& last, Index row) { return last.distance > 0 || row < last.row; }
  // The rows with the k least bounds, in no order; row i is not one of them.
  void take_least(Index i, Index k, const T* bounds) {
    least_.clear();
    T most = std::numeric_limits<T>::infinity();
    for (Index j = 0; j < size(); ++j) {
      if (!(bounds[j] < most) || row(j) == i) continue;
      if (static_cast<Index>(least_.size()) == k) {
        std::pop_heap(least_.begin(), least_.end());
        least_.pop_back();
      }
      least_.emplace_back(bounds[j], j);
      std::push_heap(least_.begin(), least_.end());
      if (static_cast<Index>(least_.size()) == k) most = least_.front().first;
    }
  }
  void set(Index j, const Last& last) {
    limit_[j] = rounded_up<T>(last.distance);
    last_[j] = last;
  }

  Board& board_;
  const std::int32_t* index_;
  Index first_;
  std::vector<T> limit_, none_;
  std::vector<Last> last_;
  std::vector<std::int32_t> found_;
  std::vector<std::pair<T, Index>> least_;
};

}  // namespace tamis
