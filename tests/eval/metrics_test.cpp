#include "tamis/eval/metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tamis/base/error.h"
#include "tamis/base/random.h"
#include "tests/support/seeds.h"

namespace tamis {
namespace {

// The best sum over all one-to-one maps, by trying each.
Index brute_force(const BasicMatrix<Index>& weights) {
  const bool wide = weights.rows() <= weights.cols();
  const Index rows = wide ? weights.rows() : weights.cols(), cols = wide ? weights.cols() : weights.rows();
  std::vector<Index> order(static_cast<std::size_t>(cols));
  std::iota(order.begin(), order.end(), 0);
  Index best = -1000000;
  do {
    Index sum = 0;
    for (Index i = 0; i < rows; ++i) {
      const Index j = order[static_cast<std::size_t>(i)];
      sum += wide ? weights(i, j) : weights(j, i);
    }
    best = std::max(best, sum);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Assignment, MatchesEveryPermutationTried) {
  std::uint64_t draw = 0;
  const Random random = support::seeded(1, 0);
  for (Index rows = 1; rows <= 6; ++rows) {
    for (Index cols = 1; cols <= 6; ++cols) {
      for (int repeat = 0; repeat < 10; ++repeat) {
        BasicMatrix<Index> weights(rows, cols);
        for (Index i = 0; i < rows; ++i) {
          for (Index j = 0; j < cols; ++j) weights(i, j) = random.below(draw++, 12) - 2;
        }
        const auto col_of = best_assignment(weights);
        std::vector<char> used(static_cast<std::size_t>(cols), 0);
        Index sum = 0, matched = 0;
        for (Index i = 0; i < rows; ++i) {
          const Index j = col_of[static_cast<std::size_t>(i)];
          if (j < 0) continue;
          EXPECT_FALSE(used[static_cast<std::size_t>(j)]++);
          sum += weights(i, j), ++matched;
        }
        EXPECT_EQ(matched, std::min(rows, cols));
        EXPECT_EQ(sum, brute_force(weights)) << rows << " x " << cols;
      }
    }
  }
}

TEST(Metrics, WorkedByHand) {
  const std::vector<int> truth = {0, 0, 0, 1, 1, 1}, clusters = {0, 0, 1, 1, 2, 2};
  // Best map: 0 -> 0 (2 hits), 1 -> 2 (2 hits).
  EXPECT_DOUBLE_EQ(clustering_accuracy(truth, clusters), 4.0 / 6.0);
  // Cells 2, 1, 1, 2 of 6; classes 3, 3; clusters 2, 2, 2.
  const double information = 2 * (2.0 / 6) * std::log(2.0 * 6 / (3 * 2)) + 2 * (1.0 / 6) * std::log(1.0 * 6 / (3 * 2));
  EXPECT_NEAR(normalized_mutual_info(truth, clusters), information / std::sqrt(std::log(2.0) * std::log(3.0)), 1e-15);
  // Pairs together in both 2, in the classes 6, in the clusters 3, of 15: (2 - 18/15) / (4.5 - 18/15).
  EXPECT_NEAR(adjusted_rand(truth, clusters), 0.8 / 3.3, 1e-15);
}

TEST(Metrics, EqualPartitionsScoreOneWhateverTheirNumbers) {
  const std::vector<int> truth = {0, 1, 2, 2, 1, 0, 2}, clusters = {7, 3, 0, 0, 3, 7, 0};
  EXPECT_DOUBLE_EQ(clustering_accuracy(truth, clusters), 1.0);
  EXPECT_NEAR(normalized_mutual_info(truth, clusters), 1.0, 1e-15);
  EXPECT_DOUBLE_EQ(adjusted_rand(truth, clusters), 1.0);
}

// A common evaluation script divides by max(H1, H2), and gives NaN where a number between stands for no row.
TEST(Faults, NmiDividesByTheGeometricMeanAndPassesOverEmptyClusters) {
  const std::vector<int> two = {0, 0, 1, 1}, four = {0, 1, 2, 3}, gaps = {0, 0, 7, 7};
  EXPECT_NEAR(normalized_mutual_info(two, four), std::sqrt(0.5), 1e-15);  // ln 2 / sqrt(ln 2 ln 4), not ln 2 / ln 4
  EXPECT_NEAR(normalized_mutual_info(gaps, four), std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(normalized_mutual_info(four, gaps), std::sqrt(0.5), 1e-15);
}

TEST(Metrics, RelabellingChangesNothing) {
  const Random random = support::seeded(5, 0);
  std::vector<int> truth, clusters, renamed;
  const int names[] = {4, 9, 0, 2, 100};
  for (std::uint64_t i = 0; i < 200; ++i) {
    truth.push_back(static_cast<int>(random.below(2 * i, 4)));
    clusters.push_back(static_cast<int>(random.below(2 * i + 1, 5)));
    renamed.push_back(names[clusters.back()]);
  }
  EXPECT_DOUBLE_EQ(clustering_accuracy(truth, clusters), clustering_accuracy(truth, renamed));
  EXPECT_NEAR(normalized_mutual_info(truth, clusters), normalized_mutual_info(truth, renamed), 1e-14);
  EXPECT_DOUBLE_EQ(adjusted_rand(truth, clusters), adjusted_rand(truth, renamed));
  EXPECT_NEAR(normalized_mutual_info(truth, clusters), normalized_mutual_info(clusters, truth), 1e-14);
  EXPECT_NEAR(adjusted_rand(truth, clusters), 0.0, 0.05);
}

TEST(Metrics, TrivialPartitions) {
  const std::vector<int> one = {0, 0, 0, 0}, two = {0, 0, 1, 1}, alone = {0, 1, 2, 3};
  EXPECT_EQ(normalized_mutual_info(one, two), 0.0);
  EXPECT_EQ(normalized_mutual_info(two, one), 0.0);
  EXPECT_EQ(normalized_mutual_info(one, one), 1.0);
  EXPECT_EQ(adjusted_rand(one, one), 1.0);
  EXPECT_EQ(adjusted_rand(alone, alone), 1.0);
  EXPECT_EQ(adjusted_rand(one, two), 0.0);
  EXPECT_EQ(adjusted_rand(one, alone), 0.0);
  EXPECT_DOUBLE_EQ(clustering_accuracy(one, two), 0.5);
  EXPECT_EQ(adjusted_rand({3}, {5}), 1.0);
}

TEST(Metrics, LeavesOutUnlabelledRows) {
  const std::vector<int> truth = {0, -1, 1, 1, -1}, clusters = {1, 0, 0, 0, 1};
  EXPECT_DOUBLE_EQ(clustering_accuracy(truth, clusters), 1.0);
  EXPECT_NEAR(normalized_mutual_info(truth, clusters), 1.0, 1e-15);
  EXPECT_DOUBLE_EQ(adjusted_rand(truth, clusters), 1.0);
}

TEST(Metrics, RefusesWhatHasNoAnswer) {
  EXPECT_THROW(clustering_accuracy({0, 1}, {0}), Error);
  EXPECT_THROW(normalized_mutual_info({-1, -1}, {0, 1}), Error);
  EXPECT_THROW(adjusted_rand({}, {}), Error);
}

}  // namespace
}  // namespace tamis
