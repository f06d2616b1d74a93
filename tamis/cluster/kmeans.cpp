#include "tamis/cluster/kmeans.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tamis/base/error.h"
#include "tamis/base/random.h"
#include "tamis/linalg/kernels.h"

namespace tamis {

namespace {

// Panels whose sums form one partial; a constant, since the order of sums follows it.
constexpr Index kChunkPanels = 128;
// Lloyd steps of every restart before the first halving, and between the next ones.
constexpr Index kFirstSteps = 3;
constexpr Index kNextSteps = 4;

}  // namespace

// --- Points ------------------------------------------------------------------------------------------------------

template <class T>
Index Points<T>::panels() const {
  return (rows_ + kPanel - 1) / kPanel;
}

template <class T>
const T* Points<T>::panel(Index p) const {
  return data_.data() + p * dims_ * kPanel;
}

template <class T>
T Points<T>::at(Index row, Index dim) const {
  return panel(row / kPanel)[dim * kPanel + row % kPanel];
}

template <class T>
void Points<T>::set(Index row, Index dim, T value) {
  data_[static_cast<std::size_t>((row / kPanel * dims_ + dim) * kPanel + row % kPanel)] = value;
}

template <class T>
double Points<T>::squared_norm(Index row) const {
  double sum = 0;
  for (Index j = 0; j < dims_; ++j) {
    const auto value = static_cast<double>(at(row, j));
    sum += value * value;
  }
  return sum;
}

template <class T>
Points<T>::Points(const BasicMatrix<T>& rows)
    : rows_(rows.rows()), dims_(rows.cols()), data_(static_cast<std::size_t>(panels() * dims_ * kPanel)) {
  for (Index i = 0; i < rows_; ++i) {
    double norm = 0;
    for (Index j = 0; j < dims_; ++j) {
      const T value = rows(i, j);
      set(i, j, value);
      norm += static_cast<double>(value) * static_cast<double>(value);
    }
    squared_norm_ += norm;
  }
}

template <class T>
Points<T>::Points(const Points& all, const std::vector<Index>& rows)
    : rows_(static_cast<Index>(rows.size())), dims_(all.dims_),
      data_(static_cast<std::size_t>(panels() * dims_ * kPanel)) {
  for (Index i = 0; i < rows_; ++i) {
    for (Index j = 0; j < dims_; ++j) set(i, j, all.at(rows[static_cast<std::size_t>(i)], j));
    squared_norm_ += squared_norm(i);
  }
}

namespace {

// --- One run of Lloyd's iteration --------------------------------------------------------------------------------

// Sums of the points of each cluster, their number, and sum of min_k (||g_k||^2 - 2 y.g_k).
struct Sums {
  Sums(Index c, Index m) : points(c, m), counts(static_cast<std::size_t>(c)) {}
  Matrix points;
  std::vector<Index> counts;
  double cost = 0;
  Index changed = 0;
};

template <class T>
class Run {
 public:
  Run(const Points<T>& points, const KMeansOptions& options, Context& context)
      : points_(points), options_(options), context_(context), sums_(options.clusters, points.dims()),
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
    std::vector<Sums> changes(static_cast<std::size_t>(chunks), Sums(options_.clusters, points_.dims()));
    context_.pool().run(chunks, [&](Index chunk) { assign(chunk, changes[static_cast<std::size_t>(chunk)]); });
    Index changed = 0;
    for (const Sums& change : changes) {
      add(change);
      changed += change.changed;
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
    kernels<T>().nearest(points_.panel(first_panel), panels, points_.dims(), g_.data(), norm_.data(),
                         options_.clusters, best, label);
    const Index first = first_panel * kPanel, rows = std::min(panels * kPanel, points_.rows() - first);
    for (Index i = 0; i < rows; ++i) {
      const auto row = static_cast<std::size_t>(first + i);
      const int fixed = options_.fixed.empty() ? -1 : options_.fixed[row];
      const int now = fixed >= 0 ? fixed : label[i];
      const int before = labels_[row];
      if (now == before) continue;
      if (before >= 0) move(first + i, before, -1, change);
      move(first + i, now, 1, change);
      labels_[row] = now;
      ++change.changed;
    }
  }

  void move(Index row, int cluster, int sign, Sums& sums) {
    for (Index j = 0; j < points_.dims(); ++j) sums.points(cluster, j) += sign * static_cast<double>(points_.at(row, j));
    sums.counts[static_cast<std::size_t>(cluster)] += sign;
  }

  void add(const Sums& change) {
    if (change.changed == 0) return;
    for (Index i = 0; i < sums_.points.size(); ++i) sums_.points.data()[i] += change.points.data()[i];
    for (std::size_t k = 0; k < sums_.counts.size(); ++k) sums_.counts[k] += change.counts[k];
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

  Index farthest_point() const {
    Index farthest = -1;
    double largest = 1e-12 * points_.squared_norm() / static_cast<double>(std::max<Index>(points_.rows(), 1));
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
  std::vector<std::int32_t> labels_;
  std::vector<T> g_, norm_;
  KMeansResult result_;
};

// --- Starts ------------------------------------------------------------------------------------------------------

template <class T>
class Seeding {
 public:
  Seeding(const Points<T>& points, const KMeansOptions& options, Index restart)
      : points_(points), options_(options), random_(options.seed, static_cast<std::uint64_t>(restart)),
        distance_(static_cast<std::size_t>(points.panels() * kPanel), std::numeric_limits<T>::max()),
        trial_(distance_.size()), norms_(distance_.size()), label_(distance_.size()) {
    for (Index i = 0; i < points.rows(); ++i) norms_[static_cast<std::size_t>(i)] = points.squared_norm(i);
  }

  Matrix centers() {
    Matrix out(options_.clusters, points_.dims());
    const std::vector<char> known = fixed_centers(out);
    for (Index k = 0; k < options_.clusters; ++k) {
      if (known[static_cast<std::size_t>(k)]) continue;
      const bool first = distance_[0] == std::numeric_limits<T>::max();
      const bool uniform = first || options_.start == KMeansOptions::Start::random;
      const Index row = uniform ? uniform_row(k) : best_of_trials(k);
      for (Index j = 0; j < points_.dims(); ++j) out(k, j) = static_cast<double>(points_.at(row, j));
      if (options_.start == KMeansOptions::Start::plus_plus) accept(row);
    }
    return out;
  }

 private:
  // Clusters with fixed rows start at those rows' mean.
  std::vector<char> fixed_centers(Matrix& centers) {
    std::vector<Index> counts(static_cast<std::size_t>(options_.clusters));
    for (std::size_t i = 0; i < options_.fixed.size(); ++i) {
      const int k = options_.fixed[i];
      if (k < 0) continue;
      ++counts[static_cast<std::size_t>(k)];
      for (Index j = 0; j < points_.dims(); ++j) centers(k, j) += static_cast<double>(points_.at(static_cast<Index>(i), j));
    }
    std::vector<char> known(counts.size());
    for (Index k = 0; k < options_.clusters; ++k) {
      const auto count = counts[static_cast<std::size_t>(k)];
      if (count == 0) continue;
      known[static_cast<std::size_t>(k)] = 1;
      std::vector<T> center(static_cast<std::size_t>(points_.dims()));
      for (Index j = 0; j < points_.dims(); ++j) {
        centers(k, j) /= static_cast<double>(count);
        center[static_cast<std::size_t>(j)] = static_cast<T>(centers(k, j));
      }
      distances_to(center, trial_);
      keep_nearer();
    }
    return known;
  }

  Index uniform_row(Index k) const { return random_.below(static_cast<std::uint64_t>(k) * 64, points_.rows()); }

  // Greedy k-means++: of a few points drawn in proportion to their squared distance, the one that lowers the
  // total most (Arthur & Vassilvitskii 2007, their remark).
  Index best_of_trials(Index k) {
    const Index trials = 2 + static_cast<Index>(std::log(static_cast<double>(options_.clusters)));
    const double total = sum(distance_);
    if (!(total > 0)) return uniform_row(k);
    Index best_row = -1;
    double best = std::numeric_limits<double>::infinity();
    for (Index t = 0; t < trials; ++t) {
      const Index row = draw(total * random_.uniform(static_cast<std::uint64_t>(k * 64 + 1 + t)));
      distances_to(coordinates(row), trial_);
      double cost = 0;
      for (Index i = 0; i < points_.rows(); ++i) {
        const auto at = static_cast<std::size_t>(i);
        cost += static_cast<double>(std::min(distance_[at], trial_[at]));
      }
      if (cost < best) {
        best = cost;
        best_row = row;
      }
    }
    return best_row;
  }

  // The row at which the running sum of distances passes `target`.
  Index draw(double target) const {
    double running = 0;
    Index last = 0;
    for (Index i = 0; i < points_.rows(); ++i) {
      const auto value = static_cast<double>(distance_[static_cast<std::size_t>(i)]);
      if (value > 0) last = i;
      running += value;
      if (running > target) return i;
    }
    return last;
  }

  void accept(Index row) {
    distances_to(coordinates(row), trial_);
    keep_nearer();
  }

  void keep_nearer() {
    for (std::size_t i = 0; i < distance_.size(); ++i) distance_[i] = std::min(distance_[i], trial_[i]);
  }

  std::vector<T> coordinates(Index row) const {
    std::vector<T> out(static_cast<std::size_t>(points_.dims()));
    for (Index j = 0; j < points_.dims(); ++j) out[static_cast<std::size_t>(j)] = points_.at(row, j);
    return out;
  }

  // ||y - g||^2 = ||y||^2 + (||g||^2 - 2 y.g), never below 0.
  void distances_to(std::vector<T> g, std::vector<T>& out) {
    T norm = 0;
    for (auto& value : g) {
      norm += value * value;
      value *= -2;
    }
    kernels<T>().nearest(points_.panel(0), points_.panels(), points_.dims(), g.data(), &norm, 1, out.data(),
                         label_.data());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = std::max(T(0), out[i] + static_cast<T>(norms_[i]));
  }

  double sum(const std::vector<T>& values) const {
    double total = 0;
    for (Index i = 0; i < points_.rows(); ++i) total += static_cast<double>(values[static_cast<std::size_t>(i)]);
    return total;
  }

  const Points<T>& points_;
  const KMeansOptions& options_;
  Random random_;
  std::vector<T> distance_, trial_;
  std::vector<double> norms_;
  std::vector<std::int32_t> label_;
};

void check(const KMeansOptions& options, Index rows) {
  require(options.clusters >= 1 && options.clusters <= rows, ErrorCode::usage, "kmeans: clusters = ", options.clusters,
          ", need 1..n = ", rows);
  require(options.restarts >= 1, ErrorCode::usage, "kmeans: restarts = ", options.restarts, ", need x >= 1");
}

}  // namespace

template <class T>
KMeansResult lloyd(const Points<T>& points, const Matrix& centers, const KMeansOptions& options, Context& context) {
  check(options, points.rows());
  Run<T> run(points, options, context);
  run.start_from_centers(centers);
  run.advance(options.iterations);
  return run.take();
}

template <class T>
KMeansResult lloyd_from_labels(const Points<T>& points, const std::vector<int>& labels, const KMeansOptions& options,
                               Context& context) {
  check(options, points.rows());
  Run<T> run(points, options, context);
  run.start_from_labels(labels);
  run.advance(options.iterations);
  return run.take();
}

template <class T>
KMeansResult kmeans(const Points<T>& points, const KMeansOptions& options, Context& context) {
  check(options, points.rows());
  std::vector<Run<T>> runs(static_cast<std::size_t>(options.restarts), Run<T>(points, options, context));
  std::vector<std::size_t> alive(runs.size());
  std::iota(alive.begin(), alive.end(), std::size_t{0});
  context.pool().run(options.restarts, [&](Index r) {
    Run<T>& run = runs[static_cast<std::size_t>(r)];
    run.start_from_centers(Seeding<T>(points, options, r).centers());
    run.advance(kFirstSteps);
  });
  while (alive.size() > 1) {
    std::stable_sort(alive.begin(), alive.end(), [&](auto a, auto b) { return runs[a].inertia() < runs[b].inertia(); });
    alive.resize((alive.size() + 1) / 2);
    context.pool().run(static_cast<Index>(alive.size()),
                       [&](Index r) { runs[alive[static_cast<std::size_t>(r)]].advance(kNextSteps); });
  }
  runs[alive[0]].advance(options.iterations);
  return runs[alive[0]].take();
}

KMeansResult kmeans(const Matrix& points, const KMeansOptions& options, Context& context) {
  return kmeans(Points<double>(points), options, context);
}

template class Points<double>;
template class Points<float>;
template KMeansResult kmeans<double>(const Points<double>&, const KMeansOptions&, Context&);
template KMeansResult kmeans<float>(const Points<float>&, const KMeansOptions&, Context&);
template KMeansResult lloyd<double>(const Points<double>&, const Matrix&, const KMeansOptions&, Context&);
template KMeansResult lloyd<float>(const Points<float>&, const Matrix&, const KMeansOptions&, Context&);
template KMeansResult lloyd_from_labels<double>(const Points<double>&, const std::vector<int>&, const KMeansOptions&,
                                                Context&);
template KMeansResult lloyd_from_labels<float>(const Points<float>&, const std::vector<int>&, const KMeansOptions&,
                                               Context&);

}  // namespace tamis
