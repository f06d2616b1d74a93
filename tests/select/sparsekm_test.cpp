#include "tamis/select/methods/sparsekm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

Selection run(const Source& source, const SparseKmOptions& options, std::uint64_t seed = 0) {
  Context context(2, seed);
  return sparsekm(source, options, context);
}

double norm1(const std::vector<double>& w) {
  return std::accumulate(w.begin(), w.end(), 0.0, [](double sum, double one) { return sum + std::abs(one); });
}
double norm2(const std::vector<double>& w) { return std::sqrt(std::inner_product(w.begin(), w.end(), w.begin(), 0.0)); }

// Between-cluster sums of squares, straight from the definition: total less within.
std::vector<double> between(const Matrix& x, const std::vector<int>& labels, Index clusters) {
  std::vector<double> a;
  for (Index j = 0; j < x.cols(); ++j) {
    double mean = 0, total = 0, within = 0;
    for (Index i = 0; i < x.rows(); ++i) mean += x(i, j) / static_cast<double>(x.rows());
    for (Index i = 0; i < x.rows(); ++i) total += (x(i, j) - mean) * (x(i, j) - mean);
    for (Index k = 0; k < clusters; ++k) {
      double center = 0, count = 0;
      for (Index i = 0; i < x.rows(); ++i) {
        if (labels[i] == k) center += x(i, j), count += 1;
      }
      for (Index i = 0; i < x.rows(); ++i) {
        if (labels[i] == k) within += (x(i, j) - center / count) * (x(i, j) - center / count);
      }
    }
    a.push_back(total - within);
  }
  return a;
}

// The largest of sum w_j a_j over all thresholds on a fine grid: no feasible soft-thresholded w is better.
TEST(SparseKm, WeightsAreTheBestThatTheBoundAllows) {
  const std::vector<double> a = {5, 1, 3, 0, 2.5, 3};
  for (const double s : {1.0, 1.3, 1.8, 2.2, 10.0}) {
    const std::vector<double> w = sparse_weights(a, s);
    EXPECT_NEAR(norm2(w), 1, 1e-12);
    EXPECT_LE(norm1(w), s + 1e-9);
    const double found = std::inner_product(a.begin(), a.end(), w.begin(), 0.0);
    for (std::uint64_t trial = 0; trial < 2000; ++trial) {  // random weights within the bounds
      const Matrix draw = support::random_matrix(1, 6, trial);
      std::vector<double> other;
      for (Index j = 0; j < 6; ++j) other.push_back(std::abs(draw(0, j)));
      const double shrink = std::min(1 / norm2(other), s / norm1(other));
      double value = 0;
      for (std::size_t j = 0; j < 6; ++j) value += shrink * other[j] * a[j];
      EXPECT_LE(value, found + 1e-9);
    }
  }
  EXPECT_EQ(sparse_weights({0, 0}, 1.2), (std::vector<double>{0, 0}));
  EXPECT_EQ(sparse_weights({1, 4}, 1.0), (std::vector<double>{0, 1}));
  // Columns that lead together share s: their sum of weights counts, not how it is spread.
  EXPECT_LE(support::largest_difference(sparse_weights({3, 1, 3}, 1.0), std::vector{0.5, 0.0, 0.5}), 1e-12);
  EXPECT_LE(support::largest_difference(sparse_weights({3, 3, 1, 3, 3}, 1.6), std::vector{0.4, 0.4, 0.0, 0.4, 0.4}),
            1e-12);
}

TEST(SparseKm, TheObjectiveIsThatOfTheDefinitionAndNeverFalls) {
  for (const auto& [n, d] : {std::pair<Index, Index>{90, 20}, {30, 60}}) {
    const Matrix x = support::mixture(n, d, 3, 6, 2, 1);
    SparseKmOptions options;
    options.clusters = 3, options.bound = 2.0, options.tolerance = 0, options.iterations = 8;
    for (const Source& source : {support::dense(x), support::sparse(x), support::dense(x, 7)}) {
      const Selection found = run(source, options);
      const std::vector<double> a = between(x, found.clusters, 3), w = sparse_weights(a, 2.0);
      for (std::size_t j = 0; j < w.size(); ++j) EXPECT_NEAR(found.scores[j], w[j], 1e-9);
      double total = 0;
      std::vector<int> own(static_cast<std::size_t>(n));
      std::iota(own.begin(), own.end(), 0);  // a cluster for each row has nothing within
      for (const double one : between(x, own, n)) total += one;
      const double value = std::inner_product(a.begin(), a.end(), w.begin(), 0.0);
      const auto& objective = found.report.objective;
      EXPECT_EQ(objective.size(), 8u);
      EXPECT_NEAR(objective.back(), value / total, 1e-9);
      for (std::size_t t = 1; t < objective.size(); ++t) EXPECT_GE(objective[t], objective[t - 1] - 1e-12);
    }
  }
}

// With few rows in a cluster the nearest mean is not enough: a row that leaves its cluster moves that mean, too.
TEST(SparseKm, NoSingleRowCanRaiseTheObjective) {
  const std::vector<std::pair<Index, Index>> shapes = {{40, 25}, {30, 60}, {90, 150}, {40, 25}, {70, 300}};
  for (std::size_t seed = 0; seed < shapes.size(); ++seed) {
    const auto [n, d] = shapes[seed];
    const Matrix x = support::random_matrix(n, d, seed);
    SparseKmOptions options;
    options.clusters = 4;
    options.bound = 2.5;
    options.iterations = 60;
    options.tolerance = 0;
    const Selection found = run(support::dense(x), options, seed);
    for (const Source& source : {support::sparse(x), support::dense(x, 7)}) {
      EXPECT_EQ(run(source, options, seed).clusters, found.clusters) << n << " x " << d;
    }
    const auto value = [&](const std::vector<int>& labels) {
      const std::vector<double> a = between(x, labels, options.clusters);
      return std::inner_product(a.begin(), a.end(), found.scores.begin(), 0.0);
    };
    const double reached = value(found.clusters);
    for (std::size_t i = 0; i < found.clusters.size(); ++i) {
      std::vector<int> labels = found.clusters;
      if (std::count(labels.begin(), labels.end(), labels[i]) == 1) continue;
      for (labels[i] = 0; labels[i] < options.clusters; ++labels[i]) {
        EXPECT_LE(value(labels), reached * (1 + 1e-9)) << n << " x " << d << ", row " << i << " to " << labels[i];
      }
    }
  }
}

TEST(SparseKm, FindsPlantedColumnsAndTheirNumber) {
  constexpr Index kPlanted = 30, kEach = 20;
  Matrix x = support::random_matrix(3 * kEach, 300, 5);
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < kPlanted; ++j) x(i, j) += 1.5 * static_cast<double>(i / kEach - 1);
  }
  SparseKmOptions options;
  options.clusters = 3, options.permutations = 5;
  const Selection found = run(support::dense(x), options);
  ASSERT_TRUE(found.suggested.has_value());
  for (Index r = 0; r < kPlanted; ++r) EXPECT_LT(found.ranking[static_cast<std::size_t>(r)], kPlanted);
  Index positive = 0;
  for (const double score : found.scores) positive += score > 0 ? 1 : 0;
  EXPECT_EQ(*found.suggested, positive);
  EXPECT_GE(positive, kPlanted - 3);
  options.bound = 4.0;
  const Index fewer = *run(support::dense(x), options).suggested;
  EXPECT_GE(fewer, 16);  // sqrt(16) = 4: as many columns are needed for that sum of weights
  EXPECT_LE(fewer, kPlanted);
  for (Index k = 0; k < 3; ++k) {
    for (Index i = 1; i < kEach; ++i) EXPECT_EQ(found.clusters[k * kEach + i], found.clusters[k * kEach]);
  }
}

TEST(SparseKm, OneClusterSeparatesNothing) {
  SparseKmOptions options;
  options.clusters = 1, options.permutations = 2;
  const Selection found = run(support::dense(support::random_matrix(30, 5, 1)), options);
  EXPECT_EQ(found.scores, std::vector<double>(5));
  EXPECT_EQ(found.suggested, 5);
}

// log O(s) by the method itself, with s given; O in squares of the unit of x.
double log_objective(const Matrix& x, double s, SparseKmOptions options) {
  options.bound = s;
  double total = 0;
  const Matrix z = support::centered_columns(x);
  for (Index i = 0; i < z.size(); ++i) total += z.data()[i] * z.data()[i];
  return std::log(run(support::dense(x), options).report.objective.back() * total);
}

Matrix permuted(const Matrix& x, std::uint64_t seed) {
  Matrix out = x;
  for (Index j = 0; j < x.cols(); ++j) {
    const std::vector<Index> order = support::shuffled(x.rows(), seed + 1000 * static_cast<std::uint64_t>(j));
    for (Index i = 0; i < x.rows(); ++i) out(i, j) = x(order[static_cast<std::size_t>(i)], j);
  }
  return out;
}

double bound_of(const Selection& found) {
  for (const Fact& fact : found.report.resolved) {
    if (fact.first == "bound") return fact.second;
  }
  return 0;
}

// log O(s) - mean log O*(s) written out, with other permutations: no s has a gap that is clearly larger.
TEST(SparseKm, TheBoundHasTheLargestGap) {
  constexpr std::uint64_t kPermutations = 12;
  for (const std::uint64_t seed : {3, 4}) {
    Matrix x = support::random_matrix(45, 40, seed);
    for (Index i = 0; i < x.rows(); ++i) {
      for (Index j = 0; j < 8; ++j) x(i, j) += 1.5 * static_cast<double>(i % 3 - 1);
    }
    SparseKmOptions options;
    options.clusters = 3, options.restarts = 4;
    std::vector<Matrix> tables;
    for (std::uint64_t b = 0; b < kPermutations; ++b) tables.push_back(permuted(x, 50 + 100000 * b));
    const auto gap = [&](double s) {
      std::vector<double> out;
      const double own = log_objective(x, s, options);
      for (const Matrix& table : tables) out.push_back(own - log_objective(table, s, options));
      return out;
    };
    const double chosen = bound_of(run(support::dense(x), options));
    ASSERT_GE(chosen, 1.2);
    const std::vector<double> at_chosen = gap(chosen);
    for (double s = 1.2; s < 0.9 * std::sqrt(40.0); s *= 1.3) {
      const std::vector<double> other = gap(s);  // of the same tables, so that differences vary little
      double mean = 0, square = 0;
      for (std::size_t b = 0; b < other.size(); ++b) mean += (other[b] - at_chosen[b]) / kPermutations;
      for (std::size_t b = 0; b < other.size(); ++b) square += std::pow(other[b] - at_chosen[b] - mean, 2);
      const double error = std::sqrt(square) / kPermutations;
      EXPECT_LE(mean, 4 * error + 1e-3) << "s = " << s << " instead of " << chosen;
    }
  }
}

// Equal columns are permuted each on its own, as columns are that differ a little.
TEST(SparseKm, CopiesAreNotPermutedTogether) {
  constexpr Index kRows = 50, kCopied = 32, kColumns = 47;
  for (const std::uint64_t seed : {2, 3}) {
    const Matrix base = support::random_matrix(kRows, 20, seed),
                 noise = support::random_matrix(kRows, kColumns, seed + 10);
    Matrix copies(kRows, kColumns), near(kRows, kColumns);
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < kColumns; ++j) {
        copies(i, j) = base(i, j < kCopied ? j / 8 : j - 28);
        near(i, j) = copies(i, j) + 1e-7 * noise(i, j);
      }
    }
    SparseKmOptions options;
    options.clusters = 3, options.restarts = 4;
    const double bound = bound_of(run(support::dense(copies), options));
    EXPECT_NEAR(std::log(bound / bound_of(run(support::dense(near), options))), 0, 0.8) << seed;
    const std::vector<Index> order = support::shuffled(kColumns, seed + 20);
    EXPECT_EQ(bound_of(run(support::dense(support::columns_of(copies, order)), options)), bound) << seed;
  }
}

}  // namespace
}  // namespace tamis
