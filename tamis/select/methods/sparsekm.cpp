#include "tamis/select/methods/sparsekm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "tamis/base/elementary.h"
#include "tamis/base/random.h"
#include "tamis/cluster/kmeans.h"
#include "tamis/data/passes/passes.h"
#include "tamis/data/passes/principal.h"
#include "tamis/select/direct.h"
#include "tamis/select/row_clusters.h"
#include "tamis/select/shared_options.h"
#include "tamis/select/varying.h"

namespace tamis {

namespace {

constexpr Index kStartRows = 4000;                  // of the k-means that everything starts from
constexpr Index kStartNumbers = Index{1} << 25;     // of these rows
constexpr Index kGapRows = 1000, kFewGapRows = 50;  // of the permutation gap, and where rows are long
constexpr Index kGapNumbers = Index{1} << 24;       // of these rows, times c
constexpr Index kLloydSteps = 10;                   // of k-means for one w
constexpr Index kFewRows = 200;                     // up to which every k-means ends with exchanges of single rows
constexpr Index kBounds = 10;                       // values of s, as in the authors' package sparcl
constexpr Index kFineBounds = 7;                    // and then around the best
constexpr double kLeastBound = 1.2, kMostBound = 0.9;

double l1_over_l2(const std::vector<double>& a, double t) {
  double sum = 0, squares = 0;
  for (const double value : a) {
    const double soft = std::max(0.0, value - t);
    sum += soft, squares += soft * soft;
  }
  return squares > 0 ? sum / std::sqrt(squares) : 0;
}

// Clusters of the rows of Z, the sums of their rows, and what follows from them.
class WeightedClusters {
 public:
  // `rows`: some rows of the table, which are all of it where there are few.
  WeightedClusters(const Centered& z, const Matrix& rows, Index clusters, Context& context)
      : z_(z), context_(context), sums_(clusters, z.cols()), means_(clusters, z.cols()), counts_(clusters) {
    if (rows.rows() == z.rows() && z.rows() <= kFewRows) few_rows_ = &rows;
  }

  void start_from(const Matrix& means) {
    means_ = means;
    const std::vector<double> even(z_.cols(), 1.0);
    labels_.assign(z_.rows(), -1);
    step(even);
    exchange(even);
  }

  // One step of k-means where column j counts by w_j; how many rows moved.
  Index step(const std::vector<double>& w) {
    const Index c = means_.rows();
    Matrix v(z_.cols(), c);  // w_j m_kj
    std::vector<double> half(c);
    for (Index k = 0; k < c; ++k) {
      for (Index j = 0; j < z_.cols(); ++j) {
        v(j, k) = w[j] * means_(k, j);
        half[k] += 0.5 * v(j, k) * means_(k, j);
      }
    }
    const Matrix products = multiply(z_, v, context_);
    std::vector<int> nearest(z_.rows());
    Index moved = 0;
    for (Index i = 0; i < z_.rows(); ++i) {
      // ||z - m||^2 = ||z||^2 - 2 (z'm - ||m||^2 / 2); a tie leaves a row where it is.
      Index best = std::max(0, labels_[i]);
      for (Index k = 0; k < c; ++k) {
        if (products(i, k) - half[k] > products(i, best) - half[best]) best = k;
      }
      nearest[i] = static_cast<int>(best);
      moved += nearest[i] != labels_[i] ? 1 : 0;
    }
    if (moved > 0) move_to(nearest);
    return moved;
  }

  // Rows change their cluster one by one, where there are few and that is better.
  void exchange(const std::vector<double>& w) {
    if (few_rows_ == nullptr) return;
    Matrix weighted = *few_rows_;
    for (Index i = 0; i < weighted.rows(); ++i) {
      for (Index j = 0; j < weighted.cols(); ++j) weighted(i, j) *= std::sqrt(w[j]);
    }
    KMeansOptions options;
    options.clusters = means_.rows();
    const std::vector<int> labels = lloyd_from_labels(Points<double>(weighted), labels_, options, context_).labels;
    if (labels != labels_) move_to(labels);
  }

  // a_j = sum_k n_k m_kj^2, since the columns of Z have mean 0.
  std::vector<double> between() const {
    std::vector<double> a(z_.cols());
    if (sums_.rows() == 1) return a;  // whose sums are rounding
    for (Index k = 0; k < sums_.rows(); ++k) {
      if (counts_[k] == 0) continue;
      for (Index j = 0; j < z_.cols(); ++j) a[j] += sums_(k, j) * sums_(k, j) / static_cast<double>(counts_[k]);
    }
    return a;
  }
  const std::vector<int>& labels() const { return labels_; }
  const Matrix& means() const { return means_; }

 private:
  void move_to(const std::vector<int>& labels) {
    if (labels_.empty()) labels_.assign(z_.rows(), -1);
    move_rows(z_, labels_, labels, sums_, context_);
    labels_ = labels;
    std::fill(counts_.begin(), counts_.end(), 0);
    for (const int label : labels_) ++counts_[label];
    for (Index k = 0; k < sums_.rows(); ++k) {
      if (counts_[k] == 0) continue;  // an empty cluster stays where it was
      for (Index j = 0; j < z_.cols(); ++j) means_(k, j) = sums_(k, j) / static_cast<double>(counts_[k]);
    }
  }

  const Centered& z_;
  Context& context_;
  const Matrix* few_rows_ = nullptr;
  std::vector<int> labels_;
  Matrix sums_, means_;
  std::vector<Index> counts_;
};

struct SparseFit {
  std::vector<double> w;
  std::vector<int> labels;
  std::vector<double> objective;  // sum_j w_j a_j
  bool converged = false;
};

double change_of(const std::vector<double>& before, const std::vector<double>& after) {
  double change = 0, size = 0;
  for (std::size_t j = 0; j < before.size(); ++j) {
    change += std::abs(after[j] - before[j]);
    size += std::abs(before[j]);
  }
  return size > 0 ? change / size : 0;
}

// Clusters and weights in turn.
SparseFit sparse_fit(WeightedClusters clusters, double s, Index iterations, double tolerance, Context& context) {
  SparseFit out;
  std::vector<double> a = clusters.between();
  out.w = sparse_weights(a, s);
  while (static_cast<Index>(out.objective.size()) < iterations && !out.converged) {
    Index step = 0;
    while (step < kLloydSteps && clusters.step(out.w) > 0) ++step;
    clusters.exchange(out.w);
    a = clusters.between();
    std::vector<double> w = sparse_weights(a, s);
    out.converged = change_of(out.w, w) <= tolerance;
    out.w = std::move(w);
    out.objective.push_back(std::inner_product(a.begin(), a.end(), out.w.begin(), 0.0));
    context.check_cancelled();
  }
  out.labels = clusters.labels();
  return out;
}

// --- The start ----------------------------------------------------------------------------------------------------

// A table in memory of its own.
Source owned(const Matrix& rows) {
  const auto data = std::make_shared<Matrix>(rows);
  return Source(make_dense_store({data->data(), DType::f64, data->rows(), data->cols(), data->cols(), 1}, data));
}

// Some rows of the table, dense.
Matrix some_rows(const Source& source, Index count, Context& context) {
  return gather_rows(source, sample_rows(source.rows(), count, context.seed), context);
}

// The same of Z.
Matrix centered_rows(Matrix rows, const ColumnMoments& moments) {
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < rows.cols(); ++j) rows(i, j) = (rows(i, j) - moments.mean[j]) / moments.unit;
  }
  return rows;
}

// Labels of k-means on few rows, where single rows are exchanged in every restart; long ones are turned into as many
// columns as there are rows, which leaves their distances as they are.
std::vector<int> cluster_few_rows(const Matrix& rows, Index clusters, Index restarts, Context& context) {
  context.phase("k-means of the rows");
  KMeansOptions options;
  options.clusters = clusters;
  options.restarts = restarts;
  options.seed = context.seed;
  options.to_the_end = true;
  if (rows.cols() <= rows.rows()) return kmeans(rows, options, context).labels;
  const Source source = owned(rows);
  const Centered z(source, column_moments(source, context));
  Matrix points = principal_points(z, rows.rows(), Accuracy::full, context);
  if (points.cols() == 0) points = Matrix(rows.rows(), 1);
  return kmeans(std::move(points), options, context).labels;
}

// Centers of k-means on these rows.
Matrix start_means(const Matrix& rows, Index clusters, Index restarts, Context& context) {
  const UncountedPasses uncounted(context);
  const std::vector<int> labels = rows.rows() <= kFewRows
                                      ? cluster_few_rows(rows, clusters, restarts, context)
                                      : cluster_rows(owned(rows), clusters, restarts, context).labels;
  Matrix means(clusters, rows.cols());
  std::vector<double> counts(clusters);
  for (Index i = 0; i < rows.rows(); ++i) {
    counts[labels[i]] += 1;
    for (Index j = 0; j < rows.cols(); ++j) means(labels[i], j) += rows(i, j);
  }
  for (Index k = 0; k < clusters; ++k) {
    for (Index j = 0; j < rows.cols(); ++j) means(k, j) /= std::max(1.0, counts[k]);
  }
  return means;
}

// --- The gap ------------------------------------------------------------------------------------------------------

// A number of each column, which does not depend on its place: permuted tables are the same for permuted columns.
// Equal columns are counted, so that each gets an order of its own, too.
std::vector<std::uint64_t> keys_of_columns(const Matrix& rows) {
  std::vector<std::uint64_t> keys(rows.cols());
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < rows.cols(); ++j) {
      keys[j] = mix64(keys[j] ^ std::bit_cast<std::uint64_t>(rows(i, j) + 0.0));
    }
  }
  std::unordered_map<std::uint64_t, std::uint64_t> equal;
  for (std::uint64_t& key : keys) {
    if (const std::uint64_t before = equal[key]++; before > 0) key = mix64(key + before);
  }
  return keys;
}

// Each column in an order of its own.
Matrix permuted_columns(const Matrix& rows, const std::vector<std::uint64_t>& keys, std::uint64_t seed) {
  Matrix out = rows;
  for (Index j = 0; j < rows.cols(); ++j) {
    const Random random(seed, keys[j]);
    for (Index i = rows.rows() - 1; i > 0; --i) {
      std::swap(out(i, j), out(random.below(static_cast<std::uint64_t>(i), i + 1), j));
    }
  }
  return out;
}

// log O(s) for each s.
std::vector<double> log_objectives(const Matrix& rows, const std::vector<double>& bounds,
                                   const SparseKmOptions& options, Context& context) {
  const Source source = owned(rows);
  const Centered z(source, column_moments(source, context));
  WeightedClusters start(z, rows, options.clusters, context);
  start.start_from(start_means(rows, options.clusters, options.restarts, context));
  std::vector<double> out;
  for (const double s : bounds) {
    const SparseFit fit = sparse_fit(start, s, options.iterations, options.tolerance, context);
    out.push_back(fit.objective.back() > 0 ? elementary::log(fit.objective.back())
                                           : -std::numeric_limits<double>::infinity());
  }
  return out;
}

// log O(s) - mean log O*(s) in some rows of a table.
class PermutationGap {
 public:
  PermutationGap(const Matrix& as_they_are, const ColumnMoments& moments, const SparseKmOptions& options,
                 Context& context)
      : rows_(centered_rows(as_they_are, moments)),
        keys_(keys_of_columns(as_they_are)),
        options_(options),
        context_(context) {}

  // The best of ten values of s, and then of those around it.
  double best_bound() const {
    const UncountedPasses uncounted(context_);
    const double most = std::max(kLeastBound, kMostBound * std::sqrt(static_cast<double>(rows_.cols())));
    const std::vector<double> coarse = evenly(kLeastBound, most, kBounds);
    const std::vector<double> gaps = gaps_at(coarse, "permutations");
    const std::size_t at = best_of_gaps(gaps);
    const double low = coarse[at == 0 ? 0 : at - 1], high = coarse[std::min(at + 1, coarse.size() - 1)];
    const std::vector<double> fine = evenly(low, high, kFineBounds);
    const std::vector<double> fine_gaps = gaps_at(fine, "finer permutations");
    const std::size_t fine_at = best_of_gaps(fine_gaps);
    return fine_gaps[fine_at] > gaps[at] ? fine[fine_at] : coarse[at];
  }

 private:
  // Evenly in the logarithm.
  static std::vector<double> evenly(double low, double high, Index count) {
    std::vector<double> out;
    for (Index i = 0; i < count; ++i) {
      out.push_back(low * elementary::pow(high / low, static_cast<double>(i) / static_cast<double>(count - 1)));
    }
    return out;
  }
  static std::size_t best_of_gaps(const std::vector<double>& gaps) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < gaps.size(); ++i) {
      if (gaps[i] > gaps[best]) best = i;
    }
    return best;
  }

  std::vector<double> gaps_at(const std::vector<double>& bounds, const char* phase) const {
    std::vector<double> gaps = log_objectives(rows_, bounds, options_, context_);
    const auto permutations = static_cast<double>(options_.permutations);
    for (Index b = 0; b < options_.permutations; ++b) {
      context_.phase(phase, {static_cast<double>(b), permutations});
      const auto seed = context_.seed + 0x5bd1e995u * static_cast<std::uint64_t>(b + 1);
      const auto chance = log_objectives(permuted_columns(rows_, keys_, seed), bounds, options_, context_);
      for (std::size_t i = 0; i < chance.size(); ++i) gaps[i] -= chance[i] / permutations;
    }
    return gaps;
  }

  const Matrix rows_;
  const std::vector<std::uint64_t> keys_;
  const SparseKmOptions& options_;
  Context& context_;
};

void check_clusters_of(const Source& source, const SparseKmOptions& options) {
  SparseKmOptions copy = options;
  validate(describe(copy), "sparsekm");
  require(options.clusters <= source.rows(), ErrorCode::usage, MethodName{"sparsekm"}, ": ", OptionName{"clusters"},
          " = ", options.clusters, ", need 1..n = ", source.rows());
}

// The scores of all columns, and how many are worth taking.
void write_weights(const std::vector<double>& w, const std::vector<Index>& kept, Index d, Selection& out) {
  out.scores.assign(d, 0.0);
  Index positive = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    out.scores[kept[i]] = w[i];
    positive += w[i] > 0 ? 1 : 0;
  }
  out.ranking = rank_by_score(out.scores);
  out.suggested = positive > 0 ? positive : static_cast<Index>(kept.size());
  out.report.resolved.emplace_back("weighted", static_cast<double>(positive));
}

}  // namespace

std::vector<double> sparse_weights(const std::vector<double>& a, double s) {
  constexpr int kHalvings = 200;
  constexpr double kNoWeight = 1e-9;  // scores as close to each other are ties
  double low = 0, high = *std::max_element(a.begin(), a.end());
  if (!(high > 0)) return std::vector<double>(a.size());
  if (l1_over_l2(a, 0) > s) {
    for (int i = 0; i < kHalvings && low < high; ++i) {
      const double middle = low + (high - low) / 2;
      if (middle == low || middle == high) break;
      (l1_over_l2(a, middle) > s ? low : high) = middle;
    }
    // The side that keeps the bound, unless nothing is left there.
    low = l1_over_l2(a, high) > 0 ? high : low;
  }
  std::vector<double> w;
  double squares = 0;
  for (const double value : a) {
    w.push_back(std::max(0.0, value - low));
    squares += w.back() * w.back();
  }
  const double least = kNoWeight * std::sqrt(squares);
  double sum = 0;
  for (double& value : w) {
    value = value > least ? value / std::sqrt(squares) : 0;
    sum += value;
  }
  // Several that lead together: s max a is the most that there can be, and sharing s gives it.
  if (const double by = s / sum; by < 1 - kNoWeight) {
    for (double& value : w) value *= by;
  }
  return w;
}

SparseKmPlan::SparseKmPlan(const Shape& shape, const SparseKmOptions& options, int threads)
    : Plan(shape, Code::everything, threads) {
  const double n = shape.n(), d = shape.d();
  const Index cols = std::max<Index>(1, shape.cols), clusters = options.clusters;
  start_rows = std::min({shape.rows, kStartRows, std::max(clusters, kStartNumbers / cols)});
  const Index long_rows = std::max(kFewGapRows, kGapNumbers / cols / clusters);
  gap_rows = options.bound ? 0 : std::max(clusters, std::min({shape.rows, kGapRows, long_rows}));
  path = gap_rows == 0 ? "products" : concat("products, bound from ", gap_rows, " rows");
  const auto c = static_cast<double>(clusters), m = static_cast<double>(gap_rows);
  const auto first = static_cast<double>(start_rows);
  constexpr double kSteps = 12, kGapSteps = 15, kCopies = 3;
  const Shape sample{start_rows, shape.cols, first * d, false, 1};
  phases = {{"start", kCopies * first * d + row_clusters_numbers(sample, threads)},
            {"gap", 2 * kCopies * m * d},
            {"clusters", 3 * n * c + 4 * c * d}};
  passes = 1 + 2 * kSteps;
  const double flops = shape.sparse ? kSparseSkinnyFlops : kSkinnyFlops;
  const double runs = static_cast<double>((options.permutations + 1) * (kBounds + kFineBounds));
  seconds = (kStatisticsSeconds * shape.entries + kSteps * 4 * shape.entries * c / flops +
             runs * kGapSteps * 4 * m * d * c / kSkinnyFlops) /
                threads +
            (gap_rows > 0 ? 1e-4 * runs : 0);
}

Options describe(SparseKmOptions& o) {
  return {
      shared::clusters(o.clusters),
      {.name = "bound",
       .value = &o.bound,
       .range = at_least(1),
       .help = "bound s of the sum of the weights, 1 to sqrt(d): smaller is sparser",
       .unset_text = "by the permutation gap"},
      {.name = "permutations",
       .python_name = "n_permutations",
       .value = &o.permutations,
       .range = {.low = 1, .high = 10000},
       .help = "number of permuted tables in the gap"},
      shared::restarts(o.restarts, "at the start"),
      shared::iterations(o.iterations),
      shared::tolerance(o.tolerance, "change of the weights"),
  };
}

Selection sparsekm(const Source& source, const SparseKmOptions& options, Context& context) {
  check_clusters_of(source, options);
  const Stopwatch watch(context);
  const Varying table = varying_columns(source, context);
  const SparseKmPlan plan(shape_of(table.source), options, context.threads());
  const Centered z(table.source, table.moments);
  Selection out;
  double s = options.bound.value_or(1);
  if (!options.bound) {
    const Matrix rows = some_rows(table.source, plan.gap_rows, context);
    s = PermutationGap(rows, table.moments, options, context).best_bound();
    out.report.resolved.emplace_back("bound", s);
  }
  context.phase("clusters and weights");
  const Matrix rows = centered_rows(some_rows(table.source, plan.start_rows, context), table.moments);
  WeightedClusters clusters(z, rows, options.clusters, context);
  clusters.start_from(start_means(rows, options.clusters, options.restarts, context));
  // With tolerance 0 even weights that stay as they are do not end it.
  SparseFit fit = sparse_fit(clusters, s, options.iterations, options.tolerance > 0 ? options.tolerance : -1, context);

  write_weights(fit.w, table.kept, source.cols(), out);
  const double total = std::accumulate(table.moments.scatter.begin(), table.moments.scatter.end(), 0.0);
  for (const double value : fit.objective) out.report.objective.push_back(total > 0 ? value / total : 0);
  out.clusters = std::move(fit.labels);
  out.report.status = fit.converged ? Status::converged : Status::max_iterations;
  out.report.iterations = static_cast<Index>(out.report.objective.size());
  out.report.path = plan.path;
  watch.write(out.report);
  return out;
}

Method sparsekm_method() {
  return {
      .name = "sparsekm",
      .python_name = "SparseKMeans",
      .summary = "sparse k-means: clusters and few columns together; chooses the number of columns itself",
      .formula =
          "maximize sum_j w_j a_j over clusters and w >= 0, ||w||_2 <= 1, ||w||_1 <= s; a_j = between-cluster sum of "
          "squares of column j; score_j = w_j",
      .reference = "Witten & Tibshirani: A Framework for Feature Selection in Clustering. JASA 2010",
      .bind = bind<SparseKmOptions, SparseKmPlan, sparsekm>,
      .remote = true,
      .metric = ClusterMetric::scores,
      .reasons = {.text = "The score is the weight of the column in the k-means that found the clusters; columns with "
                          "weight 0 take no part in it."},
  };
}

}  // namespace tamis
