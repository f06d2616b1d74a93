#include "tamis/data/weights.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tamis/base/error.h"
#include "tamis/base/random.h"
#include "tamis/base/text/number.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/data/table.h"

namespace tamis {

namespace {
constexpr Flag kWeights{"sample-weight"};
}  // namespace

void require_weights(const std::vector<double>& weights, Index rows) {
  require(std::ssize(weights) == rows, ErrorCode::usage, kWeights, ": ", weights.size(), " numbers, need n = ", rows);
  double most = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    require(std::isfinite(weights[i]) && weights[i] >= 0, ErrorCode::bad_data, kWeights, ": row ", i, ": ", weights[i],
            ", need finite numbers x >= 0");
    most = std::max(most, weights[i]);
  }
  const Index positive = count_weighted(weights);
  require(positive > 0, ErrorCode::bad_data, kWeights, ": all weights are zero, need at least 2 above");
  require(positive > 1, ErrorCode::bad_data, kWeights, ": 1 row has a weight above 0, need at least 2");
  for (std::size_t i = 0; i < weights.size(); ++i) {
    require(weights[i] == 0 || weights[i] >= most / kWeightRange, ErrorCode::bad_data, kWeights, ": row ", i, ": ",
            weights[i], " beside a largest weight of ", most, ", need 0, or at least 1e-12 of the largest");
  }
  const double total = total_weight(weights);
  require(total > 1e-100 && total < 1e100, ErrorCode::bad_data, kWeights, ": the sum is ", total,
          ", need 1e-100 to 1e100");
}

std::vector<double> weights_of(const Labels& labels, const std::string& what) {
  std::vector<double> values;
  for (const std::string& name : labels.names) {
    double value = 0.0;
    require(parse_number(name, value) == NumberStatus::ok, ErrorCode::bad_data, kWeights, ": ", printable(what),
            " holds '", printable(name), "', need finite numbers x >= 0");
    values.push_back(value);
  }
  std::vector<double> out;
  out.reserve(labels.classes.size());
  for (std::size_t i = 0; i < labels.classes.size(); ++i) {
    const int at = labels.classes[i];
    require(at >= 0, ErrorCode::bad_data, kWeights, ": ", printable(what), ", row ", i,
            ": blank or -1, need finite numbers x >= 0");
    out.push_back(values[at]);
  }
  return out;
}

double weighted_degrees(double total) { return std::max(total - 1, total / 2); }

double total_weight(const std::vector<double>& weights) { return std::accumulate(weights.begin(), weights.end(), 0.0); }

double effective_rows(const std::vector<double>& weights) {
  const double total = total_weight(weights);
  double squares = 0;
  for (const double weight : weights) squares += weight / total * (weight / total);
  return 1 / squares;
}

Index count_weighted(const std::vector<double>& weights) {
  return std::ranges::count_if(weights, [](double weight) { return weight > 0; });
}

std::string weights_text(const std::vector<double>& weights) {
  double least = 0, most = 0;
  for (const double weight : weights) {
    if (weight == 0) continue;
    least = most == 0 ? weight : std::min(least, weight);
    most = std::max(most, weight);
  }
  const Index some = count_weighted(weights), none = std::ssize(weights) - some;
  const std::string zeros = none == 0 ? "" : concat("; ", none, none == 1 ? " row" : " rows", " of weight 0");
  return concat(some, " rows of weight ", short_number(least), " to ", short_number(most), ", ",
                short_number(total_weight(weights)), " together", zeros);
}

WeightedRows sample_weighted_rows(const std::vector<double>& weights, Index count, std::uint64_t seed) {
  WeightedRows out;
  const bool all = count_weighted(weights) <= count;
  constexpr std::uint64_t kStream = 0x77656967;  // its own stream of the seed
  const Random random(seed, kStream);
  const double stretch = total_weight(weights) / static_cast<double>(std::max<Index>(count, 1));
  Index drawn = 0;
  double before = 0;
  const auto next = [&] { return stretch * (static_cast<double>(drawn) + random.uniform(drawn)); };
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    before += weights[i];
    double times = all ? weights[i] : 0;
    for (; !all && drawn < count && next() < before; ++drawn) ++times;
    if (times == 0) continue;
    out.rows.push_back(static_cast<Index>(i));
    out.weights.push_back(times);
  }
  return out;
}

}  // namespace tamis
