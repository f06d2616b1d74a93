// RUFS: the G step (rufs_steps.h).
#include <algorithm>
#include <cmath>
#include <utility>

#include "tamis/graph/laplacian.h"
#include "tamis/linalg/cholesky.h"
#include "tamis/select/rufs/rufs_algebra.h"
#include "tamis/select/rufs/rufs_steps.h"

namespace tamis {

using namespace rufs_algebra;

namespace {

constexpr Index kLabelSteps = 30;
constexpr Index kPairClusters = 32;  // up to so many clusters each pair of them enters the G step's system

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
      double square = 0;
      for (Index k = 0; k < g.cols(); ++k) square += (g(i, k) - xw_(i, k)) * (g(i, k) - xw_(i, k));
      fit_[i] = p_.fit / std::max(fit_[i], floor_fit);
      regression_[i] = p_.alpha / std::max(std::sqrt(square), floor);
    }
  }

  // fit (GFF' - XF')_i / ||.|| + mu + 2 nu LG + alpha (G - XW)_i / ||.|| + zeta G (G'G - I)
  Matrix gradient() const {
    Matrix out = product(g_, ff_);
    const Matrix graph = laplacian_times(p_.graph, Laplacian::plain, g_, context_);
    for (Index i = 0; i < g_.rows(); ++i) {
      for (Index k = 0; k < g_.cols(); ++k) {
        out(i, k) = fit_[i] * (out(i, k) - xf_(i, k)) + p_.mu + 2 * p_.nu * graph(i, k) +
                    regression_[i] * (g_(i, k) - xw_(i, k));
      }
    }
    add_product(p_.zeta, g_, departure_, out);
    return out;
  }

  // A diagonal above the Hessian of all but the penalty on the free entries, since L <= 2 D and any A <= its row sums
  // of |a_kl|.
  Matrix majorant(const std::vector<char>& held) const {
    const Index c = g_.cols();
    Matrix out(g_.rows(), c), size = ff_;
    for (Index k = 0; k < size.size(); ++k) size.data()[k] = std::abs(size.data()[k]);
    for (Index i = 0; i < g_.rows(); ++i) {
      double* row = out.row(i);
      for (Index l = 0; l < c; ++l) {
        if (held[i * c + l]) continue;
        for (Index k = 0; k < c; ++k) row[k] += size(l, k);
      }
      const double rest = 4 * p_.nu * p_.graph.degree[i] + regression_[i];
      for (Index k = 0; k < c; ++k) row[k] = fit_[i] * row[k] + rest;
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
    Matrix small(m, m);  // I / zeta + K'D^-1 K
    for (Index p = 0; p < m; ++p) small(p, p) = 1 / zeta;
    std::vector<Index> used;  // where row i of G is not 0
    for (Index i = 0; i < g.rows(); ++i) {
      used.clear();
      for (Index k = 0; k < c_; ++k) {
        if (g(i, k) != 0) used.push_back(k);
      }
      for (Index k = 0; k < c_; ++k) add(i, k, zeta, held[i * c_ + k] != 0, used, small);
    }
    small_ = Cholesky(std::move(small));
  }

  Matrix solve(Matrix b) const {
    scale(b);
    const Matrix gb = product_transposed_left(g_, b);
    Matrix y(small_.size(), 1);
    for (Index k = 0; k < c_; ++k) {
      for (Index l = all_pairs_ ? 0 : k; l <= k; ++l) {
        y(pair(k, l), 0) = k == l ? std::sqrt(2.0) * gb(k, k) : gb(k, l) + gb(l, k);
      }
    }
    y = small_.solve(std::move(y));
    Matrix symmetric(c_, c_);
    for (Index k = 0; k < c_; ++k) {
      for (Index l = all_pairs_ ? 0 : k; l <= k; ++l) {
        symmetric(k, l) = symmetric(l, k) = y(pair(k, l), 0) * (k == l ? std::sqrt(2.0) : 1.0);
      }
    }
    Matrix back = product(g_, symmetric);
    scale(back);
    return combined(b, -1, back);
  }

 private:
  Index pair(Index k, Index l) const {
    if (!all_pairs_) return k;
    const Index high = std::max(k, l), low = std::min(k, l);
    return high * (high + 1) / 2 + low;
  }

  // Entry (i, k) stands in the pairs (k, l), with g_il, and sqrt(2) g_ik for l = k.
  void add(Index i, Index k, double zeta, bool held, const std::vector<Index>& used, Matrix& small) {
    double& entry = inverse_(i, k);
    if (!all_pairs_) {
      for (const Index l : used) entry += l == k ? 0.0 : 2 * zeta * g_(i, l) * g_(i, l);
    }
    entry = held ? 0.0 : 1 / (entry + kTiny);
    if (held) return;
    if (!all_pairs_) {
      small(k, k) += 2 * g_(i, k) * g_(i, k) * entry;
      return;
    }
    const auto factor = [&](Index l) { return l == k ? std::sqrt(2.0) * g_(i, l) : g_(i, l); };
    for (const Index l : used) {
      for (const Index q : used) small(pair(k, l), pair(k, q)) += factor(l) * factor(q) * entry;
    }
  }

  void scale(Matrix& b) const {
    for (Index i = 0; i < b.size(); ++i) b.data()[i] *= inverse_.data()[i];
  }

  const Matrix& g_;
  Index c_;
  bool all_pairs_;
  Matrix inverse_;  // of D, 0 where an entry is held
  Cholesky small_;  // of I / zeta + K'D^-1 K
};

// Columns to unit length: a long way along the sphere that the penalty keeps them on.
Matrix unit_columns_of(const Matrix& g) {
  Matrix out = g;
  const std::vector<double> square = column_dots(g, g);
  for (Index i = 0; i < g.rows(); ++i) {
    for (Index k = 0; k < g.cols(); ++k) {
      const double length = square[k];
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
    std::vector<char> held(gradient.size());
    for (Index i = 0; i < gradient.size(); ++i) {
      held[i] = state.g.data()[i] <= 0 && gradient.data()[i] >= 0 ? 1 : 0;
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

}  // namespace tamis
