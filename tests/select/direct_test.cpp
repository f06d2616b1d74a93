// MaxVar, Laplacian Score and SPEC: golden vectors, definitions written out, and the faults of other codes.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tamis/graph/laplacian.h"
#include "tamis/linalg/dense.h"
#include "tamis/select/methods/lapscore.h"
#include "tamis/select/methods/maxvar.h"
#include "tamis/select/methods/spec.h"
#include "tests/support/checks.h"
#include "tests/support/golden.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

std::vector<double> spec_scores(const Source& source, Index function, Index clusters = 4) {
  Context context(2);
  SpecOptions options;
  options.function = function;
  options.clusters = clusters;
  return spec(source, options, context).scores;
}

void expect_close(const std::vector<double>& found, const std::vector<double>& wanted, const std::string& what) {
  EXPECT_LE(support::largest_difference(found, wanted), 1e-6 * support::largest(wanted)) << what;
}

TEST(Golden, MaxVar) {
  for (const std::string& name : support::golden_cases()) {
    Context context(1);
    std::vector<double> found = maxvar(support::dense(support::golden("maxvar_" + name, "X")), {}, context).scores;
    for (double& value : found) value = std::sqrt(value);
    expect_close(found, support::golden_vector("maxvar_" + name, "score"), name);
  }
}

TEST(Golden, LapScore) {
  for (const std::string& name : support::golden_cases()) {
    const Matrix x = support::golden("ls_" + name, "X");
    for (const Source& source : {support::dense(x), support::sparse(x)}) {
      Context context(1);
      LapScoreOptions options;
      expect_close(lapscore(source, options, context).scores, support::golden_vector("ls_" + name, "score"), name);
      options.graph.weights = "binary";
      expect_close(lapscore(source, options, context).scores,
                   support::golden_vector("ls_" + name, "score_binary_graph"), name);
    }
  }
}

TEST(Golden, Spec) {
  for (const std::string& name : support::golden_cases()) {
    const Matrix x = support::golden("spec_" + name, "X");
    for (const Source& source : {support::dense(x), support::sparse(x)}) {
      const Index c = support::golden_clusters(name);
      std::vector<double> phi1 = spec_scores(source, 1, c), phi2 = spec_scores(source, 2, c);
      for (double& value : phi1) value = -value;
      for (double& value : phi2) value = -value;
      expect_close(phi1, support::golden_vector("spec_" + name, "phi1"), name);
      expect_close(phi2, support::golden_vector("spec_" + name, "phi2"), name);
      expect_close(spec_scores(source, 3, c), support::golden_vector("spec_" + name, "phi3_canonical"), name);
    }
  }
}

// phi_1..3 with dense matrices, straight from the definition.
TEST(Spec, IsItsDefinition) {
  const Matrix x = support::mixture(50, 6, 3, 4, 3, 1);
  Context context(1);
  const Graph graph = neighbor_graph(support::dense(x), {}, context);
  Matrix identity(50, 50);
  for (Index i = 0; i < 50; ++i) identity(i, i) = 1;
  const Matrix ln = laplacian_times(graph, Laplacian::normalized, identity, context);
  Matrix v(50, 1);
  for (Index i = 0; i < 50; ++i) v(i, 0) = std::sqrt(graph.degree[static_cast<std::size_t>(i)]);
  const double total = std::sqrt(squared_norm(v));
  for (Index i = 0; i < 50; ++i) v(i, 0) /= total;
  // D^1/2 1 is moved to the end of the spectrum: a graph of several parts has more vectors at 0 than this one.
  Matrix shifted = ln;
  for (Index i = 0; i < 50; ++i) {
    for (Index k = 0; k < 50; ++k) shifted(i, k) += 3 * v(i, 0) * v(k, 0);
  }
  const EigenPairs pairs = symmetric_eigen(shifted);  // largest first
  for (Index j = 0; j < 6; ++j) {
    Matrix fh(50, 1);
    for (Index i = 0; i < 50; ++i) fh(i, 0) = v(i, 0) * x(i, j);
    const double length = std::sqrt(squared_norm(fh));
    for (Index i = 0; i < 50; ++i) fh(i, 0) /= length;
    const double phi1 = dot(fh, product(ln, fh)), cosine = dot(fh, v);
    double phi3 = 0;
    for (Index k = 0; k < 2; ++k) {
      double overlap = 0;
      for (Index i = 0; i < 50; ++i) overlap += fh(i, 0) * pairs.vectors(i, 49 - k);
      phi3 += (2 - pairs.values[static_cast<std::size_t>(49 - k)]) * overlap * overlap;
    }
    const auto at = static_cast<std::size_t>(j);
    EXPECT_NEAR(spec_scores(support::dense(x), 1, 3)[at], -phi1, 1e-10);
    EXPECT_NEAR(spec_scores(support::dense(x), 2, 3)[at], -phi1 / (1 - cosine * cosine), 1e-10);
    EXPECT_NEAR(spec_scores(support::dense(x), 3, 3)[at], phi3, 1e-8);
  }
}

// A column that follows the clusters, one of noise, a constant one and one of zeros.
Matrix marked_columns() {
  Matrix x = support::mixture(90, 8, 3, 6, 6, 2);
  const Matrix noise = support::random_matrix(90, 1, 3);
  for (Index i = 0; i < 90; ++i) x(i, 7) = 0.01 * noise(i, 0), x(i, 5) = 3.5, x(i, 6) = 0;
  return x;
}

// scikit-feature ranks zero-norm features first; the original code puts constant ones first (phi1) or mid-scale (LS).
TEST(Faults, ConstantAndZeroColumnsRankLast) {
  const Matrix x = marked_columns();
  Context context(1);
  for (const Source& source : {support::dense(x), support::sparse(x)}) {
    std::vector<Selection> all = {lapscore(source, {}, context)};
    for (const Index function : {1, 2, 3}) {
      SpecOptions options;
      options.function = function;
      all.push_back(spec(source, options, context));
    }
    for (const Selection& one : all) {
      EXPECT_TRUE(support::all_finite(one.scores));
      EXPECT_EQ(one.ranking[6], 5);
      EXPECT_EQ(one.ranking[7], 6);
    }
  }
}

// scikit-feature sorts all three functions the wrong way round: the informative column must beat the noise.
TEST(Faults, SpecRanksInTheRightDirection) {
  const Matrix x = marked_columns();
  for (const Index function : {1, 2, 3}) {
    const std::vector<double> scores = spec_scores(support::dense(x), function, 3);
    // On average: the centres of a column can lie close together.
    EXPECT_GT(std::accumulate(scores.begin(), scores.begin() + 5, 0.0) / 5, scores[7]) << "function " << function;
  }
}

// Rdimtools divides by 1 - fh'v instead of 1 - (fh'v)^2: a shifted column must keep its phi2.
TEST(Faults, SpecFunction2SquaresTheCosine) {
  Matrix x = support::mixture(60, 4, 3, 4, 4, 4);
  Context context(1);
  GraphOptions graph;
  const std::vector<double> wanted = spec_scores(support::dense(x), 2);
  for (Index i = 0; i < 60; ++i) x(i, 1) += 50;
  const std::vector<double> found = spec_scores(support::dense(x), 2);
  EXPECT_NEAR(found[1], wanted[1], 1e-9);
}

TEST(LapScore, ReportsWhatTheDataDecided) {
  Context context(1);
  const Selection found = lapscore(support::dense(support::random_matrix(4, 3, 5)), {}, context);
  ASSERT_EQ(found.report.resolved[0].first, "neighbors");
  EXPECT_EQ(found.report.resolved[0].second, 3);  // of 4 rows
  EXPECT_EQ(found.report.status, Status::direct);
}

}  // namespace
}  // namespace tamis
