#include "tamis/linalg/cholesky.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

// Y'Y of a random Y (rows x n): positive definite where rows > n, of rank `rows` where not.
Matrix square(Index rows, Index n, std::uint64_t seed) {
  const auto y = support::widened(support::random_matrix(rows, n, seed));
  return support::narrowed(support::times(support::transposed(y), y));
}

double residual_ratio(const Matrix& a, const Matrix& x, const Matrix& b) {
  const Matrix product = support::narrowed(support::times(support::widened(a), support::widened(x)));
  const double n = static_cast<double>(a.rows());
  return support::largest_difference(product, b) / (n * n * support::largest(a) * support::largest(x) * support::kUlp);
}

TEST(Cholesky, SolvesToWorkingAccuracy) {
  for (const Index n : {1, 2, 3, 17, 64, 130}) {
    for (const Index m : {1, 2, 5, 40}) {
      const Matrix a = square(n + 10, n, 1), b = support::random_matrix(n, m, 2);
      const Cholesky factor(a);
      EXPECT_EQ(factor.lift(), 0);
      EXPECT_LT(residual_ratio(a, factor.solve(b), b), 10) << n << " x " << m;
    }
  }
}

TEST(Cholesky, ByHand) {
  Matrix a(2, 2), b(2, 1);
  a(0, 0) = 4, a(0, 1) = a(1, 0) = 2, a(1, 1) = 2;
  b(0, 0) = 2, b(1, 0) = 3;
  const Matrix x = Cholesky(a).solve(b);
  EXPECT_DOUBLE_EQ(x(0, 0), -0.5);
  EXPECT_DOUBLE_EQ(x(1, 0), 2);
}

TEST(Cholesky, NothingToSolve) {
  EXPECT_EQ(Cholesky(Matrix(0, 0)).solve(Matrix(0, 3)).size(), 0);
  EXPECT_EQ(Cholesky(square(5, 3, 1)).solve(Matrix(3, 0)).size(), 0);
}

// A singular matrix is lifted by no more than a few roundings, and the system it then solves is A + lift I.
TEST(Cholesky, LiftsASingularMatrix) {
  const Matrix ones(30, 30, 1e10);
  for (const Matrix& a : {ones, square(20, 80, 3)}) {
    const Index n = a.rows();
    const Cholesky factor(a);
    EXPECT_GT(factor.lift(), 0);
    EXPECT_LT(factor.lift(), 1000 * static_cast<double>(n) * support::kUlp * support::largest(a));
    Matrix lifted = a;
    for (Index i = 0; i < n; ++i) lifted(i, i) += factor.lift();
    const Matrix b = support::random_matrix(n, 2, 4);
    EXPECT_LT(residual_ratio(lifted, factor.solve(b), b), 10);
  }
}

TEST(Cholesky, RefusesWhatIsNotPositiveDefinite) {
  Matrix negative(3, 3), indefinite(2, 2, 1), unknown = square(9, 3, 1);
  for (Index i = 0; i < 3; ++i) negative(i, i) = -1;
  indefinite(0, 1) = indefinite(1, 0) = 3;
  unknown(1, 1) = std::numeric_limits<double>::quiet_NaN();
  for (const Matrix& a : {negative, indefinite, unknown, Matrix(4, 4)}) {
    support::expect_error(ErrorCode::bad_data, {"not positive definite"}, [&] { const Cholesky factor(a); });
  }
}

}  // namespace
}  // namespace tamis
