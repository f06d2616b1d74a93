// Where k-means starts: greedy k-means++, or rows at random. Used by kmeans.cpp only.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tamis/base/random.h"
#include "tamis/cluster/kmeans.h"
#include "tamis/linalg/kernels.h"

namespace tamis {

template <class T>
class Seeding {
 public:
  Seeding(const Points<T>& points, const KMeansOptions& options, Index restart)
      : points_(points),
        options_(options),
        random_(options.seed, static_cast<std::uint64_t>(restart)),
        distance_(points.panels() * kPanel) {
    std::fill_n(distance_.begin(), points.rows(), std::numeric_limits<T>::max());
  }

  Matrix centers() {
    Matrix out(options_.clusters, points_.dims());
    const std::vector<char> known = fixed_centers(out);
    const bool plus_plus = options_.start == KMeansOptions::Start::plus_plus;
    for (Index k = 0; k < options_.clusters; ++k) {
      if (known[k]) continue;
      const Index row = plus_plus ? best_candidate(k) : uniform_row(k);
      for (Index j = 0; j < points_.dims(); ++j) out(k, j) = static_cast<double>(points_.at(row, j));
    }
    return out;
  }

 private:
  // Clusters with fixed rows start at those rows' mean.
  std::vector<char> fixed_centers(Matrix& centers) {
    std::vector<double> counts(options_.clusters);
    for (std::size_t i = 0; i < options_.fixed.size(); ++i) {
      const int k = options_.fixed[i];
      const double weight = points_.weight(static_cast<Index>(i));
      if (k < 0 || weight == 0) continue;
      counts[k] += weight;
      for (Index j = 0; j < points_.dims(); ++j) {
        centers(k, j) += weight * static_cast<double>(points_.at(static_cast<Index>(i), j));
      }
    }
    std::vector<char> known(counts.size());
    for (Index k = 0; k < options_.clusters; ++k) {
      const auto count = counts[k];
      if (count == 0) continue;
      known[k] = 1;
      for (Index j = 0; j < points_.dims(); ++j) centers(k, j) /= count;
      MatrixOf center(1, points_.dims());
      for (Index j = 0; j < points_.dims(); ++j) center(0, j) = static_cast<T>(centers(k, j));
      accept_best(center);
    }
    return known;
  }

  // In proportion to the weights.
  Index uniform_row(Index k) const {
    const std::uint64_t counter = static_cast<std::uint64_t>(k) * 64;
    if (!points_.weighted()) return random_.below(counter, points_.rows());
    double target = points_.total_weight() * random_.uniform(counter);
    Index last = 0;
    for (Index i = 0; i < points_.rows() && target >= 0; ++i) {
      if (points_.weight(i) == 0) continue;
      target -= points_.weight(last = i);
    }
    return last;
  }

  // Greedy k-means++: of a few rows drawn in proportion to their squared distance, times their weight, the one that
  // lowers the total most (Arthur & Vassilvitskii 2007, their remark).
  Index best_candidate(Index k) {
    std::vector<Index> rows;
    if (total_ == 0) {
      rows = {uniform_row(k)};  // the first center, or all rows sit on centers already
    } else {
      const Index trials = 2 + static_cast<Index>(std::log(static_cast<double>(options_.clusters)));
      for (Index t = 0; t < trials; ++t) {
        rows.push_back(draw(total_ * random_.uniform(static_cast<std::uint64_t>(k * 64 + 1 + t))));
      }
    }
    MatrixOf candidates(static_cast<Index>(rows.size()), points_.dims());
    for (Index t = 0; t < candidates.rows(); ++t) {
      for (Index j = 0; j < points_.dims(); ++j) candidates(t, j) = points_.at(rows[t], j);
    }
    return rows[accept_best(candidates)];
  }

  // The row at which the running sum of distances passes `target`: first the stretch of rows, then the row.
  Index draw(double target) const {
    std::size_t stretch = 0;
    while (stretch + 1 < stretches_.size() && target >= stretches_[stretch]) target -= stretches_[stretch++];
    const Index begin = static_cast<Index>(stretch) * kStretch, end = std::min(begin + kStretch, points_.rows());
    Index last = -1;
    for (Index i = begin; i < end; ++i) {
      const double value = weighted_distance(i);
      if (value > 0) last = i;
      target -= value;
      if (target < 0) break;
    }
    return last >= 0 ? last : last_positive();  // rounding may lead past the last row that counts
  }

  Index last_positive() const {
    Index i = points_.rows() - 1;
    while (i > 0 && !(weighted_distance(i) > 0)) --i;
    return i;
  }

  double weighted_distance(Index i) const { return static_cast<double>(distance_[i]) * points_.weight(i); }

  void sum_stretches() {
    const auto rows = static_cast<Index>(distance_.size());
    stretches_.clear();
    total_ = 0;
    for (Index begin = 0; begin < rows; begin += kStretch) {
      double lanes[kPanel] = {};
      for (Index i = begin; i < std::min(begin + kStretch, rows); i += kPanel) {
        const T* values = distance_.data() + i;
        if (points_.weighted()) {
          for (Index row = i; row < std::min(i + kPanel, points_.rows()); ++row)
            lanes[row - i] += weighted_distance(row);
          continue;
        }
        for (Index lane = 0; lane < kPanel; ++lane) lanes[lane] += static_cast<double>(values[lane]);
      }
      stretches_.push_back(std::accumulate(lanes, lanes + kPanel, 0.0));
      total_ += stretches_.back();
    }
  }

  // Takes the candidate that leaves the smallest total over, and returns which.
  Index accept_best(const BasicMatrix<T>& candidates) {
    const Index count = candidates.rows(), m = candidates.cols();
    std::vector<T> g(candidates.data(), candidates.data() + candidates.size()), norm(count);
    for (Index t = 0; t < count; ++t) {
      for (Index j = 0; j < m; ++j) {
        T& value = g[t * m + j];
        norm[t] += value * value;
        value *= -2;
      }
    }
    std::vector<double> cost(count);
    trial_.resize(distance_.size() * count);
    kernels<T>().candidates(points_.panel(0), points_.panels(), m, g.data(), norm.data(), count,
                            points_.squared_norms().data(), distance_.data(), trial_.data(), cost.data());
    if (points_.weighted()) weigh_costs(cost);
    const auto best = std::min_element(cost.begin(), cost.end()) - cost.begin();
    std::copy_n(trial_.begin() + best * static_cast<std::ptrdiff_t>(distance_.size()), distance_.size(),
                distance_.begin());
    sum_stretches();
    return best;
  }

  // The same totals, times the weights.
  void weigh_costs(std::vector<double>& cost) const {
    for (std::size_t t = 0; t < cost.size(); ++t) {
      const T* trial = trial_.data() + t * distance_.size();
      cost[t] = 0;
      for (Index i = 0; i < points_.rows(); ++i) cost[t] += static_cast<double>(trial[i]) * points_.weight(i);
    }
  }

  static constexpr Index kStretch = 16 * kPanel;
  using MatrixOf = BasicMatrix<T>;
  const Points<T>& points_;
  const KMeansOptions& options_;
  Random random_;
  std::vector<T> distance_, trial_;  // squared distance to the nearest center so far, and with a candidate
  std::vector<double> stretches_;    // sums of distance_ over kStretch rows
  double total_ = 0;                 // and over all; 0 before the first center
};

}  // namespace tamis
