#include "tamis/linalg/cholesky.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>
#include <vector>

#include "tamis/base/error.h"
#include "tamis/linalg/blas.h"

namespace tamis {

namespace {

// The lower triangle again from the upper one, which the factorization leaves alone, and the diagonal.
void restore(const std::vector<double>& diagonal, double lift, Matrix& a) {
  for (Index i = 0; i < a.rows(); ++i) {
    a(i, i) = diagonal[i] + lift;
    for (Index j = 0; j < i; ++j) a(i, j) = a(j, i);
  }
}

}  // namespace

Cholesky::Cholesky(Matrix a) : l_(std::move(a)) {
  assert(l_.rows() == l_.cols());
  const Index n = l_.rows();
  std::vector<double> diagonal(n);
  for (Index i = 0; i < n; ++i) diagonal[i] = l_(i, i);
  const double largest = n == 0 ? 0.0 : *std::max_element(diagonal.begin(), diagonal.end());
  while (!blas::cholesky(n, l_.data())) {
    lift_ = lift_ == 0 ? static_cast<double>(n) * std::numeric_limits<double>::epsilon() * largest : 10 * lift_;
    require(lift_ > 0 && lift_ <= 0.01 * largest, ErrorCode::bad_data, "a system of ", n,
            " equations is not positive definite: scale the data");
    restore(diagonal, lift_, l_);
  }
}

Matrix Cholesky::solve(Matrix b) const {
  assert(b.rows() == l_.rows());
  blas::cholesky_solve(l_.rows(), b.cols(), l_.data(), b.data());
  return b;
}

}  // namespace tamis
