#include "tamis/select/css/css.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "tamis/linalg/dense.h"
#include "tamis/linalg/orthogonal.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

Selection run(const Source& source, const CssOptions& options = {}) {
  Context context(2);
  return css(source, options, context);
}

// Centered columns, of unit deviation where `standard`.
Matrix prepared(Matrix x, bool standard = true) {
  const auto n = static_cast<double>(x.rows());
  for (Index j = 0; j < x.cols(); ++j) {
    double mean = 0, squares = 0;
    for (Index i = 0; i < x.rows(); ++i) mean += x(i, j) / n;
    for (Index i = 0; i < x.rows(); ++i) squares += (x(i, j) - mean) * (x(i, j) - mean);
    const double deviation = standard && squares > 0 ? std::sqrt(squares / (n - 1)) : 1;
    for (Index i = 0; i < x.rows(); ++i) x(i, j) = (x(i, j) - mean) / deviation;
  }
  return x;
}

// ||X - X_S X_S^+ X||^2, straight from the definition.
double unexplained(const Matrix& x, const std::vector<Index>& columns) {
  if (columns.empty()) return squared_norm(x);
  const Matrix q = orthonormalized(support::columns_of(x, columns));
  return squared_norm(x) - squared_norm(product_transposed_left(q, x));
}

// Always the column that leaves least unexplained.
std::vector<Index> brute_force(const Matrix& x, Index k, std::vector<Index> chosen = {}) {
  while (static_cast<Index>(chosen.size()) < k) {
    Index best = -1;
    double least = 0;
    for (Index j = 0; j < x.cols(); ++j) {
      if (std::find(chosen.begin(), chosen.end(), j) != chosen.end()) continue;
      std::vector<Index> more = chosen;
      more.push_back(j);
      const double left = unexplained(x, more);
      if (best < 0 || left < least - 1e-9 * squared_norm(x)) best = j, least = left;
    }
    chosen.push_back(best);
  }
  return chosen;
}

std::vector<Index> first(const std::vector<Index>& all, Index k) { return {all.begin(), all.begin() + k}; }

Matrix correlated(Index n, Index d, std::uint64_t seed) {
  return product(support::random_matrix(n, 6, seed), support::random_matrix(6, d, seed + 1));
}

Matrix plus_noise(Matrix x, double size, std::uint64_t seed) {
  const Matrix noise = support::random_matrix(x.rows(), x.cols(), seed);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] += size * noise.data()[i];
  return x;
}

TEST(Css, TakesWhatLeavesLeastUnexplained) {
  for (const auto& [n, d] : {std::pair<Index, Index>{80, 14}, {12, 40}}) {
    const Matrix x = plus_noise(correlated(n, d, 1), 0.3, 5);
    for (const bool standard : {true, false}) {
      CssOptions options;
      options.standardize = standard;
      const Matrix z = prepared(x, standard);
      for (const Source& source : {support::dense(x), support::sparse(x), support::dense(x, 7)}) {
        const Selection found = run(source, options);
        EXPECT_EQ(first(found.ranking, 8), brute_force(z, 8)) << n << " x " << d;
        const auto& explained = found.report.terms[0].second;
        for (Index k = 1; k <= 8; ++k) {
          EXPECT_NEAR(explained[static_cast<std::size_t>(k - 1)],
                      1 - unexplained(z, first(found.ranking, k)) / squared_norm(z), 1e-10);
        }
      }
    }
  }
}

// What comes after the path is ordered by what it would add next.
TEST(Css, TheRestFollowsByGain) {
  for (const auto& [n, d] : {std::pair<Index, Index>{80, 14}, {15, 30}}) {
    const Matrix x = plus_noise(correlated(n, d, 3), 0.5, 6), z = prepared(x);
    CssOptions options;
    options.length = 5;
    const Selection found = run(support::dense(x), options);
    const std::vector<Index> path = first(found.ranking, 5);
    EXPECT_EQ(path, brute_force(z, 5));
    double before = 0;
    for (Index r = 5; r < d; ++r) {
      std::vector<Index> more = path;
      more.push_back(found.ranking[static_cast<std::size_t>(r)]);
      const double left = unexplained(z, more);
      EXPECT_GE(left, before - 1e-9 * squared_norm(z));
      before = left;
    }
    EXPECT_EQ(found.scores[static_cast<std::size_t>(found.ranking[0])], 1.0);
    EXPECT_DOUBLE_EQ(found.scores[static_cast<std::size_t>(found.ranking[3])],
                     (static_cast<double>(d) - 3) / static_cast<double>(d));
  }
}

// Once all that is left lies along one direction, every column adds all of it, however little of its own is left.
TEST(Css, TheLastDirectionGoesToTheColumnThatExplainsMostAlone) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (const auto& [n, d] : {std::pair<Index, Index>{60, 14}, {10, 14}}) {
      Matrix x = product(support::random_matrix(n, 2, 50 + seed), support::random_matrix(2, d, 70 + seed));
      const Matrix last = support::random_matrix(n, 1, 90 + seed);
      for (Index j = 0; j < d; ++j) {
        for (Index i = 0; i < n; ++i) x(i, j) += std::pow(10.0, -static_cast<double>(j % 7) / 2) * 1e-3 * last(i, 0);
      }
      const std::vector<Index> order = support::shuffled(d, 110 + seed);
      const std::vector<Index> wanted = first(run(support::dense(x)).ranking, 3);
      EXPECT_EQ(first(run(support::dense(x, 7)).ranking, 3), wanted) << seed;
      EXPECT_EQ(first(run(support::sparse(x)).ranking, 3), wanted) << seed;
      std::vector<Index> moved;
      for (const Index j : first(run(support::dense(support::columns_of(x, order))).ranking, 3)) {
        moved.push_back(order[static_cast<std::size_t>(j)]);
      }
      EXPECT_EQ(moved, wanted) << seed;
    }
  }
}

TEST(Css, ForcedColumnsComeFirstAndCount) {
  for (const auto& [n, d] : {std::pair<Index, Index>{60, 12}, {12, 30}}) {
    const Matrix x = plus_noise(correlated(n, d, 7), 0.4, 8), z = prepared(x);
    CssOptions options;
    options.forced = {11, 2};
    const Selection found = run(support::dense(x), options);
    std::vector<Index> start = first(found.ranking, 2);
    EXPECT_EQ(std::set<Index>(start.begin(), start.end()), (std::set<Index>{2, 11}));
    EXPECT_EQ(first(found.ranking, 6), brute_force(z, 6, start));
  }
}

TEST(Css, AForcedCopyCountsAndAddsNothing) {
  Matrix x = plus_noise(correlated(60, 10, 9), 0.4, 10);
  for (Index i = 0; i < x.rows(); ++i) x(i, 7) = 3 * x(i, 1) - 2;
  CssOptions options;
  options.forced = {1, 7};
  const Selection found = run(support::dense(x), options);
  EXPECT_EQ(first(found.ranking, 2), (std::vector<Index>{1, 7}));
  EXPECT_EQ(first(found.ranking, 5), brute_force(prepared(x), 5, {1, 7}));
}

TEST(Css, StopsAtAShareOfVarianceOrWhereEveryColumnIsExplained) {
  const Matrix x = plus_noise(correlated(90, 20, 11), 0.2, 12), z = prepared(x);
  CssOptions by_share, by_r2;
  by_share.variance = 0.9, by_r2.r2 = 0.8;
  const Selection share = run(support::dense(x), by_share), r2 = run(support::dense(x), by_r2);
  ASSERT_TRUE(share.limit && r2.limit);
  const auto left_by = [&](const Selection& found, Index k) { return unexplained(z, first(found.ranking, k)); };
  EXPECT_LE(left_by(share, *share.limit), 0.1 * squared_norm(z));
  EXPECT_GT(left_by(share, *share.limit - 1), 0.1 * squared_norm(z));
  const auto least_r2 = [&](Index k) {
    const Matrix q = orthonormalized(support::columns_of(z, first(r2.ranking, k))), t = product_transposed_left(q, z);
    double least = 1;
    for (Index j = 0; j < z.cols(); ++j) {
      double explained = 0, whole = 0;
      for (Index i = 0; i < t.rows(); ++i) explained += t(i, j) * t(i, j);
      for (Index i = 0; i < z.rows(); ++i) whole += z(i, j) * z(i, j);
      least = std::min(least, explained / whole);
    }
    return least;
  };
  EXPECT_GE(least_r2(*r2.limit), 0.8);
  EXPECT_LT(least_r2(*r2.limit - 1), 0.8);
  EXPECT_FALSE(run(support::dense(x)).limit);
}

// Swaps leave less unexplained, no single exchange is left that helps, and forced columns stay.
TEST(Css, SwapsEndWhereNoExchangeHelps) {
  for (const auto& [n, d] : {std::pair<Index, Index>{60, 16}, {14, 30}}) {
    bool helped = false;
    for (const std::uint64_t seed : {21, 22, 23, 24}) {
      const Matrix x = plus_noise(correlated(n, d, seed), 0.3, seed + 100), z = prepared(x);
      CssOptions options;
      options.length = 4, options.forced = {3};
      const double before = unexplained(z, first(run(support::dense(x), options).ranking, 4));
      options.swaps = 20;
      const Selection found = run(support::dense(x), options);
      const std::vector<Index> chosen = first(found.ranking, 4);
      const double after = unexplained(z, chosen), total = squared_norm(z);
      EXPECT_EQ(chosen[0], 3);
      EXPECT_LE(after, before + 1e-9 * total);
      EXPECT_NEAR(found.report.terms[0].second.back(), 1 - after / total, 1e-9);
      helped = helped || after < before - 1e-6 * total;
      for (std::size_t place = 1; place < 4; ++place) {
        for (Index j = 0; j < d; ++j) {
          std::vector<Index> other = chosen;
          other[place] = j;
          if (std::set<Index>(other.begin(), other.end()).size() == 4) {
            EXPECT_GE(unexplained(z, other), after - 1e-8 * total);
          }
        }
      }
    }
    EXPECT_TRUE(helped) << "swaps never helped on " << n << " x " << d;
  }
}

// One of each family of noisy copies (r = .95).
TEST(Css, TakesOneOfEachFamily) {
  constexpr Index kFamilies = 50, kCopies = 4, kRows = 1000;
  const Matrix base = support::random_matrix(kRows, kFamilies, 31);
  const Matrix noise = support::random_matrix(kRows, kFamilies * kCopies, 32);
  const double size = std::sqrt(1 / (0.95 * 0.95) - 1);
  const std::vector<Index> order = support::shuffled(kFamilies * kCopies, 33);
  Matrix x(kRows, kFamilies * kCopies);
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = 0; j < x.cols(); ++j) {
      const Index from = order[static_cast<std::size_t>(j)];
      x(i, j) = base(i, from / kCopies) + (from % kCopies == 0 ? 0 : size * noise(i, from));
    }
  }
  CssOptions options;
  options.length = kFamilies;
  std::set<Index> families;
  for (const Index j : first(run(support::dense(x), options).ranking, kFamilies)) {
    families.insert(order[static_cast<std::size_t>(j)] / kCopies);
  }
  EXPECT_EQ(static_cast<Index>(families.size()), kFamilies);
}

TEST(Css, UnitsDoNotMatterHoweverFarApart) {
  const Matrix x = plus_noise(correlated(50, 9, 41), 0.4, 42);
  const std::vector<Index> wanted = run(support::dense(x)).ranking;
  Matrix scaled = x, offset = x;
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < 9; ++j) {
      scaled(i, j) *= std::pow(10.0, -150 + 37 * static_cast<double>(j));
      offset(i, j) += 1e8;
    }
  }
  EXPECT_EQ(run(support::dense(scaled)).ranking, wanted);
  EXPECT_EQ(run(support::dense(offset)).ranking, wanted);
  EXPECT_EQ(run(support::sparse(scaled)).ranking, wanted);
}

// A table of rank 3: three columns explain all, the others follow by what they explain alone.
TEST(Css, RankDeficientTables) {
  for (const auto& [n, d] : {std::pair<Index, Index>{40, 10}, {10, 40}}) {
    const Matrix x = product(support::random_matrix(n, 3, 51), support::random_matrix(3, d, 52)), z = prepared(x);
    const Selection found = run(support::dense(x));
    EXPECT_EQ(found.report.terms[0].second.size(), 3u);
    EXPECT_NEAR(found.report.terms[0].second.back(), 1, 1e-9);
    for (Index r = 4; r < d; ++r) {
      const auto alone = [&](Index rank) { return unexplained(z, {found.ranking[static_cast<std::size_t>(rank)]}); };
      EXPECT_LE(alone(r - 1), alone(r) + 1e-8 * squared_norm(z));
    }
  }
}

TEST(Css, ManyColumnsNeedNoSquareMatrix) {
  CssOptions options;
  options.length = 50;
  const Shape wide{20, 200000, 4e6, false, 1};
  EXPECT_LT(CssPlan(wide, options, 2).peak_numbers(), 4e8);
  EXPECT_GT(CssPlan({300000, 20000, 6e9, false, 1}, options, 2).peak_numbers(), 4e8);
}

// Columns that nearly repeat each other: 1 / (1 + i + j), powers, and wide bumps.
std::vector<Matrix> smooth_tables() {
  Matrix hilbert(12, 25), powers(12, 20), bumps(20, 15);
  for (Index i = 0; i < 12; ++i) {
    for (Index j = 0; j < 25; ++j) hilbert(i, j) = 1 / static_cast<double>(1 + i + j);
    for (Index j = 0; j < 20; ++j) powers(i, j) = std::pow(static_cast<double>(i) / 11, static_cast<double>(19 - j));
  }
  for (Index i = 0; i < 20; ++i) {
    for (Index j = 0; j < 15; ++j) {
      const double from = static_cast<double>(i) / 19 - static_cast<double>(j) / 14;
      bumps(i, j) = std::exp(-2 * from * from);
    }
  }
  return {hilbert, powers, bumps};
}

TEST(Css, SwapsAmongColumnsThatNearlyRepeatEachOther) {
  for (const Matrix& x : smooth_tables()) {
    for (const bool standard : {true, false}) {
      const Matrix z = prepared(x, standard);
      const double total = squared_norm(z);
      for (Index k = 1; k < x.cols(); ++k) {
        CssOptions options;
        options.length = k, options.standardize = standard;
        const double before = run(support::dense(x), options).report.terms[0].second.back();
        options.swaps = 50;
        const Selection found = run(support::dense(x), options);
        const auto& explained = found.report.terms[0].second;
        EXPECT_GE(explained.back(), before - 1e-12);
        const auto count = static_cast<Index>(explained.size());
        EXPECT_NEAR(explained.back(), 1 - unexplained(z, first(found.ranking, count)) / total, 1e-7);
      }
    }
  }
}

// A constant column that is included takes one of the k places, and explains nothing.
TEST(Css, AForcedConstantColumnCounts) {
  Matrix x = support::random_matrix(35, 4, 61);
  for (Index i = 0; i < x.rows(); ++i) x(i, 2) = 0;
  const Matrix z = prepared(x);
  CssOptions options;
  options.forced = {2};
  for (Index k = 1; k <= 4; ++k) {
    options.length = k;
    const Selection found = run(support::dense(x), options);
    const auto& explained = found.report.terms[0].second;
    ASSERT_EQ(explained.size(), static_cast<std::size_t>(k));
    EXPECT_NEAR(explained.back(), 1 - unexplained(z, first(found.ranking, k - 1)) / squared_norm(z), 1e-12);
    for (const Fact& fact : found.report.resolved) {
      if (fact.first == "explained") {
        EXPECT_EQ(fact.second, explained.back());
      }
    }
  }
  options.length.reset();
  options.variance = 0.5;
  const Selection found = run(support::dense(x), options);
  EXPECT_EQ(found.limit, 3);  // two of three columns explain more than half
  EXPECT_EQ(found.report.terms[0].second.size(), 3u);
}

}  // namespace
}  // namespace tamis
