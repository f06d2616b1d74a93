// RUFS: the F step (rufs_steps.h).
#include <algorithm>
#include <cmath>
#include <utility>

#include "tamis/select/rufs/rufs_algebra.h"
#include "tamis/select/rufs/rufs_steps.h"

namespace tamis {

using namespace rufs_algebra;

namespace {

constexpr Index kBasisSteps = 30;
constexpr Index kSweeps = 30;  // coordinate descent in a column of F

// The majorant of the F step: 1/2 f'(M + ridge_j I) f - f'h_j in every column, M = G'AG, H = G'AX, A = fit / ||.||.
struct BasisModel {
  Matrix m, h;  // c x c, d x c
  std::vector<double> ridge;
};

BasisModel basis_model(const RufsProblem& problem, const RufsState& s, Context& context) {
  std::vector<double> weights = residual_norms(problem, s.g, s.xf, product_transposed_right(s.f, s.f));
  const double floor = kKink * sum(weights) / static_cast<double>(weights.size()) + kTiny;
  for (double& weight : weights) weight = problem.fit / std::max(weight, floor);
  Matrix ag = s.g;
  scale_rows(weights, ag);
  BasisModel out{product_transposed_left(s.g, ag), multiply_transposed(problem.x, ag, context), column_norms(s.f)};
  const double least = 1e-9 * sum(out.ridge) / static_cast<double>(out.ridge.size()) + kTiny;
  for (std::size_t j = 0; j < out.ridge.size(); ++j) {
    out.ridge[j] = problem.shrink * problem.roots[j] / std::max(out.ridge[j], least);
  }
  return out;
}

// Coordinate descent in a column f of F >= 0, of which `right` holds h - Mf.
void descend_column(const Matrix& m, double ridge, std::vector<double>& right, std::vector<double>& f) {
  const Index c = m.rows();
  for (Index sweep = 0; sweep < kSweeps; ++sweep) {
    double moved = 0, size = 0;
    for (Index k = 0; k < c; ++k) {
      const double curvature = m(k, k) + ridge;
      const double next = curvature > 0 ? std::max((right[k] + m(k, k) * f[k]) / curvature, 0.0) : f[k];
      const double by = next - f[k];
      size = std::max(size, next);
      if (by == 0) continue;
      moved = std::max(moved, std::abs(by));
      f[k] = next;
      for (Index q = 0; q < c; ++q) right[q] -= by * m(k, q);
    }
    if (moved <= 1e-12 * size) return;
  }
}

Matrix descended(const BasisModel& model, Matrix f) {
  const Matrix mf = product(model.m, f);
  std::vector<double> column(f.rows()), right(f.rows());
  for (Index j = 0; j < f.cols(); ++j) {
    for (Index k = 0; k < f.rows(); ++k) column[k] = f(k, j), right[k] = model.h(j, k) - mf(k, j);
    descend_column(model.m, model.ridge[j], right, column);
    for (Index k = 0; k < f.rows(); ++k) f(k, j) = column[k];
  }
  return f;
}

double basis_value(const RufsProblem& problem, const Matrix& g, const Matrix& f, const Matrix& xf) {
  return problem.fit * sum(residual_norms(problem, g, xf, product_transposed_right(f, f))) +
         problem.shrink * sum_of_column_norms(problem, f);
}

}  // namespace

// G'(R_i / ||R_i||) + shrink f_k / ||f_k||
Matrix basis_gradient(const RufsProblem& problem, const RufsState& state, Context& context) {
  const BasisModel model = basis_model(problem, state, context);
  Matrix out = product(model.m, state.f);
  for (Index k = 0; k < out.rows(); ++k) {
    for (Index j = 0; j < out.cols(); ++j) {
      out(k, j) += model.ridge[j] * state.f(k, j) - model.h(j, k);
    }
  }
  return out;
}

void basis_step(const RufsProblem& problem, RufsState& state, Context& context) {
  double value = basis_value(problem, state.g, state.f, state.xf);
  for (Index step = 0; step < kBasisSteps; ++step) {
    context.check_cancelled();
    Matrix f = descended(basis_model(problem, state, context), state.f);
    Matrix xf = multiply(problem.x, transposed(f), context);
    const double next = basis_value(problem, state.g, f, xf);
    if (!(next < value)) return;
    state.f = std::move(f), state.xf = std::move(xf);
    const bool done = value - next <= kGain * value;
    value = next;
    if (done) return;
  }
}

}  // namespace tamis
