#include "tamis/linalg/orthogonal.h"

#include <gtest/gtest.h>

#include "tamis/linalg/dense.h"
#include "tests/support/spectra.h"

namespace tamis {
namespace {

constexpr double kThreshold = 100;

// ||Q'P||_max / (n ulp)
double overlap_ratio(const Matrix& q, const Matrix& p) {
  const auto product = support::times(support::transposed(support::widened(q)), support::widened(p));
  return support::largest(product) / (static_cast<double>(q.rows()) * support::kUlp);
}

// How much of the unit columns of P lies outside the span of the orthonormal columns of Q.
double outside(const Matrix& q, const Matrix& p) {
  double worst = 0;
  const Matrix inside = product(q, product_transposed_left(q, p));
  for (Index j = 0; j < p.cols(); ++j) {
    double rest = 0, norm = 0;
    for (Index i = 0; i < p.rows(); ++i) {
      rest += (p(i, j) - inside(i, j)) * (p(i, j) - inside(i, j));
      norm += p(i, j) * p(i, j);
    }
    if (norm > 0) worst = std::max(worst, std::sqrt(rest / norm));
  }
  return worst;
}

TEST(OrthonormalComplement, OrthonormalAndOrthogonalAndSpans) {
  for (const Index n : {1, 2, 5, 50, 400}) {
    for (const Index have : {Index{0}, Index{1}, n / 3}) {
      const Index add = std::min<Index>(7, n - have);
      if (have >= n || add < 1) continue;
      const Matrix q = support::random_orthonormal(n, have, 1), p = support::random_matrix(n, add, 2);
      const Matrix out = orthonormal_complement(q, p);
      ASSERT_EQ(out.cols(), add) << n << " " << have;
      EXPECT_LT(support::orthogonality_ratio(out), kThreshold) << n << " " << have;
      EXPECT_LT(overlap_ratio(q, out), kThreshold) << n << " " << have;
      EXPECT_LT(outside(hstack(q, out), p), 1e-12);
    }
  }
}

TEST(OrthonormalComplement, DropsDependentColumns) {
  const Index n = 40;
  const Matrix q = support::random_orthonormal(n, 4, 3), fresh = support::random_matrix(n, 2, 4);
  Matrix p(n, 7);
  const Matrix inside = product(q, support::random_matrix(4, 2, 5));
  for (Index i = 0; i < n; ++i) {
    p(i, 0) = fresh(i, 0);
    p(i, 1) = 2 * fresh(i, 0);  // a multiple
    p(i, 2) = fresh(i, 1);
    p(i, 3) = fresh(i, 0) - 3 * fresh(i, 1);  // a combination
    p(i, 4) = 0;                              // nothing
    p(i, 5) = inside(i, 0);                   // in the span of q
    p(i, 6) = 1e6 * inside(i, 1);
  }
  const Matrix out = orthonormal_complement(q, p);
  EXPECT_EQ(out.cols(), 2);
  EXPECT_LT(support::orthogonality_ratio(out), kThreshold);
  EXPECT_LT(overlap_ratio(q, out), kThreshold);
  EXPECT_LT(outside(hstack(q, out), fresh), 1e-10);
}

TEST(OrthonormalComplement, NothingIsLeftOfAFullBasis) {
  for (const Index n : {1, 3, 20}) {
    EXPECT_EQ(orthonormal_complement(support::random_orthonormal(n, n, 6), support::random_matrix(n, 3, 7)).cols(), 0);
  }
}

TEST(OrthonormalComplement, MoreColumnsThanRoom) {
  const Matrix q = support::random_orthonormal(6, 4, 8);
  const Matrix out = orthonormal_complement(q, support::random_matrix(6, 5, 9));
  EXPECT_LE(out.cols(), 2);
  EXPECT_GE(out.cols(), 1);
  EXPECT_LT(support::orthogonality_ratio(out), kThreshold);
  EXPECT_LT(overlap_ratio(q, out), kThreshold);
}

TEST(OrthonormalComplement, ColumnsThatAreNearlyInside) {
  const Index n = 60;
  const Matrix q = support::random_orthonormal(n, 5, 10);
  for (const double part : {1e-2, 1e-5, 1e-8}) {
    Matrix p = product(q, support::random_matrix(5, 3, 11));
    const Matrix rest = support::random_matrix(n, 3, 12);
    for (Index i = 0; i < p.size(); ++i) p.data()[i] += part * rest.data()[i];
    const Matrix out = orthonormal_complement(q, p);
    ASSERT_EQ(out.cols(), 3) << part;
    EXPECT_LT(support::orthogonality_ratio(out), kThreshold) << part;
    EXPECT_LT(overlap_ratio(q, out), kThreshold) << part;
  }
}

TEST(OrthonormalComplement, ColumnsOfVeryDifferentSizes) {
  Matrix p = support::random_matrix(50, 4, 13);
  const double sizes[] = {1e100, 1e-100, 1, 1e8};
  for (Index i = 0; i < 50; ++i) {
    for (Index j = 0; j < 4; ++j) p(i, j) *= sizes[j];
  }
  const Matrix out = orthonormalized(p);
  ASSERT_EQ(out.cols(), 4);
  EXPECT_LT(support::orthogonality_ratio(out), kThreshold);
  EXPECT_LT(outside(out, p), 1e-12);
}

TEST(Orthonormalized, NearlyParallelColumnsAreOrthonormalAnyhow) {
  Matrix p = support::random_matrix(80, 3, 14);
  for (Index i = 0; i < 80; ++i) p(i, 1) = p(i, 0) + 1e-5 * p(i, 1);
  const Matrix out = orthonormalized(p);
  EXPECT_EQ(out.cols(), 3);
  EXPECT_LT(support::orthogonality_ratio(out), kThreshold);
  EXPECT_EQ(orthonormalized(Matrix(5, 0)).cols(), 0);
  EXPECT_EQ(orthonormalized(Matrix(5, 2)).cols(), 0);
}

TEST(PivotedRows, TakesARowOfEachDirectionBeforeItRepeatsOne) {
  // Rows 0 and 1 point the same way, row 2 across, row 3 is 0, row 4 a shorter copy of row 2.
  Matrix w(5, 2);
  w(0, 0) = 3, w(1, 0) = 2, w(2, 1) = 1, w(4, 1) = 0.5;
  EXPECT_EQ(pivoted_rows(w, 5), (std::vector<Index>{0, 2, 1, 4}));
  EXPECT_EQ(pivoted_rows(w, 3), (std::vector<Index>{0, 2, 1}));
  EXPECT_TRUE(pivoted_rows(Matrix(4, 2), 4).empty());
}

TEST(PivotedRows, EqualRowsGoToTheLowerIndex) {
  Matrix w(4, 1, 0.7);
  EXPECT_EQ(pivoted_rows(w, 4), (std::vector<Index>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace tamis
