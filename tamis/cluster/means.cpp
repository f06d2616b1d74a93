#include "tamis/cluster/means.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tamis/base/error.h"

namespace tamis {

std::vector<double> cluster_weights(const std::vector<double>& weights, const std::vector<int>& clusters, Index count) {
  std::vector<double> out(count);
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    if (clusters[i] >= 0) out[clusters[i]] += weights.empty() ? 1.0 : weights[i];
  }
  return out;
}

Matrix cluster_means(const Source& source, const std::vector<int>& clusters, Context& context) {
  const int last = clusters.empty() ? -1 : *std::max_element(clusters.begin(), clusters.end());
  const ColumnMoments moments = column_moments(source, context);
  Matrix means(last + 1, source.cols());
  const std::vector<double> counts = cluster_weights(source.weights(), clusters, means.rows());
  move_rows(Centered(source, moments), std::vector<int>(clusters.size(), -1), clusters, means, context);
  for (Index k = 0; k < means.rows(); ++k) {
    const double share = counts[k] > 0 ? moments.unit / counts[k] : std::numeric_limits<double>::quiet_NaN();
    for (Index j = 0; j < means.cols(); ++j) means(k, j) = moments.mean[j] + share * means(k, j);
  }
  return means;
}

namespace {

Centered centered_at(const Source& source, std::vector<double> center) {
  const std::vector<double>& scale = source.column_scale();  // applied after the center is taken off
  for (std::size_t j = 0; j < scale.size(); ++j) center[j] = scale[j] == 0 ? 0 : center[j] / scale[j];
  return {source, std::move(center), 1.0};
}

}  // namespace

std::vector<int> nearest_clusters(const Source& source, const NearestMean& rule, Context& context) {
  const Index c = rule.directions.cols();
  require(std::ssize(rule.center) == source.cols() && rule.directions.rows() == source.cols() &&
              std::ssize(rule.offset) == c && c > 0,
          ErrorCode::internal, "a rule for ", rule.directions.rows(), " columns and ", c, " clusters, need ",
          source.cols(), " columns");
  const Matrix products = multiply(centered_at(source, rule.center), rule.directions, context);
  std::vector<int> out(source.rows());
  for (Index i = 0; i < source.rows(); ++i) {
    double best = -std::numeric_limits<double>::infinity();
    for (Index k = 0; k < c; ++k) {
      require(std::isfinite(products(i, k)), ErrorCode::bad_data, "row ", i,
              ": NaN, infinite or very large values, need finite numbers");
      const double closeness = products(i, k) - rule.offset[k];
      if (closeness > best) best = closeness, out[i] = static_cast<int>(k);
    }
  }
  return out;
}

}  // namespace tamis
