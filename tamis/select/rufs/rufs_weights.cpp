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
constexpr double kRoughFlops = 2e10, kFineFlops = 2e11;
constexpr double kRoughLeast = 30, kFineLeast = 300;
// Looks at the gap in succession that lower it by less than a tenth: the first rho were wrong, or rounding has the
// rest.
constexpr int kWarmStalls = 15, kColdStalls = 25, kNoStall = kWeightIterations;
constexpr double kShrinks = 0.95;
// Majorants of one W step: G and F soon change again, and ADMM is faster from a W that is within 1e-4 or so.
constexpr Index kRoughMajorants = 3, kFineMajorants = 5;
constexpr double kRoughGain = 1e-5;  // a rough step ends where a majorant gains less than this part
constexpr std::size_t kMoves = 3;    // that the search along them remembers
constexpr double kVanished = 1e-8;   // of the lengths of rows, below which a majorant takes none
constexpr double kDropped = 1e-9;    // and below which the last W has none
constexpr Index kJudge = 20;         // iterations between two looks at the gap
constexpr double kRelaxation = 1.6;  // of ADMM: Boyd et al. 2011, 3.4.3

}  // namespace

// The value of the best primal point so far, and how far it can be from the optimum.
struct WeightStep::Bounds {
  double best = std::numeric_limits<double>::infinity();
  double dual = 0;  // U = 0
  double gap() const { return best > 0 ? (best - dual) / best : 0.0; }
};

namespace {

// One split of ADMM: H = relaxed target, Z = shrink(H + dual), dual = H + dual - Z, where shrink shortens row i by
// `shorten(i)` and takes those no longer than that to 0. Returns how far Z moved.
template <class Shorten>
double split(const Matrix& target, Shorten shorten, Matrix& z, Matrix& dual) {
  double moved = 0;
  for (Index i = 0; i < z.rows(); ++i) {
    for (Index k = 0; k < z.cols(); ++k) {
      dual(i, k) += kRelaxation * target(i, k) + (1 - kRelaxation) * z(i, k);
    }
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

// A point of the descent, and the last moves that led there.
struct WeightStep::Iterate {
  Matrix w, xw;
  double value = 0;
  std::vector<Matrix> moves, xw_moves;  // newest first
};

WeightStep::WeightStep(const RufsProblem& problem, Context& context, Index decomposed, double effort)
    : problem_(problem),
      path_(ridge_path(problem.x.rows(), problem.x.cols(), problem.x.source().sparse(), decomposed)),
      decomposed_(decomposed),
      effort_(effort),
      betas_(problem.roots) {
  for (double& beta : betas_) beta *= problem.beta;
  if (path_ == RidgePath::iterated) system_.emplace(problem.x, decomposed, context);
}

void WeightStep::start(RufsState& state, Context& context) const {
  // Below the rounding of X'X there is no ridge to speak of, and above the range of double no W.
  const double ridge = std::clamp(problem_.beta / problem_.alpha / problem_.fit, kUlp * sum(problem_.squares), 1e300);
  const Index n = problem_.x.rows(), d = problem_.x.cols();
  if (system_) return system_->solve(state.g, Matrix(d, state.g.cols()), ridge, state.w, state.xw, context);
  const MajorantLengths plain{std::vector<double>(n, 1.0), std::vector<double>(d, 1 / ridge)};
  Majorant found = minimum_of_majorant(problem_.x, state.g, plain, context);
  state.w = std::move(found.w), state.xw = std::move(found.xw);
}

// ADMM from the W and U of the majorants where there are any: each split then starts with the rho that fits its rows.
void WeightStep::begin(const RufsState& state, Context& context) {
  if (!system_) system_.emplace(problem_.x, decomposed_, context);
  if (system_->iterates()) w_ = state.w, xw_ = state.xw;
  v_ = state.w;
  r_ = combined(state.xw, -1, state.g);
  dual_r_ = Matrix(r_.rows(), r_.cols()), dual_v_ = Matrix(v_.rows(), v_.cols());
  const auto n = static_cast<double>(r_.rows()), d = static_cast<double>(v_.rows());
  const double residuals = sum_of_row_norms(r_), rows = sparsity_of(problem_, v_);
  if (u_.empty() || !(residuals > 0) || !(rows > 0)) {
    // R is compared with G, and V with R through the mean square of a column of X.
    rho_r_ = problem_.alpha * n / (sum_of_row_norms(state.g) + kTiny);
    rho_v_ = std::max(rho_r_ * sum(problem_.squares) / d, kTiny);
    return;
  }
  rho_r_ = problem_.alpha * n / residuals;
  rho_v_ = problem_.beta * d / rows;
  add(1 / rho_r_, u_, dual_r_);
  add(-1 / rho_v_, multiply_transposed(problem_.x, u_, context), dual_v_);
  u_ = Matrix();
}

void WeightStep::iterate(const Matrix& g, Context& context) {
  Matrix t = combined(g, 1, r_);
  add(-1, dual_r_, t);
  system_->solve(t, combined(v_, -1, dual_v_), rho_v_ / rho_r_, w_, xw_, context);
  const double residual = problem_.alpha / rho_r_, weight = problem_.beta / rho_v_;
  moved_r_ = split(
      combined(xw_, -1, g), [=](Index) { return residual; }, r_, dual_r_);
  moved_v_ = split(
      w_, [&](Index j) { return problem_.roots[j] * weight; }, v_, dual_v_);
}

double WeightStep::value_of(const Matrix& g, const Matrix& v, const Matrix& xv) const {
  return problem_.alpha * sum_of_row_norms(combined(xv, -1, g)) + problem_.beta * sparsity_of(problem_, v);
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

// As many majorants as `flops` allow; each costs a Gram matrix of the smaller side and its Cholesky factor.
Index WeightStep::most_majorants(double flops, Index least, Index most) const {
  const auto n = static_cast<double>(problem_.x.rows()), d = static_cast<double>(problem_.x.cols());
  const double side = std::min(n, d), each = side * side * (std::max(n, d) + side / 3);
  return std::clamp(static_cast<Index>(std::min(effort_ * flops / each, 1e6)), least, most);
}

// Rows that have vanished keep a little of their length, from which they can come back.
MajorantLengths WeightStep::lengths_at(const Matrix& g, const Iterate& at) const {
  MajorantLengths out;
  double residuals = 0, longest = 0;
  const Matrix r = combined(at.xw, -1, g);
  for (Index i = 0; i < r.rows(); ++i) residuals += out.rows.emplace_back(norm_of_row(r, i));
  for (Index j = 0; j < at.w.rows(); ++j) longest = std::max(longest, out.columns.emplace_back(norm_of_row(at.w, j)));
  const double least = kVanished * residuals / static_cast<double>(r.rows()) + kTiny, short_row = kVanished * longest;
  for (double& length : out.rows) length = std::max(length, least) / problem_.alpha;
  for (std::size_t j = 0; j < betas_.size(); ++j) out.columns[j] = std::max(out.columns[j], short_row) / betas_[j];
  return out;
}

// W = 0 is best exactly if U = -alpha g_i / ||g_i|| is feasible.
void WeightStep::look_at_zero(RufsState& state, Bounds& bounds, Context& context) const {
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
}

// To the least value along the way to the majorant's minimum and the last moves, or to that minimum.
void WeightStep::move(const Matrix& g, Majorant to, Iterate& at, Context& context) const {
  add(-1, at.w, to.w), add(-1, at.xw, to.xw);
  at.moves.insert(at.moves.begin(), std::move(to.w)), at.xw_moves.insert(at.xw_moves.begin(), std::move(to.xw));
  std::vector<const Matrix*> moves, xw_moves;
  for (std::size_t k = 0; k < at.moves.size(); ++k) moves.push_back(&at.moves[k]), xw_moves.push_back(&at.xw_moves[k]);
  const auto by = best_along(combined(at.xw, -1, g), at.w, xw_moves, moves, problem_.alpha, betas_);
  Matrix along(at.w.rows(), at.w.cols());
  for (std::size_t k = 0; k < by.size(); ++k) add(by[k], at.moves[k], along);
  Matrix w = combined(at.w, 1, along), xw = multiply(problem_.x, w, context);
  double value = value_of(g, w, xw);
  if (!(value <= at.value * (1 + kUlp))) {
    along = at.moves.front();
    w = combined(at.w, 1, along), xw = combined(at.xw, 1, at.xw_moves.front());
    value = value_of(g, w, xw);
  }
  at.xw_moves.front() = combined(xw, -1, at.xw), at.moves.front() = std::move(along);
  if (at.moves.size() > kMoves) at.moves.pop_back(), at.xw_moves.pop_back();
  at.w = std::move(w), at.xw = std::move(xw), at.value = value;
}

// Majorants from state.w, or, as none leads away from W = 0, from the ridge solution. state.w is the best so far.
void WeightStep::descend(RufsState& state, Gap wanted, Bounds& bounds, Context& context) {
  const bool fine = wanted == Gap::fine;
  const double enough = fine ? kGap : kRoughGap;
  if (bounds.gap() <= enough) return;
  RufsState from{state.w, {}, state.g, state.xw, {}};
  if (squared_norm(from.w) == 0) start(from, context);
  const double first = value_of(state.g, from.w, from.xw);
  Iterate at{std::move(from.w), std::move(from.xw), first, {}, {}};
  const Index most =
      fine ? most_majorants(kFineFlops, 2, kFineMajorants) : most_majorants(kRoughFlops, 1, kRoughMajorants);
  for (Index t = 0; t < most; ++t, ++majorants_) {
    context.check_cancelled();
    Majorant to = minimum_of_majorant(problem_.x, state.g, lengths_at(state.g, at), context);
    if (fine) raise_dual(state.g, to.u, bounds, context);
    u_ = std::move(to.u);
    if (bounds.gap() <= enough) return;
    const double before = at.value;
    move(state.g, std::move(to), at, context);
    if (at.value < bounds.best) bounds.best = at.value, state.w = at.w, state.xw = at.xw;
    if (!fine && before - at.value <= kRoughGain * before) return;
  }
}

// ADMM from where it is until the gap is closed, `left` iterations are made or `most_stalls` looks gained little.
void WeightStep::alternate(RufsState& state, double enough, int most_stalls, Index& left, Bounds& bounds,
                           Context& context) {
  const Index most = left;
  int stalls = 0;
  for (Index t = 1; left > 0 && bounds.gap() > enough && stalls < most_stalls; ++t, --left, ++iterations_) {
    context.check_cancelled();
    iterate(state.g, context);
    if (t % kJudge != 0) continue;
    const double before = bounds.gap();
    Matrix xv = multiply(problem_.x, v_, context);
    if (const double value = value_of(state.g, v_, xv); value < bounds.best) {
      bounds.best = value;
      state.w = v_, state.xw = std::move(xv);
    }
    raise_dual(state.g, scaled_dual(), bounds, context);
    stalls = bounds.gap() < kShrinks * before ? 0 : stalls + 1;
    if (2 * t <= most) balance(state.g);
  }
  if (!system_->iterates()) w_ = Matrix();  // G and F are next: room for them
}

// What the majorants have left of the gap, by ADMM from their point of the dual, and where that stalls from U = 0.
void WeightStep::close(RufsState& state, Bounds& bounds, Context& context) {
  Index left = most_iterations(Gap::fine, state.w.cols());
  for (const int most_stalls : {kWarmStalls, kColdStalls}) {
    if (bounds.gap() <= kGap || left == 0) break;
    begin(state, context);
    alternate(state, kGap, most_stalls, left, bounds, context);
  }
}

// Rows of W that are 0 but for what majorants leave of them.
void WeightStep::drop_vanished(RufsState& state, Bounds& bounds, Context& context) const {
  double longest = 0;
  for (Index j = 0; j < state.w.rows(); ++j) longest = std::max(longest, norm_of_row(state.w, j));
  Matrix w = state.w;
  for (Index j = 0; j < w.rows(); ++j) {
    if (norm_of_row(w, j) <= kDropped * longest) std::fill_n(w.row(j), w.cols(), 0.0);
  }
  Matrix xw = multiply(problem_.x, w, context);
  const double value = value_of(state.g, w, xw);
  if (value <= bounds.best) bounds.best = value, state.w = std::move(w), state.xw = std::move(xw);
}

double WeightStep::run(RufsState& state, Gap wanted, Context& context) {
  const bool fine = wanted == Gap::fine;
  Bounds bounds;
  bounds.best = value_of(state.g, state.w, state.xw);
  if (path_ == RidgePath::iterated && !v_.empty()) raise_dual(state.g, scaled_dual(), bounds, context);
  look_at_zero(state, bounds, context);
  if (path_ == RidgePath::iterated) {
    const double enough = fine ? kGap : kRoughGap;
    if (v_.empty()) begin(state, context);
    Index left = most_iterations(wanted, state.w.cols());
    alternate(state, enough, kNoStall, left, bounds, context);
  } else {
    descend(state, wanted, bounds, context);
    if (fine) close(state, bounds, context);
  }
  if (fine) drop_vanished(state, bounds, context);
  return bounds.gap();
}

}  // namespace tamis
