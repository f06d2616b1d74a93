#include "tamis/select/scatter.h"

#include <algorithm>

#include "tamis/linalg/blas.h"

namespace tamis {

namespace {

constexpr Index kLargestGram = 4096;  // 134 MB
constexpr Index kRowsPerTask = 256;   // of S: the cut is fixed, so the bits are too
constexpr Index kColsAtOnce = 64;     // of S, where it is made of products: n x 64 numbers on the way

}  // namespace

ScatterPath choose_scatter_path(const Source& source, Index dims, Index products) {
  if (source.sparse() || source.cols() > kLargestGram) return ScatterPath::products;
  const auto n = static_cast<double>(source.rows()), d = static_cast<double>(source.cols());
  const auto columns = static_cast<double>(dims * products);
  const double with_gram = n * d * d + 2 * d * d * columns;
  const double with_products = 4 * n * d * columns;
  return with_gram < with_products ? ScatterPath::gram : ScatterPath::products;
}

Scatter::Scatter(const Centered& z, ScatterPath path, Context& context) : z_(z), context_(context) {
  if (path == ScatterPath::gram) gram_ = gram(z, context);
}

Matrix Scatter::whole() const {
  if (!gram_.empty()) return gram_;
  const Index d = z_.cols();
  Matrix out(d, d);
  for (Index first = 0; first < d; first += kColsAtOnce) {
    const Index count = std::min(kColsAtOnce, d - first);
    Matrix unit(d, count);
    for (Index k = 0; k < count; ++k) unit(first + k, k) = 1;
    const Matrix columns = scatter_product(z_, unit, context_);
    for (Index i = 0; i < d; ++i) std::copy_n(columns.row(i), count, out.row(i) + first);
  }
  return out;
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
