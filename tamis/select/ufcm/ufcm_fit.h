// UFCM itself: Algorithm 1 of the paper, step by step, on centred data. Used by ufcm.cpp, which prepares the data
// and the start and reports the result.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "tamis/base/error.h"
#include "tamis/base/random.h"
#include "tamis/cluster/kmeans.h"
#include "tamis/data/passes/passes.h"
#include "tamis/linalg/archive.h"
#include "tamis/linalg/dense.h"
#include "tamis/linalg/eigen.h"
#include "tamis/select/ufcm/scatter.h"
#include "tamis/select/ufcm/ufcm.h"

namespace tamis {

inline constexpr double kEps = 1e-10;  // smooths the norm of a row of W, and so makes the ascent exact at zero rows
// Steps towards the eigenvectors in an iteration: any number keeps the ascent, and U moves on before they converge.
inline constexpr Index kDirectionSteps = 4;
inline constexpr Index kDirectionStepsNear = 2;  // after a fit of a sample
inline constexpr Index kExactColumns = 1024;     // up to so many columns W is solved for where alpha > 1
inline constexpr double kDirectionGain = 0.05;   // stop earlier where a step gains less than this part of the first
// Where U weighs less than this it decides little.
inline constexpr double kDecisiveAlpha = 0.5;
// The first U decides most: it gets this many times the starts of a later one, where W has grown around U.
inline constexpr Index kFirstRestarts = 5;
inline constexpr Index kFirstRestartsMany = 2;  // with more rows than the next number starts differ less
inline constexpr Index kFewRows = 4096;
inline constexpr Index kFirstRestartsClusters = 256;  // with more clusters than this a start costs too much
// Later starts hardly ever win, so they come every few iterations, and before a run ends.
inline constexpr Index kRestartEvery = 4;
// What new starts must gain, in units of the tolerance, to carry on a run that would stop.
inline constexpr double kRestartMargin = 10;
// Restarts look at this many rows at most.
inline constexpr Index kRestartRows = 8192;

struct Terms {
  double scatter = 0, within = 0, sparsity = 0;  // tr(W'SW), ||ZW - UG||^2, R(W)
};

// R(W) = sum_i (||w^i||^2 + eps)^(p/2)
inline double row_sparsity(const Matrix& w, double p) {
  double sum = 0;
  for (Index i = 0; i < w.rows(); ++i) {
    double norm = 0;
    for (Index k = 0; k < w.cols(); ++k) norm += w(i, k) * w(i, k);
    sum += std::pow(norm + kEps, p / 2);
  }
  return sum;
}

// D_ii = (p/2) (||w^i||^2 + eps)^(p/2 - 1), Eq. 7: the tangent of the concave penalty at the current W.
inline std::vector<double> sparsity_weights(const Matrix& w, double p) {
  std::vector<double> out(static_cast<std::size_t>(w.rows()));
  for (Index i = 0; i < w.rows(); ++i) {
    double norm = 0;
    for (Index k = 0; k < w.cols(); ++k) norm += w(i, k) * w(i, k);
    out[static_cast<std::size_t>(i)] = p / 2 * std::pow(norm + kEps, p / 2 - 1);
  }
  return out;
}

// Where a fit begins: W, and centres of clusters in its space where there are some.
struct Start {
  RitzPairs w;
  Matrix centers;  // of a fit of a sample that came before
};

// One fit on columns that all vary, in units of z.
class Fit {
 public:
  // `scatter` is not needed at alpha = 1.
  Fit(const Centered& z, const UfcmOptions& options, double beta, const Scatter* scatter, Start start, Context& context)
      : z_(z),
        options_(options),
        beta_(beta),
        context_(context),
        scatter_(scatter),
        w_(std::move(start.w)),
        start_centers_(std::move(start.centers)),
        sums_(options.clusters, z.cols()),
        counts_(static_cast<std::size_t>(options.clusters)),
        labels_(static_cast<std::size_t>(z.rows()), -1) {
    if (scatter_ != nullptr) w_.image = scatter_->times(w_.vectors);
    free_rows_ = options.labels.empty() || std::count(options.labels.begin(), options.labels.end(), -1) > 0;
  }

  // Algorithm 1 of the paper.
  void run() {
    for (Index t = next_;; ++t) {
      next_ = t;
      keep(t == 1);
      const bool last = t > options_.iterations;
      iterate(t, last);
      if (last || converged_) return;
      context_.progress("ufcm", static_cast<double>(t) / static_cast<double>(options_.iterations),
                        text("iteration ", t, ", objective ", objective_.back()));
    }
  }

  // Goes on where another fit of the same data and options was, one that began from a fit of a sample or not.
  // Error(bad_data) where the state is not one of those.
  void take_up(const std::string& state, bool sampled) {
    const double given_beta = beta_;
    const ByteView bytes(reinterpret_cast<const std::uint8_t*>(state.data()), state.size());
    Unpacker reader(bytes, ErrorCode::bad_data, "the state of the run is damaged (size)");
    exchange(reader);
    reader.finish();
    require_sound_shapes(sampled);
    require_sound_values(given_beta);
  }
  Index next_iteration() const { return next_; }

  double beta() const { return beta_; }
  const Matrix& w() const { return w_.vectors; }
  const std::vector<int>& labels() const { return labels_; }
  const std::vector<double>& objective() const { return objective_; }
  const std::vector<Terms>& terms() const { return terms_; }
  bool converged() const { return converged_; }

  // G = (U'U)^-1 U'Z W, Eq. 11; rows of empty clusters are 0.
  Matrix centers() const { return centers_of(sums_, counts_, w_.vectors); }

 private:
  // All that the iterations to come depend on besides data and options, and all that is reported.
  template <class Archive>
  void exchange(Archive& archive) {
    archive(next_), archive(beta_), archive(w_.vectors), archive(w_.image), archive(start_centers_);
    archive(sums_), archive(counts_), archive(labels_), archive(objective_), archive(terms_);
  }

  static void require_state(bool sound, const char* what) {
    require(sound, ErrorCode::bad_data, "the state of the run is damaged (", what, ")");
  }

  // So that nothing below reads or writes outside of what it has.
  void require_sound_shapes(bool sampled) const {
    const Index d = z_.cols(), dims = w_.vectors.cols(), c = options_.clusters;
    const auto is = [](const Matrix& m, Index rows, Index cols) { return m.rows() == rows && m.cols() == cols; };
    const auto done = static_cast<std::size_t>(next_ - 1);
    require_state(next_ >= 1 && next_ <= options_.iterations + 1, "iteration");
    require_state(dims >= 1 && dims <= d && w_.vectors.rows() == d, "W");
    require_state(scatter_ == nullptr ? w_.image.empty() : is(w_.image, d, dims), "SW");
    const bool centers_fit = start_centers_.rows() == c && start_centers_.cols() >= dims;
    require_state(sampled ? centers_fit : start_centers_.empty(), "centres");
    require_state(is(sums_, c, d) && counts_.size() == static_cast<std::size_t>(c), "U'Z");
    require_state(labels_.size() == static_cast<std::size_t>(z_.rows()), "U");
    require_state(objective_.size() == done && terms_.size() == done, "objective");
  }

  // What is kept twice must agree: U with its counts and with U'Z, W'W with I, the objective with all of it.
  void require_sound_values(double given_beta) {
    const auto finite = [](const Matrix& m) { return std::all_of(m.data(), m.data() + m.size(), is_finite); };
    require_state(finite(w_.vectors) && finite(w_.image) && finite(start_centers_) && finite(sums_), "not finite");
    require_state(is_orthonormal(w_.vectors), "W");
    require_image();
    const UncountedPasses uncounted(context_);
    const std::vector<double> scatter = column_moments(z_.source(), context_).scatter;
    const double trace = std::accumulate(scatter.begin(), scatter.end(), 0.0);
    require_beta(given_beta, trace);
    // No row is longer than sqrt(tr(S)), and no mean of rows.
    require_state(squared_norm(start_centers_) <= 4 * trace * static_cast<double>(options_.clusters), "centres");
    if (next_ == 1) {
      require_nothing_yet();
      return;
    }
    require_labels(trace);
    for (std::size_t t = 0; t < terms_.size(); ++t) {
      require_state(is_near(objective_of(terms_[t]), objective_[t], terms_[t]), "objective");
    }
    const Terms last = terms_of(w_);
    require_state(is_near(objective_of(last), objective_.back(), last), "objective");
  }

  // beta as given, or b tr(W0'SW0) / sum_i ||w0^i||^p, which is at most b tr(S).
  void require_beta(double given, double trace) const {
    const bool sound = options_.beta ? std::abs(beta_ - given) <= 1e-9 * given
                                     : beta_ >= 0 && beta_ <= (1 + 1e-6) * options_.sparsity * trace;
    require_state(sound, "beta");
  }

  // Before the first iteration there is no U.
  void require_nothing_yet() const {
    const auto none = [](int label) { return label == -1; };
    require_state(std::all_of(labels_.begin(), labels_.end(), none), "U");
    require_state(std::all_of(counts_.begin(), counts_.end(), [](Index count) { return count == 0; }), "U'U");
    require_state(squared_norm(sums_) == 0, "U'Z");
  }

  void require_image() const {
    if (scatter_ == nullptr) return;
    Matrix difference = scatter_->times(w_.vectors);
    const double size = squared_norm(difference);
    for (Index i = 0; i < difference.size(); ++i) difference.data()[i] -= w_.image.data()[i];
    require_state(squared_norm(difference) <= 1e-18 * size, "SW");
  }

  void require_labels(double trace) {
    std::vector<Index> counts(counts_.size());
    for (const int label : labels_) {
      require_state(label >= 0 && label < options_.clusters, "U");
      ++counts[static_cast<std::size_t>(label)];
    }
    require_state(counts == counts_, "U'U");
    Matrix difference = sums_;
    move_rows(z_, labels_, std::vector<int>(labels_.size(), -1), difference, context_);
    // No sum of rows is longer than sqrt(n tr(S)).
    const double longest = std::sqrt(static_cast<double>(z_.rows()) * trace);
    require_state(std::sqrt(squared_norm(difference)) <= 1e-9 * longest, "U'Z");
  }

  static bool is_finite(double value) { return std::isfinite(value); }
  static bool is_orthonormal(const Matrix& w) {
    const Matrix gram = product_transposed_left(w, w);
    for (Index i = 0; i < gram.rows(); ++i) {
      for (Index j = 0; j < gram.cols(); ++j) {
        if (!(std::abs(gram(i, j) - (i == j ? 1.0 : 0.0)) < 1e-9)) return false;
      }
    }
    return true;
  }
  // To what another machine's rounding may do.
  bool is_near(double a, double b, const Terms& terms) const {
    return std::abs(a - b) <= 1e-9 * magnitude_of(terms);  // false for NaN
  }

  void keep(bool always) {
    if (context_.keeper == nullptr) return;
    const auto state = [this] {
      Packer packer;
      exchange(packer);
      const Bytes bytes = packer.take();
      return std::string(bytes.begin(), bytes.end());
    };
    context_.keeper->save(state, always);
  }

  void iterate(Index t, bool last) {
    const Points<double> points(multiply(z_, w_.vectors, context_));
    double margin = 0;
    bool small_gain = false;
    if (t > 1) {
      finish_terms(points.squared_norm());
      if (last) return;
      margin = options_.tolerance * magnitude_of(terms_.back());
      small_gain = t > 2 && margin > 0 && gain() <= margin;
    }
    // A small gain ends the run unless new starts find clearly better clusters.
    const bool restart_won = update_clusters(points, t, small_gain ? kRestartMargin * margin : 0);
    converged_ = small_gain && !restart_won;
    if (converged_) return;
    update_directions();
    record_objective();
  }

  // U: the best of the previous U, refined, and of k-means from new starts (Eq. 15). True where a new start won by
  // more than `margin`; where margin > 0 nothing but that changes U.
  bool update_clusters(const Points<double>& points, Index t, double margin) {
    if (!free_rows_) {
      if (t == 1) move_to(options_.labels);
      return false;
    }
    KMeansOptions options;
    options.clusters = options_.clusters;
    options.restarts = options_.restarts * (t == 1 ? first_restarts() : 1);
    options.fixed = options_.labels;
    options.seed = mix64(context_.seed + static_cast<std::uint64_t>(t));
    KMeansResult best;
    if (t > 1) {
      best = lloyd_from_labels(points, labels_, options, context_);
    } else if (!start_centers_.empty()) {
      best = lloyd(points, start_centers_, options, context_);
    }
    const bool due = margin > 0 || t % kRestartEvery == 1;
    const bool restart_won = due && try_restarts(points, options, margin, best);
    if (margin == 0 || restart_won) move_to(best.labels);
    return restart_won;
  }

  Index first_restarts() const {
    if (options_.clusters > kFirstRestartsClusters || options_.alpha < kDecisiveAlpha) return 1;
    return z_.rows() <= kFewRows ? kFirstRestarts : kFirstRestartsMany;
  }

  // k-means from new starts. They compete in float and, where there are many rows, on a sample; a winner that beats
  // `best` there is refined on all rows and replaces it where it is better by more than `margin`.
  bool try_restarts(const Points<double>& points, const KMeansOptions& options, double margin, KMeansResult& best) {
    const Index n = points.rows(), count = std::min(n, std::max(kRestartRows, 4 * options.clusters));
    const std::vector<Index> rows = sample_rows(n, count, options.seed);
    KMeansOptions sampled = options;
    if (!options.fixed.empty()) {
      for (std::size_t i = 0; i < rows.size(); ++i) sampled.fixed[i] = options.fixed[static_cast<std::size_t>(rows[i])];
      sampled.fixed.resize(rows.size());
    }
    const bool none = best.labels.empty();
    if (!none) sampled.bar = inertia_of(points, rows, best);
    const KMeansResult winner = kmeans(Points<float>(points, rows), sampled, context_);
    if (!none && !(winner.inertia < sampled.bar)) return false;
    KMeansResult fresh = lloyd(points, winner.centers, options, context_);
    if (!none && fresh.inertia >= best.inertia - margin) return false;
    best = std::move(fresh);
    return true;
  }

  static double inertia_of(const Points<double>& points, const std::vector<Index>& rows, const KMeansResult& result) {
    double sum = 0;
    for (const Index row : rows) {
      const int label = result.labels[static_cast<std::size_t>(row)];
      for (Index j = 0; j < points.dims(); ++j) {
        const double delta = points.at(row, j) - result.centers(label, j);
        sum += delta * delta;
      }
    }
    return sum;
  }

  // Takes new labels over, with the sums U'Z that follow from them, unless rounding made them worse.
  void move_to(const std::vector<int>& labels) {
    Matrix sums = sums_;
    move_rows(z_, labels_, labels, sums, context_);
    std::vector<Index> counts(counts_.size());
    for (const int label : labels) ++counts[static_cast<std::size_t>(label)];
    const bool first = labels_[0] < 0;
    if (!first && between(sums, counts, w_.vectors) < between(sums_, counts_, w_.vectors)) return;
    sums_ = std::move(sums);
    counts_ = std::move(counts);
    labels_ = labels;
  }

  // (U'U)^-1 U'Z V; rows of empty clusters are 0.
  static Matrix centers_of(const Matrix& sums, const std::vector<Index>& counts, const Matrix& v) {
    Matrix out = product(sums, v);
    for (Index k = 0; k < out.rows(); ++k) {
      const auto count = static_cast<double>(counts[static_cast<std::size_t>(k)]);
      for (Index j = 0; j < out.cols(); ++j) out(k, j) = count > 0 ? out(k, j) / count : 0.0;
    }
    return out;
  }

  // tr(W'BW) of the between-class scatter B = Z'U (U'U)^-1 U'Z.
  static double between(const Matrix& sums, const std::vector<Index>& counts, const Matrix& w) {
    const Matrix g = centers_of(sums, counts, w);
    double out = 0;
    for (Index k = 0; k < g.rows(); ++k) {
      double square = 0;
      for (Index j = 0; j < g.cols(); ++j) square += g(k, j) * g(k, j);
      out += static_cast<double>(counts[static_cast<std::size_t>(k)]) * square;
    }
    return out;
  }

  // W: leading eigenvectors of M = (1 - alpha) S + alpha B - beta D, Eq. 14, improved from where they were.
  void update_directions() {
    const std::vector<double> weights = sparsity_weights(w_.vectors, options_.p);
    const double alpha = options_.alpha;
    SymmetricOperator m;
    m.dim = z_.cols();
    if (scatter_ != nullptr) m.image = [&](const Matrix& v) { return scatter_->times(v); };
    m.apply = [&](const Matrix& v, const Matrix& image) {
      Matrix out = product_transposed_left(sums_, centers_of(sums_, counts_, v));
      for (Index i = 0; i < out.rows(); ++i) {
        const double penalty = beta_ * weights[static_cast<std::size_t>(i)];
        for (Index k = 0; k < out.cols(); ++k) {
          out(i, k) = alpha * out(i, k) - penalty * v(i, k) + (scatter_ != nullptr ? (1 - alpha) * image(i, k) : 0.0);
        }
      }
      return out;
    };
    m.precondition = [&](const std::vector<double>& values, Matrix& r) { precondition(weights, values, r); };
    DavidsonOptions options;
    options.count = w_.vectors.cols();
    options.steps = start_centers_.empty() && options_.alpha >= kDecisiveAlpha ? kDirectionSteps : kDirectionStepsNear;
    options.gain = kDirectionGain;
    options.basis = 3 * options.count;
    options.tolerance = 1e-12;
    if (!solve_exactly(m)) w_ = largest_eigenpairs(m, std::move(w_), options);
    if (beta_ == 0) drop_null_directions();
  }

  // The eigenvectors themselves, where alpha > 1 and there are few columns. There M is far from definite, a few steps
  // leave W far from them, and what rounding does to an unfinished W grows from iteration to iteration.
  // False where that is not the case, where rounding of the huge entries of beta D would lower tr(W'MW), or where
  // nothing but rounding is left of tr(W'SW) (no penalty, and directions in which no row varies).
  bool solve_exactly(const SymmetricOperator& m) {
    const Index d = z_.cols();
    if (options_.alpha <= 1 || d > kExactColumns) return false;
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

  // (beta D_i + theta_j)^-1: the diagonal that dominates M where rows vanish. Essential: beta D reaches 1e8 there.
  void precondition(const std::vector<double>& weights, const std::vector<double>& values, Matrix& r) const {
    const double floor = 1e-6 * std::max(std::abs(values.front()), std::abs(values.back())) + 1e-300;
    for (Index i = 0; i < r.rows(); ++i) {
      const double penalty = beta_ * weights[static_cast<std::size_t>(i)];
      for (Index k = 0; k < r.cols(); ++k) {
        r(i, k) /= std::max(std::abs(penalty + values[static_cast<std::size_t>(k)]), floor);
      }
    }
  }

  // Without a penalty, directions whose eigenvalue is not above rounding are arbitrary.
  void drop_null_directions() {
    const double norm = std::max(std::abs(w_.values.front()), std::abs(w_.values.back()));
    const double floor = static_cast<double>(z_.rows()) * kUlp * norm;
    Index kept = 0;
    while (kept < w_.vectors.cols() && w_.values[static_cast<std::size_t>(kept)] > floor) ++kept;
    kept = std::max<Index>(kept, 1);
    if (kept == w_.vectors.cols()) return;
    w_.vectors = first_columns(w_.vectors, kept);
    if (scatter_ != nullptr) w_.image = first_columns(w_.image, kept);
  }

  // (1 - alpha) tr(W'SW) + alpha tr(W'BW) - beta R(W): at alpha = 1 it needs no pass over the data.
  double objective_of(const Terms& terms) const {
    const double margin = terms.scatter - terms.within, alpha = options_.alpha;
    return (1 - alpha) * terms.scatter + alpha * margin - beta_ * terms.sparsity;
  }

  Terms terms_of(const RitzPairs& w) const {
    Terms terms;
    const double margin = between(sums_, counts_, w.vectors);
    terms.sparsity = row_sparsity(w.vectors, options_.p);
    terms.scatter = scatter_ != nullptr ? dot(w.vectors, w.image) : margin;
    terms.within = terms.scatter - margin;
    return terms;
  }

  void record_objective() {
    const Terms terms = terms_of(w_);
    const double value = objective_of(terms);
    if (!objective_.empty()) {
      require(value >= objective_.back() - 1e-9 * magnitude_of(terms), ErrorCode::internal,
              "ufcm: the objective fell from ", objective_.back(), " to ", value);
    }
    objective_.push_back(value);
    terms_.push_back(terms);
  }

  // The scatter of the last W, known once Z W is.
  void finish_terms(double scatter) {
    if (scatter_ != nullptr) return;
    Terms& terms = terms_.back();
    const double margin = terms.scatter - terms.within;
    terms.scatter = std::max(scatter, margin);
    terms.within = terms.scatter - margin;
  }

  double gain() const { return objective_.back() - objective_[objective_.size() - 2]; }
  double magnitude_of(const Terms& terms) const {
    return std::abs(terms.scatter) + options_.alpha * terms.within + beta_ * terms.sparsity;
  }

  const Centered& z_;
  const UfcmOptions& options_;
  double beta_;
  Context& context_;
  const Scatter* const scatter_;  // null at alpha = 1
  Matrix whole_scatter_;          // S, where W is solved for exactly
  RitzPairs w_;
  Matrix start_centers_;
  Index next_ = 1;  // the iteration to come
  Matrix sums_;     // U'Z, c x d
  std::vector<Index> counts_;
  std::vector<int> labels_;
  bool free_rows_ = true;
  bool converged_ = false;
  std::vector<double> objective_;
  std::vector<Terms> terms_;
};

}  // namespace tamis
