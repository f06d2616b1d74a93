#include "tamis/select/ufcm/directions.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tamis/linalg/dense.h"
#include "tamis/select/ufcm/extrapolation.h"
#include "tamis/select/ufcm/schedule.h"
#include "tamis/select/ufcm/state.h"

namespace tamis {

namespace {

// (beta D_i + theta_j)^-1: the diagonal that dominates M where rows vanish. Essential: beta D reaches 1e8 there.
void precondition(double beta, const std::vector<double>& weights, const std::vector<double>& values, Matrix& r) {
  const double floor = 1e-6 * std::max(std::abs(values.front()), std::abs(values.back())) + 1e-300;
  for (Index i = 0; i < r.rows(); ++i) {
    const double penalty = beta * weights[i];
    for (Index k = 0; k < r.cols(); ++k) {
      r(i, k) /= std::max(std::abs(penalty + values[k]), floor);
    }
  }
}

bool is_orthonormal(const Matrix& w) {
  const Matrix gram = product_transposed_left(w, w);
  for (Index i = 0; i < gram.rows(); ++i) {
    for (Index j = 0; j < gram.cols(); ++j) {
      if (!(std::abs(gram(i, j) - (i == j ? 1.0 : 0.0)) < 1e-9)) return false;
    }
  }
  return true;
}

}  // namespace

Directions::Directions(const UfcmOptions& options, const Scatter* scatter, std::optional<RowSteps> steps,
                       RitzPairs start)
    : options_(options), scatter_(scatter), steps_(std::move(steps)), w_(std::move(start)) {
  if (scatter_ != nullptr && !w_.vectors.empty()) w_.image = scatter_->times(w_.vectors);  // else resume() brings it
}

void Directions::update(const Clusters& clusters, double beta, const std::vector<double>& weights) {
  if (steps_) return steps_->improve(clusters, w_);
  const double alpha = options_.alpha;
  SymmetricOperator m;
  m.dim = w_.vectors.rows();
  if (scatter_ != nullptr) m.image = [&](const Matrix& v) { return scatter_->times(v); };
  m.apply = [&](const Matrix& v, const Matrix& image) {
    Matrix out = clusters.between_times(v);
    for (Index i = 0; i < out.rows(); ++i) {
      const double penalty = beta * weights[i];
      for (Index k = 0; k < out.cols(); ++k) {
        out(i, k) = alpha * out(i, k) - penalty * v(i, k) + (scatter_ != nullptr ? (1 - alpha) * image(i, k) : 0.0);
      }
    }
    return out;
  };
  m.precondition = [&](const std::vector<double>& values, Matrix& r) { precondition(beta, weights, values, r); };
  const bool far = !clusters.after_sample() && alpha >= kSchedule.decisive_alpha;
  DavidsonOptions options;
  options.count = w_.vectors.cols();
  options.steps = far ? kSchedule.direction_steps : kSchedule.direction_steps_near;
  options.gain = kSchedule.direction_gain;
  options.basis = 3 * options.count;
  options.tolerance = 1e-12;
  before_ = {};
  if (takes_longer_steps(static_cast<Index>(clusters.labels().size()))) {
    before_.vectors = w_.vectors;
    before_.image = w_.image;
  }
  if (!solve_exactly(m)) w_ = largest_eigenpairs(m, std::move(w_), options);
  if (beta == 0) drop_null_directions(static_cast<Index>(clusters.labels().size()));
}

// They need another W: not where that is much of the memory that a fit takes, and not where W is solved for.
bool Directions::takes_longer_steps(Index rows) const {
  const bool little =
      w_.vectors.size() <= kSchedule.small_w || kSchedule.rows_per_direction * w_.vectors.cols() <= rows;
  return little && !options_.exact && !solves_exactly(options_, w_.vectors.rows());
}

void Directions::extrapolate(double margin, const std::function<double(const RitzPairs&)>& objective) {
  if (before_.vectors.empty()) return;
  w_ = extrapolated(std::move(before_), std::move(w_), margin, objective);
}

// The eigenvectors themselves, where alpha > 1 and there are few columns. There M is far from definite, a few steps
// leave W far from them, and what rounding does to an unfinished W grows from iteration to iteration.
// False where that is not the case, where rounding of the huge entries of beta D would lower tr(W'MW), or where
// nothing but rounding is left of tr(W'SW) (no penalty, and directions in which no row varies).
bool Directions::solve_exactly(const SymmetricOperator& m) {
  const Index d = m.dim;
  if (!solves_exactly(options_, d)) return false;
  Matrix identity(d, d);
  for (Index i = 0; i < d; ++i) identity(i, i) = 1;
  if (whole_scatter_.empty()) whole_scatter_ = scatter_->whole();
  Matrix dense = m.apply(identity, whole_scatter_);
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < i; ++j) dense(i, j) = dense(j, i) = 0.5 * (dense(i, j) + dense(j, i));
  }
  EigenPairs pairs = symmetric_eigen_largest(dense, w_.vectors.cols());
  RitzPairs found;
  found.vectors = std::move(pairs.vectors);
  found.values = std::move(pairs.values);
  found.image = product(whole_scatter_, found.vectors);
  double trace = 0;
  for (Index i = 0; i < d; ++i) trace += whole_scatter_(i, i);
  if (!(dot(found.vectors, found.image) > 1e-9 * trace)) return false;
  const auto value = [&](const RitzPairs& w) { return dot(w.vectors, m.apply(w.vectors, w.image)); };
  if (!(value(found) >= value(w_))) return false;
  w_ = std::move(found);
  return true;
}

// Without a penalty, directions whose eigenvalue is not above rounding are arbitrary.
void Directions::drop_null_directions(Index rows) {
  const double norm = std::max(std::abs(w_.values.front()), std::abs(w_.values.back()));
  const double floor = static_cast<double>(rows) * kUlp * norm;
  Index kept = 0;
  while (kept < w_.vectors.cols() && w_.values[kept] > floor) ++kept;
  kept = std::max<Index>(kept, 1);
  if (kept == w_.vectors.cols()) return;
  w_.vectors = first_columns(w_.vectors, kept);
  if (scatter_ != nullptr) w_.image = first_columns(w_.image, kept);
}

double Directions::scatter() const { return dot(w_.vectors, w_.image); }

// --- What an earlier run left --------------------------------------------------------------------------------------

void Directions::require_sound_shapes(Index d) const {
  const Matrix &w = w_.vectors, &image = w_.image;
  require_state(w.cols() >= 1 && w.cols() <= d && w.rows() == d, "W");
  require_state(scatter_ == nullptr ? image.empty() : image.rows() == d && image.cols() == w.cols(), "SW");
}

void Directions::require_sound_values() const {
  require_state(is_finite(w_.vectors) && is_finite(w_.image), "not finite");
  require_state(is_orthonormal(w_.vectors), "W");
  if (scatter_ == nullptr) return;
  Matrix difference = scatter_->times(w_.vectors);
  const double size = squared_norm(difference);
  for (Index i = 0; i < difference.size(); ++i) difference.data()[i] -= w_.image.data()[i];
  require_state(squared_norm(difference) <= 1e-18 * size, "SW");
}

}  // namespace tamis
