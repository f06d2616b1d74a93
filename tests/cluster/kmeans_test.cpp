#include "tamis/cluster/kmeans.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "tests/support/checks.h"
#include "tests/support/tables.h"
#include "tests/support/weights.h"

namespace tamis {
namespace {

BasicMatrix<float> narrow(const Matrix& a) {
  BasicMatrix<float> out(a.rows(), a.cols());
  for (Index i = 0; i < a.size(); ++i) out.data()[i] = static_cast<float>(a.data()[i]);
  return out;
}

// ||Y - U G||^2 with G the means of the given clusters.
double inertia_of(const Matrix& y, const std::vector<int>& labels, Index clusters) {
  support::LongMatrix sums(clusters, y.cols());
  std::vector<Index> counts(static_cast<std::size_t>(clusters));
  for (Index i = 0; i < y.rows(); ++i) {
    const int k = labels[static_cast<std::size_t>(i)];
    ++counts[static_cast<std::size_t>(k)];
    for (Index j = 0; j < y.cols(); ++j) sums(k, j) += y(i, j);
  }
  long double total = 0;
  for (Index i = 0; i < y.rows(); ++i) {
    const int k = labels[static_cast<std::size_t>(i)];
    for (Index j = 0; j < y.cols(); ++j) {
      const long double delta = y(i, j) - sums(k, j) / static_cast<long double>(counts[static_cast<std::size_t>(k)]);
      total += delta * delta;
    }
  }
  return static_cast<double>(total);
}

// Everything a result says about itself, checked against the definition.
void expect_consistent(const Matrix& y, const KMeansResult& found, const KMeansOptions& options, double tolerance) {
  const Index c = options.clusters;
  ASSERT_EQ(static_cast<Index>(found.labels.size()), y.rows());
  ASSERT_EQ(found.centers.rows(), c);
  ASSERT_EQ(found.centers.cols(), y.cols());
  std::vector<Index> counts(static_cast<std::size_t>(c));
  double scale = 0;
  for (Index i = 0; i < y.size(); ++i) scale += y.data()[i] * y.data()[i];
  for (const int label : found.labels) {
    ASSERT_GE(label, 0);
    ASSERT_LT(label, c);
    ++counts[static_cast<std::size_t>(label)];
  }
  EXPECT_EQ(found.counts, counts);
  EXPECT_NEAR(found.inertia, inertia_of(y, found.labels, c), tolerance * (scale + 1e-300));
  EXPECT_EQ(static_cast<Index>(found.history.size()), found.iterations);
  EXPECT_LE(found.iterations, options.iterations);
  for (std::size_t t = 1; t < found.history.size(); ++t) {
    EXPECT_LE(found.history[t], found.history[t - 1] + tolerance * scale) << "the inertia rose at step " << t;
  }
  EXPECT_EQ(found.inertia, found.history.back());
  for (Index k = 0; k < c; ++k) {
    if (counts[static_cast<std::size_t>(k)] == 0) continue;
    for (Index j = 0; j < y.cols(); ++j) {
      long double mean = 0;
      for (Index i = 0; i < y.rows(); ++i) {
        if (found.labels[static_cast<std::size_t>(i)] == k) mean += y(i, j);
      }
      mean /= static_cast<long double>(counts[static_cast<std::size_t>(k)]);
      EXPECT_NEAR(found.centers(k, j), static_cast<double>(mean), 1e-4 * tolerance * 1e4 * std::sqrt(scale + 1e-300));
    }
  }
}

void expect_nearest(const Matrix& y, const KMeansResult& found, const std::vector<int>& fixed, double tolerance) {
  for (Index i = 0; i < y.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (!fixed.empty() && fixed[row] >= 0) continue;
    std::vector<double> distance(static_cast<std::size_t>(found.centers.rows()));
    for (Index k = 0; k < found.centers.rows(); ++k) {
      for (Index j = 0; j < y.cols(); ++j)
        distance[static_cast<std::size_t>(k)] += std::pow(y(i, j) - found.centers(k, j), 2);
    }
    for (std::size_t k = 0; k < distance.size(); ++k) {
      if (found.counts[k] == 0) continue;
      EXPECT_LE(distance[static_cast<std::size_t>(found.labels[row])], distance[k] + tolerance) << "row " << i;
    }
  }
}

TEST(KMeans, ResultsMatchTheirDefinition) {
  for (const auto start : {KMeansOptions::Start::plus_plus, KMeansOptions::Start::random}) {
    for (const auto& [n, m, c] : std::vector<std::array<Index, 3>>{
             {1, 1, 1}, {5, 2, 5}, {40, 3, 4}, {17, 1, 3}, {200, 5, 9}, {333, 20, 12}, {33, 2, 1}}) {
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const Matrix y = support::mixture(n, m, std::max<Index>(c / 2, 1), m, seed % 2 ? 0 : 3, seed);
        Context context(2);
        KMeansOptions options;
        options.clusters = c;
        options.start = start;
        options.seed = seed;
        options.restarts = 5;
        const KMeansResult found = kmeans(y, options, context);
        expect_consistent(y, found, options, 1e-13);
        EXPECT_TRUE(found.converged);
        expect_nearest(y, found, {}, 1e-10);
        const KMeansResult single = kmeans(Points<float>(narrow(y)), options, context);
        expect_consistent(y, single, options, 1e-5);
      }
    }
  }
}

// All partitions of a few points into at most c clusters.
double best_inertia(const Matrix& y, Index c) {
  double best = std::numeric_limits<double>::infinity();
  std::vector<int> labels(static_cast<std::size_t>(y.rows()));
  while (true) {
    best = std::min(best, inertia_of(y, labels, c));
    std::size_t at = 1;  // the first row may stay in cluster 0
    while (at < labels.size() && ++labels[at] == c) labels[at++] = 0;
    if (at >= labels.size()) return best;
  }
}

TEST(KMeans, ManyRestartsReachTheOptimum) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    for (const auto& [n, m, c] : std::vector<std::array<Index, 3>>{{8, 1, 2}, {8, 2, 3}, {9, 3, 2}, {7, 2, 4}}) {
      const Matrix y = support::random_matrix(n, m, seed + 50);
      KMeansOptions options;
      options.clusters = c;
      options.restarts = 300;
      options.seed = seed;
      Context context(2);
      EXPECT_NEAR(kmeans(y, options, context).inertia, best_inertia(y, c), 1e-10)
          << n << " " << m << " " << c << " " << seed;
      EXPECT_NEAR(kmeans(Points<float>(narrow(y)), options, context).inertia, best_inertia(y, c), 1e-4);
    }
  }
}

TEST(KMeans, WorkedByHand) {
  Matrix y(4, 1);
  y(0, 0) = 0, y(1, 0) = 1, y(2, 0) = 10, y(3, 0) = 12;
  KMeansOptions options;
  options.clusters = 2;
  Context context(1);
  const KMeansResult found = kmeans(y, options, context);
  EXPECT_EQ(found.labels[0], found.labels[1]);
  EXPECT_EQ(found.labels[2], found.labels[3]);
  EXPECT_NE(found.labels[0], found.labels[2]);
  EXPECT_NEAR(found.inertia, 0.5 + 2, 1e-13);
}

TEST(KMeans, MoreRestartsAreNoWorseOnAverage) {
  double one = 0, many = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Matrix y = support::mixture(150, 3, 10, 3, 5, seed);
    Context context(2);
    KMeansOptions options;
    options.clusters = 10;
    options.seed = seed;
    options.restarts = 1;
    one += kmeans(y, options, context).inertia;
    options.restarts = 20;
    many += kmeans(y, options, context).inertia;
  }
  EXPECT_LE(many, one);
}

// The inertia must not drown in the offset of the points: ||y||^2 - ||s||^2 / n alone would.
// The restart that is best in the end need not be among the better half after a few steps.
TEST(KMeans, TheBestRestartIsThatWithTheLeastInertiaInTheEnd) {
  Context context(2);
  Index better = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Matrix y = support::random_matrix(40, 12, seed);
    KMeansOptions options;
    options.clusters = 4, options.seed = seed;
    double least = std::numeric_limits<double>::infinity();
    for (options.restarts = 1; options.restarts <= 8; ++options.restarts) {
      options.to_the_end = false;
      const KMeansResult thinned = kmeans(y, options, context);
      options.to_the_end = true;
      const KMeansResult all = kmeans(y, options, context);
      if (options.restarts == 1) {
        EXPECT_EQ(all.labels, thinned.labels);
      }
      EXPECT_LE(all.inertia, least);
      EXPECT_LE(all.inertia, thinned.inertia);
      better += all.inertia < thinned.inertia * (1 - 1e-9) ? 1 : 0;
      least = all.inertia;
    }
  }
  EXPECT_GT(better, 20);
}

TEST(KMeans, InertiaSurvivesAnOffset) {
  for (const double offset : {1e4, 1e6, 1e8}) {
    Matrix y = support::mixture(120, 3, 3, 3, 4, 2);
    for (Index i = 0; i < y.size(); ++i) y.data()[i] += offset;
    KMeansOptions options;
    options.clusters = 3;
    Context context(2);
    const KMeansResult found = kmeans(y, options, context);
    const double wanted = inertia_of(y, found.labels, 3);
    EXPECT_NEAR(found.inertia / wanted, 1.0, 1e-6) << offset;
    for (std::size_t t = 1; t < found.history.size(); ++t)
      EXPECT_LE(found.history[t], found.history[t - 1] + 1e-6 * wanted) << offset;
  }
}

TEST(KMeans, EmptyClustersAreRefilled) {
  // Centers that attract nothing: all far away but one.
  const Matrix y = support::random_matrix(60, 2, 3);
  Matrix centers(5, 2, 1e6);
  centers(2, 0) = centers(2, 1) = 0;
  KMeansOptions options;
  options.clusters = 5;
  Context context(2);
  const KMeansResult found = lloyd(Points<double>(y), centers, options, context);
  for (const Index count : found.counts) EXPECT_GT(count, 0);
  expect_consistent(y, found, options, 1e-13);
  expect_nearest(y, found, {}, 1e-10);
  // All of one label, the other clusters empty.
  const KMeansResult again = lloyd_from_labels(Points<double>(y), std::vector<int>(60, 3), options, context);
  for (const Index count : again.counts) EXPECT_GT(count, 0);
  expect_consistent(y, again, options, 1e-13);
}

TEST(KMeans, FewerDistinctPointsThanClusters) {
  for (const Index distinct : {1, 2, 3}) {
    Matrix y(30, 2);
    for (Index i = 0; i < 30; ++i) y(i, 0) = static_cast<double>(i % distinct), y(i, 1) = 5;
    for (const auto start : {KMeansOptions::Start::plus_plus, KMeansOptions::Start::random}) {
      KMeansOptions options;
      options.clusters = 6;
      options.start = start;
      Context context(2);
      const KMeansResult found = kmeans(y, options, context);
      EXPECT_TRUE(found.converged);
      EXPECT_NEAR(found.inertia, 0, 1e-9);
      expect_consistent(y, found, options, 1e-12);
      EXPECT_TRUE(support::all_finite({found.centers.data(), found.centers.data() + found.centers.size()}));
      const KMeansResult single = kmeans(Points<float>(narrow(y)), options, context);
      EXPECT_NEAR(single.inertia, 0, 1e-3);
    }
  }
  // All of them at the origin.
  KMeansOptions options;
  options.clusters = 3;
  Context context(1);
  const KMeansResult found = kmeans(Matrix(10, 2), options, context);
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.inertia, 0);
}

TEST(KMeans, FixedRowsKeepTheirLabels) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Matrix y = support::mixture(80, 2, 4, 2, 3, seed);
    KMeansOptions options;
    options.clusters = 4;
    options.seed = seed;
    options.fixed.assign(80, -1);
    for (Index i = 0; i < 80; i += 5)
      options.fixed[static_cast<std::size_t>(i)] = static_cast<int>(i / 5 % 3);  // none in cluster 3
    Context context(2);
    const auto check = [&](const KMeansResult& found) {
      for (std::size_t i = 0; i < 80; ++i) {
        EXPECT_TRUE(options.fixed[i] < 0 || found.labels[i] == options.fixed[i]) << "row " << i;
      }
      expect_consistent(y, found, options, 1e-5);
      EXPECT_GT(found.counts[3], 0);
    };
    const KMeansResult found = kmeans(y, options, context);
    check(found);
    expect_nearest(y, found, options.fixed, 1e-10);
    check(kmeans(Points<float>(narrow(y)), options, context));
    check(lloyd(Points<double>(y), support::random_matrix(4, 2, seed), options, context));
    check(lloyd_from_labels(Points<double>(y), std::vector<int>(80, 1), options, context));
  }
}

TEST(KMeans, AllRowsFixed) {
  const Matrix y = support::random_matrix(12, 2, 4);
  KMeansOptions options;
  options.clusters = 3;
  for (int i = 0; i < 12; ++i) options.fixed.push_back(i % 2);  // cluster 2 has none and can get none
  Context context(1);
  const KMeansResult found = kmeans(y, options, context);
  EXPECT_EQ(found.labels, options.fixed);
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(found.counts, (std::vector<Index>{6, 6, 0}));
  EXPECT_TRUE(support::all_finite({found.centers.data(), found.centers.data() + found.centers.size()}));
}

TEST(KMeans, LloydFromLabelsOnlyImproves) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Matrix y = support::random_matrix(70, 3, seed);
    const Random random = support::seeded(seed, 6);
    std::vector<int> labels(70);
    for (std::size_t i = 0; i < 70; ++i) labels[i] = static_cast<int>(random.below(i, 5));
    KMeansOptions options;
    options.clusters = 5;
    Context context(2);
    for (const Index iterations : {1, 2, 100}) {
      options.iterations = iterations;
      const KMeansResult found = lloyd_from_labels(Points<double>(y), labels, options, context);
      EXPECT_LE(found.inertia, inertia_of(y, labels, 5) + 1e-10);
      EXPECT_LE(found.iterations, iterations);
      expect_consistent(y, found, options, 1e-13);
    }
  }
}

TEST(KMeans, FloatAndDoubleAgreeInInertia) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Matrix y = support::mixture(3000, 4, 5, 4, 8, seed);
    KMeansOptions options;
    options.clusters = 5;
    options.seed = seed;
    Context context(2);
    const double wide = kmeans(y, options, context).inertia,
                 single = kmeans(Points<float>(narrow(y)), options, context).inertia;
    EXPECT_NEAR(single / wide, 1.0, 1e-4);
  }
}

TEST(KMeans, SameBitsAtAnyNumberOfThreads) {
  const Matrix y = support::mixture(5000, 3, 6, 3, 2, 7);
  KMeansOptions options;
  options.clusters = 7;
  options.restarts = 6;
  const auto run = [&](int threads, auto points) {
    Context context(threads);
    return kmeans(points, options, context);
  };
  const KMeansResult wanted = run(1, Points<double>(y)), single = run(1, Points<float>(narrow(y)));
  for (const int threads : {2, 3, 5}) {
    const KMeansResult found = run(threads, Points<double>(y));
    EXPECT_EQ(found.labels, wanted.labels);
    EXPECT_TRUE(support::same_bits(found.centers, wanted.centers));
    EXPECT_TRUE(support::same_bits(found.history, wanted.history));
    EXPECT_TRUE(support::same_bits(run(threads, Points<float>(narrow(y))).centers, single.centers));
  }
}

TEST(KMeans, SeedsDecideTheStarts) {
  const Matrix y = support::random_matrix(500, 2, 8);
  KMeansOptions options;
  options.clusters = 20;
  options.restarts = 1;
  Context context(2);
  std::set<double> seen;
  for (options.seed = 0; options.seed < 8; ++options.seed) seen.insert(kmeans(y, options, context).inertia);
  EXPECT_GT(seen.size(), 3u);
}

TEST(KMeans, UsageErrors) {
  const Matrix y = support::random_matrix(5, 2, 9);
  Context context(1);
  const auto run = [&](KMeansOptions options) { kmeans(y, options, context); };
  KMeansOptions options;
  options.clusters = 6;
  support::expect_error(ErrorCode::usage, {"clusters = 6", "1..n = 5"}, [&] { run(options); });
  support::expect_error(ErrorCode::usage, {"clusters = 6"},
                        [&] { lloyd(Points<double>(y), Matrix(6, 2), options, context); });
  support::expect_error(ErrorCode::usage, {"clusters = 6"}, [&] {
    lloyd_from_labels(Points<double>(y), {0, 0, 0, 0, 0}, options, context);
  });
  options.clusters = 0;
  support::expect_error(ErrorCode::usage, {"clusters = 0"}, [&] { run(options); });
  options.clusters = 2;
  options.restarts = 0;
  support::expect_error(ErrorCode::usage, {"restarts = 0"}, [&] { run(options); });
  options.restarts = 1;
  options.iterations = 0;
  support::expect_error(ErrorCode::usage, {"iterations = 0"}, [&] { run(options); });
}

TEST(KMeans, RefusesFixedLabelsThatDoNotFit) {
  const Matrix y = support::random_matrix(5, 2, 9);
  Context context(1);
  KMeansOptions options;
  options.clusters = 2;
  for (const std::vector<int>& bad : {std::vector<int>{0, 1}, {0, 1, 0, 1, 0, 1}, {0, 1, 2, 0, 0}, {0, 1, -2, 0, 0}}) {
    options.fixed = bad;
    support::expect_error(ErrorCode::usage, {"fixed"}, [&] { kmeans(y, options, context); });
  }
}

TEST(KMeans, CancellationStops) {
  Context context(2);
  context.is_cancelled = [] { return true; };
  support::expect_error(ErrorCode::interrupted, {},
                        [&] { kmeans(support::random_matrix(50, 2, 1), KMeansOptions(), context); });
}

// A point of weight w counts as w points, wherever the iteration begins and ends.
TEST(KMeans, WeightedPointsAreRepeatedPoints) {
  Context context(2);
  for (const auto& [n, c] : std::vector<std::pair<Index, Index>>{{60, 3}, {150, 12}, {900, 2}}) {
    const Matrix y = support::mixture(n, 2, c, 2, 20, 31);
    const std::vector<double> weights = support::whole_weights(n);
    const Matrix longer = support::repeated(y, weights);
    const Points<double> points(y, weights), twin(longer);
    EXPECT_NEAR(points.squared_norm(), twin.squared_norm(), 1e-12 * twin.squared_norm());
    EXPECT_EQ(points.total_weight(), static_cast<double>(longer.rows()));
    KMeansOptions options;
    options.clusters = c;
    const KMeansResult found = kmeans(points, options, context), wanted = kmeans(twin, options, context);
    const std::vector<int> repeated = support::repeated(found.labels, weights);
    EXPECT_NEAR(found.inertia, inertia_of(longer, repeated, c), 1e-9 * twin.squared_norm());
    EXPECT_LE(found.inertia, 1.05 * wanted.inertia);
    EXPECT_LE(wanted.inertia, 1.05 * found.inertia);
    for (std::size_t t = 1; t < found.history.size(); ++t) {
      EXPECT_LE(found.history[t], found.history[t - 1] + 1e-12 * twin.squared_norm());
    }
    for (const bool random : {false, true}) {
      options.start = random ? KMeansOptions::Start::random : KMeansOptions::Start::plus_plus;
      const KMeansResult narrow = kmeans(points.narrow(), options, context);
      EXPECT_NEAR(narrow.inertia, inertia_of(longer, support::repeated(narrow.labels, weights), c),
                  1e-4 * twin.squared_norm());
    }
  }
}

// One step from given centers is the same step. Where points of weight 0 alone still move, the weighted run takes more
// steps. The centers are points: an empty cluster would get one of the repeated points, and all of the weighted one.
TEST(KMeans, StepsOfWeightedPointsAreThoseOfRepeatedOnes) {
  Context context(1);
  const Matrix y = support::random_matrix(80, 3, 32);
  const std::vector<double> weights = support::whole_weights(80);
  KMeansOptions options;
  options.clusters = 4;
  options.exchange = false;
  Matrix centers(4, 3);
  for (Index k = 0; k < 4; ++k) std::copy_n(y.row(std::vector<Index>{1, 2, 3, 6}[k]), 3, centers.row(k));
  const KMeansResult found = lloyd(Points<double>(y, weights), centers, options, context);
  KMeansResult wanted = lloyd(Points<double>(support::repeated(y, weights)), centers, options, context);
  EXPECT_EQ(support::repeated(found.labels, weights), wanted.labels);
  EXPECT_LE(support::largest_difference(found.centers, wanted.centers), 1e-12);
  EXPECT_GE(found.history.size(), wanted.history.size());
  wanted.history.resize(found.history.size(), wanted.history.back());
  EXPECT_LE(support::largest_difference(found.history, wanted.history), 1e-9 * wanted.history.front());
}

// Two light points in a cluster that heavy ones leave: sums of all their weights would have lost theirs.
TEST(KMeans, HeavyPointsDoNotHideLightOnes) {
  Context context(1);
  const std::vector<double> at = {0, 1, 10, -10, 12, -12};
  Matrix y(6, 1);
  for (Index i = 0; i < 6; ++i) y(i, 0) = at[static_cast<std::size_t>(i)];
  KMeansOptions options;
  options.clusters = 3;
  options.exchange = false;
  const Points<double> points(y, {1, 3, 1e12, 1e12, 1e12, 1e12});
  const KMeansResult found = lloyd_from_labels(points, {0, 0, 0, 0, 1, 2}, options, context);
  EXPECT_EQ(found.labels, (std::vector<int>{0, 0, 1, 2, 1, 2}));
  EXPECT_NEAR(found.centers(0, 0), 0.75, 1e-2);
  EXPECT_NEAR(found.centers(1, 0), 11, 1e-9);
  EXPECT_NEAR(found.inertia, 4e12, 1e3);
}

TEST(Points, PackAndPick) {
  const Matrix y = support::random_matrix(37, 3, 10);
  const Points<double> points(y);
  EXPECT_EQ(points.rows(), 37);
  EXPECT_EQ(points.dims(), 3);
  EXPECT_EQ(points.panels(), 3);
  double all = 0;
  for (Index i = 0; i < 37; ++i) {
    double norm = 0;
    for (Index j = 0; j < 3; ++j) {
      EXPECT_EQ(points.at(i, j), y(i, j));
      norm += y(i, j) * y(i, j);
    }
    EXPECT_NEAR(points.squared_norm(i), norm, 1e-14);
    all += norm;
  }
  EXPECT_NEAR(points.squared_norm(), all, 1e-12);
  const Points<double> some(points, {36, 0, 5});
  EXPECT_EQ(some.rows(), 3);
  for (Index j = 0; j < 3; ++j) {
    EXPECT_EQ(some.at(0, j), y(36, j));
    EXPECT_EQ(some.at(2, j), y(5, j));
  }
}

}  // namespace
}  // namespace tamis
