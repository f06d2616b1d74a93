#include "tamis/select/rufs_steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/graph/laplacian.h"

namespace tamis {

namespace {

constexpr Index kBlock = 64;       // columns of a sparse Gram matrix formed together
constexpr Index kRidgeSteps = 20;  // conjugate gradients of one ridge problem elsewhere, from the one before
constexpr double kRidgeResidual = 1e-4;
constexpr double kGap = 1e-8;       // relative duality gap of the last W
constexpr double kRoughGap = 1e-5;  // and of those that G and F still follow
constexpr Index kWeightIterations = 3000;
constexpr Index kJudge = 20;         // iterations between two looks at the gap
constexpr double kRelaxation = 1.6;  // of ADMM: Boyd et al. 2011, 3.4.3
constexpr double kGain = 1e-6;       // the G and F steps end where one of theirs gains less than this part of J
constexpr double kKink = 1e-3;       // rows shorter than this part of the mean are taken as quadratic by a direction
constexpr Index kLabelSteps = 30;
constexpr Index kPairClusters = 32;  // up to so many clusters each pair of them enters the G step's system
constexpr Index kBasisSteps = 30;
constexpr Index kSweeps = 30;  // coordinate descent in a column of F
constexpr double kTiny = std::numeric_limits<double>::min();
constexpr double kUlp = std::numeric_limits<double>::epsilon();

double norm_of_row(const Matrix& a, Index i) {
  double sum = 0;
  for (Index k = 0; k < a.cols(); ++k) sum += a(i, k) * a(i, k);
  return std::sqrt(sum);
}

double sum_of_row_norms(const Matrix& a) {
  double sum = 0;
  for (Index i = 0; i < a.rows(); ++i) sum += norm_of_row(a, i);
  return sum;
}

// A + factor B.
Matrix combined(const Matrix& a, double factor, const Matrix& b) {
  Matrix out = a;
  for (Index i = 0; i < out.size(); ++i) out.data()[i] += factor * b.data()[i];
  return out;
}

double norm(const Matrix& a) { return std::sqrt(squared_norm(a)); }

Matrix transposed(const Matrix& a) {
  Matrix out(a.cols(), a.rows());
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) out(j, i) = a(i, j);
  }
  return out;
}

// ||(GF - X)_i||; its square may round below 0.
std::vector<double> residual_norms(const RufsProblem& problem, const Matrix& g, const Matrix& xf, const Matrix& ff) {
  const Matrix gff = product(g, ff);
  std::vector<double> out(problem.squares);
  for (Index i = 0; i < g.rows(); ++i) {
    double& square = out[static_cast<std::size_t>(i)];
    for (Index k = 0; k < g.cols(); ++k) square += g(i, k) * (gff(i, k) - 2 * xf(i, k));
    square = std::sqrt(std::max(square, 0.0));
  }
  return out;
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

// G'G - I.
Matrix departure(const Matrix& g) {
  Matrix out = product_transposed_left(g, g);
  for (Index k = 0; k < out.rows(); ++k) out(k, k) -= 1;
  return out;
}

std::vector<double> column_norms(const Matrix& f) {
  std::vector<double> out(static_cast<std::size_t>(f.cols()));
  for (Index k = 0; k < f.rows(); ++k) {
    for (Index j = 0; j < f.cols(); ++j) out[static_cast<std::size_t>(j)] += f(k, j) * f(k, j);
  }
  for (double& value : out) value = std::sqrt(value);
  return out;
}

}  // namespace

RufsTerms rufs_terms(const RufsProblem& problem, const RufsState& s, Context& context) {
  RufsTerms out;
  out.fit = problem.fit * sum(residual_norms(problem, s.g, s.xf, product_transposed_right(s.f, s.f)));
  out.shrink = problem.shrink * sum(column_norms(s.f));
  for (Index i = 0; i < s.g.size(); ++i) out.mass += problem.mu * s.g.data()[i];
  out.graph = problem.nu * dot(s.g, laplacian_times(problem.graph, Laplacian::plain, s.g, context));
  out.regression = problem.alpha * sum_of_row_norms(combined(s.xw, -1, s.g));
  out.sparsity = problem.beta * sum_of_row_norms(s.w);
  out.penalty = problem.zeta / 4 * squared_norm(departure(s.g));
  return out;
}

double rounding_of(const RufsProblem& problem, const RufsState& s, double objective) {
  const std::vector<double> norms = residual_norms(problem, s.g, s.xf, product_transposed_right(s.f, s.f));
  double lost = 0;
  for (std::size_t i = 0; i < norms.size(); ++i) {
    const double square = 64 * kUlp * problem.squares[i];  // of ||g_i F - x_i||^2
    lost += square / std::max(norms[i], std::sqrt(square) + kTiny);
  }
  return problem.fit * lost + 1e-10 * objective;
}

Matrix first_basis(const RufsProblem& problem, const Matrix& g, Context& context) {
  const EigenPairs gram = symmetric_eigen(product_transposed_left(g, g));
  const Index c = g.cols();
  Matrix inverse(c, c);
  for (Index a = 0; a < c; ++a) {
    for (Index b = 0; b < c; ++b) {
      for (Index k = 0; k < c; ++k) {
        const double value = gram.values[static_cast<std::size_t>(k)];
        if (value > 1e-12 * gram.values[0]) inverse(a, b) += gram.vectors(a, k) * gram.vectors(b, k) / value;
      }
    }
  }
  Matrix f = product_transposed_right(inverse, multiply_transposed(problem.x, g, context));
  double total = 0, positive = 0;
  for (Index i = 0; i < f.size(); ++i) {
    double& value = f.data()[i];
    value = std::max(value, 0.0);
    total += value, positive += value > 0 ? 1 : 0;
  }
  const double offset = positive > 0 ? 0.2 * total / positive : 0.0;
  for (Index i = 0; i < f.size(); ++i) f.data()[i] += offset;
  return f;
}

// --- Ridge problems ----------------------------------------------------------------------------------------------

namespace {

// Columns first .. first + count of the identity.
Matrix unit_columns(Index n, Index first, Index count) {
  Matrix out(n, count);
  for (Index k = 0; k < count; ++k) out(first + k, k) = 1;
  return out;
}

// X'X or XX' of sparse rows, a few columns at a time.
Matrix sparse_gram(const Centered& x, bool rows, Context& context) {
  const Index m = rows ? x.rows() : x.cols();
  Matrix out(m, m);
  for (Index first = 0; first < m; first += kBlock) {
    const Index count = std::min(kBlock, m - first);
    const Matrix unit = unit_columns(m, first, count);
    const Matrix part =
        rows ? multiply(x, multiply_transposed(x, unit, context), context) : scatter_product(x, unit, context);
    for (Index i = 0; i < m; ++i) std::copy_n(part.row(i), count, out.row(i) + first);
  }
  return out;
}

// Q diag(factor(lambda)) Q'B
template <class Factor>
Matrix spectral(const EigenPairs& gram, const Matrix& b, Factor factor) {
  Matrix inner = product_transposed_left(gram.vectors, b);
  std::vector<double> by;
  for (const double value : gram.values) by.push_back(factor(std::max(value, 0.0)));
  scale_rows(by, inner);
  return product(gram.vectors, inner);
}

std::vector<double> column_dots(const Matrix& a, const Matrix& b) {
  std::vector<double> out(static_cast<std::size_t>(a.cols()));
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index k = 0; k < a.cols(); ++k) out[static_cast<std::size_t>(k)] += a(i, k) * b(i, k);
  }
  return out;
}

// A += B diag(by)
void add_scaled_columns(const std::vector<double>& by, const Matrix& b, Matrix& a) {
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index k = 0; k < a.cols(); ++k) a(i, k) += by[static_cast<std::size_t>(k)] * b(i, k);
  }
}

std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b, double sign) {
  std::vector<double> out(a.size());
  for (std::size_t k = 0; k < a.size(); ++k) out[k] = b[k] > 0 ? sign * a[k] / b[k] : 0.0;
  return out;
}

}  // namespace

RidgeSystem::RidgeSystem(const Centered& x, Index decomposed, Context& context) : x_(x), path_(Path::iterated) {
  if (std::min(x.rows(), x.cols()) > (x.source().sparse() ? decomposed / 4 : decomposed)) return;
  path_ = x.cols() <= x.rows() ? Path::columns : Path::rows;
  const bool rows = path_ == Path::rows;
  if (x.source().sparse()) {
    gram_ = symmetric_eigen(sparse_gram(x, rows, context));
  } else {
    gram_ = symmetric_eigen(rows ? gram_of_rows(x, context) : gram(x, context));
  }
}

const char* RidgeSystem::path() const {
  return path_ == Path::columns ? "gram of columns" : path_ == Path::rows ? "gram of rows" : "products";
}

void RidgeSystem::solve(const Matrix& t, const Matrix& c, double r, Matrix& w, Matrix& xw, Context& context) const {
  if (path_ == Path::columns) return solve_columns(t, c, r, w, xw, context);
  if (path_ == Path::rows) return solve_rows(t, c, r, w, xw, context);
  iterate(t, c, r, w, xw, context);
}

// W = (X'X + r I)^-1 (X'T + r C)
void RidgeSystem::solve_columns(const Matrix& t, const Matrix& c, double r, Matrix& w, Matrix& xw,
                                Context& context) const {
  const Matrix right = combined(multiply_transposed(x_, t, context), r, c);
  w = spectral(gram_, right, [&](double value) { return 1 / (value + r); });
  xw = multiply(x_, w, context);
}

// The same by Woodbury, K = XX': W = C + X'M, M = (K + r I)^-1 (T - XC), XW = XC + K M.
void RidgeSystem::solve_rows(const Matrix& t, const Matrix& c, double r, Matrix& w, Matrix& xw,
                             Context& context) const {
  const Matrix xc = multiply(x_, c, context);
  const Matrix right = combined(t, -1, xc);
  const Matrix m = spectral(gram_, right, [&](double value) { return 1 / (value + r); });
  w = combined(c, 1, multiply_transposed(x_, m, context));
  xw = combined(xc, 1, spectral(gram_, right, [&](double value) { return value / (value + r); }));
}

// A few conjugate gradients, each column for itself.
void RidgeSystem::iterate(const Matrix& t, const Matrix& c, double r, Matrix& w, Matrix& xw, Context& context) const {
  if (w.empty()) w = Matrix(c.rows(), c.cols()), xw = Matrix(t.rows(), t.cols());
  Matrix residual = combined(multiply_transposed(x_, combined(t, -1, xw), context), r, combined(c, -1, w));
  Matrix direction = residual;
  std::vector<double> square = column_dots(residual, residual);
  const double enough = kRidgeResidual * kRidgeResidual * sum(square);
  for (Index step = 0; step < kRidgeSteps && sum(square) > enough; ++step) {
    const Matrix xd = multiply(x_, direction, context);
    const Matrix image = combined(multiply_transposed(x_, xd, context), r, direction);
    const std::vector<double> length = ratios(square, column_dots(direction, image), 1);
    add_scaled_columns(length, direction, w);
    add_scaled_columns(length, xd, xw);
    for (Index i = 0; i < image.rows(); ++i) {
      for (Index k = 0; k < image.cols(); ++k) residual(i, k) -= length[static_cast<std::size_t>(k)] * image(i, k);
    }
    const std::vector<double> next = column_dots(residual, residual);
    Matrix onward = residual;
    add_scaled_columns(ratios(next, square, 1), direction, onward);
    direction = std::move(onward);
    square = next;
  }
}

// --- W -----------------------------------------------------------------------------------------------------------

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

// --- G -----------------------------------------------------------------------------------------------------------

namespace {

// The part of J that G decides, and its derivatives, at one G.
class LabelModel {
 public:
  LabelModel(const RufsProblem& problem, const RufsState& state, Context& context)
      : p_(problem), xf_(state.xf), xw_(state.xw), ff_(product_transposed_right(state.f, state.f)), context_(context) {}

  double value(const Matrix& g) const {
    double out = p_.fit * sum(residual_norms(p_, g, xf_, ff_));
    for (Index i = 0; i < g.size(); ++i) out += p_.mu * g.data()[i];
    if (p_.nu > 0) out += p_.nu * dot(g, laplacian_times(p_.graph, Laplacian::plain, g, context_));
    return out + p_.alpha * sum_of_row_norms(combined(xw_, -1, g)) + p_.zeta / 4 * squared_norm(departure(g));
  }

  // Weights of the quadratic majorants at G; rows at a kink get a large one.
  void look_at(const Matrix& g, double kink) {
    g_ = g;
    departure_ = departure(g);
    fit_ = residual_norms(p_, g, xf_, ff_);
    regression_.resize(fit_.size());
    const auto n = static_cast<double>(g.rows());
    const double floor_fit = kink * sum(fit_) / n + kTiny, floor = kink * sum_of_row_norms(g) / n + kTiny;
    for (Index i = 0; i < g.rows(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      double square = 0;
      for (Index k = 0; k < g.cols(); ++k) square += (g(i, k) - xw_(i, k)) * (g(i, k) - xw_(i, k));
      fit_[at] = p_.fit / std::max(fit_[at], floor_fit);
      regression_[at] = p_.alpha / std::max(std::sqrt(square), floor);
    }
  }

  // fit (GFF' - XF')_i / ||.|| + mu + 2 nu LG + alpha (G - XW)_i / ||.|| + zeta G (G'G - I)
  Matrix gradient() const {
    Matrix out = product(g_, ff_);
    const Matrix graph = laplacian_times(p_.graph, Laplacian::plain, g_, context_);
    for (Index i = 0; i < g_.rows(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      for (Index k = 0; k < g_.cols(); ++k) {
        out(i, k) = fit_[at] * (out(i, k) - xf_(i, k)) + p_.mu + 2 * p_.nu * graph(i, k) +
                    regression_[at] * (g_(i, k) - xw_(i, k));
      }
    }
    add_product(p_.zeta, g_, departure_, out);
    return out;
  }

  // A diagonal above the Hessian of all but the penalty on the free entries, since L <= 2 D and any A <= its row sums
  // of |a_kl|.
  Matrix majorant(const std::vector<char>& held) const {
    const Index c = g_.cols();
    Matrix out(g_.rows(), c);
    for (Index i = 0; i < g_.rows(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      for (Index k = 0; k < c; ++k) {
        double row = 0;
        for (Index l = 0; l < c; ++l) row += held[static_cast<std::size_t>(i * c + l)] ? 0.0 : std::abs(ff_(k, l));
        out(i, k) = fit_[at] * row + 4 * p_.nu * p_.graph.degree[at] + regression_[at];
      }
    }
    return out;
  }

 private:
  const RufsProblem& p_;
  const Matrix& xf_;
  const Matrix& xw_;
  const Matrix ff_;
  Context& context_;
  Matrix g_, departure_;
  std::vector<double> fit_, regression_;
};

// (D + zeta K K')^-1 on the free entries, D diagonal and K K' V = G (V'G + G'V) the curvature of the penalty. zeta is
// so large that no iteration would see past it; but K has few columns, one for each pair of clusters, so the inverse
// is D^-1 - D^-1 K (I / zeta + K'D^-1 K)^-1 K'D^-1.
class PenaltySystem {
 public:
  PenaltySystem(const Matrix& g, double zeta, Matrix diagonal, const std::vector<char>& held)
      : g_(g), c_(g.cols()), all_pairs_(c_ <= kPairClusters), inverse_(std::move(diagonal)) {
    const Index m = all_pairs_ ? c_ * (c_ + 1) / 2 : c_;
    small_ = Matrix(m, m);
    for (Index p = 0; p < m; ++p) small_(p, p) = 1 / zeta;
    for (Index i = 0; i < g.rows(); ++i) {
      for (Index k = 0; k < c_; ++k) add(i, k, zeta, held[static_cast<std::size_t>(i * c_ + k)] != 0);
    }
    factorize();
  }

  Matrix solve(Matrix b) const {
    scale(b);
    const Matrix gb = product_transposed_left(g_, b);
    std::vector<double> y(static_cast<std::size_t>(small_.rows()));
    for (Index k = 0; k < c_; ++k) {
      for (Index l = all_pairs_ ? 0 : k; l <= k; ++l) {
        y[pair(k, l)] = k == l ? std::sqrt(2.0) * gb(k, k) : gb(k, l) + gb(l, k);
      }
    }
    substitute(y);
    Matrix symmetric(c_, c_);
    for (Index k = 0; k < c_; ++k) {
      for (Index l = all_pairs_ ? 0 : k; l <= k; ++l) {
        symmetric(k, l) = symmetric(l, k) = y[pair(k, l)] * (k == l ? std::sqrt(2.0) : 1.0);
      }
    }
    Matrix back = product(g_, symmetric);
    scale(back);
    return combined(b, -1, back);
  }

 private:
  std::size_t pair(Index k, Index l) const {
    if (!all_pairs_) return static_cast<std::size_t>(k);
    const Index high = std::max(k, l), low = std::min(k, l);
    return static_cast<std::size_t>(high * (high + 1) / 2 + low);
  }

  // Entry (i, k) stands in the pairs (k, l), with g_il, and sqrt(2) g_ik for l = k.
  void add(Index i, Index k, double zeta, bool held) {
    double& entry = inverse_(i, k);
    if (!all_pairs_) {
      for (Index l = 0; l < c_; ++l) entry += l == k ? 0.0 : 2 * zeta * g_(i, l) * g_(i, l);
    }
    entry = held ? 0.0 : 1 / (entry + kTiny);
    if (held) return;
    const auto factor = [&](Index l) { return l == k ? std::sqrt(2.0) * g_(i, l) : g_(i, l); };
    const Index first = all_pairs_ ? 0 : k, end = all_pairs_ ? c_ : k + 1;
    for (Index l = first; l < end; ++l) {
      if (g_(i, l) == 0) continue;
      for (Index q = first; q < end; ++q) {
        if (g_(i, q) == 0) continue;
        small_(static_cast<Index>(pair(k, l)), static_cast<Index>(pair(k, q))) += factor(l) * factor(q) * entry;
      }
    }
  }

  // Cholesky's lower triangle in place.
  void factorize() {
    for (Index p = 0; p < small_.rows(); ++p) {
      for (Index q = 0; q <= p; ++q) {
        double value = small_(p, q);
        for (Index t = 0; t < q; ++t) value -= small_(p, t) * small_(q, t);
        small_(p, q) = p == q ? std::sqrt(std::max(value, kTiny)) : value / small_(q, q);
      }
    }
  }

  void substitute(std::vector<double>& y) const {
    const Index m = small_.rows();
    for (Index p = 0; p < m; ++p) {
      double& value = y[static_cast<std::size_t>(p)];
      for (Index q = 0; q < p; ++q) value -= small_(p, q) * y[static_cast<std::size_t>(q)];
      value /= small_(p, p);
    }
    for (Index p = m - 1; p >= 0; --p) {
      double& value = y[static_cast<std::size_t>(p)];
      for (Index q = p + 1; q < m; ++q) value -= small_(q, p) * y[static_cast<std::size_t>(q)];
      value /= small_(p, p);
    }
  }

  void scale(Matrix& b) const {
    for (Index i = 0; i < b.size(); ++i) b.data()[i] *= inverse_.data()[i];
  }

  const Matrix& g_;
  Index c_;
  bool all_pairs_;
  Matrix inverse_;  // of D, 0 where an entry is held
  Matrix small_;    // I / zeta + K'D^-1 K, then its Cholesky factor
};

// Columns to unit length: a long way along the sphere that the penalty keeps them on.
Matrix unit_columns_of(const Matrix& g) {
  Matrix out = g;
  const std::vector<double> square = column_dots(g, g);
  for (Index i = 0; i < g.rows(); ++i) {
    for (Index k = 0; k < g.cols(); ++k) {
      const double length = square[static_cast<std::size_t>(k)];
      if (length > 0) out(i, k) /= std::sqrt(length);
    }
  }
  return out;
}

Matrix projected(const Matrix& g, double t, const Matrix& direction) {
  Matrix out = combined(g, t, direction);
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = std::max(out.data()[i], 0.0);
  return out;
}

// Backtracks from the whole step; false where no step is worth taking. `value` belongs to `g`.
bool search(const LabelModel& model, const Matrix& direction, double slope, Matrix& g, double& value) {
  for (double t = 1; t > 1e-6; t /= 2) {
    Matrix plain = projected(g, t, direction);
    Matrix normal = unit_columns_of(plain);
    const double plain_value = model.value(plain), normal_value = model.value(normal);
    const bool retract = normal_value < plain_value;
    const double lower = retract ? normal_value : plain_value;
    if (!(lower <= value + 1e-4 * t * slope)) continue;
    g = retract ? std::move(normal) : std::move(plain);
    value = lower;
    return true;
  }
  return false;
}

}  // namespace

Matrix label_gradient(const RufsProblem& problem, const RufsState& state, Context& context) {
  LabelModel model(problem, state, context);
  model.look_at(state.g, 0);
  return model.gradient();
}

void label_step(const RufsProblem& problem, RufsState& state, Context& context) {
  LabelModel model(problem, state, context);
  double value = model.value(state.g);
  for (Index step = 0; step < kLabelSteps; ++step) {
    context.check_cancelled();
    model.look_at(state.g, kKink);
    const Matrix gradient = model.gradient();
    // Entries at 0 that would go below it are held there.
    std::vector<char> held(static_cast<std::size_t>(gradient.size()));
    for (Index i = 0; i < gradient.size(); ++i) {
      held[static_cast<std::size_t>(i)] = state.g.data()[i] <= 0 && gradient.data()[i] >= 0 ? 1 : 0;
    }
    const PenaltySystem system(state.g, problem.zeta, model.majorant(held), held);
    Matrix down(gradient.rows(), gradient.cols());
    for (Index i = 0; i < down.size(); ++i) down.data()[i] = -gradient.data()[i];
    const Matrix direction = system.solve(down);
    const double slope = dot(gradient, direction), before = value;
    if (!(slope < 0) || !search(model, direction, slope, state.g, value)) return;
    if (before - value <= kGain * value) return;
  }
}

// --- F -----------------------------------------------------------------------------------------------------------

namespace {

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
  for (double& value : out.ridge) value = problem.shrink / std::max(value, least);
  return out;
}

// Coordinate descent in column j of F >= 0.
void descend_column(const BasisModel& model, Index j, Matrix& f) {
  const Index c = f.rows();
  const double ridge = model.ridge[static_cast<std::size_t>(j)];
  for (Index sweep = 0; sweep < kSweeps; ++sweep) {
    double moved = 0, size = 0;
    for (Index k = 0; k < c; ++k) {
      double right = model.h(j, k);
      for (Index q = 0; q < c; ++q) right -= q == k ? 0.0 : model.m(k, q) * f(q, j);
      const double curvature = model.m(k, k) + ridge;
      const double next = curvature > 0 ? std::max(right / curvature, 0.0) : f(k, j);
      moved = std::max(moved, std::abs(next - f(k, j))), size = std::max(size, next);
      f(k, j) = next;
    }
    if (moved <= 1e-12 * size) return;
  }
}

double basis_value(const RufsProblem& problem, const Matrix& g, const Matrix& f, const Matrix& xf) {
  return problem.fit * sum(residual_norms(problem, g, xf, product_transposed_right(f, f))) +
         problem.shrink * sum(column_norms(f));
}

}  // namespace

// G'(R_i / ||R_i||) + shrink f_k / ||f_k||
Matrix basis_gradient(const RufsProblem& problem, const RufsState& state, Context& context) {
  const BasisModel model = basis_model(problem, state, context);
  Matrix out = product(model.m, state.f);
  for (Index k = 0; k < out.rows(); ++k) {
    for (Index j = 0; j < out.cols(); ++j) {
      out(k, j) += model.ridge[static_cast<std::size_t>(j)] * state.f(k, j) - model.h(j, k);
    }
  }
  return out;
}

void basis_step(const RufsProblem& problem, RufsState& state, Context& context) {
  double value = basis_value(problem, state.g, state.f, state.xf);
  for (Index step = 0; step < kBasisSteps; ++step) {
    context.check_cancelled();
    const BasisModel model = basis_model(problem, state, context);
    Matrix f = state.f;
    for (Index j = 0; j < f.cols(); ++j) descend_column(model, j, f);
    Matrix xf = multiply(problem.x, transposed(f), context);
    const double next = basis_value(problem, state.g, f, xf);
    if (!(next < value)) return;
    state.f = std::move(f), state.xf = std::move(xf);
    const bool done = value - next <= kGain * value;
    value = next;
    if (done) return;
  }
}

// --- All three ---------------------------------------------------------------------------------------------------

namespace {

// J after a step, which cannot have risen but by rounding.
RufsTerms checked(const RufsProblem& problem, const RufsState& state, const RufsTerms& before, Context& context) {
  const RufsTerms after = rufs_terms(problem, state, context);
  require(std::isfinite(after.sum()), ErrorCode::bad_data, "rufs: values so large that J overflows: scale the data");
  require(after.sum() <= before.sum() + rounding_of(problem, state, before.sum()), ErrorCode::internal,
          "rufs: J rose from ", before.sum(), " to ", after.sum());
  return after;
}

}  // namespace

RufsFit fit_rufs(const RufsProblem& problem, Matrix g, Index rounds, double tolerance, Context& context) {
  RufsFit out;
  RufsState& state = out.state;
  state.g = std::move(g);
  WeightStep weights(problem, context);
  state.f = first_basis(problem, state.g, context);
  state.xf = multiply(problem.x, transposed(state.f), context);
  weights.start(state, context);
  RufsTerms now = rufs_terms(problem, state, context);
  require(std::isfinite(now.sum()), ErrorCode::bad_data, "rufs: values so large that J overflows: scale the data");
  out.trace.push_back(now);
  weights.run(state, WeightStep::Gap::rough, context);
  now = checked(problem, state, now, context);
  for (Index round = 1; round <= rounds && !out.converged; ++round) {
    context.check_cancelled();
    label_step(problem, state, context);
    now = checked(problem, state, now, context);
    basis_step(problem, state, context);
    now = checked(problem, state, now, context);
    weights.run(state, WeightStep::Gap::rough, context);
    now = checked(problem, state, now, context);
    out.converged = tolerance > 0 && out.trace.back().sum() - now.sum() <= tolerance * now.sum();
    out.trace.push_back(now);
    context.progress("rufs", static_cast<double>(round) / static_cast<double>(rounds),
                     text("round ", round, ", J ", now.sum()));
  }
  out.gap = weights.run(state, WeightStep::Gap::fine, context);
  out.trace.back() = checked(problem, state, now, context);
  out.weight_iterations = weights.iterations();
  out.path = weights.path();
  return out;
}

}  // namespace tamis
