#include "tamis/report/cluster_profile.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tamis/data/passes/sample.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

SelectResult result_of(const Matrix& a) {
  SelectResult result;
  for (Index j = 0; j < a.cols(); ++j) result.available.push_back(j);
  result.ranking = {3, 0, 2, 1};
  result.selected = {3, 0, 2};
  result.scores = {0.5, 0.1, 0.3, 0.9};
  for (Index i = 0; i < a.rows(); ++i) result.selection.clusters.push_back(static_cast<int>(i % 3 == 0 ? 0 : 2));
  return result;
}

ClusterProfile profile_of(const Source& source, const SelectResult& result, Context& context) {
  const auto clusters = known_clusters(result, source.rows(), context.seed);
  return profile_clusters(source, column_moments(source, context), result, clusters, false, context);
}

TEST(ClusterProfile, MeansAndDeviationsAreThoseOfTheDefinition) {
  Matrix a = support::thinned(support::random_matrix(300, 4, 3), 0.6, 4);
  for (Index i = 0; i < a.rows(); ++i) a(i, 3) += i % 3 == 0 ? 1e6 : 0.0;
  const SelectResult result = result_of(a);
  Context context;
  for (const Source& source : {support::dense(a), support::sparse(a), support::dense(a, 16)}) {
    const ClusterProfile found = profile_of(source, result, context);
    EXPECT_EQ(found.sizes, (std::vector<Index>{100, 0, 200}));
    EXPECT_EQ(found.features, result.ranking);
    for (std::size_t f = 0; f < 4; ++f) {
      const Index j = result.ranking[f];
      double mean[3] = {0, 0, 0}, all = 0, squares = 0;
      for (Index i = 0; i < 300; ++i)
        mean[i % 3 == 0 ? 0 : 2] += a(i, j) / (i % 3 == 0 ? 100 : 200), all += a(i, j) / 300;
      for (Index i = 0; i < 300; ++i) squares += (a(i, j) - all) * (a(i, j) - all);
      const double sd = std::sqrt(squares / 299);
      for (const Index k : {0, 2}) {
        EXPECT_NEAR(found.means(static_cast<Index>(f), k), mean[k], 1e-9 * (1 + std::abs(mean[k])));
        EXPECT_NEAR(found.standardized(f, k), (mean[k] - all) / sd, 1e-9);
      }
      EXPECT_TRUE(std::isnan(found.means(static_cast<Index>(f), 1)));
    }
  }
}

TEST(ClusterProfile, QuantilesAreOfTheRowsOfTheCluster) {
  Matrix a(9, 4);
  for (Index i = 0; i < 9; ++i) {
    for (Index j = 0; j < 4; ++j) a(i, j) = static_cast<double>((i * (j + 2)) % 11);
    a(i, 3) = static_cast<double>(i);
  }
  Context context;
  const ClusterProfile found = profile_of(support::dense(a), result_of(a), context);
  ASSERT_EQ(found.spread_of, (std::vector<Index>{3, 0, 2}));
  const Quantiles& five = found.quantiles[0][0];  // of 0, 3, 6
  EXPECT_NEAR(five[0], 0.3, 1e-12);
  EXPECT_NEAR(five[1], 1.5, 1e-12);
  EXPECT_NEAR(five[2], 3.0, 1e-12);
  EXPECT_NEAR(five[4], 5.7, 1e-12);
  EXPECT_TRUE(std::isnan(found.quantiles[0][1][2]));
}

// Distances in the map are those of the projection onto the plane of largest variance.
TEST(ClusterProfile, TheMapShowsThePlaneOfLargestVariance) {
  Matrix a = support::random_matrix(50, 4, 5);
  SelectResult result = result_of(a);
  Context context;
  const ClusterProfile flat = profile_of(support::dense(a), result, context);
  EXPECT_FALSE(flat.by_components);
  double variance = 0.0, covariance = 0.0;
  for (Index i = 0; i < 50; ++i) {
    variance += flat.map(i, 0) * flat.map(i, 0) + flat.map(i, 1) * flat.map(i, 1);
    covariance += flat.map(i, 0) * flat.map(i, 1);
  }
  EXPECT_NEAR(variance / (3 * 50), flat.explained, 1e-9);  // three standardized columns of 50 rows
  EXPECT_NEAR(covariance, 0.0, 1e-9);
  // With W: column 3 goes to the first direction, column 0 to the second, twice as far.
  result.selection.components = Matrix(4, 2);
  result.selection.components(3, 0) = 1.0, result.selection.components(0, 1) = 10.0;
  const ClusterProfile weighted = profile_of(support::dense(a), result, context);
  EXPECT_TRUE(weighted.by_components);
  EXPECT_NEAR(weighted.explained, 1.0, 1e-9);
  for (Index i = 1; i < 50; ++i) {
    const double x = weighted.map(i, 0) - weighted.map(0, 0), y = weighted.map(i, 1) - weighted.map(0, 1);
    const double u = a(i, 3) - a(0, 3), v = 10.0 * (a(i, 0) - a(0, 0));
    EXPECT_NEAR(x * x + y * y, u * u + v * v, 1e-7 * (1 + u * u + v * v));
  }
}

TEST(ClusterProfile, OfAGuideOnlyTheRowsThatItLookedAt) {
  const Matrix a = support::random_matrix(60, 4, 5);
  SelectResult result = result_of(a);
  result.selection.clusters.clear();
  result.selection.guidance.emplace().groups = std::vector<int>(20, 0);
  for (std::size_t i = 10; i < 20; ++i) result.selection.guidance->groups[i] = 1;
  Context context(1, 4);
  const ClusterProfile found = profile_of(support::dense(a), result, context);
  EXPECT_EQ(found.known, 20);
  EXPECT_EQ(found.rows, draw_rows(60, 20, 4));
  double mean = 0.0;
  for (std::size_t i = 0; i < 10; ++i) mean += a(found.rows[i], 3) / 10;
  EXPECT_NEAR(found.means(0, 0), mean, 1e-12);
}

TEST(ClusterProfile, SaysWhereAFeatureIsHighAndLow) {
  ClusterProfile profile;
  profile.sizes = {3, 0, 5, 2};
  profile.means = Matrix(2, 4);
  for (Index k = 0; k < 4; ++k) profile.means(0, k) = std::vector{5.1234, 99.0, -0.2, 2.0}[static_cast<std::size_t>(k)];
  profile.mean = {2.0, 0.0}, profile.deviation = {3.0, 1.0};
  EXPECT_EQ(difference_text(profile, 0), "high in cluster 0 (mean 5.12), low in 2 (\u22120.2)");
  EXPECT_EQ(strip_of(profile, 0), "f-06");
  EXPECT_EQ(difference_text(profile, 1), "much the same in every cluster");
  EXPECT_EQ(strip_of(profile, 1), "0-00");
}

}  // namespace
}  // namespace tamis
