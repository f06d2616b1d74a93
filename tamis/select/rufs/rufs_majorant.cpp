// RUFS: the quadratic majorants of its W step, and the search along their moves (rufs_steps.h).
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tamis/linalg/cholesky.h"
#include "tamis/select/rufs/rufs_algebra.h"
#include "tamis/select/rufs/rufs_steps.h"

namespace tamis {

using namespace rufs_algebra;

namespace {

Centered not_centered(Source source) {
  std::vector<double> zero(source.cols());
  return {std::move(source), std::move(zero), 1.0};
}

std::vector<double> roots_of(std::vector<double> values) {
  for (double& value : values) value = std::sqrt(value);
  return values;
}

// S (I + S X'AX S)^-1 S X'A G, A = 1 / rows, S = sqrt(columns).
Matrix fit_by_columns(const Centered& x, const Matrix& g, const MajorantLengths& at, Context& context) {
  std::vector<double> a = at.rows;
  for (double& value : a) value = 1 / value;
  const std::vector<double> s = roots_of(at.columns);
  Matrix system = gram(not_centered(x.source().with_row_scale(roots_of(a))), context);
  for (Index j = 0; j < system.rows(); ++j) {
    for (Index k = 0; k < system.cols(); ++k) system(j, k) *= s[j] * s[k];
    system(j, j) += 1;
  }
  const Cholesky solver(std::move(system));
  Matrix ag = g;
  scale_rows(a, ag);
  Matrix w = multiply_transposed(x, ag, context);
  scale_rows(s, w);
  w = solver.solve(std::move(w));
  scale_rows(s, w);
  return w;
}

// The same by Woodbury: W = P X'M, M = (X P X' + rows)^-1 G, P = columns.
Matrix fit_by_rows(const Centered& x, const Matrix& g, const MajorantLengths& at, Context& context) {
  Matrix system = gram_of_rows(not_centered(x.source().with_column_scale(roots_of(at.columns))), context);
  for (Index i = 0; i < system.rows(); ++i) system(i, i) += at.rows[i];
  Matrix w = multiply_transposed(x, Cholesky(std::move(system)).solve(g), context);
  scale_rows(at.columns, w);
  return w;
}

// Of some rows (of R or W): their weights, and for each the inner products of the row and its parts in the moves, so
// that ||row + sum_k y_k move_k||^2 = q'Pq with q = (1, y).
class Lengths {
 public:
  Lengths(const Matrix& at, const std::vector<const Matrix*>& moves, std::vector<double> weights)
      : size_(static_cast<Index>(moves.size()) + 1),
        weights_(std::move(weights)),
        products_(at.rows() * size_ * size_) {
    std::vector<const double*> rows(size_);
    double total = 0;
    for (Index i = 0; i < at.rows(); ++i) {
      rows[0] = at.row(i);
      for (Index k = 1; k < size_; ++k) rows[k] = moves[k - 1]->row(i);
      double* products = products_.data() + i * size_ * size_;
      for (Index k = 0; k < size_; ++k) {
        for (Index l = 0; l <= k; ++l) {
          double sum = 0;
          for (Index c = 0; c < at.cols(); ++c) sum += rows[k][c] * rows[l][c];
          products[k * size_ + l] = products[l * size_ + k] = sum;
        }
      }
      total += products[0];
    }
    constexpr double kRound = 1e-16;  // what cancellation may leave of a square
    floor_ = kRound * total / std::max<double>(1, static_cast<double>(at.rows())) + kTiny;
  }

  double value(const std::vector<double>& q) const {
    double out = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const double* p = products_.data() + static_cast<Index>(i) * size_ * size_;
      double square = floor_;
      for (Index k = 0; k < size_; ++k) {
        for (Index l = 0; l < size_; ++l) square += q[k] * q[l] * p[k * size_ + l];
      }
      out += weights_[i] * std::sqrt(std::max(square, floor_));
    }
    return out;
  }

  // Adds its derivatives by y, and to `upper` what the diagonal of the second one is without the curvature of lengths.
  void derive(const std::vector<double>& q, Matrix& gradient, Matrix& hessian, std::vector<double>& upper) const {
    std::vector<double> pq(size_);
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const double* p = products_.data() + static_cast<Index>(i) * size_ * size_;
      double square = floor_;
      for (Index k = 0; k < size_; ++k) {
        pq[k] = 0;
        for (Index l = 0; l < size_; ++l) pq[k] += p[k * size_ + l] * q[l];
        square += q[k] * pq[k];
      }
      const double length = std::sqrt(std::max(square, floor_)), weight = weights_[i] / length;
      for (Index k = 1; k < size_; ++k) {
        gradient(k - 1, 0) += weight * pq[k];
        upper[k - 1] += weight * p[k * size_ + k];
        for (Index l = 1; l < size_; ++l) {
          hessian(k - 1, l - 1) += weight * (p[k * size_ + l] - pq[k] / length * (pq[l] / length));
        }
      }
    }
  }

 private:
  Index size_;
  std::vector<double> weights_, products_;
  double floor_ = 0;
};

// H^-1 g in the scale of `upper`, without the directions in which rounding is all of H; 0 where nothing is finite.
Matrix newton_step(Matrix hessian, const Matrix& gradient, const std::vector<double>& upper) {
  constexpr double kFlat = 1e-6;
  const Index m = hessian.rows();
  std::vector<double> scale;
  bool finite = true;
  for (const double value : upper) {
    scale.push_back(1 / std::sqrt(std::max(value, kTiny)));
    finite = finite && std::isfinite(value) && value > 0;
  }
  for (Index k = 0; k < m; ++k) {
    for (Index l = 0; l < m; ++l) finite = finite && std::isfinite(hessian(k, l) *= scale[k] * scale[l]);
    finite = finite && std::isfinite(gradient(k, 0) * scale[k]);
  }
  Matrix out(m, 1);
  if (!finite) return out;
  const EigenPairs pairs = symmetric_eigen(std::move(hessian));
  for (Index p = 0; p < m; ++p) {
    if (!(pairs.values[p] > kFlat)) continue;
    double along = 0;
    for (Index k = 0; k < m; ++k) along += pairs.vectors(k, p) * gradient(k, 0) * scale[k];
    for (Index k = 0; k < m; ++k) out(k, 0) += pairs.vectors(k, p) * along / pairs.values[p] * scale[k];
  }
  return out;
}

}  // namespace

Majorant minimum_of_majorant(const Centered& x, const Matrix& g, const MajorantLengths& at, Context& context) {
  Majorant out;
  out.w = x.cols() <= x.rows() ? fit_by_columns(x, g, at, context) : fit_by_rows(x, g, at, context);
  out.xw = multiply(x, out.w, context);
  out.u = combined(out.xw, -1, g);
  for (Index i = 0; i < out.u.rows(); ++i) {
    for (Index k = 0; k < out.u.cols(); ++k) out.u(i, k) /= at.rows[i];
  }
  return out;
}

std::vector<double> best_along(const Matrix& r, const Matrix& w, const std::vector<const Matrix*>& xw_moves,
                               const std::vector<const Matrix*>& w_moves, double alpha,
                               const std::vector<double>& betas) {
  constexpr int kSteps = 15, kLast = 2;
  constexpr double kNear = 1e-9;  // within it Newton's steps are whole ones, and two more have all digits
  const Lengths residuals(r, xw_moves, std::vector<double>(r.rows(), alpha)), rows(w, w_moves, betas);
  const auto count = static_cast<Index>(w_moves.size());
  const auto value = [&](const std::vector<double>& q) { return residuals.value(q) + rows.value(q); };
  std::vector<double> q(count + 1);
  q[0] = q[1] = 1;
  double now = value(q);
  for (int step = 0, last = 0; step < kSteps && last < kLast; ++step) {
    Matrix gradient(count, 1), hessian(count, count);
    std::vector<double> upper(count);
    residuals.derive(q, gradient, hessian, upper);
    rows.derive(q, gradient, hessian, upper);
    const Matrix down = newton_step(std::move(hessian), gradient, upper);
    const double slope = dot(gradient, down), before = now;
    const bool near = last > 0 || slope <= kNear * before;
    for (double t = 1; t > 1e-4; t /= 2) {
      std::vector<double> trial = q;
      for (Index k = 0; k < count; ++k) trial[k + 1] -= t * down(k, 0);
      const double next = value(trial);
      if (!near && !(next <= before - 1e-4 * t * slope)) continue;
      q = std::move(trial), now = next;
      break;
    }
    last += near ? 1 : 0;
    if (!near && now == before) break;
  }
  q.erase(q.begin());
  return q;
}

}  // namespace tamis
