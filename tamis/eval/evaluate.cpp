#include "tamis/eval/evaluate.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "tamis/base/error.h"
#include "tamis/base/random.h"
#include "tamis/cluster/kmeans.h"
#include "tamis/data/passes/passes.h"
#include "tamis/eval/metrics.h"
#include "tamis/eval/redundancy.h"

namespace tamis {

namespace {

constexpr double kRedundancyWork = 2e11;  // multiplications: a minute or two of one core

// The source's columns as points, less their means: k-means would lose digits to a large offset.
Matrix centred_points(const Source& source, const ColumnMoments& moments, Context& context) {
  Matrix points = gather(source, context);
  for (Index i = 0; i < points.rows(); ++i) {
    double* row = points.row(i);
    for (Index j = 0; j < points.cols(); ++j) {
      row[j] = (row[j] - moments.mean[j]) / moments.unit;
    }
  }
  return points;
}

// Rows of zeros stay.
Source rows_of_length_one(const Source& source, Context& context) {
  std::vector<double> factors = row_squared_norms(source, context);
  for (double& value : factors) value = value > 0 ? 1 / std::sqrt(value) : 1.0;
  return source.with_row_scale(factors);
}

// k-means from single starts, each with its own seed, against the classes.
void cluster_and_compare(const Source& part, const std::vector<int>& classes, const EvaluateOptions& options,
                         SubsetScore& score, Context& context) {
  const Points<double> points(centred_points(part, column_moments(part, context), context));
  score.starts.resize(options.repeats);
  context.pool().run(options.repeats, [&](Index r) {
    KMeansOptions kmeans_options;
    kmeans_options.clusters = options.clusters;
    kmeans_options.restarts = 1;
    kmeans_options.seed = context.seed + static_cast<std::uint64_t>(r);
    const KMeansResult found = kmeans(points, kmeans_options, context);
    score.starts[r] = {clustering_accuracy(classes, found.labels), normalized_mutual_info(classes, found.labels),
                       adjusted_rand(classes, found.labels), found.inertia};
  });
  summarize_starts(score);
  score.best = *std::min_element(score.starts.begin(), score.starts.end(), [](const auto& a, const auto& b) {
    return a.inertia < b.inertia;  // ties: the earlier
  });
}

std::vector<double> means(const std::vector<SubsetScore>& scores, MeanSd SubsetScore::*measure) {
  std::vector<double> values;
  for (const auto& one : scores) values.push_back((one.*measure).mean);
  return values;
}

// The k columns of largest variance, lower index first among equals.
std::vector<Index> largest_variance(const Source& source, std::size_t k, Context& context) {
  const auto moments = column_moments(source, context);
  std::vector<Index> order(moments.scatter.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return moments.scatter[a] > moments.scatter[b]; });
  order.resize(k);
  std::sort(order.begin(), order.end());
  return order;
}

// k of 0 .. count-1, by the first k steps of a Fisher-Yates shuffle; the stream keeps subsets apart.
std::vector<Index> random_subset(Index count, std::size_t k, std::uint64_t seed, std::uint64_t stream) {
  constexpr std::uint64_t kStreams = 0x7375627365747300ULL;  // apart from other users of the seed
  const Random random(seed, kStreams + stream);
  std::vector<Index> order(count);
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; i < k; ++i) {
    const Index step = random.below(i, count - static_cast<Index>(i));
    std::swap(order[i], order[i + step]);
  }
  order.resize(k);
  std::sort(order.begin(), order.end());
  return order;
}

void check(const Source& source, const std::vector<int>& classes, const std::vector<Index>& features,
           const EvaluateOptions& options) {
  require(static_cast<Index>(classes.size()) == source.rows(), ErrorCode::usage, "evaluate: ", classes.size(),
          " labels, need n = ", source.rows());
  require(!features.empty(), ErrorCode::usage, "evaluate: 0 features, need at least 1");
  require(features.front() >= 0 && features.back() < source.cols(), ErrorCode::usage, "evaluate: feature ",
          features.front() < 0 ? features.front() : features.back(), ", need 0..", source.cols() - 1);
  require(options.clusters >= 1 && options.clusters <= source.rows(), ErrorCode::usage,
          "evaluate: ", OptionName{"clusters"}, " = ", options.clusters, ", need 1..n = ", source.rows());
  require(options.repeats >= 1, ErrorCode::usage, "evaluate: ", OptionName{"repeats"}, " = ", options.repeats,
          ", need x >= 1");
  require(options.subsets >= 1, ErrorCode::usage, "evaluate: ", OptionName{"subsets"}, " = ", options.subsets,
          ", need x >= 1");
}

}  // namespace

MeanSd mean_sd(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  MeanSd result;
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  if (values.size() > 1) result.sd = std::sqrt(squares / (count - 1.0));
  return result;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

void summarize_starts(SubsetScore& score) {
  const auto over = [&](double StartScore::*measure) {
    std::vector<double> values;
    for (const auto& start : score.starts) values.push_back(start.*measure);
    return mean_sd(values);
  };
  score.accuracy = over(&StartScore::accuracy);
  score.nmi = over(&StartScore::nmi);
  score.rand = over(&StartScore::rand);
}

std::optional<Difference> paired_difference(const SubsetScore& a, const SubsetScore& b, double StartScore::*measure) {
  if (a.starts.size() != b.starts.size() || a.starts.size() < 2) return std::nullopt;
  std::vector<double> differences;
  for (std::size_t r = 0; r < a.starts.size(); ++r) differences.push_back(a.starts[r].*measure - b.starts[r].*measure);
  const MeanSd found = mean_sd(differences);
  const auto n = static_cast<double>(differences.size());
  const double half = student_bound(0.95, static_cast<Index>(differences.size()) - 1) * found.sd / std::sqrt(n);
  return Difference{found.mean, found.mean - half, found.mean + half};
}

namespace {

// P(|T| <= t) for whole degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4).
double student_coverage(double t, Index degrees) {
  const double theta = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double s = std::sin(theta), c = std::cos(theta);
  const bool odd = degrees % 2 == 1;
  double term = odd ? c : 1.0, sum = degrees == 1 ? 0.0 : term;
  for (Index i = odd ? 3 : 2; i < degrees; i += 2) {
    term *= c * c * static_cast<double>(i - 1) / static_cast<double>(i);
    sum += term;
  }
  return odd ? (theta + s * sum) * 2.0 / std::numbers::pi : s * sum;
}

}  // namespace

double student_bound(double covered, Index degrees) {
  double low = 0.0, high = 1.0;
  while (student_coverage(high, degrees) < covered) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (student_coverage(middle, degrees) < covered ? low : high) = middle;
  }
  return high;
}

SubsetScore score_subset(const Source& source, const std::vector<int>& classes, const std::vector<Index>& features,
                         const EvaluateOptions& options, Index measurings, Context& context) {
  const Source chosen = source.with_columns(features);
  const Source part = options.unit_rows ? rows_of_length_one(chosen, context) : chosen;
  SubsetScore score;
  score.features = part.cols();
  if (!classes.empty()) cluster_and_compare(part, classes, options, score, context);
  const auto k = static_cast<double>(part.cols());
  const double work = k * k * static_cast<double>(part.rows()) * static_cast<double>(measurings);
  if (options.redundancy && work <= kRedundancyWork) score.redundancy = redundancy(part, context);
  return score;
}

std::vector<SubsetScore> score_random_subsets(const Source& source, const std::vector<int>& classes, Index features,
                                              const EvaluateOptions& options, Context& context) {
  std::vector<SubsetScore> scores;
  for (Index s = 0; s < options.subsets; ++s) {
    context.phase("random subsets", {static_cast<double>(s), static_cast<double>(options.subsets)});
    const auto subset = random_subset(source.cols(), features, context.seed, static_cast<std::uint64_t>(s));
    scores.push_back(score_subset(source, classes, subset, options, options.subsets, context));
  }
  return scores;
}

std::optional<SubsetScore> score_all(const Source& source, const std::vector<int>& classes,
                                     const EvaluateOptions& options, std::vector<std::string>& notes,
                                     Context& context) {
  const double cells = static_cast<double>(source.rows()) * static_cast<double>(source.cols());
  double most = static_cast<double>(options.max_cells);
  if (context.memory_limit > 0) most = std::min(most, static_cast<double>(context.memory_limit) / (4 * sizeof(double)));
  if (!classes.empty() && cells > most) {
    notes.push_back(concat("the row 'all' is left out: ", source.rows(), " x ", source.cols(),
                           " numbers are more than the ", std::floor(most), " loaded for it"));
    return std::nullopt;
  }
  context.phase("all features");
  std::vector<Index> every(source.cols());
  std::iota(every.begin(), every.end(), 0);
  return score_subset(source, classes, every, options, 1, context);
}

SubsetScore summary_of(const std::vector<SubsetScore>& subsets) {
  std::vector<double> redundancies;
  for (const auto& one : subsets) {
    if (one.redundancy) redundancies.push_back(*one.redundancy);
  }
  SubsetScore summary;
  summary.features = subsets.front().features;
  summary.accuracy = mean_sd(means(subsets, &SubsetScore::accuracy));
  summary.nmi = mean_sd(means(subsets, &SubsetScore::nmi));
  summary.rand = mean_sd(means(subsets, &SubsetScore::rand));
  if (!redundancies.empty()) summary.redundancy = mean_sd(redundancies).mean;
  return summary;
}

double p_value(const std::vector<SubsetScore>& subsets, MeanSd SubsetScore::*measure, double given) {
  const auto as_good = std::count_if(subsets.begin(), subsets.end(),
                                     [&](const SubsetScore& one) { return (one.*measure).mean >= given; });
  return static_cast<double>(1 + as_good) / static_cast<double>(1 + subsets.size());
}

Evaluation evaluate_features(const Source& source, const std::vector<int>& classes, std::vector<Index> features,
                             const EvaluateOptions& options, Context& context) {
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  check(source, classes, features, options);
  Evaluation result;
  const Stage stage(context, "evaluate");
  context.phase("the given features");
  result.given = score_subset(source, classes, features, options, 1, context);
  result.max_variance =
      score_subset(source, classes, largest_variance(source, features.size(), context), options, 1, context);
  result.all = score_all(source, classes, options, result.notes, context);

  const auto subsets = score_random_subsets(source, classes, result.given.features, options, context);
  result.random = {summary_of(subsets), p_value(subsets, &SubsetScore::accuracy, result.given.accuracy.mean),
                   p_value(subsets, &SubsetScore::nmi, result.given.nmi.mean),
                   p_value(subsets, &SubsetScore::rand, result.given.rand.mean)};
  return result;
}

}  // namespace tamis
