#include "tamis/eval/redundancy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tamis {

namespace {

constexpr Index kPieceColumns = 256;

// Columns [first, first + count) of Z.
Matrix centred_piece(const Centered& z, const ColumnMoments& moments, Index first, Index count, Context& context) {
  std::vector<Index> columns(count);
  std::iota(columns.begin(), columns.end(), first);
  Matrix piece = gather(z.source().with_columns(columns), context);
  for (Index i = 0; i < piece.rows(); ++i) {
    double* row = piece.row(i);
    for (Index j = 0; j < count; ++j) {
      row[j] = (row[j] - moments.mean[first + j]) / moments.unit * z.root(i);
    }
  }
  return piece;
}

}  // namespace

double redundancy(const Source& source, Context& context) {
  const Index k = source.cols();
  if (k < 2) return 0.0;
  const auto moments = column_moments(source, context);
  const Centered z(source, moments);
  std::vector<double> norm(k, 0.0);
  for (Index j = 0; j < k; ++j) {
    if (moments.varies(j)) norm[j] = std::sqrt(moments.scatter[j]);
  }
  double sum = 0.0;
  for (Index first = 0; first < k; first += kPieceColumns) {
    const Index count = std::min(kPieceColumns, k - first);
    // Z'Z, a few columns at a time: k x k would not fit for many features.
    const Matrix products = multiply_transposed(z, centred_piece(z, moments, first, count, context), context);
    for (Index j = 0; j < count; ++j) {
      for (Index i = 0; i < first + j; ++i) {  // each pair once
        const double scale = norm[i] * norm[first + j];
        if (scale > 0.0) sum += std::min(1.0, std::abs(products(i, j)) / scale);
      }
    }
  }
  return sum / (0.5 * static_cast<double>(k) * static_cast<double>(k - 1));
}

Matrix correlations(const Source& source, Context& context) {
  const Index k = source.cols();
  const auto moments = column_moments(source, context);
  Matrix identity(k, k);
  for (Index j = 0; j < k; ++j) identity(j, j) = 1.0;
  Matrix out = scatter_product(Centered(source, moments), identity, context);  // Z'Z I, dense or sparse
  std::vector<double> norm(k, 0.0);
  for (Index j = 0; j < k; ++j) {
    if (moments.varies(j)) norm[j] = std::sqrt(out(j, j));
  }
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < k; ++j) {
      const double scale = norm[i] * norm[j];
      out(i, j) = scale > 0.0 ? std::clamp(out(i, j) / scale, -1.0, 1.0) : i == j ? 1.0 : 0.0;
    }
  }
  return out;
}

}  // namespace tamis
