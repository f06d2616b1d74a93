#include "tamis/linalg/eigen.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tamis/linalg/dense.h"
#include "tamis/linalg/orthogonal.h"

namespace tamis {

namespace {

// An orthonormal basis Q with image(Q), M Q and H = Q'MQ.
struct Basis {
  Matrix q, image, mq, h;
};

Matrix image_of(const SymmetricOperator& m, const Matrix& v) { return m.image ? m.image(v) : Matrix(v.rows(), 0); }

Basis begin(const SymmetricOperator& m, const RitzPairs& start) {
  Basis basis{start.vectors, start.image, {}, {}};
  if (m.image && basis.image.cols() != basis.q.cols()) basis.image = m.image(basis.q);
  basis.mq = m.apply(basis.q, basis.image);
  basis.h = product_transposed_left(basis.q, basis.mq);
  return basis;
}

// H = [H, Q'MP; P'MQ, P'MP].
void append(const SymmetricOperator& m, const Matrix& p, Basis& basis) {
  const Matrix image = image_of(m, p), mp = m.apply(p, image);
  const Matrix side = product_transposed_left(basis.q, mp), corner = product_transposed_left(p, mp);
  const Index k = basis.q.cols(), total = k + p.cols();
  Matrix h(total, total);
  for (Index i = 0; i < total; ++i) {
    for (Index j = i; j < total; ++j) {
      h(i, j) = j < k ? basis.h(i, j) : i < k ? side(i, j - k) : 0.5 * (corner(i - k, j - k) + corner(j - k, i - k));
      h(j, i) = h(i, j);
    }
  }
  basis.h = std::move(h);
  basis.q = hstack(basis.q, p);
  basis.mq = hstack(basis.mq, mp);
  if (m.image) basis.image = hstack(basis.image, image);
}

// Turns the basis into the Ritz vectors themselves; H becomes diagonal, and the Ritz vectors in the new basis are
// its columns.
void restart(const SymmetricOperator& m, EigenPairs& ritz, Basis& basis) {
  basis.q = product(basis.q, ritz.vectors);
  basis.mq = product(basis.mq, ritz.vectors);
  if (m.image) basis.image = product(basis.image, ritz.vectors);
  const Index width = basis.q.cols();
  basis.h = Matrix(width, width);
  ritz.vectors = Matrix(width, width);
  for (Index k = 0; k < width; ++k) {
    basis.h(k, k) = ritz.values[static_cast<std::size_t>(k)];
    ritz.vectors(k, k) = 1;
  }
}

// R = M W - W Theta for the Ritz vectors W = Q Z.
Matrix residuals_of(const Basis& basis, const EigenPairs& ritz) {
  Matrix r = product(basis.mq, ritz.vectors);
  Matrix scaled = ritz.vectors;
  for (Index i = 0; i < scaled.rows(); ++i) {
    for (Index k = 0; k < scaled.cols(); ++k) scaled(i, k) *= ritz.values[static_cast<std::size_t>(k)];
  }
  add_product(-1.0, basis.q, scaled, r);
  return r;
}

std::vector<double> column_norms(const Matrix& r) {
  std::vector<double> out(static_cast<std::size_t>(r.cols()));
  for (Index i = 0; i < r.rows(); ++i) {
    for (Index k = 0; k < r.cols(); ++k) out[static_cast<std::size_t>(k)] += r(i, k) * r(i, k);
  }
  for (auto& value : out) value = std::sqrt(value);
  return out;
}

double sum_of(const std::vector<double>& values, Index count) {
  return std::accumulate(values.begin(), values.begin() + count, 0.0);
}

}  // namespace

RitzPairs largest_eigenpairs(const SymmetricOperator& m, const RitzPairs& start, const DavidsonOptions& options) {
  const Index width = start.vectors.cols(), count = std::min(options.count, width);
  const Index most = std::min(m.dim, options.basis > 0 ? options.basis : 4 * width);
  Basis basis = begin(m, start);
  EigenPairs ritz = symmetric_eigen_largest(basis.h, width);
  RitzPairs out;
  double first_gain = 0;
  while (true) {
    Matrix r = residuals_of(basis, ritz);
    out.residuals = column_norms(r);
    const double norm = std::max(std::abs(ritz.values.front()), std::abs(ritz.values.back()));
    const double worst = *std::max_element(out.residuals.begin(), out.residuals.begin() + count);
    out.converged = worst <= options.tolerance * norm;
    if (out.converged || out.steps >= options.steps) break;
    if (basis.q.cols() + width > most && basis.q.cols() > width) restart(m, ritz, basis);
    if (m.precondition) m.precondition(ritz.values, r);
    const Matrix p = orthonormal_complement(basis.q, std::move(r));
    if (p.cols() == 0) break;
    append(m, p, basis);
    const double before = sum_of(ritz.values, count);
    ritz = symmetric_eigen_largest(basis.h, width);
    ++out.steps;
    const double gained = sum_of(ritz.values, count) - before;
    if (out.steps == 1) first_gain = gained;
    if (options.gain > 0 && gained <= options.gain * first_gain && out.steps > 1) break;
  }
  restart(m, ritz, basis);
  out.vectors = std::move(basis.q);
  out.image = std::move(basis.image);
  out.values = std::move(ritz.values);
  return out;
}

}  // namespace tamis
