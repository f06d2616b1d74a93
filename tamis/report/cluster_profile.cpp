#include "tamis/report/cluster_profile.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tamis/base/error.h"
#include "tamis/base/text/spelling.h"
#include "tamis/cluster/means.h"
#include "tamis/data/passes/sample.h"
#include "tamis/linalg/dense.h"

namespace tamis {

namespace {

constexpr std::size_t kMeansOf = 2000;  // features
constexpr Index kSampledRows = 5000;
constexpr std::size_t kSampledColumns = 200;
constexpr std::size_t kSpreadOf = 40;  // features whose distributions are kept
constexpr double kNotable = 0.5;       // standard deviations between the highest and the lowest mean
constexpr double kRounding = 1e-12;
constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();

// Where columns of the table stand among the available ones, which are increasing.
std::vector<Index> among(const std::vector<Index>& available, const std::vector<Index>& columns) {
  std::vector<Index> out;
  for (const Index j : columns) {
    out.push_back(std::lower_bound(available.begin(), available.end(), j) - available.begin());
  }
  return out;
}

std::vector<Index> first_of(const std::vector<Index>& all, std::size_t count) {
  return {all.begin(), all.begin() + static_cast<Index>(std::min(count, all.size()))};
}

ColumnMoments moments_of(const ColumnMoments& all, const std::vector<Index>& columns) {
  ColumnMoments some;
  some.rows = all.rows, some.weight = all.weight, some.unit = all.unit;
  for (const Index j : columns) {
    some.mean.push_back(all.mean[j]), some.scatter.push_back(all.scatter[j]);
    some.min.push_back(all.min[j]), some.max.push_back(all.max[j]);
    some.varying.push_back(all.varying[j]), some.stored.push_back(all.stored[j]);
  }
  return some;
}

// mean_k = center + unit * (sum of the cluster's rows of Z) / size
void add_means(const Source& kept, const ColumnMoments& moments, const std::vector<int>& clusters,
               const std::vector<Index>& available, ClusterProfile& out, Context& context) {
  const std::vector<Index> places = among(available, out.features);
  std::vector<Index> columns = places;
  std::ranges::sort(columns);
  const ColumnMoments some = moments_of(moments, columns);
  Matrix sums(out.clusters(), static_cast<Index>(columns.size()));
  const std::vector<double> sizes = cluster_weights(kept.weights(), clusters, out.clusters());
  context.phase("means by cluster");
  move_rows(Centered(kept.with_columns(columns), some), std::vector<int>(clusters.size(), -1), clusters, sums, context);
  out.means = Matrix(static_cast<Index>(places.size()), out.clusters());
  for (std::size_t f = 0; f < places.size(); ++f) {
    const Index at = std::ranges::lower_bound(columns, places[f]) - columns.begin();
    out.mean.push_back(some.mean[at]);
    out.deviation.push_back(some.varies(at) ? std::sqrt(some.variance(at)) : 0.0);
    for (Index k = 0; k < out.clusters(); ++k) {
      const double mean = sizes[k] > 0 ? some.mean[at] + some.unit * sums(k, at) / sizes[k] : kAbsent;
      // What is left of a center that cancels is rounding.
      const bool rounding = std::abs(mean) < kRounding * (std::abs(some.mean[at]) + out.deviation.back());
      out.means(static_cast<Index>(f), k) = rounding ? 0.0 : mean;
    }
  }
}

// The sampled rows with their columns in the given order.
Matrix gather_in_order(const Source& source, const std::vector<Index>& rows, const std::vector<Index>& places,
                       Context& context) {
  std::vector<Index> columns = places;
  std::ranges::sort(columns);
  const Matrix found = gather_rows(source.with_columns(columns), rows, context);
  Matrix out(found.rows(), found.cols());
  for (std::size_t f = 0; f < places.size(); ++f) {
    const Index at = std::ranges::lower_bound(columns, places[f]) - columns.begin();
    for (Index i = 0; i < found.rows(); ++i) out(i, static_cast<Index>(f)) = found(i, at);
  }
  return out;
}

// Linear interpolation between the order statistics, as NumPy does it.
double quantile_of(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const double above = below + 1 < sorted.size() ? sorted[below + 1] : sorted[below];
  return sorted[below] + (place - static_cast<double>(below)) * (above - sorted[below]);
}

void add_quantiles(const Matrix& values, ClusterProfile& out) {
  for (Index f = 0; f < static_cast<Index>(out.spread_of.size()); ++f) {
    std::vector<std::vector<double>> by_cluster(out.sizes.size());
    for (Index i = 0; i < values.rows(); ++i) by_cluster[out.row_cluster[i]].push_back(values(i, f));
    auto& spread = out.quantiles.emplace_back();
    for (auto& one : by_cluster) {
      std::ranges::sort(one);
      Quantiles& five = spread.emplace_back();
      constexpr std::array<double, 5> kShares = {0.05, 0.25, 0.5, 0.75, 0.95};
      for (std::size_t q = 0; q < five.size(); ++q) five[q] = one.empty() ? kAbsent : quantile_of(one, kShares[q]);
    }
  }
}

// Columns of mean 0; of standard deviation 1, too, where that is wanted.
void center_columns(Matrix& a, bool standardize) {
  const auto n = static_cast<double>(a.rows());
  for (Index j = 0; j < a.cols(); ++j) {
    double mean = 0.0, squares = 0.0;
    for (Index i = 0; i < a.rows(); ++i) mean += a(i, j) / n;
    for (Index i = 0; i < a.rows(); ++i) a(i, j) -= mean, squares += a(i, j) * a(i, j);
    const double scale = standardize && squares > 0 ? std::sqrt(n / squares) : 1.0;
    for (Index i = 0; i < a.rows(); ++i) a(i, j) *= scale;
  }
}

// Two principal components of centered columns. The sign is that of the largest weight.
void add_map(const Matrix& z, ClusterProfile& out) {
  const Index m = z.cols(), count = std::min<Index>(2, m);
  const Matrix gram = product_transposed_left(z, z);
  double trace = 0.0;
  for (Index j = 0; j < m; ++j) trace += gram(j, j);
  const EigenPairs pairs = symmetric_eigen_largest(gram, count);
  out.map = Matrix(z.rows(), 2);
  for (Index p = 0; p < count; ++p) {
    Index largest = 0;
    for (Index j = 1; j < m; ++j) {
      if (std::abs(pairs.vectors(j, p)) > std::abs(pairs.vectors(largest, p))) largest = j;
    }
    const double sign = pairs.vectors(largest, p) < 0 ? -1.0 : 1.0;
    for (Index i = 0; i < z.rows(); ++i) {
      for (Index j = 0; j < m; ++j) out.map(i, p) += sign * z(i, j) * pairs.vectors(j, p);
    }
    if (trace > 0) out.explained += pairs.values[p] / trace;
  }
}

void add_sample(const Source& kept, const ColumnMoments& moments, const SelectResult& result,
                const std::vector<int>& clusters, ClusterProfile& out, Context& context) {
  std::vector<Index> known;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    if (clusters[i] >= 0) known.push_back(static_cast<Index>(i));
  }
  const Index count = std::min(kSampledRows, static_cast<Index>(known.size()));
  for (const Index i : draw_rows(static_cast<Index>(known.size()), count, context.seed)) out.rows.push_back(known[i]);
  for (const Index i : out.rows) out.row_cluster.push_back(clusters[i]);
  const std::vector<Index> places = among(result.available, first_of(result.selected, kSampledColumns));
  context.phase("sample of rows");
  Matrix values = gather_in_order(kept, out.rows, places, context);
  out.spread_of = first_of(result.selected, kSpreadOf);
  add_quantiles(values, out);
  const Matrix& w = result.selection.components;
  out.by_components = w.cols() >= 2;
  if (!out.by_components) {
    center_columns(values, true);
    add_map(values, out);
    return;
  }
  if (result.scale != Scaling::none) {
    values = gather_in_order(scaled(kept, result.scale, moments, context), out.rows, places, context);
  }
  Matrix chosen(static_cast<Index>(places.size()), w.cols());
  for (std::size_t f = 0; f < places.size(); ++f) {
    std::copy(w.row(places[f]), w.row(places[f]) + w.cols(), chosen.row(static_cast<Index>(f)));
  }
  center_columns(values, false);
  add_map(product(values, chosen), out);
}

}  // namespace

std::vector<int> known_clusters(const SelectResult& result, Index rows, std::uint64_t seed) {
  const Selection& selection = result.selection;
  std::vector<int> out;
  if (static_cast<Index>(selection.clusters.size()) == rows) {
    out = selection.clusters;
  } else if (const auto& guidance = selection.guidance; guidance && !guidance->groups.empty()) {
    out.assign(rows, -1);
    const auto looked_at = draw_rows(rows, static_cast<Index>(guidance->groups.size()), seed);
    for (std::size_t i = 0; i < looked_at.size(); ++i) out[looked_at[i]] = guidance->groups[i];
  }
  return out;
}

double ClusterProfile::standardized(std::size_t feature, Index cluster) const {
  const double sd = deviation[feature];
  return sd > 0 ? (means(static_cast<Index>(feature), cluster) - mean[feature]) / sd : 0.0;
}

ClusterProfile profile_clusters(const Source& kept, const ColumnMoments& moments, const SelectResult& result,
                                const std::vector<int>& clusters, bool every_feature, Context& context) {
  const UncountedPasses uncounted(context);
  ClusterProfile out;
  out.sizes.resize(*std::ranges::max_element(clusters) + 1);
  for (const int cluster : clusters) {
    if (cluster >= 0) ++out.sizes[cluster], ++out.known;
  }
  out.features = first_of(result.ranking, every_feature ? result.ranking.size() : kMeansOf);
  add_means(kept, moments, clusters, result.available, out, context);
  add_sample(kept, moments, result, clusters, out, context);
  return out;
}

namespace {

std::string mean_text(double value) { return (value < 0 ? "\u2212" : "") + short_number(std::abs(value), 3); }

}  // namespace

std::string difference_text(const ClusterProfile& profile, std::size_t feature) {
  const auto f = static_cast<Index>(feature);
  Index high = -1, low = -1;
  for (Index k = 0; k < profile.clusters(); ++k) {
    if (profile.sizes[k] == 0) continue;
    if (high < 0 || profile.means(f, k) > profile.means(f, high)) high = k;
    if (low < 0 || profile.means(f, k) < profile.means(f, low)) low = k;
  }
  if (high < 0 || profile.deviation[feature] == 0.0) return "";
  const double apart = profile.standardized(feature, high) - profile.standardized(feature, low);
  if (apart < kNotable) return "much the same in every cluster";
  return concat("high in cluster ", high, " (mean ", mean_text(profile.means(f, high)), "), low in ", low, " (",
                mean_text(profile.means(f, low)), ")");
}

std::string strip_of(const ClusterProfile& profile, std::size_t feature) {
  const auto f = static_cast<Index>(feature);
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (Index k = 0; k < profile.clusters(); ++k) {
    if (profile.sizes[k] > 0) {
      low = std::min(low, profile.means(f, k)), high = std::max(high, profile.means(f, k));
    }
  }
  std::string out;
  for (Index k = 0; k < profile.clusters(); ++k) {
    const double share = high > low ? (profile.means(f, k) - low) / (high - low) : 0.0;
    out += profile.sizes[k] == 0 ? '-' : "0123456789abcdef"[std::lround(15.0 * share)];
  }
  return out;
}

}  // namespace tamis
