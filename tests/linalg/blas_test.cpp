#include "tamis/linalg/blas.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tamis/linalg/dense.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

using support::random_matrix;

template <class T>
BasicMatrix<T> as(const Matrix& a) {
  BasicMatrix<T> out(a.rows(), a.cols());
  std::transform(a.data(), a.data() + a.size(), out.data(), [](double x) { return static_cast<T>(x); });
  return out;
}

template <class T>
class Blas : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(Blas, Types);

// C = alpha op(A) op(B) + beta C inside arrays that are wider than the matrices; nothing outside is touched.
TYPED_TEST(Blas, GemmMatchesTheDefinition) {
  using T = TypeParam;
  const Index shapes[][3] = {{1, 1, 1}, {2, 3, 4}, {5, 1, 7}, {1, 9, 3}, {17, 13, 33}, {64, 5, 100}};
  for (const auto& [m, n, k] : shapes) {
    for (const int transposes : {0, 1, 2, 3}) {
      const bool ta = transposes & 1, tb = transposes & 2;
      const Index ar = ta ? k : m, ac = ta ? m : k, br = tb ? n : k, bc = tb ? k : n;
      const auto a = as<T>(random_matrix(ar, ac + 2, 1)), b = as<T>(random_matrix(br, bc + 3, 2));
      const auto before = as<T>(random_matrix(m, n + 4, 3));
      auto c = before;
      const T alpha = T(0.5), beta = T(-2);
      blas::gemm(ta, tb, m, n, k, alpha, a.data(), ac + 2, b.data(), bc + 3, beta, c.data(), n + 4);
      const double tolerance =
          4.0 * static_cast<double>(k + 2) * static_cast<double>(std::numeric_limits<T>::epsilon());
      for (Index i = 0; i < m; ++i) {
        for (Index j = 0; j < n + 4; ++j) {
          if (j >= n) {
            ASSERT_EQ(c(i, j), before(i, j));
            continue;
          }
          long double sum = 0, size = 0;
          for (Index q = 0; q < k; ++q) {
            const long double term = static_cast<long double>(ta ? a(q, i) : a(i, q)) * (tb ? b(j, q) : b(q, j));
            sum += term;
            size += std::abs(term);
          }
          const auto wanted = static_cast<double>(0.5L * sum - 2.0L * before(i, j));
          ASSERT_NEAR(c(i, j), wanted, tolerance * (static_cast<double>(size) + 2 * std::abs(before(i, j))))
              << m << "x" << n << "x" << k << " " << ta << tb;
        }
      }
    }
  }
}

TYPED_TEST(Blas, SyrkFillsTheUpperTriangle) {
  using T = TypeParam;
  for (const bool rows : {false, true}) {
    for (const auto& [n, k] : std::vector<std::pair<Index, Index>>{{1, 1}, {3, 5}, {20, 7}, {65, 130}}) {
      const auto a = as<T>(random_matrix(rows ? n : k, rows ? k : n, 4));
      const auto before = as<T>(random_matrix(n, n, 5));
      auto c = before;
      blas::syrk(rows, n, k, a.data(), a.cols(), c.data(), n);
      for (Index i = 0; i < n; ++i) {
        for (Index j = i; j < n; ++j) {
          long double sum = before(i, j);
          for (Index q = 0; q < k; ++q)
            sum += static_cast<long double>(rows ? a(i, q) : a(q, i)) * (rows ? a(j, q) : a(q, j));
          const double eps = static_cast<double>(std::numeric_limits<T>::epsilon());
          ASSERT_NEAR(c(i, j), static_cast<double>(sum), 20.0 * static_cast<double>(k + 2) * eps) << rows << " " << n;
        }
      }
    }
  }
}

TEST(Dense, ProductsMatchTheDefinition) {
  for (const auto& [m, k, n] :
       std::vector<std::array<Index, 3>>{{1, 1, 1}, {4, 3, 2}, {30, 17, 5}, {3, 0, 2}, {0, 3, 2}}) {
    const Matrix a = random_matrix(m, k, 6), b = random_matrix(k, n, 7);
    const Matrix wanted = support::narrowed(support::times(support::widened(a), support::widened(b)));
    const double tolerance = 1e-13;
    EXPECT_LE(support::largest_difference(product(a, b), wanted), tolerance);
    EXPECT_LE(support::largest_difference(product_transposed_left(support::transposed(a), b), wanted), tolerance);
    EXPECT_LE(support::largest_difference(product_transposed_right(a, support::transposed(b)), wanted), tolerance);
    Matrix c = random_matrix(m, n, 8);
    Matrix sum = c;
    for (Index i = 0; i < sum.size(); ++i) sum.data()[i] += -1.5 * wanted.data()[i];
    add_product(-1.5, a, b, c);
    EXPECT_LE(support::largest_difference(c, sum), tolerance);
  }
}

TEST(Dense, SmallHelpers) {
  const Matrix a = random_matrix(5, 3, 9), b = random_matrix(5, 2, 10);
  const Matrix both = hstack(a, b);
  ASSERT_EQ(both.cols(), 5);
  EXPECT_EQ(both(4, 2), a(4, 2));
  EXPECT_EQ(both(4, 3), b(4, 0));
  EXPECT_TRUE(support::same_bits(first_columns(both, 3), a));
  EXPECT_EQ(first_columns(both, 0).cols(), 0);
  long double sum = 0;
  for (Index i = 0; i < a.size(); ++i) sum += static_cast<long double>(a.data()[i]) * a.data()[i];
  EXPECT_NEAR(squared_norm(a), static_cast<double>(sum), 1e-13);
  EXPECT_EQ(dot(a, a), squared_norm(a));
  Matrix scaled = a;
  scale_rows({1, 2, 3, 4, 5}, scaled);
  EXPECT_EQ(scaled(3, 1), 4 * a(3, 1));
}

}  // namespace
}  // namespace tamis
