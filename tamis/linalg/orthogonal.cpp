#include "tamis/linalg/orthogonal.h"

#include <cmath>
#include <utility>
#include <vector>

#include "tamis/linalg/dense.h"

namespace tamis {

namespace {

// Divides every column by its norm; columns whose squared norm is not above `floor`, or not finite, stay out.
Matrix with_long_columns(const Matrix& p, double floor) {
  const Index m = p.cols();
  std::vector<double> norm(static_cast<std::size_t>(m));
  for (Index i = 0; i < p.rows(); ++i) {
    const double* row = p.row(i);
    for (Index j = 0; j < m; ++j) norm[static_cast<std::size_t>(j)] += row[j] * row[j];
  }
  std::vector<Index> keep;
  std::vector<double> length;
  for (Index j = 0; j < m; ++j) {
    const double value = norm[static_cast<std::size_t>(j)];
    if (!(value > floor) || !std::isfinite(value)) continue;
    keep.push_back(j);
    length.push_back(std::sqrt(value));
  }
  Matrix out(p.rows(), static_cast<Index>(keep.size()));
  for (Index i = 0; i < p.rows(); ++i) {
    const double* row = p.row(i);
    double* to = out.row(i);
    for (std::size_t k = 0; k < keep.size(); ++k) to[k] = row[keep[k]] / length[k];
  }
  return out;
}

// P V L^(-1/2) for P'P = V L V', without the directions whose share of the unit columns is below `floor`
// (Stathopoulos & Wu 2002, "SVQB").
Matrix whitened(const Matrix& p, double floor) {
  const EigenPairs pairs = symmetric_eigen(product_transposed_left(p, p));
  Index rank = 0;
  while (rank < p.cols() && pairs.values[static_cast<std::size_t>(rank)] > floor) ++rank;
  Matrix mix = first_columns(pairs.vectors, rank);
  for (Index i = 0; i < mix.rows(); ++i) {
    for (Index k = 0; k < rank; ++k) mix(i, k) /= std::sqrt(pairs.values[static_cast<std::size_t>(k)]);
  }
  return product(p, mix);
}

}  // namespace

Matrix orthonormal_complement(std::span<const Matrix> blocks, Matrix p) {
  p = with_long_columns(p, 0.0);
  // Twice is enough (Parlett & Kahan): what the first projection leaves of q by cancellation, the second removes.
  for (int round = 0; round < 2 && p.cols() > 0; ++round) {
    for (const Matrix& q : blocks) {
      if (q.cols() > 0) add_product(-1.0, q, product_transposed_left(q, p), p);
    }
    // A unit column that loses all but rounding to q lies in its span.
    if (round == 0) p = with_long_columns(p, 1e-20);
    if (p.cols() > 0) p = whitened(p, round == 0 ? 1e-12 : 1e-2);
  }
  return p;
}

Matrix orthonormal_complement(const Matrix& q, Matrix p) {
  return orthonormal_complement(std::span(&q, 1), std::move(p));
}

Matrix orthonormalized(Matrix p) { return orthonormal_complement(std::span<const Matrix>(), std::move(p)); }

}  // namespace tamis
