#include "tamis/cluster/kmeans.h"

#include <algorithm>
#include <numeric>

#include "tamis/base/error.h"
#include "tamis/cluster/lloyd.h"
#include "tamis/cluster/seeding.h"

namespace tamis {

namespace {

// Lloyd steps of every restart before the first halving, and between the next ones.
constexpr Index kFirstSteps = 3;
constexpr Index kNextSteps = 4;
// A best restart farther than this above the threshold, after its first steps and later, will not come below it.
constexpr double kFirstNear = 1.05;
constexpr double kNextNear = 1.02;

void check(const KMeansOptions& options, Index rows) {
  require(options.clusters >= 1 && options.clusters <= rows, ErrorCode::usage, "kmeans: clusters = ", options.clusters,
          ", need 1..n = ", rows);
  require(options.restarts >= 1, ErrorCode::usage, "kmeans: restarts = ", options.restarts, ", need x >= 1");
  require(options.iterations >= 1, ErrorCode::usage, "kmeans: iterations = ", options.iterations, ", need x >= 1");
  if (options.fixed.empty()) return;
  require(static_cast<Index>(options.fixed.size()) == rows, ErrorCode::usage, "kmeans: ", options.fixed.size(),
          " fixed labels, need n = ", rows);
  const auto [low, high] = std::minmax_element(options.fixed.begin(), options.fixed.end());
  require(*low >= -1 && *high < options.clusters, ErrorCode::usage, "kmeans: fixed labels ", *low, "..", *high,
          ", need -1..", options.clusters - 1);
}

}  // namespace

bool exchanges_points(Index rows, Index clusters) { return rows <= kExchangeSize * clusters; }

template <class T>
KMeansResult lloyd(const Points<T>& points, const Matrix& centers, const KMeansOptions& options, Context& context) {
  check(options, points.rows());
  Run<T> run(points, options, context);
  run.start_from_centers(centers);
  run.finish();
  return run.take();
}

template <class T>
KMeansResult lloyd_from_labels(const Points<T>& points, const std::vector<int>& labels, const KMeansOptions& options,
                               Context& context) {
  check(options, points.rows());
  Run<T> run(points, options, context);
  run.start_from_labels(labels);
  run.finish();
  return run.take();
}

template <class T>
KMeansResult kmeans(const Points<T>& points, const KMeansOptions& options, Context& context) {
  check(options, points.rows());
  require(points.there().store == nullptr, ErrorCode::internal, "kmeans: starts need points that are here");
  std::vector<Run<T>> runs(options.restarts, Run<T>(points, options, context));
  std::vector<std::size_t> alive(runs.size());
  std::iota(alive.begin(), alive.end(), std::size_t{0});
  context.pool().run(options.restarts, [&](Index r) {
    Run<T>& run = runs[r];
    run.start_from_centers(Seeding<T>(points, options, r).centers());
    if (options.to_the_end) {
      run.finish();
    } else {
      run.advance(kFirstSteps);
    }
  });
  if (options.to_the_end) {
    const auto by_inertia = [](const Run<T>& a, const Run<T>& b) { return a.inertia() < b.inertia(); };
    return std::min_element(runs.begin(), runs.end(), by_inertia)->take();
  }
  double near = kFirstNear;
  while (alive.size() > 1) {
    std::stable_sort(alive.begin(), alive.end(), [&](auto a, auto b) { return runs[a].inertia() < runs[b].inertia(); });
    if (runs[alive[0]].inertia() > near * options.threshold) return runs[alive[0]].take();
    near = kNextNear;
    alive.resize((alive.size() + 1) / 2);
    context.pool().run(static_cast<Index>(alive.size()), [&](Index r) { runs[alive[r]].advance(kNextSteps); });
  }
  runs[alive[0]].finish();
  return runs[alive[0]].take();
}

KMeansResult kmeans(Matrix points, const KMeansOptions& options, Context& context) {
  // Around their mean, so that squared norms do not cancel where the points lie far from 0.
  std::vector<double> mean(points.cols());
  for (Index i = 0; i < points.rows(); ++i) {
    for (Index j = 0; j < points.cols(); ++j) {
      mean[j] += points(i, j) / static_cast<double>(points.rows());
    }
  }
  for (Index i = 0; i < points.rows(); ++i) {
    for (Index j = 0; j < points.cols(); ++j) points(i, j) -= mean[j];
  }
  const Points<double> packed(points);
  points = Matrix();
  KMeansResult result = kmeans(packed, options, context);
  for (Index k = 0; k < result.centers.rows(); ++k) {
    for (Index j = 0; j < result.centers.cols(); ++j) result.centers(k, j) += mean[j];
  }
  return result;
}

template KMeansResult kmeans<double>(const Points<double>&, const KMeansOptions&, Context&);
template KMeansResult kmeans<float>(const Points<float>&, const KMeansOptions&, Context&);
template KMeansResult lloyd<double>(const Points<double>&, const Matrix&, const KMeansOptions&, Context&);
template KMeansResult lloyd<float>(const Points<float>&, const Matrix&, const KMeansOptions&, Context&);
template KMeansResult lloyd_from_labels<double>(const Points<double>&, const std::vector<int>&, const KMeansOptions&,
                                                Context&);
template KMeansResult lloyd_from_labels<float>(const Points<float>&, const std::vector<int>&, const KMeansOptions&,
                                               Context&);

}  // namespace tamis
