// Graphs that the caller gives: the same results as with the methods' own, and what is refused.
#include "tamis/graph/given.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tamis/run/select.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

Matrix weights_of(const Graph& graph) {
  Matrix w(graph.rows, graph.rows);
  for (Index i = 0; i < graph.rows; ++i) {
    for (Index q = graph.offsets[i]; q < graph.offsets[i + 1]; ++q) w(i, graph.columns[q]) = graph.weights[q];
  }
  return w;
}

// W = max(W, W') of the k nearest rows by brute force, heat weights with t the mean of all n^2 distances.
Matrix brute_force(const Matrix& x, Index k) {
  const Index n = x.rows();
  Matrix squared(n, n), w(n, n);
  double t = 0;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      for (Index q = 0; q < x.cols(); ++q) squared(i, j) += (x(i, q) - x(j, q)) * (x(i, q) - x(j, q));
      t += std::sqrt(squared(i, j)) / static_cast<double>(n * n);
    }
  }
  for (Index i = 0; i < n; ++i) {
    std::vector<Index> order;
    for (Index j = 0; j < n; ++j) {
      if (j != i) order.push_back(j);
    }
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return squared(i, a) < squared(i, b); });
    for (Index q = 0; q < k; ++q) {
      w(i, order[q]) = w(order[q], i) = std::exp(-squared(i, order[q]) / (2 * t * t));
    }
  }
  return w;
}

Selection run(const std::string& name, const Matrix& x, const std::shared_ptr<const Graph>& graph) {
  Context context(2);
  const auto bound = find_method(name).bind();
  for (const Option& option : bound->options()) {
    if (option.name == "clusters") set_from_text(option, name, "3");
  }
  bound->aim_at(4);
  bound->connect(graph);
  return bound->run(support::dense(x), context);
}

std::shared_ptr<const Graph> given(const Matrix& w) {
  Context context(1);
  return graph_of_weights(support::dense(w), "W", context);
}

const std::vector<std::string> kNames = {"lapscore", "spec", "mcfs", "ndfs", "rufs"};

TEST(Given, TheseMethodsTakeOne) {
  std::string names;
  for (const std::string& name : kNames) names += (names.empty() ? "" : ", ") + name;
  EXPECT_EQ(methods_that(&BoundMethod::takes_graph), names);
}

TEST(Given, TheMethodsOwnGraphChangesNoBit) {
  const Matrix x = support::mixture(80, 9, 3, 5, 4, 11);
  Context context(2);
  const Graph own = neighbor_graph(support::dense(x), {}, context);
  const auto back = given(weights_of(own));
  EXPECT_EQ(back->columns, own.columns);
  EXPECT_EQ(back->weights, own.weights);
  EXPECT_EQ(back->degree, own.degree);
  for (const std::string& name : kNames) {
    const Selection with = run(name, x, back), without = run(name, x, nullptr);
    EXPECT_EQ(with.scores, without.scores) << name;
    EXPECT_EQ(with.ranking, without.ranking) << name;
    EXPECT_NE(with.report.path.find("given graph"), std::string::npos) << name;
  }
}

TEST(Given, AGraphByBruteForceGivesTheSame) {
  const Matrix x = support::mixture(70, 8, 3, 5, 4, 12);
  const auto graph = given(brute_force(x, 5));
  for (const std::string& name : kNames) {
    const Selection with = run(name, x, graph), without = run(name, x, nullptr);
    const double largest = support::largest(without.scores);
    const double enough = name == "rufs" ? 1e-6 : name == "ndfs" ? 1e-8 : 1e-11;  // those that iterate
    EXPECT_LE(support::largest_difference(with.scores, without.scores), enough * largest) << name;
  }
}

TEST(Given, AnotherGraphGivesAnotherResult) {
  const Matrix x = support::mixture(60, 8, 3, 5, 4, 13);
  const auto graph = given(brute_force(x, 2));
  for (const std::string& name : kNames) EXPECT_NE(run(name, x, graph).scores, run(name, x, nullptr).scores) << name;
}

// Rows in another order, with their graph in that order; and a unit of the weights.
TEST(Given, OrderAndUnitDoNotMatter) {
  const Matrix x = support::mixture(60, 8, 3, 5, 4, 16), w = brute_force(x, 5);
  Matrix turned(60, 8), turned_w(60, 60), tripled(60, 60);
  for (Index i = 0; i < 60; ++i) {
    std::copy_n(x.row(59 - i), 8, turned.row(i));
    for (Index j = 0; j < 60; ++j) turned_w(i, j) = w(59 - i, 59 - j), tripled(i, j) = 3 * w(i, j);
  }
  for (const std::string name : {"lapscore", "spec"}) {
    const std::vector<double> scores = run(name, x, given(w)).scores;
    EXPECT_LE(support::largest_difference(run(name, turned, given(turned_w)).scores, scores), 1e-12) << name;
    EXPECT_LE(support::largest_difference(run(name, x, given(tripled)).scores, scores), 1e-12) << name;
  }
}

// 0 - 1 with weight 2, 1 - 2 with weight 3, row 3 alone.
Matrix by_hand() {
  Matrix w(4, 4);
  w(0, 1) = w(1, 0) = 2;
  w(1, 2) = w(2, 1) = 3;
  return w;
}

TEST(Given, IsWhatTheMatrixSays) {
  Matrix w = by_hand();
  w(0, 0) = 7;  // the diagonal does not count
  for (const Source& source : {support::dense(w), support::sparse(w)}) {
    Context context(1);
    const auto graph = graph_of_weights(source, "W", context);
    EXPECT_EQ(graph->rows, 4);
    EXPECT_EQ(graph->offsets, (std::vector<Index>{0, 1, 3, 4, 4}));
    EXPECT_EQ(graph->columns, (std::vector<std::int32_t>{1, 0, 2, 1}));
    EXPECT_EQ(graph->weights, (std::vector<double>{2, 2, 3, 3}));
    EXPECT_EQ(graph->degree, (std::vector<double>{2, 5, 3, 0}));
    EXPECT_EQ(isolated_rows(*graph), 1);
    EXPECT_EQ(context.passes(), 0);  // over the data
  }
}

TEST(Given, SomeRowsKeepTheEdgesAmongThem) {
  const auto some = graph_among(*given(by_hand()), {1, 2, 3});
  EXPECT_EQ(some->rows, 3);
  EXPECT_EQ(some->offsets, (std::vector<Index>{0, 1, 2, 2}));
  EXPECT_EQ(some->columns, (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(some->degree, (std::vector<double>{3, 3, 0}));
}

TEST(Given, RoundingIsNoAsymmetry) {
  Matrix w = by_hand();
  w(1, 0) = 2 * (1 + 5e-7);
  EXPECT_EQ(given(w)->weights, (std::vector<double>{w(1, 0), w(1, 0), 3, 3}));
}

std::string complaint_about(const Source& source) {
  Context context(1);
  try {
    graph_of_weights(source, "W", context);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_data);
    return error.message().text();
  }
  return "none";
}

void expect_complaint(const Matrix& w, const std::string& words) {
  for (const Source& source : {support::dense(w), support::sparse(w)}) {
    const std::string found = complaint_about(source);
    EXPECT_NE(found.find(words), std::string::npos) << found;
  }
}

TEST(Given, AsymmetryIsRefusedByPosition) {
  for (const auto& [i, j] : std::vector<std::pair<Index, Index>>{{0, 1}, {1, 0}, {1, 2}, {2, 1}}) {
    Matrix w = by_hand();
    w(i, j) = 0;  // one way only
    expect_complaint(w, concat("row ", j, ", column ", i));
    w(i, j) = 2.5;  // both ways, not alike
    expect_complaint(w, "need a symmetric matrix");
  }
  Matrix early = by_hand();
  early(3, 0) = 1;
  expect_complaint(early, "row 3, column 0: 1, but row 0, column 3: 0");
}

TEST(Given, NumbersThatAreNoWeightsAreRefused) {
  for (const double bad : {-1.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    Matrix w = by_hand();
    w(1, 2) = w(2, 1) = bad;
    expect_complaint(w, "row 1, column 2");
  }
  expect_complaint(Matrix(4, 4), "need an edge");
  Matrix diagonal(3, 3);
  diagonal(1, 1) = 1;
  expect_complaint(diagonal, "need an edge");
  expect_complaint(Matrix(4, 5, 1.0), "4 x 5");
}

std::string refusal_of(const GraphOptions& options, Index rows) {
  try {
    require_fitting(options, rows, "lapscore");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.message().text();
  }
  return {};
}

TEST(Given, OtherRowsAndIdleOptionsAreRefused) {
  GraphOptions options;
  options.given = given(by_hand());
  EXPECT_EQ(refusal_of(options, 4), "");
  EXPECT_EQ(refusal_of(options, 5), "W: a graph of 4 rows, the table has 5");
  options.neighbors = 9;
  EXPECT_NE(refusal_of(options, 4).find("lapscore: neighbors = 9"), std::string::npos);
  options.neighbors = 5, options.weights = "binary";
  EXPECT_NE(refusal_of(options, 4).find("weights = binary"), std::string::npos);
  options.given = nullptr;
  EXPECT_EQ(refusal_of(options, 5), "");
}

// A row without an edge is like one without a neighbor in the methods' own graphs: results stay finite.
TEST(Given, IsolatedRowsAndPartsAreBorne) {
  const Matrix x = support::mixture(60, 6, 3, 4, 4, 14);
  Matrix w = brute_force(x, 4);
  for (Index i = 0; i < 60; ++i) w(7, i) = w(i, 7) = 0;
  const auto graph = given(w);
  for (const std::string& name : kNames) {
    const Selection found = run(name, x, graph);
    EXPECT_TRUE(support::all_finite(found.scores)) << name;
    ASSERT_FALSE(found.report.warnings.empty()) << name;
    EXPECT_EQ(found.report.warnings.front().text(), "W: 1 of 60 rows has no edge in the graph") << name;
  }
}

// Rows with a heat weight near the smallest number that there is.
TEST(Given, RowsWithHardlyAnyWeightAreBorne) {
  const Matrix x = support::mixture(40, 9, 3, 5, 4, 12);
  const Matrix near = brute_force(x, 4);
  for (const double size : {1e-250, 1e-300, 2e-307, 1e-310, 5e-323}) {
    Matrix w = near;
    for (const Index i : {3, 17}) {
      for (Index j = 0; j < 40; ++j) w(i, j) = w(j, i) = 0;
    }
    w(3, 17) = w(17, 3) = size;
    for (const std::string& name : kNames) {
      const Selection found = run(name, x, given(w));
      EXPECT_TRUE(support::all_finite(found.scores)) << name << " " << size;
      EXPECT_GT(support::largest(found.scores), 0) << name << " " << size;
      EXPECT_TRUE(support::all_finite(found.report.objective)) << name << " " << size;
    }
  }
}

TEST(Given, ThePlanHasNoSearch) {
  const auto graph = given(by_hand());
  for (const std::string& name : kNames) {
    const auto bound = find_method(name).bind();
    const Shape shape = {.rows = 20000, .cols = 50, .entries = 1e6};
    const double searched = bound->plan(shape, 1).seconds;
    bound->connect(graph);
    const Plan plan = bound->plan(shape, 1);
    EXPECT_LT(plan.seconds, searched) << name;
    EXPECT_NE(plan.path.find("given graph"), std::string::npos) << name;
  }
}

SelectResult select(const Matrix& x, const std::string& name, const SelectRequest& request) {
  Context context(2);
  const Method& method = find_method(name);
  const auto bound = method.bind();
  return select_features(support::dense(x), method, *bound, request, context);
}

TEST(Given, HalfSamplesHaveTheirOwnPartOfIt) {
  const Matrix x = support::mixture(80, 8, 3, 5, 4, 15);
  SelectRequest request;
  request.features.count = 4;
  request.connectivity = given(brute_force(x, 5));
  request.resample = 3;
  const SelectResult found = select(x, "lapscore", request);
  EXPECT_EQ(found.stability->runs, 3);
  // The first half sample by itself.
  const std::vector<Index> rows = half_of_rows(80, 0, 0);
  Matrix half(40, 8);
  for (Index i = 0; i < 40; ++i) std::copy_n(x.row(rows[i]), 8, half.row(i));
  SelectRequest alone;
  alone.features.count = 4;
  alone.connectivity = graph_among(*request.connectivity, rows);
  for (const Index j : select(half, "lapscore", alone).selected) EXPECT_GE(found.stability->frequency[j], 1.0 / 3);
}

TEST(Given, MethodsWithoutAGraphRefuseIt) {
  SelectRequest request;
  request.features.count = 2;
  request.connectivity = given(by_hand());
  try {
    select(support::random_matrix(4, 3, 1), "maxvar", request);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(error.message().text().find("need one of lapscore, spec, mcfs, ndfs, rufs"), std::string::npos);
  }
}

TEST(Given, OptionsOfTheOtherGraphAreNotInUse) {
  const auto bound = find_method("spec").bind();
  SelectRequest request;
  EXPECT_NE(find_option(options_in_use(*bound, request), "neighbors"), nullptr);
  request.connectivity = given(by_hand());
  const Options left = options_in_use(*bound, request);
  EXPECT_EQ(find_option(left, "neighbors"), nullptr);
  EXPECT_EQ(find_option(left, "recall"), nullptr);
  EXPECT_NE(find_option(left, "function"), nullptr);
}

}  // namespace
}  // namespace tamis
