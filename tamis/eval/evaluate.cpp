#include "tamis/eval/evaluate.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tamis/base/error.h"
#include "tamis/base/random.h"
#include "tamis/cluster/kmeans.h"
#include "tamis/data/passes.h"
#include "tamis/eval/metrics.h"
#include "tamis/eval/redundancy.h"

namespace tamis {

namespace {

constexpr double kRedundancyWork = 2e11;  // multiplications: a minute or two of one core

MeanSd mean_sd(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  MeanSd result;
  result.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  if (values.size() > 1) result.sd = std::sqrt(squares / (count - 1.0));
  return result;
}

// The source's columns as points, less their means: k-means would lose digits to a large offset.
Matrix centred_points(const Source& source, const ColumnMoments& moments, Context& context) {
  Matrix points = gather(source, context);
  for (Index i = 0; i < points.rows(); ++i) {
    double* row = points.row(i);
    for (Index j = 0; j < points.cols(); ++j) {
      const auto column = static_cast<std::size_t>(j);
      row[j] = (row[j] - moments.mean[column]) / moments.unit;
    }
  }
  return points;
}

class Scorer {
 public:
  Scorer(const Source& source, const std::vector<int>& classes, const EvaluateOptions& options, Context& context)
      : source_(source), classes_(classes), options_(options), context_(context) {}

  // `measurings`: how many subsets of this size will be measured, which decides whether redundancy is affordable.
  SubsetScore operator()(const std::vector<Index>& features, Index measurings) const {
    const Source part = source_.with_columns(features);
    const Points<double> points(centred_points(part, column_moments(part, context_), context_));
    const auto repeats = static_cast<std::size_t>(options_.repeats);
    std::vector<double> accuracy(repeats), nmi(repeats), rand(repeats);
    context_.pool().run(options_.repeats, [&](Index r) {
      KMeansOptions kmeans_options;
      kmeans_options.clusters = options_.clusters;
      kmeans_options.restarts = 1;
      kmeans_options.seed = context_.seed + static_cast<std::uint64_t>(r);
      const auto labels = kmeans(points, kmeans_options, context_).labels;
      const auto at = static_cast<std::size_t>(r);
      accuracy[at] = clustering_accuracy(classes_, labels);
      nmi[at] = normalized_mutual_info(classes_, labels);
      rand[at] = adjusted_rand(classes_, labels);
    });
    SubsetScore score{part.cols(), mean_sd(accuracy), mean_sd(nmi), mean_sd(rand), std::nullopt};
    const auto k = static_cast<double>(part.cols());
    const double work = k * k * static_cast<double>(part.rows()) * static_cast<double>(measurings);
    if (work <= kRedundancyWork) score.redundancy = redundancy(part, context_);
    return score;
  }

 private:
  const Source& source_;
  const std::vector<int>& classes_;
  const EvaluateOptions& options_;
  Context& context_;
};

// The k columns of largest variance, lower index first among equals.
std::vector<Index> largest_variance(const Source& source, std::size_t k, Context& context) {
  const auto moments = column_moments(source, context);
  std::vector<Index> order(moments.scatter.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return moments.scatter[static_cast<std::size_t>(a)] > moments.scatter[static_cast<std::size_t>(b)];
  });
  order.resize(k);
  std::sort(order.begin(), order.end());
  return order;
}

// k of 0 .. count-1, by the first k steps of a Fisher-Yates shuffle; the stream keeps subsets apart.
std::vector<Index> random_subset(Index count, std::size_t k, std::uint64_t seed, std::uint64_t stream) {
  constexpr std::uint64_t kStreams = 0x7375627365747300ULL;  // apart from other users of the seed
  const Random random(seed, kStreams + stream);
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; i < k; ++i) {
    const Index step = random.below(i, count - static_cast<Index>(i));
    std::swap(order[i], order[i + static_cast<std::size_t>(step)]);
  }
  order.resize(k);
  std::sort(order.begin(), order.end());
  return order;
}

double p_value(const std::vector<double>& random, double given) {
  const auto as_good = std::count_if(random.begin(), random.end(), [&](double value) { return value >= given; });
  return static_cast<double>(1 + as_good) / static_cast<double>(1 + random.size());
}

RandomBand random_band(const Scorer& score, const SubsetScore& given, Index columns, const EvaluateOptions& options,
                       Context& context) {
  std::vector<double> accuracy, nmi, rand, redundancies;
  for (Index s = 0; s < options.subsets; ++s) {
    context.progress("evaluate", 0.1 + 0.9 * static_cast<double>(s) / static_cast<double>(options.subsets),
                     text("random subset ", s + 1, " of ", options.subsets));
    const auto subset =
        random_subset(columns, static_cast<std::size_t>(given.features), context.seed, static_cast<std::uint64_t>(s));
    const auto one = score(subset, options.subsets);
    accuracy.push_back(one.accuracy.mean);
    nmi.push_back(one.nmi.mean);
    rand.push_back(one.rand.mean);
    if (one.redundancy) redundancies.push_back(*one.redundancy);
  }
  RandomBand band{mean_sd(accuracy), mean_sd(nmi), mean_sd(rand), std::nullopt, 1.0, 1.0, 1.0};
  if (!redundancies.empty()) band.redundancy = mean_sd(redundancies).mean;
  band.accuracy_p = p_value(accuracy, given.accuracy.mean);
  band.nmi_p = p_value(nmi, given.nmi.mean);
  band.rand_p = p_value(rand, given.rand.mean);
  return band;
}

void check(const Source& source, const std::vector<int>& classes, const std::vector<Index>& features,
           const EvaluateOptions& options) {
  require(static_cast<Index>(classes.size()) == source.rows(), ErrorCode::usage, "evaluate: ", classes.size(),
          " labels, need n = ", source.rows());
  require(!features.empty(), ErrorCode::usage, "evaluate: 0 features, need at least 1");
  require(features.front() >= 0 && features.back() < source.cols(), ErrorCode::usage, "evaluate: feature ",
          features.front() < 0 ? features.front() : features.back(), ", need 0..", source.cols() - 1);
  require(options.clusters >= 1 && options.clusters <= source.rows(), ErrorCode::usage,
          "evaluate: clusters = ", options.clusters, ", need 1..n = ", source.rows());
  require(options.repeats >= 1, ErrorCode::usage, "evaluate: repeats = ", options.repeats, ", need x >= 1");
  require(options.subsets >= 1, ErrorCode::usage, "evaluate: subsets = ", options.subsets, ", need x >= 1");
}

}  // namespace

Evaluation evaluate_features(const Source& source, const std::vector<int>& classes, std::vector<Index> features,
                             const EvaluateOptions& options, Context& context) {
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  check(source, classes, features, options);
  const Scorer score(source, classes, options, context);
  Evaluation result;
  context.progress("evaluate", 0.0, "the given features");
  result.given = score(features, 1);
  result.max_variance = score(largest_variance(source, features.size(), context), 1);

  const double cells = static_cast<double>(source.rows()) * static_cast<double>(source.cols());
  double most = static_cast<double>(options.max_cells);
  if (context.memory_limit > 0) most = std::min(most, static_cast<double>(context.memory_limit) / (4 * sizeof(double)));
  if (cells <= most) {
    context.progress("evaluate", 0.05, "all features");
    std::vector<Index> every(static_cast<std::size_t>(source.cols()));
    std::iota(every.begin(), every.end(), 0);
    result.all = score(every, 1);
  } else {
    result.notes.push_back(text("all features were not clustered: ", source.rows(), " x ", source.cols(),
                                " numbers, and at most ", most, " are taken into memory for it"));
  }
  result.random = random_band(score, result.given, source.cols(), options, context);
  return result;
}

}  // namespace tamis
