#include "tamis/select/ufcm/scatter.h"

#include <algorithm>

#include "tamis/linalg/dense.h"
#include "tamis/linalg/kernels.h"

namespace tamis {

namespace {

constexpr Index kRowsPerTask = 256;  // of S: the cut is fixed, so the bits are too
constexpr Index kStretch = 256;      // rows of V that stay in the nearest cache

// With columns of 0 beside its own.
Matrix with_columns(const Matrix& v, Index width) {
  Matrix out(v.rows(), width);
  for (Index i = 0; i < v.rows(); ++i) std::copy_n(v.row(i), v.cols(), out.row(i));
  return out;
}

}  // namespace

Scatter::Scatter(const Centered& z, ScatterPath path, Context& context) : z_(z), context_(context) {
  if (path == ScatterPath::gram) gram_ = gram(z, context);
}

Matrix Scatter::whole() const { return gram_.empty() ? gram(z_, context_) : gram_; }

Matrix Scatter::among(const std::vector<Index>& columns) const {
  if (gram_.empty()) return gram(z_.with_columns(columns), context_);
  const auto k = static_cast<Index>(columns.size());
  Matrix out(k, k);
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < k; ++j) out(i, j) = gram_(columns[i], columns[j]);
  }
  return out;
}

Matrix Scatter::times_among(const std::vector<Index>& columns, const Matrix& v) const {
  return scatter_product(z_.with_columns(columns), v, context_);
}

Matrix Scatter::times(const Matrix& v) const {
  if (gram_.empty()) return scatter_product(z_, v, context_);
  const Index width = (v.cols() + kWidthStep<double> - 1) / kWidthStep<double> * kWidthStep<double>;
  const Matrix padded = width == v.cols() ? Matrix() : with_columns(v, width);
  const Matrix& vp = width == v.cols() ? v : padded;
  Matrix out(gram_.rows(), width);
  const Index tasks = (gram_.rows() + kRowsPerTask - 1) / kRowsPerTask;
  context_.pool().run(tasks, [&](Index task) {
    const Index row0 = task * kRowsPerTask, rows = std::min(kRowsPerTask, gram_.rows() - row0);
    for (Index k = 0; k < vp.rows(); k += kStretch) {
      kernels<double>().skinny_product(rows, std::min(kStretch, vp.rows() - k), gram_.row(row0) + k, gram_.cols(), 1,
                                       vp.row(k), width, out.row(row0), nullptr, 0);
    }
  });
  return width == v.cols() ? out : first_columns(out, v.cols());
}

}  // namespace tamis
