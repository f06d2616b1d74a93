#include "tamis/select/ufcm/clusters.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tamis/base/random.h"
#include "tamis/cluster/means.h"
#include "tamis/data/passes/point_passes.h"
#include "tamis/data/weights.h"
#include "tamis/linalg/dense.h"
#include "tamis/select/ufcm/schedule.h"
#include "tamis/select/ufcm/state.h"

namespace tamis {

namespace {

// Of some points, which are those of the given rows.
double inertia_of(const Points<double>& some, const std::vector<Index>& rows, const KMeansResult& result) {
  double sum = 0;
  for (Index i = 0; i < some.rows(); ++i) {
    const int label = result.labels[rows[i]];
    for (Index j = 0; j < some.dims(); ++j) {
      const double delta = some.at(i, j) - result.centers(label, j);
      sum += some.weight(i) * delta * delta;
    }
  }
  return sum;
}

Matrix means_of(const Matrix& sums, const std::vector<double>& counts, const Matrix& v) {
  Matrix out = product(sums, v);
  for (Index k = 0; k < out.rows(); ++k) {
    for (Index j = 0; j < out.cols(); ++j) out(k, j) = counts[k] > 0 ? out(k, j) / counts[k] : 0.0;
  }
  return out;
}

// Rows that left the others of their cluster, however the clusters are numbered, by their weights, which come to
// `total`; of very many clusters, all.
double rows_moved(const std::vector<int>& from, const std::vector<int>& to, Index clusters,
                  const std::vector<double>& weights, double total) {
  if (clusters > 16 * static_cast<Index>(from.size()) / clusters) return total;
  std::vector<double> shared(clusters * clusters);
  for (std::size_t i = 0; i < from.size(); ++i) {
    shared[to[i] * clusters + from[i]] += weights.empty() ? 1.0 : weights[i];
  }
  double stayed = 0;
  for (auto row = shared.begin(); row != shared.end(); row += clusters)
    stayed += *std::max_element(row, row + clusters);
  return total - stayed;
}

double between_of(const Matrix& sums, const std::vector<double>& counts, const Matrix& w) {
  const Matrix g = means_of(sums, counts, w);
  double out = 0;
  for (Index k = 0; k < g.rows(); ++k) {
    double square = 0;
    for (Index j = 0; j < g.cols(); ++j) square += g(k, j) * g(k, j);
    out += counts[k] * square;
  }
  return out;
}

}  // namespace

Clusters::Clusters(const Centered& z, const UfcmOptions& options, Matrix centers, Context& context)
    : z_(z),
      rows_(z.without_weights()),
      weights_(z.source().weights()),
      total_(weights_.empty() ? static_cast<double>(z.rows()) : total_weight(weights_)),
      options_(options),
      context_(context),
      start_centers_(std::move(centers)),
      sums_(options.clusters, z.cols()),
      counts_(options.clusters),
      labels_(z.rows(), -1),
      free_rows_(options.labels.empty() || std::count(options.labels.begin(), options.labels.end(), -1) > 0) {}

// They stay with rows that live elsewhere, unless there are so few that k-means will look at them one by one, or they
// have weights, which are here.
Points<double> Clusters::points(const Matrix& w) const {
  if (!weights_.empty()) return Points<double>(multiply(rows_, w, context_), weights_);
  if (exchanges_points(z_.rows(), options_.clusters)) return Points<double>(multiply(z_, w, context_));
  return project(z_, w, context_);
}

bool Clusters::update(const Points<double>& points, const Matrix& w, Index iteration, double margin) {
  moved_ = 0;
  if (!free_rows_) {
    if (iteration == 1) move_to(options_.labels, w);
    return false;
  }
  KMeansOptions options;
  options.clusters = options_.clusters;
  options.restarts = options_.restarts * (iteration == 1 ? first_restarts() : 1);
  options.fixed = options_.labels;
  options.seed = mix64(context_.seed + static_cast<std::uint64_t>(iteration));
  KMeansResult best;
  if (iteration > 1) {
    best = lloyd_from_labels(points, labels_, options, context_);
  } else if (after_sample()) {
    best = lloyd(points, start_centers_, options, context_);
  }
  const bool due = margin > 0 || iteration % kSchedule.restart_every == 1;
  const bool restart_won = due && try_restarts(points, options, margin, best);
  if (margin == 0 || restart_won) move_to(best.labels, w);
  return restart_won;
}

Index Clusters::first_restarts() const {
  const bool few = options_.clusters > kSchedule.first_restarts_clusters || options_.alpha < kSchedule.decisive_alpha;
  if (few) return 1;
  return z_.rows() <= kSchedule.few_rows ? kSchedule.first_restarts : kSchedule.first_restarts_many;
}

// k-means from new starts. They compete in float and, where there are many rows, on a sample; a winner that beats
// `best` there is refined on all rows and replaces it where it is better by more than `margin`.
bool Clusters::try_restarts(const Points<double>& points, const KMeansOptions& options, double margin,
                            KMeansResult& best) {
  const Index n = points.rows(), count = std::min(n, std::max(kSchedule.restart_rows, 4 * options.clusters));
  WeightedRows drawn = sample_weighted_rows(weights_, count, options.seed);
  if (std::ssize(drawn.rows) < options.clusters) drawn = sample_weighted_rows(weights_, n, options.seed);
  const std::vector<Index> rows = weights_.empty() ? sample_rows(n, count, options.seed) : drawn.rows;
  KMeansOptions sampled = options;
  if (!options.fixed.empty()) {
    for (std::size_t i = 0; i < rows.size(); ++i) sampled.fixed[i] = options.fixed[rows[i]];
    sampled.fixed.resize(rows.size());
  }
  const bool none = best.labels.empty();
  Points<double> some = take_points(points, rows, context_);
  if (!weights_.empty()) some.weigh(drawn.weights);
  if (!none) sampled.threshold = inertia_of(some, rows, best);
  const KMeansResult winner = kmeans(some.narrow(), sampled, context_);
  if (!none && !(winner.inertia < sampled.threshold)) return false;
  KMeansResult fresh = lloyd(points, winner.centers, options, context_);
  if (!none && fresh.inertia >= best.inertia - margin) return false;
  best = std::move(fresh);
  return true;
}

// Takes new labels over, with the sums U'Z that follow from them, unless rounding made them worse.
void Clusters::move_to(const std::vector<int>& labels, const Matrix& w) {
  Matrix sums = sums_;
  move_rows(z_, labels_, labels, sums, context_);
  std::vector<double> counts = cluster_weights(weights_, labels, options_.clusters);
  const bool first = labels_[0] < 0;
  if (!first && between_of(sums, counts, w) < between_of(sums_, counts_, w)) return;
  moved_ = first ? total_ : rows_moved(labels_, labels, options_.clusters, weights_, total_);
  sums_ = std::move(sums);
  counts_ = std::move(counts);
  labels_ = labels;
}

Matrix Clusters::means(const Matrix& v) const { return means_of(sums_, counts_, v); }
double Clusters::between(const Matrix& w) const { return between_of(sums_, counts_, w); }
Matrix Clusters::between_times(const Matrix& v) const { return product_transposed_left(sums_, means(v)); }

Matrix Clusters::factor(const std::vector<Index>& columns) const {
  Matrix out(sums_.rows(), static_cast<Index>(columns.size()));
  for (Index k = 0; k < out.rows(); ++k) {
    if (counts_[k] == 0) continue;
    const double root = std::sqrt(counts_[k]);
    for (Index j = 0; j < out.cols(); ++j) out(k, j) = sums_(k, columns[j]) / root;
  }
  return out;
}

// --- What an earlier run left --------------------------------------------------------------------------------------

void Clusters::require_sound_shapes(Index dims, bool sampled) const {
  const Index c = options_.clusters;
  const bool centers_fit = start_centers_.rows() == c && start_centers_.cols() >= dims;
  require_state(sampled ? centers_fit : start_centers_.empty(), "centers");
  require_state(sums_.rows() == c && sums_.cols() == z_.cols(), "U'Z");
  require_state(std::ssize(counts_) == c, "U'U");
  require_state(std::ssize(labels_) == z_.rows(), "U");
}

double Clusters::smallest_weight() const {
  double least = weights_.empty() ? 1.0 : kWeightRange * total_;
  for (const double weight : weights_) least = weight > 0 ? std::min(least, weight) : least;
  return least;
}

void Clusters::require_sound_values(bool begun, double trace) const {
  require_state(is_finite(start_centers_) && is_finite(sums_), "not finite");
  // No row is longer than sqrt(tr(S) / w), and no mean of rows.
  const double longest_row = trace / smallest_weight();
  require_state(squared_norm(start_centers_) <= 4 * longest_row * static_cast<double>(options_.clusters), "centers");
  if (!begun) {
    require_state(std::ranges::all_of(labels_, [](int label) { return label == -1; }), "U");
    require_state(std::ranges::all_of(counts_, [](double count) { return count == 0; }), "U'U");
    require_state(squared_norm(sums_) == 0, "U'Z");
    return;
  }
  for (const int label : labels_) require_state(label >= 0 && label < options_.clusters, "U");
  require_state(cluster_weights(weights_, labels_, options_.clusters) == counts_, "U'U");
  Matrix difference = sums_;
  move_rows(z_, labels_, std::vector<int>(labels_.size(), -1), difference, context_);
  // No sum of rows is longer than sqrt(n tr(S)).
  const double longest = std::sqrt(total_ * trace);
  require_state(std::sqrt(squared_norm(difference)) <= 1e-9 * longest, "U'Z");
}

}  // namespace tamis
