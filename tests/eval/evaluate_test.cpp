#include "tamis/eval/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tamis/base/error.h"
#include "tamis/base/random.h"
#include "tamis/data/passes/passes.h"
#include "tamis/eval/redundancy.h"
#include "tests/support/seeds.h"

namespace tamis {
namespace {

Source dense_source(const Matrix& values) {
  auto copy = std::make_shared<Matrix>(values);
  return Source(make_dense_store({copy->data(), DType::f64, copy->rows(), copy->cols(), copy->cols(), 1}, copy));
}

// The first two columns hold three far-apart clusters, the other eight are noise of larger variance.
Matrix clustered(Index rows) {
  const Random random = support::seeded(11, 0);
  Matrix values(rows, 10);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < 10; ++j) {
      const double noise = random.normal(static_cast<std::uint64_t>(i * 10 + j));
      const double center = j == 0 ? static_cast<double>(i % 3) : j == 1 ? static_cast<double>(i % 3 == 1) : 0.0;
      values(i, j) = j < 2 ? center + 0.05 * noise : 3.0 * noise;
    }
  }
  return values;
}

std::vector<int> classes_of(Index rows) {
  std::vector<int> classes;
  for (Index i = 0; i < rows; ++i) classes.push_back(static_cast<int>(i % 3));
  return classes;
}

double naive_redundancy(const Matrix& x) {
  const auto n = static_cast<double>(x.rows());
  double sum = 0.0;
  for (Index a = 0; a < x.cols(); ++a) {
    for (Index b = a + 1; b < x.cols(); ++b) {
      double mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
      for (Index i = 0; i < x.rows(); ++i) mean_a += x(i, a) / n, mean_b += x(i, b) / n;
      for (Index i = 0; i < x.rows(); ++i) {
        const double da = x(i, a) - mean_a, db = x(i, b) - mean_b;
        aa += da * da, bb += db * db, ab += da * db;
      }
      if (aa > 0 && bb > 0) sum += std::abs(ab) / std::sqrt(aa * bb);
    }
  }
  return sum / (0.5 * static_cast<double>(x.cols() * (x.cols() - 1)));
}

TEST(Redundancy, MatchesTheDefinition) {
  Context context(2, 0);
  Matrix values = clustered(120);
  for (Index i = 0; i < values.rows(); ++i) values(i, 5) = 1e8 + values(i, 4), values(i, 6) = 2.0;
  EXPECT_NEAR(redundancy(dense_source(values), context), naive_redundancy(values), 1e-8);
}

TEST(Redundancy, MorePairsThanOnePiece) {
  Context context(2, 0);
  const Random random = support::seeded(2, 0);
  Matrix values(30, 300);
  for (Index i = 0; i < values.size(); ++i) values.data()[i] = random.normal(static_cast<std::uint64_t>(i));
  EXPECT_NEAR(redundancy(dense_source(values), context), naive_redundancy(values), 1e-12);
}

TEST(Redundancy, SparseIsTheSameAsDense) {
  Context context(1, 0);
  static const std::int64_t offsets[] = {0, 2, 3, 5, 6};
  static const std::int32_t columns[] = {0, 2, 1, 0, 1, 2};
  static const double values[] = {1, 2, 3, 4, 5, 6};
  const Source sparse(make_sparse_store({4, 3, offsets, columns, values, DType::f64}));
  EXPECT_NEAR(redundancy(sparse, context), naive_redundancy(gather(sparse, context)), 1e-14);
}

TEST(Redundancy, EdgesOfTheDefinition) {
  Context context(1, 0);
  Matrix values(4, 2);
  for (Index i = 0; i < 4; ++i) values(i, 0) = static_cast<double>(i), values(i, 1) = -2.0 * static_cast<double>(i);
  EXPECT_NEAR(redundancy(dense_source(values), context), 1.0, 1e-15);
  EXPECT_EQ(redundancy(dense_source(values).with_columns({1}), context), 0.0);
}

TEST(Evaluate, GoodFeaturesBeatRandomOnes) {
  Context context(2, 4);
  const Index rows = 150;
  EvaluateOptions options;
  options.clusters = 3;
  options.repeats = 4;
  const auto result = evaluate_features(dense_source(clustered(rows)), classes_of(rows), {1, 0}, options, context);
  EXPECT_EQ(result.given.features, 2);
  EXPECT_DOUBLE_EQ(result.given.accuracy.mean, 1.0);
  EXPECT_NEAR(result.given.nmi.mean, 1.0, 1e-12);
  EXPECT_EQ(result.given.accuracy.sd, 0.0);
  ASSERT_TRUE(result.all.has_value());
  EXPECT_LT(result.all->accuracy.mean, 0.9);
  EXPECT_LT(result.max_variance.accuracy.mean, 0.6);
  EXPECT_LE(result.random.accuracy_p, 3.0 / 21.0);  // the pair itself may be drawn
  EXPECT_GE(result.random.accuracy_p, 1.0 / 21.0);
}

TEST(Evaluate, TheSameAtAnyNumberOfThreads) {
  const Index rows = 90;
  EvaluateOptions options;
  options.clusters = 3;
  options.repeats = 3;
  options.subsets = 4;
  Context one(1, 9), three(3, 9);
  const Source source = dense_source(clustered(rows));
  const auto a = evaluate_features(source, classes_of(rows), {2, 3}, options, one);
  const auto b = evaluate_features(source, classes_of(rows), {2, 3}, options, three);
  EXPECT_EQ(a.given.nmi.mean, b.given.nmi.mean);
  EXPECT_EQ(a.random.nmi.mean, b.random.nmi.mean);
  EXPECT_EQ(a.random.accuracy.sd, b.random.accuracy.sd);
}

TEST(Evaluate, LargeTablesAreNotClusteredWhole) {
  const Index rows = 60;
  EvaluateOptions options;
  options.clusters = 3;
  options.repeats = 1;
  options.subsets = 2;
  options.max_cells = 599;
  Context context(1, 0);
  const auto result = evaluate_features(dense_source(clustered(rows)), classes_of(rows), {0}, options, context);
  EXPECT_FALSE(result.all.has_value());
  EXPECT_EQ(result.notes.size(), 1u);
}

// Table 26.10 of Abramowitz and Stegun.
TEST(Evaluate, BoundsOfStudentsDistributionAreThoseOfTheTable) {
  EXPECT_NEAR(student_bound(0.95, 1), 12.706, 5e-4);
  EXPECT_NEAR(student_bound(0.95, 2), 4.303, 5e-4);
  EXPECT_NEAR(student_bound(0.95, 3), 3.182, 5e-4);
  EXPECT_NEAR(student_bound(0.95, 9), 2.262, 5e-4);
  EXPECT_NEAR(student_bound(0.99, 10), 3.169, 5e-4);
  EXPECT_NEAR(student_bound(0.95, 120), 1.980, 5e-4);
}

// Differences 0.1, 0.2, 0.3: mean 0.2, standard error 0.1 / sqrt(3), two degrees of freedom.
TEST(Evaluate, DifferencesArePairedOverTheStarts) {
  SubsetScore a, b;
  for (const double value : {0.5, 0.7, 0.9}) a.starts.push_back({value});
  for (const double value : {0.4, 0.5, 0.6}) b.starts.push_back({value});
  const auto found = paired_difference(a, b, &StartScore::accuracy);
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(found->mean, 0.2, 1e-12);
  EXPECT_NEAR(found->low, 0.2 - 4.30265 * 0.1 / std::sqrt(3.0), 1e-5);
  EXPECT_NEAR(found->high, 0.2 + 4.30265 * 0.1 / std::sqrt(3.0), 1e-5);
  EXPECT_FALSE(found->is_clear());
  b.starts[2].accuracy = 0.69;  // 0.1, 0.2, 0.21
  EXPECT_TRUE(paired_difference(a, b, &StartScore::accuracy)->is_clear());
  EXPECT_TRUE(paired_difference(b, a, &StartScore::accuracy)->is_clear());
  b.starts.pop_back();
  EXPECT_FALSE(paired_difference(a, b, &StartScore::accuracy).has_value());
}

TEST(Evaluate, RefusesWhatHasNoAnswer) {
  Context context(1, 0);
  const Source source = dense_source(clustered(6));
  EXPECT_THROW(evaluate_features(source, classes_of(6), {}, {}, context), Error);
  EXPECT_THROW(evaluate_features(source, classes_of(6), {10}, {}, context), Error);
  EXPECT_THROW(evaluate_features(source, classes_of(5), {0}, {}, context), Error);
  EXPECT_THROW(evaluate_features(source, classes_of(6), {0}, {7}, context), Error);
}

}  // namespace
}  // namespace tamis
