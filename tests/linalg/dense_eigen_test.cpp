// symmetric_eigen and symmetric_eigen_largest of dense.h: LAPACK's residual ratios over its kinds of matrices.
#include <gtest/gtest.h>

#include "tamis/linalg/dense.h"
#include "tests/support/spectra.h"

namespace tamis {
namespace {

constexpr double kThreshold = 30;  // LAPACK's

TEST(SymmetricEigen, ResidualRatiosOverAllKinds) {
  for (const Index n : {1, 2, 3, 10, 60}) {
    for (const auto& [name, a] : support::kinds(n)) {
      const EigenPairs pairs = symmetric_eigen(a);
      ASSERT_EQ(static_cast<Index>(pairs.values.size()), n);
      EXPECT_LT(support::residual_ratio(a, pairs.values, pairs.vectors, n), kThreshold) << name << " " << n;
      EXPECT_LT(support::orthogonality_ratio(pairs.vectors), kThreshold) << name << " " << n;
      EXPECT_TRUE(std::is_sorted(pairs.values.rbegin(), pairs.values.rend())) << name;
    }
  }
}

TEST(SymmetricEigen, KnownSpectraAreFound) {
  std::vector<double> wanted;
  for (int k = 0; k < 40; ++k) wanted.push_back(std::pow(0.5, k / 3));
  const EigenPairs pairs = symmetric_eigen(support::with_spectrum(wanted, 5));
  for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_NEAR(pairs.values[k], wanted[k], 1e-14);
}

TEST(SymmetricEigen, WorkedByHand) {
  Matrix a(2, 2);
  a(0, 0) = 2, a(0, 1) = a(1, 0) = 1, a(1, 1) = 2;
  const EigenPairs pairs = symmetric_eigen(a);
  EXPECT_NEAR(pairs.values[0], 3, 1e-15);
  EXPECT_NEAR(pairs.values[1], 1, 1e-15);
  EXPECT_NEAR(pairs.vectors(0, 0) * pairs.vectors(1, 0), 0.5, 1e-15);
  EXPECT_NEAR(pairs.vectors(0, 1) * pairs.vectors(1, 1), -0.5, 1e-15);
  EXPECT_TRUE(symmetric_eigen(Matrix(0, 0)).values.empty());
}

// Past 256 rows another routine takes over: same ratios, same values.
TEST(SymmetricEigenLargest, AgreesWithAllPairs) {
  for (const Index n : {30, 300}) {
    for (const auto& [name, a] : support::kinds(n)) {
      const EigenPairs all = symmetric_eigen(a);
      for (const Index count : {Index{1}, Index{7}, n / 2, n}) {
        if (n > 100 && count == n / 2 && name != "random") continue;
        const EigenPairs some = symmetric_eigen_largest(a, count);
        ASSERT_EQ(static_cast<Index>(some.values.size()), count) << name;
        ASSERT_EQ(some.vectors.cols(), count);
        const double norm = support::one_norm(a);
        for (std::size_t k = 0; k < some.values.size(); ++k) {
          ASSERT_NEAR(some.values[k], all.values[k], kThreshold * static_cast<double>(n) * support::kUlp * norm)
              << name << " " << n << " " << k;
        }
        if (n <= 30 || count == 7) {
          EXPECT_LT(support::residual_ratio(a, some.values, some.vectors, count), kThreshold) << name << " " << n;
          EXPECT_LT(support::orthogonality_ratio(some.vectors), kThreshold) << name << " " << n;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tamis
