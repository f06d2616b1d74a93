#include "tamis/select/ufcm/extrapolation.h"

#include <cmath>
#include <optional>
#include <utility>

#include "tamis/linalg/dense.h"

namespace tamis {

namespace {

constexpr double kLeastCosine = 0.5;  // of the angles between W_before and W: beyond, there is no way to go on
constexpr double kLongest = 63;

// A^-1/2 of a symmetric matrix, or nothing where an eigenvalue is below `least`.
std::optional<Matrix> inverse_root(const Matrix& a, double least) {
  const EigenPairs pairs = symmetric_eigen(a);
  if (!(pairs.values.back() >= least)) return std::nullopt;
  Matrix scaled = pairs.vectors;
  for (Index i = 0; i < scaled.rows(); ++i) {
    for (Index k = 0; k < scaled.cols(); ++k) scaled(i, k) /= std::sqrt(pairs.values[k]);
  }
  return product_transposed_right(scaled, pairs.vectors);
}

// A - B R.
Matrix way(const Matrix& a, const Matrix& b, const Matrix& r) {
  Matrix out = a;
  add_product(-1.0, b, r, out);
  return out;
}

Matrix moved(const Matrix& from, double t, const Matrix& by) {
  Matrix out = from;
  for (Index i = 0; i < out.size(); ++i) out.data()[i] += t * by.data()[i];
  return out;
}

}  // namespace

RitzPairs extrapolated(RitzPairs before, RitzPairs now, double margin,
                       const std::function<double(const RitzPairs&)>& objective) {
  if (before.vectors.cols() != now.vectors.cols()) return now;
  const Matrix t = product_transposed_left(before.vectors, now.vectors);
  const std::optional<Matrix> root = inverse_root(product_transposed_left(t, t), kLeastCosine * kLeastCosine);
  if (!root) return now;
  const Matrix rotation = product(t, *root);
  const Matrix vectors = way(now.vectors, before.vectors, rotation);
  const Matrix image = now.image.cols() > 0 ? way(now.image, before.image, rotation) : Matrix();
  before = {};

  std::optional<RitzPairs> best;
  double reached = objective(now);
  for (double step = 1; step <= kLongest; step = 2 * step + 1) {
    RitzPairs longer;
    longer.vectors = moved(now.vectors, step, vectors);
    const auto unit = inverse_root(product_transposed_left(longer.vectors, longer.vectors), 1e-6);
    if (!unit) break;
    longer.vectors = product(longer.vectors, *unit);
    if (now.image.cols() > 0) longer.image = product(moved(now.image, step, image), *unit);
    const double value = objective(longer);
    if (!(value > reached + margin)) break;
    reached = value;
    best = std::move(longer);
  }
  return best ? std::move(*best) : std::move(now);
}

}  // namespace tamis
