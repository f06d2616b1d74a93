#include "tamis/cluster/means.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tamis {
namespace {

const std::vector<int> kLabels = {0, 1, 0, 3, 1, 0};

Matrix some_rows() {
  Matrix x(6, 2);
  for (Index i = 0; i < 6; ++i) x(i, 0) = 1e8 + static_cast<double>(i), x(i, 1) = static_cast<double>(i * i);
  return x;
}

TEST(ClusterMeans, AreTheMeansOfTheRows) {
  Context context(2);
  const Matrix means = cluster_means(source_over(some_rows()), kLabels, context);
  ASSERT_EQ(means.rows(), 4);
  EXPECT_DOUBLE_EQ(means(0, 0), 1e8 + 7.0 / 3);  // rows 0, 2, 5
  EXPECT_DOUBLE_EQ(means(0, 1), 29.0 / 3);
  EXPECT_DOUBLE_EQ(means(1, 1), 17.0 / 2);  // rows 1, 4
  EXPECT_TRUE(std::isnan(means(2, 0)));     // nobody
  EXPECT_DOUBLE_EQ(means(3, 0), 1e8 + 3);
}

TEST(ClusterMeans, FollowTheScaleOfTheSource) {
  Context context(1);
  const Matrix means = cluster_means(source_over(some_rows()).with_column_scale({0.5, 2.0}), kLabels, context);
  EXPECT_DOUBLE_EQ(means(3, 0), (1e8 + 3) / 2);
  EXPECT_DOUBLE_EQ(means(3, 1), 18.0);
}

// Against distances, worked out one by one.
TEST(NearestClusters, AreNearestInTheMetric) {
  Context context(2);
  const std::vector<std::vector<double>> means = {{1e8 + 1, 3}, {1e8 + 4, 20}, {1e8 + 2, 9}};
  const std::vector<double> weight = {4.0, 0.25}, center = {1e8 + 2, 10};
  NearestMean rule{center, Matrix(2, 3), std::vector<double>(3)};
  for (Index k = 0; k < 3; ++k) {
    for (Index j = 0; j < 2; ++j) {
      const double away = means[k][j] - center[j];
      rule.directions(j, k) = weight[j] * away;
      rule.offset[k] += weight[j] * away * away / 2;
    }
  }
  const Matrix x = some_rows();
  const auto found = nearest_clusters(source_over(some_rows()), rule, context);
  for (Index i = 0; i < x.rows(); ++i) {
    double least = 1e300;
    int nearest = -1;
    for (int k = 0; k < 3; ++k) {
      double distance = 0;
      for (Index j = 0; j < 2; ++j) distance += weight[j] * (x(i, j) - means[k][j]) * (x(i, j) - means[k][j]);
      if (distance < least) least = distance, nearest = k;
    }
    EXPECT_EQ(found[i], nearest) << i;
  }
}

}  // namespace
}  // namespace tamis
