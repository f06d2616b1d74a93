// Rows of weight w against tables in which they stand w times.
#include "tamis/data/weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "tamis/data/passes/passes.h"
#include "tamis/data/passes/principal.h"
#include "tamis/data/passes/sample.h"
#include "tamis/data/scale.h"
#include "tamis/data/table.h"
#include "tests/support/checks.h"
#include "tests/support/weights.h"

namespace tamis {
namespace {

using support::LongMatrix;
using support::repeated;
using support::whole_weights;

constexpr Index kRows = 130, kCols = 9;

Matrix some_table() {
  Matrix x = support::thinned(support::whole_numbers(kRows, kCols, 100, 1), 0.5, 2);
  for (Index i = 0; i < kRows; ++i) x(i, 3) = 1 + static_cast<double>(i % 7);        // stored in every row
  for (Index i = 0; i < kRows; ++i) x(i, 5) = whole_weights(kRows)[i] == 0 ? 9 : 4;  // constant where rows count
  return x;
}

void expect_close(const std::vector<double>& found, const std::vector<double>& wanted, const std::string& name) {
  EXPECT_LE(support::largest_difference(found, wanted), 1e-12 * std::max(1.0, support::largest(wanted))) << name;
}
void expect_close(const Matrix& found, const Matrix& wanted, const std::string& name) {
  EXPECT_LE(support::largest_difference(found, wanted), 1e-11 * std::max(1.0, support::largest(wanted))) << name;
}

// check(weighted, repeated, name) for every layout, blocks of several sizes, and ways to see a source.
template <class Check>
void for_each_twin(Check check) {
  const Matrix x = some_table(), longer = repeated(x, whole_weights(kRows));
  const std::vector<Index> some = {0, 2, 3, 5, 8};
  const std::vector<double> columns = {2, -0.5, 0.25, 4, 1};
  std::vector<double> rows;
  for (Index i = 0; i < kRows; ++i) rows.push_back(1 + static_cast<double>(i % 3));
  const std::vector<double> longer_rows = repeated(rows, whole_weights(kRows));
  for (const auto& layout : support::layouts()) {
    for (const Index block_rows : {Index{7}, kBlockRows}) {
      const Source weighted = layout.make(x, block_rows).with_weights(whole_weights(kRows));
      const Source plain = layout.make(longer, block_rows);
      const std::string name = layout.name + " / " + std::to_string(block_rows);
      check(weighted, plain, name);
      check(weighted.with_columns(some).with_column_scale(columns), plain.with_columns(some).with_column_scale(columns),
            name + " some columns, scaled");
      check(weighted.with_row_scale(rows), plain.with_row_scale(longer_rows), name + " scaled rows");
    }
  }
}

TEST(Weights, MomentsAreThoseOfRepeatedRows) {
  Context context(2);
  for_each_twin([&](const Source& weighted, const Source& plain, const std::string& name) {
    const ColumnMoments found = column_moments(weighted, context), wanted = column_moments(plain, context);
    EXPECT_EQ(found.total(), wanted.total());
    EXPECT_EQ(found.degrees(), wanted.degrees());
    expect_close(found.mean, wanted.mean, name);
    expect_close(found.scatter, wanted.scatter, name);
    EXPECT_EQ(found.min, wanted.min) << name;
    EXPECT_EQ(found.max, wanted.max) << name;
    EXPECT_EQ(found.varying, wanted.varying) << name;
  });
}

TEST(Weights, ProductsAreThoseOfRepeatedRows) {
  Context context(2);
  for_each_twin([&](const Source& weighted, const Source& plain, const std::string& name) {
    const Centered z(weighted, column_moments(weighted, context)), twin(plain, column_moments(plain, context));
    const Matrix v = support::random_matrix(z.cols(), 3, 4);
    expect_close(gram(z, context), gram(twin, context), name);
    expect_close(gram_with(z, {1, 4}, context), gram_with(twin, {1, 4}, context), name);
    expect_close(scatter_product(z, v, context), scatter_product(twin, v, context), name);
    // Z V, row by row: the root of the weight times that of X - 1 mean'.
    const Matrix zv = multiply(z, v, context), plain_zv = multiply(z.without_weights(), v, context);
    for (Index i = 0; i < zv.rows(); ++i) {
      const double root = std::sqrt(weighted.weights()[i]);
      for (Index k = 0; k < 3; ++k) ASSERT_NEAR(zv(i, k), root * plain_zv(i, k), 1e-11 * (1 + std::abs(zv(i, k))));
    }
    expect_close(multiply_transposed(z, zv, context), scatter_product(twin, v, context), name);
    expect_close(gram_of_rows(z, context),
                 multiply(z, multiply_transposed(z, support::identity(z.rows()), context), context), name);
    std::vector<int> clusters;
    for (Index i = 0; i < z.rows(); ++i) clusters.push_back(static_cast<int>(i % 3) - (i % 7 == 0 ? 1 : 0));
    const std::vector<int> none(clusters.size(), -1), longer = repeated(clusters, weighted.weights());
    Matrix sums(3, z.cols()), wanted(3, z.cols());
    move_rows(z, none, clusters, sums, context);
    move_rows(twin, std::vector<int>(longer.size(), -1), longer, wanted, context);
    expect_close(sums, wanted, name);
    move_rows(z, clusters, none, sums, context);
    expect_close(sums, Matrix(3, z.cols()), name);
  });
}

// Along few columns and many, fewer rows than columns, and samples of many rows.
TEST(Weights, PrincipalDirectionsAreThoseOfRepeatedRows) {
  Context context(2);
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{200, 12}, {400, 300}, {150, 400}, {400, 600}}) {
    const Matrix x = support::mixture(n, d, 4, 6, 9, 3);
    const std::vector<double> weights = whole_weights(n);
    for (const bool is_sparse : {false, true}) {
      const auto make = [&](const Matrix& a) { return is_sparse ? support::sparse(a) : support::dense(a); };
      const Source weighted = make(x).with_weights(weights), plain = make(repeated(x, weights));
      const Centered z(weighted, column_moments(weighted, context)), twin(plain, column_moments(plain, context));
      const RitzPairs found = principal_directions(z, 3, Accuracy::full, {}, context);
      const RitzPairs wanted = principal_directions(twin, 3, Accuracy::full, {}, context);
      ASSERT_EQ(found.vectors.cols(), 3);
      for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found.values[k], wanted.values[k], 1e-7 * wanted.values[k]);
    }
  }
  const Index many = 20000;
  const Matrix x = support::mixture(many, 300, 4, 6, 9, 3);
  const Source weighted = support::dense(x).with_weights(whole_weights(many));
  const Centered z(weighted, column_moments(weighted, context));
  const RitzPairs rough = principal_directions(z, 2, Accuracy::rough, {}, context);
  const RitzPairs full = principal_directions(z, 2, Accuracy::full, {}, context);
  for (Index k = 0; k < 2; ++k) {
    double cosine = 0;
    for (Index j = 0; j < 300; ++j) cosine += rough.vectors(j, k) * full.vectors(j, k);
    EXPECT_GT(std::abs(cosine), 0.99);
  }
}

TEST(Weights, ThoseThatAreAllOneAreNone) {
  const Source source = support::dense(some_table()), one = source.with_weights(std::vector<double>(kRows, 1.0));
  EXPECT_FALSE(one.weighted());
  Context context(1);
  EXPECT_TRUE(support::same_bits(column_moments(one, context).scatter, column_moments(source, context).scatter));
}

TEST(Weights, AConstantScalesTheScatter) {
  Context context(1);
  const Source source = support::sparse(some_table());
  const ColumnMoments wanted = column_moments(source, context);
  for (const double c : {0.01, 3.0, 1e20}) {
    const ColumnMoments found = column_moments(source.with_weights(std::vector<double>(kRows, c)), context);
    expect_close(found.mean, wanted.mean, "mean");
    for (std::size_t j = 0; j < wanted.scatter.size(); ++j) {
      EXPECT_NEAR(found.scatter[j], c * wanted.scatter[j], 1e-12 * c * (1 + wanted.scatter[j]));
    }
  }
}

// Two rows are the fewest that vary.
TEST(Weights, DegreesOfFreedom) {
  EXPECT_EQ(weighted_degrees(10), 9);
  EXPECT_EQ(weighted_degrees(2), 1);
  EXPECT_EQ(weighted_degrees(1), 0.5);
  EXPECT_EQ(weighted_degrees(0.1), 0.05);
}

TEST(Weights, RowsOfWeightZeroMayHoldAnythingFinite) {
  Context context(1);
  Matrix x = some_table();
  std::vector<double> weights = whole_weights(kRows);
  weights[0] = weights[40] = 0;
  for (Index j = 0; j < kCols; ++j) x(0, j) = 1e300, x(40, j) = -1e300;
  std::vector<Index> kept;
  for (Index i = 0; i < kRows; ++i) {
    if (weights[i] > 0) kept.push_back(i);
  }
  for (const bool is_sparse : {false, true}) {
    const Source source = (is_sparse ? support::sparse(x) : support::dense(x)).with_weights(weights);
    const ColumnMoments found = column_moments(source, context);
    const Source rest = take_rows(source, kept, context);
    const ColumnMoments wanted = column_moments(rest, context);
    EXPECT_EQ(found.unit, 1.0);
    EXPECT_EQ(found.min, wanted.min);
    expect_close(found.scatter, wanted.scatter, "scatter");
    EXPECT_EQ(column_fingerprints(source, Fingerprint::values, context).size(), static_cast<std::size_t>(kCols));
    Matrix holed = x;
    holed(40, 2) = std::numeric_limits<double>::quiet_NaN();
    const Source bad = (is_sparse ? support::sparse(holed) : support::dense(holed)).with_weights(weights);
    support::expect_error(ErrorCode::bad_data, {"row 40", "column 2", "NaN"}, [&] { column_moments(bad, context); });
  }
}

TEST(Weights, ScalingUsesThem) {
  Context context(1);
  const Matrix x = some_table();
  const Source weighted = support::dense(x).with_weights(whole_weights(kRows));
  const Source plain = support::dense(repeated(x, whole_weights(kRows)));
  for (const Scaling scaling : {Scaling::standard, Scaling::minmax}) {
    expect_close(scaled(weighted, scaling, column_moments(weighted, context), context).column_scale(),
                 scaled(plain, scaling, column_moments(plain, context), context).column_scale(), name_of(scaling));
  }
}

TEST(Weights, SamplesCarryThem) {
  Context context(1);
  const Source source = support::dense(some_table()).with_weights(whole_weights(kRows));
  const Source some = take_rows(source, {1, 2, 5, 9, 77}, context);
  std::vector<double> wanted;
  for (const Index i : {1, 2, 5, 9, 77}) wanted.push_back(whole_weights(kRows)[i]);
  EXPECT_EQ(some.weights(), wanted);
}

TEST(Weights, ASampleStandsForTheWeights) {
  const Index n = 10000;
  std::vector<double> weights = whole_weights(n);
  weights[17] = 5000;
  const WeightedRows all = sample_weighted_rows(weights, n, 3);
  EXPECT_EQ(std::ssize(all.rows), count_weighted(weights));
  EXPECT_EQ(total_weight(all.weights), total_weight(weights));
  const WeightedRows some = sample_weighted_rows(weights, 1000, 3);
  EXPECT_TRUE(std::ranges::is_sorted(some.rows));
  EXPECT_NEAR(total_weight(some.weights), 1000, 1);
  const double share = 1000 / total_weight(weights);
  for (std::size_t i = 0; i < some.rows.size(); ++i) {
    EXPECT_GT(weights[some.rows[i]], 0);
    if (some.rows[i] == 17) {
      EXPECT_NEAR(some.weights[i], share * 5000, 2);
    }
  }
  EXPECT_EQ(sample_weighted_rows(weights, 1000, 3).rows, some.rows);
  EXPECT_NE(sample_weighted_rows(weights, 1000, 4).rows, some.rows);
}

TEST(Weights, WhatCannotBeAWeightIsRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [](ErrorCode code, std::vector<double> weights, const std::vector<std::string>& pieces) {
    support::expect_error(code, pieces, [&] { require_weights(weights, 3); });
  };
  refused(ErrorCode::usage, {1, 2}, {"2 numbers", "n = 3"});
  refused(ErrorCode::bad_data, {1, -2, 3}, {"row 1", "-2", "x >= 0"});
  refused(ErrorCode::bad_data, {1, 2, nan}, {"row 2", "nan"});
  refused(ErrorCode::bad_data, {1, HUGE_VAL, 1}, {"row 1", "inf"});
  refused(ErrorCode::bad_data, {0, 1, 0}, {"1 row has", "at least 2"});
  refused(ErrorCode::bad_data, {0, 0, 0}, {"all weights are zero"});
  refused(ErrorCode::bad_data, {1, 1, 1e-13}, {"row 2", "1e-13", "of the largest"});
  refused(ErrorCode::bad_data, {1e200, 1e200, 0}, {"sum"});
  require_weights({1e-12, 0, 1}, 3);
}

TEST(Weights, AreReadAsLabelsAre) {
  const Labels labels{{2, 0, 1, 0}, {"0", "0.1", "2.5e1"}};
  EXPECT_EQ(weights_of(labels, "w"), (std::vector<double>{25, 0, 0.1, 0}));
  const Labels word{{0, 1}, {"1", "many"}}, blank{{0, -1}, {"1"}};
  support::expect_error(ErrorCode::bad_data, {"w", "'many'"}, [&] { weights_of(word, "w"); });
  support::expect_error(ErrorCode::bad_data, {"w", "row 1", "blank or -1"}, [&] { weights_of(blank, "w"); });
}

}  // namespace
}  // namespace tamis
