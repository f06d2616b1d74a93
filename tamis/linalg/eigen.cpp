#include "tamis/linalg/eigen.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tamis/linalg/dense.h"
#include "tamis/linalg/orthogonal.h"

namespace tamis {

namespace {

// An orthonormal basis Q = [q[0], q[1], ...] with image(Q), block by block, and H = Q'MQ. M Q is not kept: what is
// expensive of it is the image.
struct Basis {
  std::vector<Matrix> q, image;
  Matrix h;
  Index cols() const { return h.cols(); }
};

Matrix image_of(const SymmetricOperator& m, const Matrix& v) { return m.image ? m.image(v) : Matrix(v.rows(), 0); }

Matrix times(const SymmetricOperator& m, const Matrix& v, const Matrix& image) {
  return m.apply ? m.apply(v, image) : image;
}

Basis begin(const SymmetricOperator& m, RitzPairs start) {
  Basis basis;
  if (m.image && start.image.cols() != start.vectors.cols()) start.image = m.image(start.vectors);
  basis.h = product_transposed_left(start.vectors, times(m, start.vectors, start.image));
  basis.q.push_back(std::move(start.vectors));
  if (m.image) basis.image.push_back(std::move(start.image));
  return basis;
}

// H = [H, Q'MP; P'MQ, P'MP].
void append(const SymmetricOperator& m, Matrix p, Basis& basis) {
  Matrix image = image_of(m, p);
  const Matrix mp = times(m, p, image);
  const Matrix corner = product_transposed_left(p, mp);
  const Index k = basis.cols(), total = k + p.cols();
  Matrix h(total, total);
  for (Index i = 0; i < k; ++i) std::copy_n(basis.h.row(i), k, h.row(i));
  Index first = 0;
  for (const Matrix& q : basis.q) {
    const Matrix side = product_transposed_left(q, mp);
    for (Index i = 0; i < q.cols(); ++i) std::copy_n(side.row(i), side.cols(), h.row(first + i) + k);
    first += q.cols();
  }
  for (Index i = k; i < total; ++i) {
    for (Index j = i; j < total; ++j) h(i, j) = 0.5 * (corner(i - k, j - k) + corner(j - k, i - k));
  }
  for (Index i = 0; i < total; ++i) {
    for (Index j = 0; j < i; ++j) h(i, j) = h(j, i);
  }
  basis.h = std::move(h);
  basis.q.push_back(std::move(p));
  if (m.image) basis.image.push_back(std::move(image));
}

// [blocks[0], blocks[1], ...] Z.
Matrix rotated(const std::vector<Matrix>& blocks, const Matrix& z) {
  if (blocks.empty()) return Matrix();
  Matrix out(blocks.front().rows(), z.cols());
  Index first = 0;
  for (const Matrix& block : blocks) {
    Matrix part(block.cols(), z.cols());
    std::copy_n(z.row(first), part.size(), part.data());
    add_product(1.0, block, part, out);
    first += block.cols();
  }
  return out;
}

Matrix diagonal(const std::vector<double>& values) {
  const auto width = static_cast<Index>(values.size());
  Matrix out(width, width);
  for (Index k = 0; k < width; ++k) out(k, k) = values[k];
  return out;
}

// The Ritz vectors themselves as a basis, in which H is diagonal.
Basis basis_of(Matrix vectors, Matrix image, const std::vector<double>& values) {
  Basis basis;
  basis.h = diagonal(values);
  basis.q.push_back(std::move(vectors));
  if (image.cols() > 0) basis.image.push_back(std::move(image));
  return basis;
}

// R = M W - W Theta.
Matrix residuals_of(const SymmetricOperator& m, const RitzPairs& pairs) {
  Matrix r = times(m, pairs.vectors, pairs.image);
  for (Index i = 0; i < r.rows(); ++i) {
    for (Index k = 0; k < r.cols(); ++k) r(i, k) -= pairs.values[k] * pairs.vectors(i, k);
  }
  return r;
}

std::vector<double> column_norms(const Matrix& r) {
  std::vector<double> out(r.cols());
  for (Index i = 0; i < r.rows(); ++i) {
    for (Index k = 0; k < r.cols(); ++k) out[k] += r(i, k) * r(i, k);
  }
  for (auto& value : out) value = std::sqrt(value);
  return out;
}

double sum_of(const std::vector<double>& values, Index count) {
  return std::accumulate(values.begin(), values.begin() + count, 0.0);
}

}  // namespace

RitzPairs largest_eigenpairs(const SymmetricOperator& m, RitzPairs start, const DavidsonOptions& options) {
  const Index width = start.vectors.cols(), count = std::min(options.count, width);
  const Index most = std::min(m.dim, options.basis > 0 ? options.basis : 4 * width);
  Basis basis = begin(m, std::move(start));
  EigenPairs ritz = symmetric_eigen_largest(basis.h, width);
  RitzPairs out;
  double first_gain = 0;
  bool little = false;
  const auto rotate = [&] {
    out.vectors = rotated(basis.q, ritz.vectors);
    out.image = rotated(basis.image, ritz.vectors);
  };
  while (true) {
    out.values = std::move(ritz.values);
    rotate();
    if (little) break;
    if (out.steps >= options.steps) basis = {};  // only the residuals are left to find
    Matrix r = residuals_of(m, out);
    out.residuals = column_norms(r);
    const double norm = std::max(std::abs(out.values.front()), std::abs(out.values.back()));
    const double worst = *std::max_element(out.residuals.begin(), out.residuals.begin() + count);
    out.converged = worst <= options.tolerance * norm;
    if (out.converged || out.steps >= options.steps) break;
    if (basis.cols() + width > most && basis.cols() > width) {
      basis = basis_of(std::move(out.vectors), std::move(out.image), out.values);
      ritz.vectors = diagonal(std::vector<double>(width, 1.0));
    }
    out.vectors = out.image = Matrix();  // the basis holds them, and this is where memory is scarce
    if (m.precondition) m.precondition(out.values, r);
    Matrix p = orthonormal_complement(basis.q, std::move(r));
    if (p.cols() == 0) {
      rotate();
      break;
    }
    append(m, std::move(p), basis);
    const double before = sum_of(out.values, count);
    ritz = symmetric_eigen_largest(basis.h, width);
    ++out.steps;
    const double gained = sum_of(ritz.values, count) - before;
    if (out.steps == 1) first_gain = gained;
    little = options.gain > 0 && gained <= options.gain * first_gain && out.steps > 1;
  }
  return out;
}

}  // namespace tamis
