// RUFS: the W step (rufs_steps.h).
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tamis/select/rufs_algebra.h"
#include "tamis/select/rufs_steps.h"

namespace tamis {

using namespace rufs_algebra;

namespace {

constexpr double kGap = 1e-8;       // relative duality gap of the last W
constexpr double kRoughGap = 1e-5;  // and of those that G and F still follow
constexpr Index kWeightIterations = 3000;
constexpr Index kJudge = 20;         // iterations between two looks at the gap
constexpr double kRelaxation = 1.6;  // of ADMM: Boyd et al. 2011, 3.4.3

}  // namespace

// The best primal point so far, and how far its value can be from the optimum.
struct WeightStep::Bounds {
  double best = std::numeric_limits<double>::infinity();
  double dual = 0;  // U = 0
  Matrix w, xw;
  double gap() const { return best > 0 ? (best - dual) / best : 0.0; }
};

namespace {

// Rows shortened by `by`; rows no longer than that become 0.
void shrink_rows(double by, Matrix& a) {
  for (Index i = 0; i < a.rows(); ++i) {
    const double length = norm_of_row(a, i), factor = length > by ? 1 - by / length : 0.0;
    for (Index k = 0; k < a.cols(); ++k) a(i, k) *= factor;
  }
}

// One split of ADMM: H = relaxed target, Z = shrink(H + dual), dual = H + dual - Z.
void split(const Matrix& target, double shorten, Matrix& z, Matrix& dual) {
  for (Index i = 0; i < z.size(); ++i) {
    dual.data()[i] += kRelaxation * target.data()[i] + (1 - kRelaxation) * z.data()[i];
  }
  z = dual;
  shrink_rows(shorten, z);
  for (Index i = 0; i < z.size(); ++i) dual.data()[i] -= z.data()[i];
}

// sqrt(relative primal residual / relative dual residual) of one split, 1 where it needs no change.
double imbalance(const Matrix& target, const Matrix& z, const Matrix& z_was, const Matrix& dual, double size) {
  const double primal = norm(combined(target, -1, z)) / (std::max(norm(z), size) + kTiny);
  const double moved = norm(combined(z, -1, z_was)) / (norm(dual) + kTiny);
  if (!(primal > 0) || !(moved > 0)) return 1;
  const double factor = std::sqrt(primal / moved);
  return factor > 1.5 || factor < 1 / 1.5 ? std::clamp(factor, 0.2, 5.0) : 1.0;
}

void rescale(double factor, double& rho, Matrix& dual) {
  rho *= factor;
  for (Index i = 0; i < dual.size(); ++i) dual.data()[i] /= factor;
}

}  // namespace

WeightStep::WeightStep(const RufsProblem& problem, Context& context, Index decomposed)
    : problem_(problem), system_(problem.x, decomposed, context) {}

void WeightStep::start(RufsState& state, Context& context) const {
  const Matrix zero(problem_.x.cols(), state.g.cols());
  // Below the rounding of X'X there is no ridge to speak of, and above the range of double no W.
  const double ridge = std::clamp(problem_.beta / problem_.alpha / problem_.fit, kUlp * sum(problem_.squares), 1e300);
  system_.solve(state.g, zero, ridge, state.w, state.xw, context);
}

void WeightStep::begin(const RufsState& state) {
  w_ = state.w, xw_ = state.xw, v_ = state.w;
  r_ = combined(state.xw, -1, state.g);
  dual_r_ = Matrix(r_.rows(), r_.cols()), dual_v_ = Matrix(v_.rows(), v_.cols());
  // R is compared with G, and V with R through the mean square of a column of X.
  const auto n = static_cast<double>(r_.rows()), d = static_cast<double>(v_.rows());
  rho_r_ = problem_.alpha * n / (sum_of_row_norms(state.g) + kTiny);
  rho_v_ = std::max(rho_r_ * sum(problem_.squares) / d, kTiny);
}

void WeightStep::iterate(const Matrix& g, Context& context) {
  Matrix t = combined(g, 1, r_);
  for (Index i = 0; i < t.size(); ++i) t.data()[i] -= dual_r_.data()[i];
  system_.solve(t, combined(v_, -1, dual_v_), rho_v_ / rho_r_, w_, xw_, context);
  r_was_ = r_, v_was_ = v_;
  split(combined(xw_, -1, g), problem_.alpha / rho_r_, r_, dual_r_);
  split(w_, problem_.beta / rho_v_, v_, dual_v_);
}

// The value of V, and the dual value of U after it has been scaled to be feasible.
void WeightStep::judge(const RufsState& state, const Matrix& v, const Matrix& xv, const Matrix& u, Bounds& bounds,
                       Context& context) const {
  const double value =
      problem_.alpha * sum_of_row_norms(combined(xv, -1, state.g)) + problem_.beta * sum_of_row_norms(v);
  if (value < bounds.best) bounds.best = value, bounds.w = v, bounds.xw = xv;
  const Matrix xu = multiply_transposed(problem_.x, u, context);
  double over = 1;
  for (Index i = 0; i < u.rows(); ++i) over = std::max(over, norm_of_row(u, i) / problem_.alpha);
  for (Index j = 0; j < xu.rows(); ++j) over = std::max(over, norm_of_row(xu, j) / problem_.beta);
  bounds.dual = std::max(bounds.dual, -dot(u, state.g) / over);
}

void WeightStep::balance(const Matrix& g) {
  const double r = imbalance(combined(xw_, -1, g), r_, r_was_, dual_r_, norm(g));
  const double v = imbalance(w_, v_, v_was_, dual_v_, norm(w_));
  rescale(r, rho_r_, dual_r_);
  rescale(v, rho_v_, dual_v_);
}

double WeightStep::run(RufsState& state, Gap wanted, Context& context) {
  const double enough = wanted == Gap::fine ? kGap : kRoughGap;
  Bounds bounds;
  // W = 0 is best exactly if U = -alpha g_i / ||g_i|| is feasible.
  Matrix u = state.g;
  for (Index i = 0; i < u.rows(); ++i) {
    const double length = norm_of_row(u, i);
    for (Index k = 0; k < u.cols(); ++k) u(i, k) *= length > 0 ? -problem_.alpha / length : 0.0;
  }
  judge(state, state.w, state.xw, u, bounds, context);
  const double before = bounds.best;
  judge(state, Matrix(state.w.rows(), state.w.cols()), Matrix(u.rows(), u.cols()), u, bounds, context);

  const bool first = v_.empty();
  if (first) begin(state);
  const auto dual = [&] {
    u = dual_r_;
    for (Index i = 0; i < u.size(); ++i) u.data()[i] *= rho_r_;
    return u;
  };
  if (!first) judge(state, state.w, state.xw, dual(), bounds, context);
  for (Index t = 1; t <= kWeightIterations && bounds.gap() > enough; ++t, ++iterations_) {
    context.check_cancelled();
    iterate(state.g, context);
    if (t % kJudge != 0) continue;
    judge(state, v_, multiply(problem_.x, v_, context), dual(), bounds, context);
    if (2 * t <= kWeightIterations) balance(state.g);
  }
  if (bounds.best < before) state.w = std::move(bounds.w), state.xw = std::move(bounds.xw);
  return bounds.gap();
}

}  // namespace tamis
