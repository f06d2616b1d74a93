#include "tamis/data/passes/principal.h"

#include <gtest/gtest.h>

#include "tamis/linalg/dense.h"
#include "tests/support/spectra.h"

namespace tamis {
namespace {

RitzPairs directions(const Source& source, Index count, Accuracy accuracy = Accuracy::full, int threads = 2) {
  Context context(threads);
  return principal_directions(Centered(source, column_moments(source, context)), count, accuracy, Matrix(), context);
}

// The eigenpairs of Z'Z.
EigenPairs dense_twin(const Matrix& x) {
  const auto z = support::centered(x);
  return symmetric_eigen(support::narrowed(support::times(support::transposed(z), z)));
}

// Sum of squared cosines short of a common subspace: 0 where span(A) = span(B), both orthonormal.
double subspace_gap(const Matrix& a, const Matrix& b) {
  return static_cast<double>(a.cols()) - squared_norm(product_transposed_left(a, b));
}

Matrix low_rank(Index n, Index d, Index rank, std::uint64_t seed) {
  Matrix left = support::random_matrix(n, rank, seed);
  for (Index i = 0; i < n; ++i) {
    for (Index k = 0; k < rank; ++k) left(i, k) *= std::pow(0.6, static_cast<double>(k));
  }
  return product(left, support::random_matrix(rank, d, seed + 1));
}

void expect_principal(const Source& source, const Matrix& x, Index count, const std::string& what) {
  const RitzPairs found = directions(source, count);
  const EigenPairs wanted = dense_twin(x);
  ASSERT_EQ(found.vectors.cols(), count) << what;
  ASSERT_EQ(static_cast<Index>(found.values.size()), count) << what;
  EXPECT_LT(support::orthogonality_ratio(found.vectors), 100) << what;
  for (std::size_t k = 0; k < found.values.size(); ++k) {
    EXPECT_NEAR(found.values[k], wanted.values[k], 1e-9 * wanted.values[0]) << what << " value " << k;
  }
  EXPECT_LT(subspace_gap(found.vectors, first_columns(wanted.vectors, count)), 1e-9) << what;
}

TEST(PrincipalDirections, MatchTheDenseEigenvectors) {
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{60, 12}, {12, 60}, {100, 100}, {2, 5}, {5, 1}}) {
    Matrix x = support::mixture(n, d, 4, d / 2, 3, 1);
    const Index count = std::min<Index>({3, n - 1, d});
    const std::string shape = std::to_string(n) + " x " + std::to_string(d);
    for (const Index block_rows : {Index{7}, kBlockRows}) {
      expect_principal(support::dense(x, block_rows), x, count, "dense " + shape);
      expect_principal(support::fortran(x, block_rows), x, count, "fortran " + shape);
      expect_principal(support::sparse(x, block_rows), x, count, "sparse " + shape);
    }
  }
}

// More rows and columns than any small Gram matrix: the iteration.
TEST(PrincipalDirections, ByIteration) {
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{400, 300}, {300, 400}}) {
    Matrix x = low_rank(n, d, 8, 2);
    const Matrix noise = support::random_matrix(n, d, 4);
    for (Index i = 0; i < x.size(); ++i) x.data()[i] += 0.01 * noise.data()[i];
    const EigenPairs wanted = dense_twin(x);
    for (const Source& source : {support::dense(x), support::sparse(x)}) {
      const RitzPairs found = directions(source, 5);
      ASSERT_EQ(found.vectors.cols(), 5);
      for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(found.values[k], wanted.values[k], 1e-9 * wanted.values[0]);
      EXPECT_LT(subspace_gap(found.vectors, first_columns(wanted.vectors, 5)), 1e-9);
      EXPECT_LT(support::orthogonality_ratio(found.vectors), 100);
      // Each column is an eigenvector, not only their span.
      const Matrix cosines = product_transposed_left(found.vectors, first_columns(wanted.vectors, 5));
      for (Index k = 0; k < 5; ++k) EXPECT_NEAR(std::abs(cosines(k, k)), 1, 1e-9);
      const RitzPairs rough = directions(source, 5, Accuracy::rough);
      ASSERT_EQ(rough.vectors.cols(), 5);
      EXPECT_LT(support::orthogonality_ratio(rough.vectors), 100);
      for (std::size_t k = 0; k < 5; ++k) EXPECT_LE(rough.values[k], wanted.values[k] * (1 + 1e-12));
    }
  }
}

// Z W from the side of the rows: columns that are orthogonal, as long as the roots of their values.
TEST(PrincipalDirections, PointsAreTheirProducts) {
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{60, 12}, {12, 60}, {300, 400}, {400, 300}}) {
    const Matrix x = support::mixture(n, d, 4, d / 2, 3, 11);
    const EigenPairs wanted = dense_twin(x);
    for (const Source& source : {support::dense(x), support::sparse(x)}) {
      Context context(2);
      const Centered z(source, column_moments(source, context));
      const Matrix points = principal_points(z, 3, Accuracy::full, context);
      ASSERT_EQ(points.rows(), n);
      ASSERT_EQ(points.cols(), 3);
      const Matrix turned = product(support::narrowed(support::centered(x)), first_columns(wanted.vectors, 3));
      const double size = std::sqrt(wanted.values[0]);
      // P P' = Z W W'Z', whatever the signs.
      EXPECT_LT(support::largest_difference(product_transposed_right(points, points),
                                            product_transposed_right(turned, turned)),
                1e-8 * size * size)
          << n << " x " << d;
    }
  }
}

TEST(PrincipalDirections, FewerWhereTheRankIsSmaller) {
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{50, 8}, {8, 50}, {300, 20}, {300, 290}, {290, 300}}) {
    for (const Index rank : {1, 2, 4}) {
      const Matrix x = low_rank(n, d, rank, 5);
      for (const Source& source : {support::dense(x), support::sparse(x)}) {
        const std::string what = std::to_string(n) + " x " + std::to_string(d) + " rank " + std::to_string(rank) +
                                 (source.sparse() ? " sparse" : "");
        const RitzPairs found = directions(source, 6);
        EXPECT_EQ(found.vectors.cols(), rank) << what;
        EXPECT_EQ(static_cast<Index>(found.values.size()), rank) << what;
        EXPECT_LT(support::orthogonality_ratio(found.vectors), 100) << what;
      }
    }
  }
}

TEST(PrincipalDirections, RankOneWorkedByHand) {
  // Rows t * (3, 4): one direction (0.6, 0.8), value 25 sum (t - mean)^2.
  Matrix x(5, 2);
  for (Index i = 0; i < 5; ++i) x(i, 0) = 3.0 * static_cast<double>(i), x(i, 1) = 4.0 * static_cast<double>(i);
  const RitzPairs found = directions(support::dense(x), 2);
  ASSERT_EQ(found.vectors.cols(), 1);
  EXPECT_NEAR(found.values[0], 250, 1e-11);
  EXPECT_NEAR(std::abs(found.vectors(0, 0)), 0.6, 1e-14);
  EXPECT_NEAR(found.vectors(0, 0) * found.vectors(1, 0), 0.48, 1e-14);
}

TEST(PrincipalDirections, NoVariationNoDirection) {
  EXPECT_EQ(directions(support::dense(Matrix(5, 3, 2.0)), 2).vectors.cols(), 0);
  EXPECT_EQ(directions(support::sparse(Matrix(5, 3, 2.0)), 2).vectors.cols(), 0);
  EXPECT_EQ(directions(support::sparse(Matrix(5, 3)), 2).vectors.cols(), 0);
}

TEST(PrincipalDirections, PermutingColumnsPermutesThem) {
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{60, 12}, {12, 60}, {300, 280}, {280, 300}}) {
    Matrix x = support::mixture(n, d, 5, d, 4, 7);
    const std::vector<Index> order = support::shuffled(d, 8);
    const Matrix permuted = support::columns_of(x, order);
    for (const bool sparse : {false, true}) {
      const RitzPairs a = directions(sparse ? support::sparse(x) : support::dense(x), 3);
      const RitzPairs b = directions(sparse ? support::sparse(permuted) : support::dense(permuted), 3);
      Matrix moved(d, 3);
      for (Index i = 0; i < d; ++i) std::copy_n(a.vectors.row(order[static_cast<std::size_t>(i)]), 3, moved.row(i));
      // The projections W W' onto the subspaces agree entry by entry, whatever sign or rotation W comes with.
      EXPECT_LT(support::largest_difference(product_transposed_right(moved, moved),
                                            product_transposed_right(b.vectors, b.vectors)),
                1e-9)
          << n << " x " << d << (sparse ? " sparse" : " dense");
    }
  }
}

TEST(PrincipalDirections, SurviveAnOffset) {
  Matrix x = support::mixture(80, 10, 3, 5, 3, 9), moved = x;
  for (Index i = 0; i < x.size(); ++i) moved.data()[i] += 1e8;
  const EigenPairs wanted = dense_twin(x);
  for (const Source& source : {support::dense(moved), support::sparse(moved)}) {
    const RitzPairs found = directions(source, 2);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(found.values[k] / wanted.values[k], 1, 1e-6);
    EXPECT_LT(subspace_gap(found.vectors, first_columns(wanted.vectors, 2)), 1e-8);
  }
}

TEST(PrincipalDirections, SameBitsAtAnyNumberOfThreads) {
  for (const Index d : {280, 320}) {
    const Matrix x = support::mixture(300, d, 5, 100, 3, 10);
    for (const Source& source : {support::dense(x, 64), support::sparse(x, 64),
                                 support::dense(x, 64).with_columns({0, 3, 4, 5, 9}), support::fortran(x)}) {
      const RitzPairs wanted = directions(source, 4, Accuracy::rough, 1);
      for (const int threads : {2, 3, 5}) {
        EXPECT_TRUE(support::same_bits(directions(source, 4, Accuracy::rough, threads).vectors, wanted.vectors));
      }
    }
  }
}

// Where nothing has converged, as in noise, dense and sparse rows still come to the same directions.
TEST(Principal, FixedStepsGiveTheSameForDenseAndSparseRows) {
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{4500, 300}, {600, 900}, {1500, 1600}}) {
    const Matrix x = support::thinned(support::random_matrix(n, d, 31), 0.3, 32);
    const RitzPairs dense = directions(support::dense(x), 4, Accuracy::fixed);
    const RitzPairs sparse = directions(support::sparse(x), 4, Accuracy::fixed);
    EXPECT_FALSE(dense.converged);
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(dense.values[k], sparse.values[k], 1e-9 * dense.values[0]);
    for (Index i = 0; i < dense.vectors.size(); ++i) {
      ASSERT_NEAR(std::abs(dense.vectors.data()[i]), std::abs(sparse.vectors.data()[i]), 1e-7) << n << " " << d;
    }
  }
}

}  // namespace
}  // namespace tamis
