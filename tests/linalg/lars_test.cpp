#include "tamis/linalg/lars.h"

#include <gtest/gtest.h>

#include <optional>

#include "tamis/linalg/dense.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

LarsFit fit(const Matrix& x, const Matrix& y, Index active, double ridge = 0, int threads = 2) {
  Context context(threads);
  GramColumns columns(product_transposed_left(x, x));
  LarsOptions options;
  options.active = active;
  options.ridge = ridge;
  return lars_lasso(columns, product_transposed_left(x, y), options, context);
}

// |X'(y - Xa)| <= lambda everywhere, and = lambda with the sign of a where a is not 0.
void expect_optimal(const Matrix& x, const Matrix& y, const LarsFit& found, const std::string& what) {
  const auto wide = support::widened(x);
  const auto fitted = support::times(wide, support::widened(found.coefficients));
  const auto largest = support::largest(product_transposed_left(x, y));
  for (Index k = 0; k < y.cols(); ++k) {
    const double lambda = found.lambda[static_cast<std::size_t>(k)];
    Index active = 0;
    for (Index j = 0; j < x.cols(); ++j) {
      long double c = 0;
      for (Index i = 0; i < x.rows(); ++i) c += wide(i, j) * (static_cast<long double>(y(i, k)) - fitted(i, k));
      const double a = found.coefficients(j, k);
      ASSERT_LE(std::abs(static_cast<double>(c)), lambda + 1e-10 * largest) << what << " target " << k << " " << j;
      if (a == 0) continue;
      ++active;
      ASSERT_NEAR(static_cast<double>(c), a > 0 ? lambda : -lambda, 1e-10 * largest) << what << " target " << k;
    }
    ASSERT_LE(active, found.active[static_cast<std::size_t>(k)]) << what;
  }
}

// Solves the square system by elimination with pivots; nothing where it is singular.
std::optional<std::vector<long double>> solved(support::LongMatrix a, std::vector<long double> b) {
  const Index n = a.rows();
  for (Index p = 0; p < n; ++p) {
    Index best = p;
    for (Index i = p; i < n; ++i) {
      if (std::abs(a(i, p)) > std::abs(a(best, p))) best = i;
    }
    if (std::abs(a(best, p)) < 1e-14L) return std::nullopt;
    for (Index j = 0; j < n; ++j) std::swap(a(p, j), a(best, j));
    std::swap(b[static_cast<std::size_t>(p)], b[static_cast<std::size_t>(best)]);
    for (Index i = 0; i < n; ++i) {
      if (i == p) continue;
      const long double factor = a(i, p) / a(p, p);
      for (Index j = p; j < n; ++j) a(i, j) -= factor * a(p, j);
      b[static_cast<std::size_t>(i)] -= factor * b[static_cast<std::size_t>(p)];
    }
  }
  for (Index i = 0; i < n; ++i) b[static_cast<std::size_t>(i)] /= a(i, i);
  return b;
}

// The lasso by trying every active set with every choice of signs: the one that meets the optimality conditions.
std::vector<double> brute_lasso(const Matrix& x, const std::vector<double>& y, double lambda) {
  const Index d = x.cols();
  const auto g = support::times(support::transposed(support::widened(x)), support::widened(x));
  std::vector<long double> b(static_cast<std::size_t>(d));
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < x.rows(); ++i) {
      b[static_cast<std::size_t>(j)] += static_cast<long double>(x(i, j)) * static_cast<long double>(y[i]);
    }
  }
  Index choices = 1;
  for (Index j = 0; j < d; ++j) choices *= 3;
  for (Index choice = 0; choice < choices; ++choice) {
    std::vector<Index> active;
    std::vector<long double> signs;
    for (Index j = 0, rest = choice; j < d; ++j, rest /= 3) {
      if (rest % 3 == 0) continue;
      active.push_back(j);
      signs.push_back(rest % 3 == 1 ? 1 : -1);
    }
    const auto count = static_cast<Index>(active.size());
    support::LongMatrix gram(count, count);
    std::vector<long double> right;
    for (Index p = 0; p < count; ++p) {
      for (Index q = 0; q < count; ++q) gram(p, q) = g(active[p], active[q]);
      right.push_back(b[active[p]] - static_cast<long double>(lambda) * signs[p]);
    }
    const auto a = solved(gram, right);
    if (!a) continue;
    bool optimal = true;
    for (Index p = 0; p < count; ++p) optimal = optimal && (*a)[p] * signs[p] > 0;
    for (Index j = 0; j < d && optimal; ++j) {
      long double c = b[j];
      for (Index p = 0; p < count; ++p) c -= g(j, active[p]) * (*a)[p];
      // Far below the steps of 1e-9 that the tests tell apart.
      optimal = std::abs(c) <= static_cast<long double>(lambda) * (1 + 1e-13L);
    }
    if (!optimal) continue;
    std::vector<double> out(static_cast<std::size_t>(d));
    for (Index p = 0; p < count; ++p) out[active[p]] = static_cast<double>((*a)[p]);
    return out;
  }
  ADD_FAILURE() << "no active set is optimal";
  return {};
}

Index support_size(const std::vector<double>& a) {
  return static_cast<Index>(a.size()) - static_cast<Index>(std::count(a.begin(), a.end(), 0.0));
}

std::vector<double> column(const Matrix& a, Index k) {
  std::vector<double> out;
  for (Index i = 0; i < a.rows(); ++i) out.push_back(a(i, k));
  return out;
}

// Columns that lean on each other, so that paths drop some.
Matrix leaning(Index n, Index d, std::uint64_t seed) {
  Matrix x = support::random_matrix(n, d, seed);
  const Matrix common = support::random_matrix(n, 2, seed + 500);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) x(i, j) = 0.4 * x(i, j) + common(i, j % 2) - (j % 3 == 0 ? common(i, 1) : 0);
  }
  return x;
}

TEST(Lars, OneColumnByHand) {
  // x'y = 11, x'x = 5: the path ends at least squares, 11 / 5.
  Matrix x(2, 1), y(2, 1);
  x(0, 0) = 1, x(1, 0) = 2, y(0, 0) = 3, y(1, 0) = 4;
  const LarsFit found = fit(x, y, 1);
  EXPECT_NEAR(found.coefficients(0, 0), 2.2, 1e-15);
  EXPECT_NEAR(found.lambda[0], 0, 1e-14);
}

TEST(Lars, TwoColumnsByHand) {
  // Orthonormal columns: soft thresholding; with one active column lambda stops where the other enters.
  Matrix x(3, 2), y(3, 1);
  x(0, 0) = x(1, 1) = 1;
  y(0, 0) = -5, y(1, 0) = 2, y(2, 0) = 7;
  const LarsFit one = fit(x, y, 1), two = fit(x, y, 2);
  EXPECT_NEAR(one.lambda[0], 2, 1e-14);
  EXPECT_NEAR(one.coefficients(0, 0), -3, 1e-14);
  EXPECT_EQ(one.coefficients(1, 0), 0);
  EXPECT_NEAR(two.coefficients(0, 0), -5, 1e-14);
  EXPECT_NEAR(two.coefficients(1, 0), 2, 1e-14);
}

// Agreement with a solver that knows nothing of paths, and the knot: m active above it, m + 1 (or the next drop) below.
TEST(Lars, BruteForceTwin) {
  Index drops = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Index n = seed % 3 == 0 ? 4 : 9, d = 6;
    const Matrix x = leaning(n, d, seed), y = support::random_matrix(n, 1, seed + 900);
    for (Index m = 1; m <= std::min(d, n - 1); ++m) {
      const LarsFit found = fit(x, y, m);
      drops += found.drops[0];
      const double lambda = found.lambda[0];
      if (lambda <= 1e-12) continue;  // least squares
      const auto a = column(found.coefficients, 0);
      const auto above = brute_lasso(x, column(y, 0), lambda * (1 + 1e-9));
      EXPECT_LE(support::largest_difference(above, a), 1e-6 * support::largest(a)) << "seed " << seed << " m " << m;
      EXPECT_EQ(support_size(above), m) << "seed " << seed;
      EXPECT_EQ(support_size(brute_lasso(x, column(y, 0), lambda * (1 - 1e-9))), m + 1)
          << "seed " << seed << " m " << m;
    }
  }
  EXPECT_GT(drops, 10);
}

TEST(Lars, OptimalEverywhereOnThePath) {
  Index drops = 0;
  for (const auto& [n, d] : {std::pair<Index, Index>{60, 25}, {40, 40}, {25, 60}, {200, 30}}) {
    for (const bool lean : {false, true}) {
      const Matrix x = lean ? leaning(n, d, 3) : support::random_matrix(n, d, 3), y = support::random_matrix(n, 3, 4);
      for (const Index m : {Index{1}, Index{2}, Index{7}, std::min(d, n - 1)}) {
        const std::string what = concat(n, " x ", d, " m ", m, lean ? " leaning" : "");
        const LarsFit found = fit(x, y, m);
        expect_optimal(x, y, found, what);
        for (std::size_t k = 0; k < 3; ++k) {
          drops += found.drops[k];
          EXPECT_EQ(found.active[k], m) << what;
          EXPECT_EQ(found.steps[k], m + 2 * found.drops[k])
              << what;  // each drop costs the step and an entry to make up
          EXPECT_EQ(found.stuck[k], 0) << what;
        }
      }
    }
  }
  EXPECT_GT(drops, 20);
}

// The path ends at least squares where there are fewer dimensions than columns asked for.
TEST(Lars, EndsAtLeastSquares) {
  const Matrix thin = support::random_matrix(30, 4, 5), y = support::random_matrix(30, 2, 6);
  const Matrix x = product(thin, support::random_matrix(4, 12, 7));
  const LarsFit found = fit(x, y, 12);
  expect_optimal(x, y, found, "rank 4");
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(found.active[k], 4);
    EXPECT_LE(found.lambda[k], 1e-11 * support::largest(product_transposed_left(x, y)));
  }
}

TEST(Lars, CopiesStayAtZero) {
  Matrix x = leaning(50, 12, 8);
  const Matrix y = support::random_matrix(50, 4, 9);
  for (Index i = 0; i < 50; ++i) x(i, 7) = x(i, 2), x(i, 11) = -x(i, 3);
  for (const Index m : {Index{3}, Index{8}, Index{10}, Index{12}}) {
    const LarsFit found = fit(x, y, m);
    expect_optimal(x, y, found, concat("copies, m ", m));
    for (Index k = 0; k < 4; ++k) {
      EXPECT_EQ(found.coefficients(7, k), 0);
      EXPECT_EQ(found.coefficients(11, k), 0);
      EXPECT_EQ(found.active[static_cast<std::size_t>(k)], std::min<Index>(m, 10));
    }
  }
}

// Exact ties of every kind: whole numbers, few values. Where several columns tie again and again a path may go round in
// circles and is given up; what it ends with is optimal all the same.
TEST(Lars, TiesAreSurvived) {
  Index paths = 0, stuck = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    const Matrix x = support::whole_numbers(8, 10, 3, seed), y = support::whole_numbers(8, 2, 3, seed + 50);
    for (const Index m : {Index{2}, Index{5}, Index{10}}) {
      const LarsFit found = fit(x, y, m);
      expect_optimal(x, y, found, concat("ties, seed ", seed, " m ", m));
      paths += 2, stuck += found.stuck[0] + found.stuck[1];
    }
  }
  EXPECT_LE(20 * stuck, paths);
}

TEST(Lars, ZeroTargetAndZeroColumns) {
  Matrix x = support::random_matrix(10, 4, 10), y(10, 2);
  for (Index i = 0; i < 10; ++i) x(i, 1) = 0, y(i, 1) = x(i, 0);
  const LarsFit found = fit(x, y, 4);
  for (Index j = 0; j < 4; ++j) EXPECT_EQ(found.coefficients(j, 0), 0);
  EXPECT_NEAR(found.coefficients(0, 1), 1, 1e-12);
  EXPECT_EQ(found.coefficients(1, 1), 0);
}

// With a ridge the direction is (G_AA + r I)^-1 s; orthonormal columns slow down by 1 + r.
TEST(Lars, RidgeByHand) {
  Matrix x(2, 2), y(2, 1);
  x(0, 0) = x(1, 1) = 1;
  y(0, 0) = 4, y(1, 0) = 1;
  // g = s / 1.5, so c_0 = 4 - gamma / 1.5, but lambda = 4 - gamma meets |c_1| = 1 at gamma = 3.
  const LarsFit found = fit(x, y, 1, 0.5);
  EXPECT_NEAR(found.coefficients(0, 0), 2, 1e-14);
  EXPECT_NEAR(found.lambda[0], 1, 1e-14);
}

TEST(Lars, ScalesWithXAndY) {
  Matrix x = leaning(40, 20, 11), y = support::random_matrix(40, 2, 12);
  const LarsFit plain = fit(x, y, 9);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] *= 0x1p-200;
  for (Index i = 0; i < y.size(); ++i) y.data()[i] *= 0x1p40;
  const LarsFit scaled = fit(x, y, 9);
  for (Index i = 0; i < plain.coefficients.size(); ++i) {
    EXPECT_EQ(scaled.coefficients.data()[i], plain.coefficients.data()[i] * 0x1p240);
  }
}

TEST(Lars, SameBitsAtAnyNumberOfThreads) {
  const Matrix x = leaning(30, 50, 13), y = support::random_matrix(30, 5, 14);
  const LarsFit one = fit(x, y, 20, 0, 1);
  for (const int threads : {2, 4}) {
    EXPECT_TRUE(support::same_bits(fit(x, y, 20, 0, threads).coefficients, one.coefficients));
  }
}

TEST(Lars, ProgressNeverFallsAndCancellationStops) {
  const Matrix x = leaning(30, 20, 15), y = support::random_matrix(30, 2, 16);
  GramColumns columns(product_transposed_left(x, x));
  Context context(1);
  LarsOptions options;
  options.active = 15;
  std::vector<double> told;
  options.progress = [&](double fraction) { told.push_back(fraction); };
  lars_lasso(columns, product_transposed_left(x, y), options, context);
  ASSERT_GE(told.size(), 15u);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_LE(told.back(), 1);
  int polls = 0;
  context.is_cancelled = [&] { return ++polls > 3; };
  support::expect_error(ErrorCode::interrupted, {},
                        [&] { lars_lasso(columns, product_transposed_left(x, y), options, context); });
}

}  // namespace
}  // namespace tamis
