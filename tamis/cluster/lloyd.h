// One run of Lloyd's iteration, and the exchange of single points that follows it. Used by kmeans.cpp only.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "tamis/cluster/kmeans.h"
#include "tamis/linalg/kernels.h"

namespace tamis {

// Panels whose sums form one partial; a constant, since the order of sums follows it.
inline constexpr Index kChunkPanels = 128;
// Moving single points pays where clusters are small on average; in large ones a point hardly moves its own centre.
inline constexpr Index kExchangeSize = 256;
inline constexpr Index kExchangeSweeps = 20;

// Sums of the points of each cluster and their number.
struct Sums {
  Sums(Index c, Index m) : points(c, m), counts(static_cast<std::size_t>(c)) {}
  Matrix points;
  std::vector<Index> counts;
  Index changed = 0;
};

template <class T>
class Run {
 public:
  Run(const Points<T>& points, const KMeansOptions& options, Context& context)
      : points_(points),
        options_(options),
        context_(context),
        sums_(options.clusters, points.dims()),
        labels_(static_cast<std::size_t>(points.panels() * kPanel), -1) {
    result_.centers = Matrix(options.clusters, points.dims());
  }

  void start_from_centers(const Matrix& centers) { result_.centers = centers; }

  void start_from_labels(const std::vector<int>& labels) {
    std::copy(labels.begin(), labels.end(), labels_.begin());
    for (Index i = 0; i < points_.rows(); ++i) {
      const int label = labels_[static_cast<std::size_t>(i)];
      if (label >= 0) move(i, label, 1, sums_);
    }
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
      const bool small = options_.exchange && points_.rows() <= kExchangeSize * options_.clusters;
      if (!result_.converged || !small || exchange() == 0) return;
      result_.converged = false;
    }
  }

  double inertia() const { return result_.inertia; }

  KMeansResult take() {
    labels_.resize(static_cast<std::size_t>(points_.rows()));
    result_.labels.assign(labels_.begin(), labels_.end());
    result_.counts = sums_.counts;
    return std::move(result_);
  }

 private:
  void step() {
    context_.check_cancelled();
    prepare_centers();
    const Index chunks = (points_.panels() + kChunkPanels - 1) / kChunkPanels;
    changes_.resize(static_cast<std::size_t>(chunks), Sums(options_.clusters, points_.dims()));
    context_.pool().run(chunks, [&](Index chunk) { assign(chunk, changes_[static_cast<std::size_t>(chunk)]); });
    Index changed = 0;
    for (Sums& change : changes_) {
      changed += change.changed;
      take(change);
    }
    changed += refill_empty_clusters();
    update_centers();
    result_.converged = changed == 0;
    ++result_.iterations;
    result_.history.push_back(result_.inertia);
  }

  // g = -2 centre, norm = ||centre||^2: what the kernel takes. A cluster that never had a point attracts none.
  void prepare_centers() {
    const Index c = options_.clusters, m = points_.dims();
    g_.resize(static_cast<std::size_t>(c * m));
    norm_.resize(static_cast<std::size_t>(c));
    for (Index k = 0; k < c; ++k) {
      double norm = 0;
      for (Index j = 0; j < m; ++j) {
        const double value = result_.centers(k, j);
        g_[static_cast<std::size_t>(k * m + j)] = static_cast<T>(-2 * value);
        norm += value * value;
      }
      norm_[static_cast<std::size_t>(k)] = static_cast<T>(norm);
    }
  }

  void assign(Index chunk, Sums& change) {
    const Index first_panel = chunk * kChunkPanels;
    const Index panels = std::min(kChunkPanels, points_.panels() - first_panel);
    T best[kChunkPanels * kPanel];
    std::int32_t label[kChunkPanels * kPanel];
    kernels<T>().nearest(points_.panel(first_panel), panels, points_.dims(), g_.data(), norm_.data(), options_.clusters,
                         best, label);
    const Index first = first_panel * kPanel, rows = std::min(panels * kPanel, points_.rows() - first);
    if (!options_.fixed.empty()) {
      for (Index i = 0; i < rows; ++i) {
        const int fixed = options_.fixed[static_cast<std::size_t>(first + i)];
        if (fixed >= 0) label[i] = fixed;
      }
    }
    std::int32_t* before = labels_.data() + first;
    for (Index begin = 0; begin < rows; begin += kPanel) {
      const Index end = std::min(begin + kPanel, rows);
      if (std::equal(label + begin, label + end, before + begin)) continue;  // most panels, after a few steps
      for (Index i = begin; i < end; ++i) {
        if (label[i] == before[i]) continue;
        if (before[i] >= 0) move(first + i, before[i], -1, change);
        move(first + i, label[i], 1, change);
        before[i] = label[i];
        ++change.changed;
      }
    }
  }

  void move(Index row, int cluster, int sign, Sums& sums) {
    const T* point = points_.panel(row / kPanel) + row % kPanel;
    double* sum = sums.points.row(cluster);
    for (Index j = 0; j < points_.dims(); ++j) sum[j] += sign * static_cast<double>(point[j * kPanel]);
    sums.counts[static_cast<std::size_t>(cluster)] += sign;
  }

  // Adds a change to the sums and leaves it empty for the next step.
  void take(Sums& change) {
    if (change.changed == 0) return;
    for (Index i = 0; i < sums_.points.size(); ++i)
      sums_.points.data()[i] += std::exchange(change.points.data()[i], 0.0);
    for (std::size_t k = 0; k < sums_.counts.size(); ++k) sums_.counts[k] += std::exchange(change.counts[k], Index{0});
    change.changed = 0;
  }

  // Centres are means; inertia = sum ||y||^2 - sum_k ||s_k||^2 / n_k.
  void update_centers() {
    double between = 0;
    for (Index k = 0; k < options_.clusters; ++k) {
      const auto count = static_cast<double>(sums_.counts[static_cast<std::size_t>(k)]);
      if (count == 0) continue;
      for (Index j = 0; j < points_.dims(); ++j) {
        result_.centers(k, j) = sums_.points(k, j) / count;
        between += sums_.points(k, j) * result_.centers(k, j);
      }
    }
    result_.inertia = std::max(0.0, points_.squared_norm() - between);
  }

  // Gives each empty cluster the free point that is farthest from its own centre; leaves it empty where every
  // point sits on its centre (fewer distinct points than clusters).
  Index refill_empty_clusters() {
    Index moved = 0;
    for (Index k = 0; k < options_.clusters; ++k) {
      if (sums_.counts[static_cast<std::size_t>(k)] != 0) continue;
      const Index row = farthest_point();
      if (row < 0) break;
      move(row, labels_[static_cast<std::size_t>(row)], -1, sums_);
      move(row, static_cast<int>(k), 1, sums_);
      labels_[static_cast<std::size_t>(row)] = static_cast<int>(k);
      ++moved;
    }
    return moved;
  }

  // Hartigan's moves: point y goes from cluster a to b where that lowers the inertia, the centres' own moves counted:
  //   n_b / (n_b + 1) ||y - g_b||^2 < n_a / (n_a - 1) ||y - g_a||^2
  // It leaves many of the optima where Lloyd's iteration stands still. Returns the number of moves.
  Index exchange() {
    prepare_exchange();
    std::vector<double> y(static_cast<std::size_t>(points_.dims())),
        distance(static_cast<std::size_t>(options_.clusters));
    Index total = 0;
    for (Index sweep = 0; sweep < kExchangeSweeps; ++sweep) {
      context_.check_cancelled();
      Index moves = 0;
      for (Index panel = 0; panel < points_.panels(); ++panel) {
        if (!panel_may_move(panel)) continue;
        for (Index i = panel * kPanel; i < std::min((panel + 1) * kPanel, points_.rows()); ++i) {
          const int a = labels_[static_cast<std::size_t>(i)];
          // An earlier move of this panel may have left the cluster with one point.
          if (!movable_[static_cast<std::size_t>(i % kPanel)] || sums_.counts[static_cast<std::size_t>(a)] < 2)
            continue;
          for (Index j = 0; j < points_.dims(); ++j)
            y[static_cast<std::size_t>(j)] = static_cast<double>(points_.at(i, j));
          const int b = best_move(y, a, distance);
          if (b == a) continue;
          move(i, a, -1, sums_);
          move(i, b, 1, sums_);
          labels_[static_cast<std::size_t>(i)] = b;
          set_center(a);
          set_center(b);
          ++moves;
        }
      }
      total += moves;
      if (moves == 0) break;
    }
    if (total > 0) {
      update_centers();
      result_.history.back() = result_.inertia;
    }
    return total;
  }

  // Centres as columns (m x c, padded), so that one product gives the distances of a panel to all of them.
  void prepare_exchange() {
    const Index c = options_.clusters, width = (c + kWidthStep<T> - 1) / kWidthStep<T> * kWidthStep<T>;
    columns_ = BasicMatrix<T>(points_.dims(), width);
    panel_products_ = BasicMatrix<T>(kPanel, width);
    norm_.resize(static_cast<std::size_t>(c));
    movable_.resize(static_cast<std::size_t>(kPanel));
    for (Index k = 0; k < c; ++k) set_column(k);
  }

  void set_column(Index k) {
    double norm = 0;
    for (Index j = 0; j < points_.dims(); ++j) {
      const double value = result_.centers(k, j);
      columns_(j, k) = static_cast<T>(value);
      norm += value * value;
    }
    norm_[static_cast<std::size_t>(k)] = static_cast<T>(norm);
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
      movable_[static_cast<std::size_t>(r)] = 0;
      if (row >= points_.rows()) break;
      const auto at = static_cast<std::size_t>(row);
      const auto a = static_cast<std::size_t>(labels_[at]);
      if (sums_.counts[a] < 2 || (!options_.fixed.empty() && options_.fixed[at] >= 0)) continue;
      const auto square = points_.squared_norm(row);
      const T* product = panel_products_.row(r);
      const auto own_size = static_cast<T>(sums_.counts[a]);
      const T own = (square + norm_[a] - 2 * product[a]) * own_size / (own_size - 1);
      const T slack = std::numeric_limits<T>::epsilon() * 16 * square;
      for (Index k = 0; k < c && !movable_[static_cast<std::size_t>(r)]; ++k) {
        const auto size = static_cast<T>(sums_.counts[static_cast<std::size_t>(k)]);
        const T other = (square + norm_[static_cast<std::size_t>(k)] - 2 * product[k]) * size / (size + 1);
        movable_[static_cast<std::size_t>(r)] = other < own + slack && k != static_cast<Index>(a);
      }
      any = any || movable_[static_cast<std::size_t>(r)];
    }
    return any;
  }

  // The cluster to which y of cluster a should go; a where no move pays (by more than rounding).
  int best_move(const std::vector<double>& y, int a, std::vector<double>& distance) const {
    for (Index k = 0; k < options_.clusters; ++k) {
      double sum = 0;
      const double* center = result_.centers.row(k);
      for (std::size_t j = 0; j < y.size(); ++j) sum += (y[j] - center[j]) * (y[j] - center[j]);
      distance[static_cast<std::size_t>(k)] = sum;
    }
    const auto size = [&](Index k) { return static_cast<double>(sums_.counts[static_cast<std::size_t>(k)]); };
    double least = distance[static_cast<std::size_t>(a)] * size(a) / (size(a) - 1) * (1 - 1e-9) - rounding();
    int best = a;
    for (Index k = 0; k < options_.clusters; ++k) {
      if (k == a) continue;
      const double cost = distance[static_cast<std::size_t>(k)] * size(k) / (size(k) + 1);
      if (cost < least) {
        least = cost;
        best = static_cast<int>(k);
      }
    }
    return best;
  }

  void set_center(int k) {
    const auto count = static_cast<double>(sums_.counts[static_cast<std::size_t>(k)]);
    for (Index j = 0; j < points_.dims(); ++j) result_.centers(k, j) = sums_.points(k, j) / count;
    set_column(k);
  }

  // A squared distance that is nothing but rounding.
  double rounding() const {
    return 1e-12 * points_.squared_norm() / static_cast<double>(std::max<Index>(points_.rows(), 1));
  }

  Index farthest_point() const {
    Index farthest = -1;
    double largest = rounding();
    for (Index i = 0; i < points_.rows(); ++i) {
      const auto row = static_cast<std::size_t>(i);
      const auto own = static_cast<std::size_t>(labels_[row]);
      if (sums_.counts[own] < 2 || (!options_.fixed.empty() && options_.fixed[row] >= 0)) continue;
      double distance = 0;
      for (Index j = 0; j < points_.dims(); ++j) {
        const double center = sums_.points(labels_[row], j) / static_cast<double>(sums_.counts[own]);
        const double delta = static_cast<double>(points_.at(i, j)) - center;
        distance += delta * delta;
      }
      if (distance > largest) {
        largest = distance;
        farthest = i;
      }
    }
    return farthest;
  }

  const Points<T>& points_;
  const KMeansOptions& options_;
  Context& context_;
  Sums sums_;
  std::vector<Sums> changes_;  // of one step, chunk by chunk
  std::vector<std::int32_t> labels_;
  std::vector<T> g_, norm_;
  BasicMatrix<T> columns_, panel_products_;  // of exchange()
  std::vector<char> movable_;
  KMeansResult result_;
};

}  // namespace tamis
