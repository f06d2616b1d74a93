// RUFS: the ridge problems of its W step (rufs_steps.h).
#include <algorithm>
#include <utility>

#include "tamis/select/rufs/rufs_algebra.h"
#include "tamis/select/rufs/rufs_steps.h"

namespace tamis {

using namespace rufs_algebra;

namespace {

constexpr Index kRidgeSteps = 20;  // conjugate gradients of one ridge problem elsewhere, from the one before
constexpr double kRidgeResidual = 1e-4;

}  // namespace

namespace {

// A += B diag(by)
void add_scaled_columns(const std::vector<double>& by, const Matrix& b, Matrix& a) {
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index k = 0; k < a.cols(); ++k) a(i, k) += by[k] * b(i, k);
  }
}

std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b, double sign) {
  std::vector<double> out(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) out[k] = b[k] > 0 ? sign * a[k] / b[k] : 0.0;
  return out;
}

}  // namespace

RidgePath ridge_path(Index rows, Index cols, bool sparse, Index decomposed) {
  if (std::min(rows, cols) > (sparse ? decomposed / 4 : decomposed)) return RidgePath::iterated;
  return cols <= rows ? RidgePath::columns : RidgePath::rows;
}

const char* name_of(RidgePath path) {
  return path == RidgePath::columns ? "gram of columns" : path == RidgePath::rows ? "gram of rows" : "products";
}

RidgeSystem::RidgeSystem(const Centered& x, Index decomposed, Context& context)
    : x_(x), path_(ridge_path(x.rows(), x.cols(), x.source().sparse(), decomposed)) {
  if (path_ == RidgePath::iterated) return;
  gram_ = Tridiagonal(path_ == RidgePath::rows ? gram_of_rows(x, context) : gram(x, context));
}

void RidgeSystem::solve(const Matrix& t, Matrix c, double r, Matrix& w, Matrix& xw, Context& context) const {
  if (path_ == RidgePath::iterated) return iterate(t, c, r, w, xw, context);
  w = Matrix();
  w = path_ == RidgePath::columns ? solve_columns(t, std::move(c), r, xw, context)
                                  : solve_rows(t, std::move(c), r, xw, context);
}

// W = (X'X + r I)^-1 (X'T + r C)
Matrix RidgeSystem::solve_columns(const Matrix& t, Matrix c, double r, Matrix& xw, Context& context) const {
  c = combined(multiply_transposed(x_, t, context), r, c);
  c = gram_.solve(r, c);
  xw = multiply(x_, c, context);
  return c;
}

// The same by Woodbury, K = XX': W = C + X'M, M = (K + r I)^-1 (T - XC), XW = XC + K M.
Matrix RidgeSystem::solve_rows(const Matrix& t, Matrix c, double r, Matrix& xw, Context& context) const {
  const Matrix xc = multiply(x_, c, context);
  Matrix km;
  const Matrix m = gram_.solve(r, combined(t, -1, xc), &km);
  xw = combined(xc, 1, km);
  add(1, multiply_transposed(x_, m, context), c);
  return c;
}

// A few conjugate gradients, each column for itself.
void RidgeSystem::iterate(const Matrix& t, const Matrix& c, double r, Matrix& w, Matrix& xw, Context& context) const {
  if (w.empty()) w = Matrix(c.rows(), c.cols()), xw = Matrix(t.rows(), t.cols());
  Matrix residual = combined(multiply_transposed(x_, combined(t, -1, xw), context), r, combined(c, -1, w));
  Matrix direction = residual;
  std::vector<double> square = column_dots(residual, residual);
  const double enough = kRidgeResidual * kRidgeResidual * sum(square);
  for (Index step = 0; step < kRidgeSteps && sum(square) > enough; ++step) {
    const Matrix xd = multiply(x_, direction, context);
    const Matrix image = combined(multiply_transposed(x_, xd, context), r, direction);
    const std::vector<double> length = ratios(square, column_dots(direction, image), 1);
    add_scaled_columns(length, direction, w);
    add_scaled_columns(length, xd, xw);
    for (Index i = 0; i < image.rows(); ++i) {
      for (Index k = 0; k < image.cols(); ++k) residual(i, k) -= length[k] * image(i, k);
    }
    const std::vector<double> next = column_dots(residual, residual);
    Matrix onward = residual;
    add_scaled_columns(ratios(next, square, 1), direction, onward);
    direction = std::move(onward);
    square = next;
  }
}

}  // namespace tamis
