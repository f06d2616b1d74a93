// RUFS: the W step (rufs_steps.h).
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tamis/select/rufs/rufs_algebra.h"
#include "tamis/select/rufs/rufs_steps.h"

namespace tamis {

using namespace rufs_algebra;

namespace {

constexpr double kGap = 1e-8;       // relative duality gap of the last W
constexpr double kRoughGap = 1e-5;  // and of those that G and F still follow
constexpr Index kWeightIterations = 3000;
// Large problems get fewer, so many that their products with X cost this much, but at least these: J falls all the
// same.
constexpr double kRoughFlops = 2e10, kFineFlops = 4e10;
constexpr double kRoughLeast = 30, kFineLeast = 100;
constexpr Index kJudge = 20;         // iterations between two looks at the gap
constexpr double kRelaxation = 1.6;  // of ADMM: Boyd et al. 2011, 3.4.3
constexpr Index kMemory = 5;         // steps that accelerated ones look back; ten gain little more

}  // namespace

// The value of the best primal point so far, and how far it can be from the optimum.
struct WeightStep::Bounds {
  double best = std::numeric_limits<double>::infinity();
  double dual = 0;  // U = 0
  double gap() const { return best > 0 ? (best - dual) / best : 0.0; }
};

namespace {

// One split of ADMM: dual = H + dual with the relaxed target H, and how far that is from Z + dual, in units of `size`.
void relax(const Matrix& target, const Matrix& z, double size, float* move, Matrix& dual) {
  for (Index i = 0; i < z.size(); ++i) {
    const double by = kRelaxation * (target.data()[i] - z.data()[i]);
    dual.data()[i] += z.data()[i] + by;
    move[i] = static_cast<float>(size * by);
  }
}

void correct(const float* correction, double size, Matrix& dual) {
  for (Index i = 0; i < dual.size(); ++i) dual.data()[i] += static_cast<double>(correction[i]) / size;
}

// Then Z = shrink(dual), dual = dual - Z, where shrink shortens row i by `shorten(i)` and takes those no longer than
// that to 0. Returns how far Z moved.
template <class Shorten>
double split(Shorten shorten, Matrix& z, Matrix& dual) {
  double moved = 0;
  for (Index i = 0; i < z.rows(); ++i) {
    const double length = norm_of_row(dual, i), by = shorten(i), factor = length > by ? 1 - by / length : 0.0;
    for (Index k = 0; k < z.cols(); ++k) {
      const double next = dual(i, k) * factor;
      moved += (next - z(i, k)) * (next - z(i, k));
      z(i, k) = next;
      dual(i, k) -= next;
    }
  }
  return std::sqrt(moved);
}

// sqrt(relative primal residual / relative dual residual) of one split, 1 where it needs no change.
double imbalance(const Matrix& target, const Matrix& z, double moved, const Matrix& dual, double size) {
  const double primal = distance(target, z) / (std::max(norm(z), size) + kTiny);
  moved /= norm(dual) + kTiny;
  if (!(primal > 0) || !(moved > 0)) return 1;
  const double factor = std::sqrt(primal / moved);
  return factor > 1.5 || factor < 1 / 1.5 ? std::clamp(factor, 0.2, 5.0) : 1.0;
}

void rescale(double factor, double& rho, Matrix& dual) {
  rho *= factor;
  for (Index i = 0; i < dual.size(); ++i) dual.data()[i] /= factor;
}

}  // namespace

WeightStep::WeightStep(const RufsProblem& problem, Context& context, Index decomposed, double effort)
    : problem_(problem), system_(problem.x, decomposed, context), effort_(effort) {}

void WeightStep::start(RufsState& state, Context& context) const {
  // Below the rounding of X'X there is no ridge to speak of, and above the range of double no W.
  const double ridge = std::clamp(problem_.beta / problem_.alpha / problem_.fit, kUlp * sum(problem_.squares), 1e300);
  system_.solve(state.g, Matrix(problem_.x.cols(), state.g.cols()), ridge, state.w, state.xw, context);
}

void WeightStep::begin(const RufsState& state) {
  if (system_.iterates()) w_ = state.w, xw_ = state.xw;
  v_ = state.w;
  r_ = combined(state.xw, -1, state.g);
  dual_r_ = Matrix(r_.rows(), r_.cols()), dual_v_ = Matrix(v_.rows(), v_.cols());
  // R is compared with G, and V with R through the mean square of a column of X.
  const auto n = static_cast<double>(r_.rows()), d = static_cast<double>(v_.rows());
  rho_r_ = problem_.alpha * n / (sum_of_row_norms(state.g) + kTiny);
  rho_v_ = std::max(rho_r_ * sum(problem_.squares) / d, kTiny);
}

void WeightStep::iterate(const Matrix& g, Anderson& ahead, Context& context) {
  Matrix t = combined(g, 1, r_);
  add(-1, dual_r_, t);
  system_.solve(t, combined(v_, -1, dual_v_), rho_v_ / rho_r_, w_, xw_, context);
  const double size = std::sqrt(rho_v_ / rho_r_);  // of V beside R
  relax(combined(xw_, -1, g), r_, 1, ahead.move().data(), dual_r_);
  relax(w_, v_, size, ahead.move().data() + r_.size(), dual_v_);
  const std::vector<float>& correction = ahead.correction();
  correct(correction.data(), 1, dual_r_);
  correct(correction.data() + r_.size(), size, dual_v_);
  const double residual = problem_.alpha / rho_r_, weight = problem_.beta / rho_v_;
  moved_r_ = split([=](Index) { return residual; }, r_, dual_r_);
  moved_v_ = split([&](Index j) { return problem_.roots[j] * weight; }, v_, dual_v_);
}

double WeightStep::value_of(const RufsState& state, const Matrix& v, const Matrix& xv) const {
  return problem_.alpha * sum_of_row_norms(combined(xv, -1, state.g)) + problem_.beta * sparsity_of(problem_, v);
}

// The dual value of U after it has been scaled to be feasible.
void WeightStep::raise_dual(const Matrix& g, const Matrix& u, Bounds& bounds, Context& context) const {
  const Matrix xu = multiply_transposed(problem_.x, u, context);
  double over = 1;
  for (Index i = 0; i < u.rows(); ++i) over = std::max(over, norm_of_row(u, i) / problem_.alpha);
  for (Index j = 0; j < xu.rows(); ++j) {
    over = std::max(over, norm_of_row(xu, j) / (problem_.beta * problem_.roots[j]));
  }
  bounds.dual = std::max(bounds.dual, -dot(u, g) / over);
}

Matrix WeightStep::scaled_dual() const {
  Matrix u = dual_r_;
  for (Index i = 0; i < u.size(); ++i) u.data()[i] *= rho_r_;
  return u;
}

void WeightStep::balance(const Matrix& g) {
  const double r = imbalance(combined(xw_, -1, g), r_, moved_r_, dual_r_, norm(g));
  const double v = imbalance(w_, v_, moved_v_, dual_v_, norm(w_));
  rescale(r, rho_r_, dual_r_);
  rescale(v, rho_v_, dual_v_);
}

Index WeightStep::most_iterations(Gap wanted, Index columns) const {
  const double entries = problem_.x.source().sparse() ? static_cast<double>(problem_.x.source().store().nonzeros())
                                                      : static_cast<double>(problem_.x.rows() * problem_.x.cols());
  const double each = 4 * entries * static_cast<double>(columns);
  const bool fine = wanted == Gap::fine;
  const double least = fine ? kFineLeast : kRoughLeast, flops = fine ? kFineFlops : kRoughFlops;
  const double most = effort_ * std::max(least, flops / each);
  return most < static_cast<double>(kWeightIterations) ? static_cast<Index>(most) : kWeightIterations;
}

double WeightStep::run(RufsState& state, Gap wanted, Context& context) {
  const double enough = wanted == Gap::fine ? kGap : kRoughGap;
  Bounds bounds;
  bounds.best = value_of(state, state.w, state.xw);
  if (v_.empty()) {
    begin(state);
  } else {
    raise_dual(state.g, scaled_dual(), bounds, context);
  }
  // W = 0 is best exactly if U = -alpha g_i / ||g_i|| is feasible.
  Matrix u = state.g;
  for (Index i = 0; i < u.rows(); ++i) {
    const double length = norm_of_row(u, i);
    for (Index k = 0; k < u.cols(); ++k) u(i, k) *= length > 0 ? -problem_.alpha / length : 0.0;
  }
  raise_dual(state.g, u, bounds, context);
  if (const double nothing = problem_.alpha * sum_of_row_norms(state.g); nothing < bounds.best) {
    bounds.best = nothing;
    std::fill_n(state.w.data(), state.w.size(), 0.0);
    std::fill_n(state.xw.data(), state.xw.size(), 0.0);
  }
  const Index most = most_iterations(wanted, state.w.cols());
  Anderson ahead(r_.size() + v_.size(), kMemory);
  Index balance_at = kJudge;
  for (Index t = 1; t <= most && bounds.gap() > enough; ++t, ++iterations_) {
    context.check_cancelled();
    iterate(state.g, ahead, context);
    if (t % kJudge != 0) continue;
    Matrix xv = multiply(problem_.x, v_, context);
    if (const double value = value_of(state, v_, xv); value < bounds.best) {
      bounds.best = value;
      state.w = v_, state.xw = std::move(xv);
    }
    raise_dual(state.g, scaled_dual(), bounds, context);
    if (t == balance_at && 2 * t <= most) {  // seldom, since accelerated steps start anew
      balance(state.g);
      ahead.forget();
      balance_at *= 2;
    }
  }
  if (!system_.iterates()) w_ = Matrix();  // G and F are next: room for them
  return bounds.gap();
}

}  // namespace tamis
