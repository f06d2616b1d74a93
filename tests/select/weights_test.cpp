// The methods that use the weights of rows, against tables in which rows of weight w stand w times.
#include "tamis/data/weights.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tamis/run/select.h"
#include "tamis/select/css/css.h"
#include "tamis/select/methods/maxvar.h"
#include "tamis/select/ufcm/ufcm.h"
#include "tests/support/checks.h"
#include "tests/support/ufcm_twin.h"
#include "tests/support/weights.h"
#include "tests/support/workers.h"

namespace tamis {
namespace {

using support::repeated;
using support::whole_weights;

// Dense and sparse, in memory and on disk.
std::vector<support::Layout> some_layouts() {
  std::vector<support::Layout> out;
  for (const auto& layout : support::layouts()) {
    const bool wanted = layout.name == "f64" || layout.name == "fortran f64" || layout.name == "f64 on disk" ||
                        layout.name == "sparse f64" || layout.name == "sparse f32 on disk";
    if (wanted) out.push_back(layout);
  }
  return out;
}

Matrix whole_mixture(Index n, Index d, std::uint64_t seed) {
  Matrix x = support::mixture(n, d, 3, 4, 6, seed);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = std::round(4 * x.data()[i]);
  return x;
}

void expect_close(const std::vector<double>& found, const std::vector<double>& wanted, const std::string& name) {
  EXPECT_LE(support::largest_difference(found, wanted), 1e-10 * support::largest(wanted)) << name;
}

TEST(WeightedMaxVar, IsThatOfRepeatedRows) {
  Context context(2);
  const Matrix x = whole_mixture(90, 12, 1);
  for (const auto& layout : some_layouts()) {
    const Selection found = maxvar(layout.make(x, 7).with_weights(whole_weights(90)), {}, context);
    const Selection wanted = maxvar(layout.make(repeated(x, whole_weights(90)), 7), {}, context);
    expect_close(found.scores, wanted.scores, layout.name);
    EXPECT_EQ(found.ranking, wanted.ranking);
  }
}

// More rows than columns, and fewer; with swaps, groups, and columns of any deviation.
TEST(WeightedCss, IsThatOfRepeatedRows) {
  Context context(2);
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{90, 12}, {40, 60}}) {
    const Matrix x = whole_mixture(n, d, 2);
    for (const auto& layout : some_layouts()) {
      const Source weighted = layout.make(x, kBlockRows).with_weights(whole_weights(n));
      const Source plain = layout.make(repeated(x, whole_weights(n)), kBlockRows);
      CssOptions options;
      options.length = 8;
      for (const bool standardize : {true, false}) {
        options.standardize = standardize;
        options.swaps = standardize ? 2 : 0;
        const Selection found = css(weighted, options, context), wanted = css(plain, options, context);
        for (std::size_t k = 0; k < 8; ++k) EXPECT_EQ(found.ranking[k], wanted.ranking[k]) << layout.name << ' ' << k;
        expect_close(found.report.terms[0].second, wanted.report.terms[0].second, layout.name);
      }
    }
  }
}

// tr(W'SW), ||ZW - UG||^2 and R(W) of the table with repeated rows, at the W and U that were found.
TEST(WeightedUfcm, ObjectiveIsThatOfRepeatedRows) {
  Context context(2);
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{120, 12}, {60, 90}, {3000, 8}}) {
    const Matrix x = whole_mixture(n, d, 3);
    const std::vector<double> weights = whole_weights(n);
    for (const auto& layout : some_layouts()) {
      for (const double alpha : {0.3, 1.0, 2.0}) {
        UfcmOptions options;
        options.clusters = 3;
        options.alpha = alpha;
        options.iterations = 12;
        const Selection found = ufcm(layout.make(x, kBlockRows).with_weights(weights), options, context);
        double beta = 0;
        for (const auto& [name, value] : found.report.resolved) beta = name == "beta" ? value : beta;
        const support::UfcmTerms terms =
            support::ufcm_terms(repeated(x, weights), found.components, repeated(found.clusters, weights), options.p);
        const double size = terms.magnitude(alpha, beta);
        EXPECT_NEAR(found.report.terms[0].second.back(), terms.scatter, 1e-8 * size) << layout.name << ' ' << alpha;
        EXPECT_NEAR(found.report.terms[1].second.back(), terms.within, 1e-8 * size) << layout.name << ' ' << alpha;
        EXPECT_NEAR(found.report.objective.back(), terms.objective(alpha, beta), 1e-8 * size) << layout.name;
        const auto& objective = found.report.objective;
        for (std::size_t t = 1; t < objective.size(); ++t) EXPECT_GE(objective[t], objective[t - 1] - 1e-9 * size);
      }
    }
  }
}

// Where U is given, nothing is left to chance: W and beta are those of repeated rows.
TEST(WeightedUfcm, IsThatOfRepeatedRowsAtGivenClusters) {
  Context context(2);
  const Matrix x = whole_mixture(120, 12, 4);
  const std::vector<double> weights = whole_weights(120);
  for (const auto& layout : some_layouts()) {
    for (const double alpha : {0.5, 1.0, 3.0}) {
      UfcmOptions options;
      options.clusters = 3;
      options.alpha = alpha;
      options.iterations = 200;
      options.tolerance = 1e-12;
      for (int i = 0; i < 120; ++i) options.labels.push_back(i % 3);
      UfcmOptions longer = options;
      longer.labels = repeated(options.labels, weights);
      const Selection found = ufcm(layout.make(x, 16).with_weights(weights), options, context);
      const Selection wanted = ufcm(layout.make(repeated(x, weights), 16), longer, context);
      const double last = wanted.report.objective.back();
      EXPECT_NEAR(found.report.objective.back(), last, 1e-6 * std::abs(last)) << layout.name << ' ' << alpha;
      EXPECT_LE(support::largest_difference(found.scores, wanted.scores), 1e-3) << layout.name << ' ' << alpha;
      EXPECT_NEAR(found.report.resolved[0].second, wanted.report.resolved[0].second,
                  1e-6 * found.report.resolved[0].second);
    }
  }
}

// Clusters that nobody could miss.
TEST(WeightedUfcm, FindsTheClustersOfRepeatedRows) {
  Context context(2);
  const Matrix x = support::mixture(150, 10, 3, 5, 30, 5);
  const std::vector<double> weights = whole_weights(150);
  for (const bool exact : {false, true}) {
    UfcmOptions options;
    options.clusters = 3;
    options.exact = exact;
    if (exact) options.features = 4;
    const Selection found = ufcm(support::dense(x).with_weights(weights), options, context);
    const Selection wanted = ufcm(support::dense(repeated(x, weights)), options, context);
    const double last = wanted.report.objective.back();
    EXPECT_NEAR(found.report.objective.back(), last, 1e-5 * std::abs(last));
    EXPECT_LE(support::largest_difference(found.scores, wanted.scores), 1e-2);
    const std::vector<int> longer = repeated(found.clusters, weights);
    for (std::size_t i = 1; i < longer.size(); ++i) {
      EXPECT_EQ(longer[i] == longer[0], wanted.clusters[i] == wanted.clusters[0]);
    }
  }
}

TEST(WeightedUfcm, OnesAreNoWeightsAndConstantsScale) {
  Context context(2);
  const Source source = support::dense(support::mixture(200, 10, 3, 4, 6, 6));
  UfcmOptions options;
  options.clusters = 3;
  const Selection plain = ufcm(source, options, context);
  const Selection ones = ufcm(source.with_weights(std::vector<double>(200, 1.0)), options, context);
  EXPECT_TRUE(support::same_bits(plain.scores, ones.scores));
  EXPECT_EQ(plain.clusters, ones.clusters);
  EXPECT_TRUE(support::same_bits(plain.report.objective, ones.report.objective));
  for (const double c : {1e-6, 0.25, 1e9}) {
    const Selection scaled = ufcm(source.with_weights(std::vector<double>(200, c)), options, context);
    const double last = plain.report.objective.back();
    EXPECT_NEAR(scaled.report.objective.back(), c * last, 1e-4 * c * std::abs(last));
    EXPECT_LE(support::largest_difference(scaled.scores, plain.scores), 1e-2);
  }
}

TEST(WeightedUfcm, RowsOfWeightZeroGetTheNearestClusterAndChangeNothing) {
  Context context(2);
  Matrix x = support::mixture(200, 6, 3, 4, 40, 7);
  std::vector<double> weights(200, 1.0);
  for (Index i = 0; i < 200; i += 3) weights[i] = 0;
  UfcmOptions options;
  options.clusters = 3;
  const Selection clean = ufcm(support::dense(x).with_weights(weights), options, context);
  Matrix far = x;
  for (Index j = 0; j < 6; ++j) far(0, j) = 1e80;  // an outlier without weight
  const Selection found = ufcm(support::dense(far).with_weights(weights), options, context);
  EXPECT_LE(support::largest_difference(found.scores, clean.scores), 1e-9);
  std::vector<double> mean(6);
  const double total = total_weight(weights);
  for (Index i = 0; i < 200; ++i) {
    for (Index j = 0; j < 6; ++j) mean[j] += weights[i] * x(i, j) / total;
  }
  for (Index i = 0; i < 200; i += 3) {
    std::vector<double> distance(3);
    for (Index k = 0; k < 3; ++k) {
      for (Index m = 0; m < clean.components.cols(); ++m) {
        double y = 0;
        for (Index j = 0; j < 6; ++j) y += (x(i, j) - mean[j]) * clean.components(j, m);
        distance[k] += (y - clean.centers(k, m)) * (y - clean.centers(k, m));
      }
    }
    EXPECT_EQ(clean.clusters[i], std::ranges::min_element(distance) - distance.begin()) << i;
  }
}

// A fit of a sample comes first.
TEST(WeightedUfcm, ManyRows) {
  const Index n = 270000;
  const Matrix x = support::mixture(n, 5, 3, 3, 8, 8);
  std::vector<double> weights;
  for (Index i = 0; i < n; ++i) weights.push_back(0.5 * static_cast<double>(i % 5));
  UfcmOptions options;
  options.clusters = 3;
  Context context(2);
  const Selection found = ufcm(support::dense(x).with_weights(weights), options, context);
  EXPECT_NE(found.report.path.find("sample"), std::string::npos);
  const support::UfcmTerms terms = [&] {
    std::vector<double> twice = weights;  // whole numbers
    for (double& weight : twice) weight *= 2;
    return support::ufcm_terms(repeated(x, twice), found.components, repeated(found.clusters, twice), options.p);
  }();
  EXPECT_NEAR(2 * found.report.terms[1].second.back(), terms.within, 1e-7 * terms.scatter);
  EXPECT_LT(terms.within, 0.5 * terms.scatter);
}

TEST(WeightedMethods, GiveTheBitsOfMemoryOnWorkers) {
  const Matrix x = whole_mixture(2 * kBlockRows + 50, 9, 9);
  const std::vector<double> weights = whole_weights(x.rows());
  for (const auto& layout : some_layouts()) {
    support::Workers workers(x, layout.make, kBlockRows, 1);
    const Source memory = layout.make(x, kBlockRows).with_weights(weights);
    const Source remote = support::remote_source(workers, x, kBlockRows).with_weights(weights);
    Context here(2), there(1);
    UfcmOptions options;
    options.clusters = 3;
    options.iterations = 5;
    EXPECT_TRUE(support::same_bits(ufcm(memory, options, here).scores, ufcm(remote, options, there).scores));
    EXPECT_TRUE(support::same_bits(maxvar(memory, {}, here).scores, maxvar(remote, {}, there).scores));
    EXPECT_EQ(css(memory, {}, here).ranking, css(remote, {}, there).ranking);
  }
}

TEST(WeightedSelection, IsRefusedWhereItWouldNotBeUsed) {
  const Source source = support::dense(support::mixture(60, 6, 3, 3, 5, 10));
  SelectRequest request;
  request.features.count = 3;
  request.weights = whole_weights(60);
  for (const Method& method : methods()) {
    const auto run = [&](const SelectRequest& wanted) {
      Context context(1);
      const auto bound = method.bind();
      return select_features(source, method, *bound, wanted, context);
    };
    if (!method.weighs) {
      support::expect_error(ErrorCode::usage, {method.name, "sample-weight", "ufcm, maxvar, css"},
                            [&] { run(request); });
      continue;
    }
    EXPECT_EQ(std::ssize(run(request).selected), 3);
    SelectRequest guided = request;
    guided.evidence = true;
    support::expect_error(ErrorCode::usage, {"evidence", "sample-weight"}, [&] { run(guided); });
    guided = request;
    guided.features = {};
    guided.features.otherwise = FeatureCount::Otherwise::automatic;
    support::expect_error(ErrorCode::usage, {"auto", "sample-weight"}, [&] { run(guided); });
    SelectRequest wrong = request;
    wrong.weights.pop_back();
    support::expect_error(ErrorCode::usage, {"59 numbers", "n = 60"}, [&] { run(wrong); });
  }
}

TEST(WeightedUfcm, NeedsAsManyRowsOfPositiveWeightAsClusters) {
  Context context(1);
  std::vector<double> weights(30);
  weights[3] = weights[8] = 1;
  UfcmOptions options;
  options.clusters = 3;
  const Source source = support::dense(support::random_matrix(30, 4, 11)).with_weights(weights);
  support::expect_error(ErrorCode::usage, {"clusters = 3", "1..2", "positive weight"},
                        [&] { ufcm(source, options, context); });
  options.clusters = 2;
  EXPECT_TRUE(support::all_finite(ufcm(source, options, context).scores));
}

// What repeats what, and half samples.
TEST(WeightedSelection, ReportsAreThoseOfRepeatedRows) {
  Matrix x = whole_mixture(160, 8, 12);
  const std::vector<double> weights = whole_weights(160);
  for (Index i = 0; i < 160; ++i) {  // column 7 is column 2 where rows count
    x(i, 7) = weights[i] == 0 ? -x(i, 2) : 3 * x(i, 2) + 1;
  }
  const Method& method = find_method("css");
  const auto run = [&](const Source& source, const std::vector<double>& given) {
    SelectRequest request;
    request.features.count = 3;
    request.redundancy = 0.8;
    request.resample = 3;
    request.weights = given;
    Context context(2);
    const auto bound = method.bind();
    return select_features(source, method, *bound, request, context);
  };
  const SelectResult found = run(support::dense(x), weights), wanted = run(support::dense(repeated(x, weights)), {});
  EXPECT_EQ(found.selected, wanted.selected);
  expect_close(found.redundancy->r2, wanted.redundancy->r2, "R^2");
  EXPECT_EQ(found.redundancy->groups, wanted.redundancy->groups);
  EXPECT_EQ(found.redundancy->representative, wanted.redundancy->representative);
  EXPECT_EQ(found.stability->rows, 80);
}

}  // namespace
}  // namespace tamis
