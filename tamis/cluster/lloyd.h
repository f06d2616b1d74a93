// One run of Lloyd's iteration, and the exchange of single points that follows it. Used by kmeans.cpp only.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/cluster/kmeans.h"
#include "tamis/data/passes/point_passes.h"
#include "tamis/linalg/kernels.h"

namespace tamis {

// Moving single points pays where clusters are small on average; in large ones a point hardly moves its own center.
inline constexpr Index kExchangeSize = 256;
inline constexpr Index kExchangeSweeps = 20;

template <class T>
class Run {
 public:
  Run(const Points<T>& points, const KMeansOptions& options, Context& context)
      : points_(points), options_(options), context_(context), sums_(options.clusters, points.dims()) {
    const bool here = points.there().store == nullptr;
    require(here || !(options.exchange && exchanges_points(points.rows(), options.clusters)), ErrorCode::internal,
            "kmeans: ", points.rows(), " points are elsewhere, need them here");
    fixed_.values.assign(options.fixed.begin(), options.fixed.end());
    if (!here && !fixed_.empty()) sum_clusters(points_, options_.clusters, fixed_, context_);  // leaves them there
    result_.centers = Matrix(options.clusters, points.dims());
  }

  void start_from_centers(const Matrix& centers) { result_.centers = centers; }

  void start_from_labels(const std::vector<int>& labels) {
    labels_.values.assign(labels.begin(), labels.end());
    ClusterSums sums = sum_clusters(points_, options_.clusters, labels_, context_);
    sums_.take(sums);
    weigh();
    update_centers();
  }

  // Up to `steps` more steps; returns whether the run has come to its end.
  bool advance(Index steps) {
    for (; steps > 0 && !result_.converged && result_.iterations < options_.iterations; --steps) step();
    return result_.converged || result_.iterations >= options_.iterations;
  }

  // Runs to the end: Lloyd steps until no label changes, then single moves, until neither finds anything.
  void finish() {
    while (true) {
      advance(options_.iterations);
      const bool small = options_.exchange && exchanges_points(points_.rows(), options_.clusters);
      if (!result_.converged || !small || exchange() == 0) return;
      result_.converged = false;
    }
  }

  double inertia() const { return result_.inertia; }

  KMeansResult take() {
    result_.labels = gather_labels(labels_, points_.rows(), options_.clusters, context_);
    result_.counts = sums_.counts;
    return std::move(result_);
  }

 private:
  void step() {
    context_.check_cancelled();
    prepare_centers();
    ClusterSums change = assign_points(points_, kernel_, fixed_, labels_, changes_, context_);
    Index changed = change.changed;
    sums_.take(change);
    weigh();
    changed += refill_empty_clusters();
    update_centers();
    result_.converged = changed == 0;
    ++result_.iterations;
    result_.history.push_back(result_.inertia);
  }

  // g = -2 center, norm = ||center||^2: what the kernel takes. A cluster that never had a point attracts none.
  void prepare_centers() {
    const Index c = options_.clusters, m = points_.dims();
    kernel_.g.resize(c * m);
    kernel_.norm.resize(c);
    for (Index k = 0; k < c; ++k) {
      double norm = 0;
      for (Index j = 0; j < m; ++j) {
        const double value = result_.centers(k, j);
        kernel_.g[k * m + j] = static_cast<T>(-2 * value);
        norm += value * value;
      }
      kernel_.norm[k] = static_cast<T>(norm);
    }
  }

  // What is divided by. Summed anew: what is left of heavy points must not hide light ones.
  void weigh() {
    if (!points_.weighted()) return;
    masses_.assign(options_.clusters, 0.0);
    for (std::size_t i = 0; i < labels_.values.size(); ++i) {
      if (labels_.values[i] >= 0) masses_[labels_.values[i]] += points_.weights()[i];
    }
  }
  double mass(Index k) const { return masses_.empty() ? static_cast<double>(sums_.counts[k]) : masses_[k]; }

  void move(Index row, const double* point, std::int32_t cluster, int sign) {
    double* sum = sums_.points.row(cluster);
    const double weight = points_.weight(row);
    for (Index j = 0; j < points_.dims(); ++j) sum[j] += sign * weight * point[j];
    sums_.counts[cluster] += sign;
    if (masses_.empty()) return;
    double& all = masses_[cluster];
    all = sums_.counts[cluster] == 0 ? 0.0 : sign < 0 ? rest_of(all, weight) : all + weight;
  }

  // Centers are means; inertia = sum ||y||^2 - sum_k ||s_k||^2 / n_k.
  void update_centers() {
    double between = 0;
    for (Index k = 0; k < options_.clusters; ++k) {
      if (sums_.counts[k] == 0) continue;
      const double count = mass(k);
      for (Index j = 0; j < points_.dims(); ++j) {
        result_.centers(k, j) = sums_.points(k, j) / count;
        between += sums_.points(k, j) * result_.centers(k, j);
      }
    }
    result_.inertia = std::max(0.0, points_.squared_norm() - between);
  }

  // Gives each empty cluster the free point that is farthest from its own center; leaves it empty where every
  // point sits on its center (fewer distinct points than clusters).
  Index refill_empty_clusters() {
    Index moved = 0;
    Matrix means;
    std::vector<char> may_lose(options_.clusters);
    for (Index k = 0; k < options_.clusters; ++k) {
      if (sums_.counts[k] != 0) continue;
      if (means.empty()) {
        means = Matrix(options_.clusters, points_.dims());
        for (Index other = 0; other < options_.clusters; ++other) set_mean(other, means, may_lose);
      }
      const FarPoint far = farthest_point(points_, means, may_lose, rounding(), fixed_, labels_, context_);
      if (far.row < 0) break;
      const auto to = static_cast<std::int32_t>(k);
      move(far.row, far.point.data(), far.label, -1);
      move(far.row, far.point.data(), to, 1);
      labels_.set(far.row, to);
      for (const Index changed : {Index{far.label}, k}) set_mean(changed, means, may_lose);
      ++moved;
    }
    return moved;
  }

  void set_mean(Index k, Matrix& means, std::vector<char>& may_lose) const {
    const Index count = sums_.counts[k];
    may_lose[k] = count >= 2 ? 1 : 0;
    for (Index j = 0; j < points_.dims() && count > 0; ++j) {
      means(k, j) = sums_.points(k, j) / mass(k);
    }
  }

  // Hartigan's moves: point y of weight w goes from cluster a to b where that lowers the inertia, the centers' own
  // moves counted (n: the weights of a cluster's points together):
  //   n_b / (n_b + w) ||y - g_b||^2 < n_a / (n_a - w) ||y - g_a||^2
  // It leaves many of the optima where Lloyd's iteration stands still. Returns the number of moves.
  Index exchange() {
    prepare_exchange();
    std::vector<double> y(points_.dims()), distance(options_.clusters);
    Index total = 0;
    for (Index sweep = 0; sweep < kExchangeSweeps; ++sweep) {
      context_.check_cancelled();
      Index moves = 0;
      for (Index panel = 0; panel < points_.panels(); ++panel) {
        if (!panel_may_move(panel)) continue;
        for (Index i = panel * kPanel; i < std::min((panel + 1) * kPanel, points_.rows()); ++i) {
          const std::int32_t a = labels_.values[i];
          // An earlier move of this panel may have left the cluster with one point.
          if (!movable_[i % kPanel] || sums_.counts[a] < 2) continue;
          for (Index j = 0; j < points_.dims(); ++j) y[j] = static_cast<double>(points_.at(i, j));
          const std::int32_t b = best_move(y, a, points_.weight(i), distance);
          if (b == a) continue;
          move(i, y.data(), a, -1);
          move(i, y.data(), b, 1);
          labels_.set(i, b);
          set_center(a);
          set_center(b);
          ++moves;
        }
      }
      total += moves;
      if (moves == 0) break;
    }
    if (total > 0) {
      weigh();
      update_centers();
      result_.history.back() = result_.inertia;
    }
    return total;
  }

  // Centers as columns (m x c, padded), so that one product gives the distances of a panel to all of them.
  void prepare_exchange() {
    const Index c = options_.clusters, width = (c + kWidthStep<T> - 1) / kWidthStep<T> * kWidthStep<T>;
    columns_ = BasicMatrix<T>(points_.dims(), width);
    panel_products_ = BasicMatrix<T>(kPanel, width);
    kernel_.norm.resize(c);
    movable_.resize(kPanel);
    for (Index k = 0; k < c; ++k) set_column(k);
  }

  void set_column(Index k) {
    double norm = 0;
    for (Index j = 0; j < points_.dims(); ++j) {
      const double value = result_.centers(k, j);
      columns_(j, k) = static_cast<T>(value);
      norm += value * value;
    }
    kernel_.norm[k] = static_cast<T>(norm);
  }

  // Marks the rows of a panel for which a move may pay, judged in T with some slack; best_move() decides.
  bool panel_may_move(Index panel) {
    const Index c = options_.clusters, m = points_.dims();
    std::fill_n(panel_products_.data(), panel_products_.size(), T(0));
    kernels<T>().skinny_product(kPanel, m, points_.panel(panel), 1, kPanel, columns_.data(), columns_.cols(),
                                panel_products_.data(), nullptr, 0);
    bool any = false;
    for (Index r = 0; r < kPanel; ++r) {
      const Index row = panel * kPanel + r;
      movable_[r] = 0;
      if (row >= points_.rows()) break;
      const int a = labels_.values[row];
      const auto w = static_cast<T>(points_.weight(row));
      if (sums_.counts[a] < 2 || w == 0 || (!fixed_.empty() && fixed_.values[row] >= 0)) continue;
      const auto square = points_.squared_norm(row);
      const T* product = panel_products_.row(r);
      const auto own_size = static_cast<T>(mass(a));
      const T own = (square + kernel_.norm[a] - 2 * product[a]) * own_size / rest_of(own_size, w);
      const T slack = std::numeric_limits<T>::epsilon() * 16 * square;
      for (Index k = 0; k < c && !movable_[r]; ++k) {
        const auto size = static_cast<T>(mass(k));
        const T other = (square + kernel_.norm[k] - 2 * product[k]) * size / (size + w);
        movable_[r] = other < own + slack && k != a;
      }
      any = any || movable_[r];
    }
    return any;
  }

  // The cluster to which y of cluster a should go; a where no move pays (by more than rounding).
  int best_move(const std::vector<double>& y, int a, double weight, std::vector<double>& distance) const {
    for (Index k = 0; k < options_.clusters; ++k) {
      double sum = 0;
      const double* center = result_.centers.row(k);
      for (std::size_t j = 0; j < y.size(); ++j) sum += (y[j] - center[j]) * (y[j] - center[j]);
      distance[k] = sum;
    }
    double least = distance[a] * mass(a) / rest_of(mass(a), weight) * (1 - 1e-9) - rounding();
    int best = a;
    for (Index k = 0; k < options_.clusters; ++k) {
      if (k == a) continue;
      const double cost = distance[k] * mass(k) / (mass(k) + weight);
      if (cost < least) {
        least = cost;
        best = static_cast<int>(k);
      }
    }
    return best;
  }

  // What a cluster weighs without a point of it that is not its only one: not 0, whatever rounding says.
  template <class Real>
  static Real rest_of(Real all, Real weight) {
    return std::max(all - weight, all * std::numeric_limits<Real>::epsilon());
  }

  void set_center(int k) {
    const double count = mass(k);
    for (Index j = 0; j < points_.dims(); ++j) result_.centers(k, j) = sums_.points(k, j) / count;
    set_column(k);
  }

  // A squared distance that is nothing but rounding.
  double rounding() const {
    return 1e-12 * points_.squared_norm() / (points_.rows() > 0 ? points_.total_weight() : 1.0);
  }

  const Points<T>& points_;
  const KMeansOptions& options_;
  Context& context_;
  ClusterSums sums_;
  std::vector<double> masses_;        // of each cluster, where points have weights; empty: sums_.counts
  std::vector<ClusterSums> changes_;  // of one step, block by block
  RowLabels fixed_, labels_;
  KernelCenters<T> kernel_;
  BasicMatrix<T> columns_, panel_products_;  // of exchange()
  std::vector<char> movable_;
  KMeansResult result_;
};

}  // namespace tamis
