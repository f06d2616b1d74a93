#include "tamis/select/methods/mcfs.h"

#include <gtest/gtest.h>

#include "tamis/graph/laplacian.h"
#include "tamis/linalg/dense.h"
#include "tests/support/checks.h"
#include "tests/support/golden.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

Selection fit(const Source& source, const McfsOptions& options, int threads = 2) {
  Context context(threads);
  return mcfs(source, options, context);
}

double resolved(const Selection& found, const std::string& name) {
  for (const Fact& fact : found.report.resolved) {
    if (fact.first == name) return fact.second;
  }
  ADD_FAILURE() << name << " is not in the report";
  return 0;
}

bool warns(const Selection& found, const std::string& piece) {
  for (const Warning& warning : found.report.warnings) {
    if (warning.text().find(piece) != std::string::npos) return true;
  }
  return false;
}

struct GoldenRun {
  Index dims, active;
  std::string key;  // K4_m10_r0
  double ridge;
};

std::vector<GoldenRun> golden_runs(const std::string& name) {
  std::vector<GoldenRun> out;
  for (const Index dims : {support::golden_clusters(name), Index{5}}) {
    for (const Index active : {Index{10}, Index{30}}) {
      if (active == 30 && name.rfind("discon", 0) == 0) continue;  // 30 columns
      for (const int ridge : {0, 1}) {
        out.push_back({dims, active, concat("K", dims, "_m", active, "_r", ridge), 0.001 * ridge});
      }
    }
  }
  return out;
}

// --- Golden vectors ----------------------------------------------------------------------------------------------

// The paths for the stored embedding: coefficients and both kinds of score, dense, sparse and wide.
TEST(McfsGolden, PathsOnTheStoredEmbedding) {
  for (const std::string& name : support::golden_cases()) {
    const std::string file = "mcfs_" + name;
    const Matrix x = support::golden(file, "X");
    for (const GoldenRun& run : golden_runs(name)) {
      McfsOptions options;
      options.clusters = support::golden_clusters(name);
      options.embedding = support::golden(file, concat("Y_K", run.dims));
      options.active = run.active;
      options.ridge = run.ridge;
      for (const Source& source : {support::dense(x), support::sparse(x)}) {
        const std::string what = name + " " + run.key + (source.sparse() ? " sparse" : " dense");
        const Selection found = fit(source, options);
        const Matrix wanted = support::golden(file, "coef_" + run.key);
        EXPECT_LE(support::largest_difference(found.components, wanted), 1e-9 * support::largest(wanted)) << what;
        const auto plain = support::golden_vector(file, "score_unnormalised_" + run.key);
        EXPECT_LE(support::largest_difference(found.scores, plain), 1e-9 * support::largest(plain)) << what;
        options.normalize = true;
        const auto normalized = support::golden_vector(file, "score_" + run.key);
        EXPECT_LE(support::largest_difference(fit(source, options).scores, normalized), 1e-9) << what;
        options.normalize = false;
      }
    }
  }
}

// The whole method, own graph and embedding; discon has an embedding of many.
TEST(McfsGolden, FromGraphToScores) {
  for (const std::string name : {"blobscn", "blobsmm", "widecn", "widemm"}) {
    const std::string file = "mcfs_" + name;
    const Matrix x = support::golden(file, "X");
    for (const GoldenRun& run : golden_runs(name)) {
      McfsOptions options;
      options.clusters = support::golden_clusters(name);
      options.dims = run.dims;
      options.active = run.active;
      options.ridge = run.ridge;
      const auto wanted = support::golden_vector(file, "score_unnormalised_" + run.key);
      for (const Source& source : {support::dense(x), support::sparse(x)}) {
        EXPECT_LE(support::largest_difference(fit(source, options).scores, wanted), 1e-6 * support::largest(wanted))
            << name << " " << run.key << (source.sparse() ? " sparse" : " dense");
      }
    }
  }
}

// --- Faults of other implementations -----------------------------------------------------------------------------

// max_k |a_kj|, not max_k a_kj: a feature that only ever has negative coefficients counts.
TEST(McfsRegression, McfsScoresUseAbsoluteValues) {
  const Matrix x = support::random_matrix(40, 5, 1);
  McfsOptions options;
  options.clusters = 2;
  options.embedding = Matrix(40, 1);
  for (Index i = 0; i < 40; ++i) options.embedding(i, 0) = -3 * x(i, 2) + 0.5 * x(i, 4);
  const Selection found = fit(support::dense(x), options);
  EXPECT_NEAR(found.scores[2], 3, 1e-10);
  EXPECT_NEAR(found.scores[4], 0.5, 1e-10);
  EXPECT_EQ(found.ranking[0], 2);
  // And turning the sign of a target changes nothing.
  for (Index i = 0; i < 40; ++i) options.embedding(i, 0) *= -1;
  EXPECT_TRUE(support::same_bits(fit(support::dense(x), options).scores, found.scores));
}

// K vectors after the trivial one: K = 1 must take the first that tells rows apart. The trivial one is constant after
// D^-1/2, and on these data would pick the column that varies around 1.
TEST(McfsRegression, McfsDropsTheTrivialEigenvector) {
  Matrix x = support::random_matrix(60, 3, 2);
  for (Index i = 0; i < 60; ++i) {
    x(i, 0) = 4 + 0.01 * x(i, 0);                 // nearly constant
    x(i, 1) = (i < 30 ? -1 : 1) + 0.4 * x(i, 1);  // two groups, joined
    x(i, 2) *= 0.3;
  }
  McfsOptions options;
  options.clusters = 1;
  options.active = 1;
  options.graph.neighbors = 12;
  const Selection found = fit(support::dense(x), options);
  EXPECT_EQ(found.ranking[0], 1);
  EXPECT_EQ(found.scores[0], 0);
  EXPECT_EQ(found.components.cols(), 1);
  // What it drops would have picked the other column.
  options.embedding = Matrix(60, 1, 1.0);
  EXPECT_EQ(fit(support::dense(x), options).ranking[0], 0);
}

// --- Definition --------------------------------------------------------------------------------------------------

// Y = D^-1/2 xi of the neighbour graph, then the lasso at its m-th knot: the conditions of optimality.
TEST(Mcfs, CoefficientsAreOptimalForTheEmbedding) {
  for (const auto& [n, d] : {std::pair<Index, Index>{70, 15}, {30, 80}}) {
    const Matrix x = support::mixture(n, d, 3, 6, 2, 3);
    McfsOptions options;
    options.clusters = 3;
    options.active = 6;
    options.graph.neighbors = 10;
    const Source source = support::dense(x);
    const Selection found = fit(source, options);
    Context context(1);
    const Graph graph = neighbor_graph(source, options.graph, context);
    const Matrix xi = smoothest_eigenvectors(graph, 3, context).vectors;
    ASSERT_EQ(found.components.cols(), 3);
    for (Index k = 0; k < 3; ++k) {
      std::vector<long double> residual;
      for (Index i = 0; i < n; ++i) {
        long double value = xi(i, k) / std::sqrt(graph.degree[static_cast<std::size_t>(i)]);
        for (Index j = 0; j < d; ++j) value -= static_cast<long double>(x(i, j) * found.components(j, k));
        residual.push_back(value);
      }
      std::vector<double> on, off;
      for (Index j = 0; j < d; ++j) {
        long double c = 0;
        for (Index i = 0; i < n; ++i) c += residual[static_cast<std::size_t>(i)] * x(i, j);
        const double a = found.components(j, k);
        EXPECT_TRUE(a == 0 || static_cast<double>(c) * a > 0);
        (a != 0 ? on : off).push_back(std::abs(static_cast<double>(c)));
      }
      ASSERT_EQ(on.size(), 6u);
      const double lambda = support::largest(on);
      EXPECT_NEAR(*std::min_element(on.begin(), on.end()), lambda, 1e-9);
      EXPECT_NEAR(support::largest(off), lambda, 1e-9);  // the seventh is about to enter
    }
    for (Index j = 0; j < d; ++j) {
      double largest = 0;
      for (Index k = 0; k < 3; ++k) largest = std::max(largest, std::abs(found.components(j, k)));
      EXPECT_EQ(found.scores[static_cast<std::size_t>(j)], largest);
    }
  }
}

// A column with an offset makes no intercept: constant columns leave, and the rest is as without them.
TEST(Mcfs, ConstantColumnsChangeNothing) {
  const Matrix x = support::mixture(50, 8, 3, 4, 3, 4);
  Matrix with(50, 10, 2.5);
  for (Index i = 0; i < 50; ++i) {
    for (Index j = 0; j < 8; ++j) with(i, j + (j >= 3)) = x(i, j);
  }
  McfsOptions options;
  options.clusters = 3;
  options.active = 4;
  const Selection plain = fit(support::dense(x), options), more = fit(support::dense(with), options);
  EXPECT_EQ(more.scores[3], 0);
  EXPECT_EQ(more.scores[9], 0);
  for (Index j = 0; j < 8; ++j) {
    EXPECT_NEAR(more.scores[static_cast<std::size_t>(j + (j >= 3))], plain.scores[static_cast<std::size_t>(j)],
                1e-9 * support::largest(plain.scores));
  }
}

// X'X at once, its columns on demand, or the active columns of X: one result.
TEST(Mcfs, EveryViewOfTheDataAgrees) {
  const auto ends_with = [](const std::string& whole, const std::string& end) {
    return whole.size() >= end.size() && whole.compare(whole.size() - end.size(), end.size(), end) == 0;
  };
  McfsOptions options;
  options.clusters = 3;
  options.dims = 4;
  options.active = 20;
  for (const auto& [n, d] : {std::pair<Index, Index>{80, 30}, {35, 60}}) {
    const Matrix x = support::thinned(support::mixture(n, d, 3, 6, 2, 12), 0.7, 13);
    const Selection dense = fit(support::dense(x), options), sparse = fit(support::sparse(x), options);
    EXPECT_TRUE(ends_with(dense.report.path, "; gram")) << dense.report.path;
    EXPECT_TRUE(ends_with(sparse.report.path, n < d ? "; active columns" : "; gram columns")) << sparse.report.path;
    EXPECT_LE(support::largest_difference(dense.components, sparse.components),
              1e-9 * support::largest(dense.components));
  }
  const Source wide = support::dense(support::mixture(15, 400, 3, 6, 2, 12));
  options.active = 5;
  EXPECT_TRUE(ends_with(fit(wide, options).report.path, "; active columns"));
}

TEST(Mcfs, NumberOfActiveFeatures) {
  const Source tall = support::dense(support::mixture(90, 12, 3, 4, 3, 5));
  const Source wide = support::dense(support::mixture(20, 300, 3, 4, 3, 6));
  McfsOptions options;
  options.clusters = 3;
  EXPECT_EQ(resolved(fit(tall, options), "active"), 12);
  EXPECT_EQ(resolved(fit(wide, options), "active"), 19);
  options.features = 5;
  EXPECT_EQ(resolved(fit(tall, options), "active"), 5);
  options.active = 7;
  EXPECT_EQ(resolved(fit(tall, options), "active"), 7);
  options.active.reset();
  options.features = 250;
  EXPECT_EQ(resolved(fit(wide, options), "active"), 19);
  EXPECT_TRUE(warns(fit(wide, options), "fewer than the 250"));
  EXPECT_EQ(resolved(fit(tall, options), "dims"), 3);
  options.dims = 6;
  EXPECT_EQ(resolved(fit(tall, options), "dims"), 6);
}

TEST(Mcfs, SaysWhenTheGraphIsInParts) {
  Matrix x = support::random_matrix(60, 4, 7);
  McfsOptions options;
  options.clusters = 4;
  EXPECT_FALSE(warns(fit(support::dense(x), options), "parts"));
  for (Index i = 0; i < 60; ++i) x(i, 0) += static_cast<double>(i % 3 * 100);
  EXPECT_TRUE(warns(fit(support::dense(x), options), "in 3 parts"));
}

// Extreme units: the same ranking, scores in the inverse units, or an error; never an infinite score.
TEST(Mcfs, ExtremeUnits) {
  const Matrix x = support::mixture(40, 6, 3, 3, 3, 8);
  McfsOptions options;
  options.clusters = 3;
  options.active = 3;
  const Selection plain = fit(support::dense(x), options);
  for (const double factor : {0x1p-300, 0x1p300, 0x1p900}) {
    Matrix scaled = x;
    for (Index i = 0; i < x.size(); ++i) scaled.data()[i] *= factor;
    for (const Source& source : {support::dense(scaled), support::sparse(scaled)}) {
      const Selection found = fit(source, options);
      EXPECT_EQ(found.ranking, plain.ranking) << factor;
      EXPECT_NEAR(found.scores[0] * factor, plain.scores[0], 1e-9 * support::largest(plain.scores)) << factor;
    }
  }
}

TEST(Mcfs, Shapes) {
  for (const auto& [n, d] : {std::pair<Index, Index>{2, 1}, {2, 6}, {3, 3}, {10, 1}, {5, 20}, {20, 2}}) {
    const Matrix x = support::random_matrix(n, d, 9);
    for (const Index clusters : {Index{1}, Index{2}, n}) {
      McfsOptions options;
      options.clusters = clusters;
      for (const Source& source : {support::dense(x), support::sparse(x)}) {
        const Selection found = fit(source, options);
        EXPECT_TRUE(support::all_finite(found.scores)) << n << " x " << d;
        EXPECT_EQ(found.components.cols(), std::min(clusters, n - 1));
      }
    }
  }
}

// 20 x 30000: a d x d matrix would be 7 GB.
TEST(Mcfs, WideTablesNeedNoSquareMatrix) {
  const Matrix x = support::mixture(20, 30000, 3, 10, 5, 10);
  McfsOptions options;
  options.clusters = 3;
  const Selection found = fit(support::dense(x), options);
  EXPECT_TRUE(support::all_finite(found.scores));
  EXPECT_GT(support::largest(found.scores), 0);
}

TEST(Mcfs, Errors) {
  const Source source = support::dense(support::mixture(20, 6, 2, 2, 3, 11));
  const auto refused = [&](const std::vector<std::string>& pieces, auto change) {
    McfsOptions options;
    options.clusters = 3;
    change(options);
    support::expect_error(ErrorCode::usage, pieces, [&] { fit(source, options); });
  };
  refused({"mcfs", "clusters = 21", "n = 20"}, [](McfsOptions& o) { o.clusters = 21; });
  refused({"mcfs", "dims = 20", "n-1 = 19"}, [](McfsOptions& o) { o.dims = 20; });
  refused({"mcfs", "active = 7", "d = 6"}, [](McfsOptions& o) { o.active = 7; });
  refused({"mcfs", "active = 0"}, [](McfsOptions& o) { o.active = 0; });
  refused({"mcfs", "ridge = -1"}, [](McfsOptions& o) { o.ridge = -1; });
  refused({"mcfs", "embedding of 19 rows"}, [](McfsOptions& o) { o.embedding = Matrix(19, 2, 1.0); });
}

}  // namespace
}  // namespace tamis
