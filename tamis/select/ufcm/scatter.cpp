#include "tamis/select/ufcm/scatter.h"

#include <algorithm>

#include "tamis/linalg/blas.h"

namespace tamis {

namespace {

constexpr Index kRowsPerTask = 256;  // of S: the cut is fixed, so the bits are too

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
  Matrix out(gram_.rows(), v.cols());
  const Index tasks = (gram_.rows() + kRowsPerTask - 1) / kRowsPerTask;
  context_.pool().run(tasks, [&](Index task) {
    const Index row0 = task * kRowsPerTask, rows = std::min(kRowsPerTask, gram_.rows() - row0);
    blas::gemm(false, false, rows, v.cols(), gram_.cols(), 1.0, gram_.row(row0), gram_.cols(), v.data(), v.cols(), 0.0,
               out.row(row0), v.cols());
  });
  return out;
}

}  // namespace tamis
