#include "tamis/linalg/tridiagonal.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "tamis/linalg/blas.h"
#include "tamis/linalg/dense.h"

namespace tamis {

Tridiagonal::Tridiagonal(Matrix a) : q_(std::move(a)), diagonal_(q_.rows()), off_(diagonal_.size()) {
  assert(q_.rows() == q_.cols());
  blas::tridiagonalize(q_.rows(), q_.data(), diagonal_.data(), off_.data());
  double norm = 0;
  for (std::size_t i = 0; i < diagonal_.size(); ++i) {
    const double before = i > 0 ? std::abs(off_[i - 1]) : 0.0, after = i + 1 < off_.size() ? std::abs(off_[i]) : 0.0;
    norm = std::max(norm, before + std::abs(diagonal_[i]) + after);
  }
  rounding_ = std::numeric_limits<double>::epsilon() * norm;
}

// T + r I = L D L', and B = (L D L')^-1 B.
void Tridiagonal::solve_tridiagonal(double r, Matrix& b) const {
  const Index n = b.rows(), m = b.cols();
  const double ridge = std::max(r, rounding_);
  std::vector<double> pivot(diagonal_.size());
  for (Index i = 0; i < n; ++i) {
    const double ratio = i > 0 ? off_[i - 1] / pivot[i - 1] : 0.0;
    // Rounding may leave less than the least eigenvalue of T + r I, which no pivot is below.
    pivot[i] = std::max(diagonal_[i] + ridge - (i > 0 ? ratio * off_[i - 1] : 0.0), ridge);
    for (Index k = 0; i > 0 && k < m; ++k) b(i, k) -= ratio * b(i - 1, k);
  }
  for (Index i = n - 1; i >= 0; --i) {
    for (Index k = 0; k < m; ++k) {
      b(i, k) = (b(i, k) - (i + 1 < n ? off_[i] * b(i + 1, k) : 0.0)) / pivot[i];
    }
  }
}

Matrix Tridiagonal::times_tridiagonal(const Matrix& y) const {
  const Index n = y.rows();
  Matrix out(n, y.cols());
  for (Index i = 0; i < n; ++i) {
    for (Index k = 0; k < y.cols(); ++k) {
      out(i, k) = diagonal_[i] * y(i, k) + (i > 0 ? off_[i - 1] * y(i - 1, k) : 0.0) +
                  (i + 1 < n ? off_[i] * y(i + 1, k) : 0.0);
    }
  }
  return out;
}

Matrix Tridiagonal::solve(double r, const Matrix& b, Matrix* image) const {
  assert(b.rows() == size());
  Matrix y = product(q_, b);
  solve_tridiagonal(r, y);
  if (image != nullptr) *image = product_transposed_left(q_, times_tridiagonal(y));
  return product_transposed_left(q_, y);
}

}  // namespace tamis
