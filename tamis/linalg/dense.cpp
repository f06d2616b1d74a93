#include "tamis/linalg/dense.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "tamis/linalg/blas.h"

namespace tamis {

namespace {

Matrix multiply(bool ta, bool tb, const Matrix& a, const Matrix& b) {
  const Index m = ta ? a.cols() : a.rows(), k = ta ? a.rows() : a.cols(), n = tb ? b.rows() : b.cols();
  assert(k == (tb ? b.cols() : b.rows()));
  Matrix c(m, n);
  if (k > 0) {
    blas::gemm(ta, tb, m, n, k, 1.0, a.data(), a.cols(), b.data(), b.cols(), 0.0, c.data(), std::max<Index>(n, 1));
  }
  return c;
}

// Rows of `vectors` are eigenvectors with values rising; callers want columns with values falling.
EigenPairs falling_columns(const std::vector<double>& values, const double* vectors, Index n) {
  const Index count = static_cast<Index>(values.size());
  EigenPairs out{{values.rbegin(), values.rend()}, Matrix(n, count)};
  for (Index k = 0; k < count; ++k) {
    const double* vector = vectors + (count - 1 - k) * n;
    for (Index i = 0; i < n; ++i) out.vectors(i, k) = vector[i];
  }
  return out;
}

}  // namespace

Matrix product(const Matrix& a, const Matrix& b) { return multiply(false, false, a, b); }
Matrix product_transposed_left(const Matrix& a, const Matrix& b) { return multiply(true, false, a, b); }
Matrix product_transposed_right(const Matrix& a, const Matrix& b) { return multiply(false, true, a, b); }

void add_product(double alpha, const Matrix& a, const Matrix& b, Matrix& c) {
  assert(a.cols() == b.rows() && c.rows() == a.rows() && c.cols() == b.cols());
  if (a.cols() == 0 || c.size() == 0) return;
  blas::gemm(false, false, a.rows(), b.cols(), a.cols(), alpha, a.data(), a.cols(), b.data(), b.cols(), 1.0, c.data(),
             c.cols());
}

double squared_norm(const Matrix& a) { return dot(a, a); }

double dot(const Matrix& a, const Matrix& b) {
  double sum = 0;
  for (Index i = 0; i < a.size(); ++i) sum += a.data()[i] * b.data()[i];
  return sum;
}

Matrix first_columns(const Matrix& a, Index count) {
  Matrix out(a.rows(), count);
  for (Index i = 0; i < a.rows(); ++i) std::copy_n(a.row(i), count, out.row(i));
  return out;
}

Matrix hstack(const Matrix& a, const Matrix& b) {
  Matrix out(a.rows(), a.cols() + b.cols());
  for (Index i = 0; i < a.rows(); ++i) {
    std::copy_n(a.row(i), a.cols(), out.row(i));
    std::copy_n(b.row(i), b.cols(), out.row(i) + a.cols());
  }
  return out;
}

Matrix transposed(const Matrix& a) {
  constexpr Index kRows = 16;  // two lines of the cache in each row of the result
  Matrix out(a.cols(), a.rows());
  for (Index first = 0; first < a.rows(); first += kRows) {
    const Index end = std::min(first + kRows, a.rows());
    for (Index j = 0; j < a.cols(); ++j) {
      for (Index i = first; i < end; ++i) out(j, i) = a(i, j);
    }
  }
  return out;
}

void scale_rows(const std::vector<double>& by, Matrix& a) {
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) a(i, j) *= by[i];
  }
}

Matrix normal_matrix(Index rows, Index cols, const Random& random) {
  Matrix out(rows, cols);
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = random.normal(static_cast<std::uint64_t>(i));
  return out;
}

EigenPairs symmetric_eigen(Matrix a) {
  const Index n = a.rows();
  EigenPairs out{std::vector<double>(n), std::move(a)};
  blas::eigen_all(n, out.vectors.data(), out.values.data());
  // Rows with values rising become columns with values falling, in place.
  std::reverse(out.values.begin(), out.values.end());
  Matrix& v = out.vectors;
  for (Index k = 0; k < n / 2; ++k) std::swap_ranges(v.row(k), v.row(k) + n, v.row(n - 1 - k));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) std::swap(v(i, j), v(j, i));
  }
  return out;
}

EigenPairs symmetric_eigen_largest(const Matrix& a, Index count) {
  // Divide and conquer for all pairs beats bisection for some of them while the matrix is small.
  if (a.rows() <= 256 || 2 * count >= a.rows()) {
    EigenPairs all = symmetric_eigen(a);
    all.values.resize(count);
    all.vectors = first_columns(all.vectors, count);
    return all;
  }
  Matrix work = a, vectors(count, a.rows());
  std::vector<double> values(count);
  blas::eigen_largest(a.rows(), count, work.data(), values.data(), vectors.data());
  return falling_columns(values, vectors.data(), a.rows());
}

}  // namespace tamis
