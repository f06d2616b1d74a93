#include "tamis/linalg/tridiagonal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tamis/linalg/dense.h"
#include "tests/support/spectra.h"

namespace tamis {
namespace {

Matrix random_of_rank(Index n, Index rank, std::uint64_t seed) {
  const Matrix half = support::random_matrix(n, rank, seed);
  return support::symmetric_part(product_transposed_right(half, half));
}

// The residual of (A + r I) V = B against what rounding allows: ulp (||A|| + r) ||V||.
TEST(Tridiagonal, SolvesEveryRidge) {
  for (const Index n : {1, 2, 3, 10, 90}) {
    for (const Index rank : {Index{1}, (n + 1) / 2, n}) {
      const Matrix a = random_of_rank(n, rank, 1), b = support::random_matrix(n, 4, 2);
      const Tridiagonal system(a);
      const double norm = support::one_norm(a);
      for (const double share : {1e3, 1.0, 1e-3, 1e-8, 1e-12}) {
        const double r = share * norm;
        Matrix image;
        const Matrix v = system.solve(r, b, &image);
        Matrix back = product(a, v);
        const double slack = 100 * static_cast<double>(n) * support::kUlp * (norm + r) * std::sqrt(squared_norm(v));
        EXPECT_LT(support::largest_difference(image, back), slack) << n << " " << rank << " " << share;
        for (Index i = 0; i < back.size(); ++i) back.data()[i] += r * v.data()[i];
        EXPECT_LT(support::largest_difference(back, b), slack) << n << " " << rank << " " << share;
      }
    }
  }
}

TEST(Tridiagonal, WorkedByHand) {
  // [2 1; 1 2] + I = [3 1; 1 3], whose inverse is [3 -1; -1 3] / 8.
  Matrix a(2, 2, 1.0), b(2, 1);
  a(0, 0) = a(1, 1) = 2, b(0, 0) = 8;
  Matrix image;
  const Matrix v = Tridiagonal(a).solve(1, b, &image);
  EXPECT_NEAR(v(0, 0), 3, 1e-14);
  EXPECT_NEAR(v(1, 0), -1, 1e-14);
  EXPECT_NEAR(image(0, 0), 5, 1e-14);
  EXPECT_NEAR(image(1, 0), 1, 1e-14);
}

// A ridge that drowns in the rounding of a singular matrix still gives numbers: those of a ridge of that size.
TEST(Tridiagonal, NoRidgeToSpeakOf) {
  const Matrix a = random_of_rank(40, 3, 3), b = product(a, support::random_matrix(40, 2, 4));
  Matrix image;
  const Matrix v = Tridiagonal(a).solve(1e-300, b, &image);
  for (Index i = 0; i < v.size(); ++i) ASSERT_TRUE(std::isfinite(v.data()[i]));
  EXPECT_LT(support::largest_difference(image, b), 1e-3 * support::one_norm(b));
  EXPECT_EQ(Tridiagonal(Matrix(0, 0)).solve(1, Matrix(0, 3)).rows(), 0);
}

}  // namespace
}  // namespace tamis
