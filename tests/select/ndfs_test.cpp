#include "tamis/select/methods/ndfs.h"

#include <gtest/gtest.h>

#include <set>

#include "tamis/base/random.h"
#include "tests/support/checks.h"
#include "tests/support/golden.h"
#include "tests/support/graphs.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

using support::golden;
using support::golden_vector;
using support::LongMatrix;

struct Outcome {
  Selection selection;
  Matrix f;
};

Outcome run(const Source& source, const Matrix& weights, const NdfsOptions& options, int threads = 1) {
  Context context(threads);
  Outcome out;
  out.selection = ndfs(source, support::graph_of(weights), options, context, &out.f);
  return out;
}

const std::vector<double>& term(const Selection& found, const std::string& name) {
  for (const Trace& trace : found.report.terms) {
    if (trace.first == name) return trace.second;
  }
  throw std::runtime_error("no term " + name);
}

// --- The original code -------------------------------------------------------------------------------------------

NdfsOptions variant(const std::string& which, const std::string& name) {
  NdfsOptions options;
  options.clusters = support::golden_clusters(name);
  options.clip = false;
  options.init = golden("ndfs_" + name, "F0_lab");
  if (which == "A") options.laplacian = "plain";
  if (which == "C") options.alpha = 100, options.beta = 0.01;
  if (which == "D") options.alpha = 0.1, options.gamma = 1e3, options.iterations = 100;
  return options;
}

class NdfsGolden : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  std::string which() const { return std::get<0>(GetParam()); }
  std::string file() const { return "ndfs_" + std::get<1>(GetParam()); }
  NdfsOptions options() const { return variant(which(), std::get<1>(GetParam())); }
  Outcome run_golden(const NdfsOptions& options) const {
    return run(support::dense(golden(file(), "X")), golden(file(), "graph_W"), options);
  }
  Matrix wanted(const std::string& array) const { return golden(file(), which() + "_" + array); }
};

TEST_P(NdfsGolden, ScoresWeightsAndLabels) {
  const Outcome found = run_golden(options());
  const auto scores = golden_vector(file(), which() + "_score");
  EXPECT_LE(support::largest_difference(found.selection.scores, scores), 1e-9 * support::largest(scores));
  const Matrix w = wanted("W"), f = wanted("F");
  EXPECT_LE(support::largest_difference(found.selection.components, w), 1e-9 * support::largest(w));
  EXPECT_LE(support::largest_difference(found.f, f), 1e-9 * support::largest(f));
  EXPECT_EQ(found.selection.report.iterations, options().iterations);
}

TEST_P(NdfsGolden, OneIteration) {
  NdfsOptions one = options();
  one.iterations = 1;
  const Outcome found = run_golden(one);
  const Matrix w = wanted("W_iter1"), f = wanted("F_iter1");
  EXPECT_LE(support::largest_difference(found.selection.components, w), 1e-9 * support::largest(w));
  EXPECT_LE(support::largest_difference(found.f, f), 1e-9 * support::largest(f));
}

// The code's trace has gamma/4 where ours has gamma/2.
TEST_P(NdfsGolden, Trace) {
  const NdfsOptions o = options();
  const Outcome found = run_golden(o);
  const Report& report = found.selection.report;
  const auto wanted_trace = golden_vector(file(), which() + "_obj");
  const auto& overlap = term(found.selection, "overlap");
  ASSERT_EQ(report.objective.size(), wanted_trace.size());
  for (std::size_t t = 0; t < wanted_trace.size(); ++t) {
    EXPECT_NEAR(report.objective[t] - o.gamma / 4 * overlap[t], wanted_trace[t],
                1e-9 * std::abs(wanted_trace[t]) + 1e-12)
        << "iteration " << t;
  }
}

// With gamma = 1e8 nothing goes below 0 by more than rounding, and clipping changes no score.
TEST_P(NdfsGolden, ClippingChangesNothingWhereFStaysNonnegative) {
  if (which() == "D") return;
  NdfsOptions clipped = options();
  clipped.clip = true;
  const auto scores = golden_vector(file(), which() + "_score");
  EXPECT_LE(support::largest_difference(run_golden(clipped).selection.scores, scores), 1e-9 * support::largest(scores));
}

INSTANTIATE_TEST_SUITE_P(Cases, NdfsGolden,
                         testing::Combine(testing::Values("A", "C", "D"), testing::ValuesIn(support::golden_cases())),
                         [](const auto& param) { return std::get<0>(param.param) + "_" + std::get<1>(param.param); });

// From the table alone: the graph of the library is that of the original code.
TEST(Ndfs, BuildsTheGoldenGraph) {
  for (const std::string& name : support::golden_cases()) {
    const NdfsOptions options = variant("D", name);
    Context context(1);
    const Selection found = ndfs(support::dense(golden("ndfs_" + name, "X")), options, context);
    const auto scores = golden_vector("ndfs_" + name, "D_score");
    EXPECT_LE(support::largest_difference(found.scores, scores), 1e-9 * support::largest(scores)) << name;
  }
}

// --- The definition, literally -----------------------------------------------------------------------------------

// Gauss-Jordan; for the positive definite matrices here no pivoting is needed.
LongMatrix inverse(LongMatrix a) {
  const Index n = a.rows();
  LongMatrix out(n, n);
  for (Index i = 0; i < n; ++i) out(i, i) = 1;
  for (Index k = 0; k < n; ++k) {
    const long double pivot = a(k, k);
    for (Index j = 0; j < n; ++j) a(k, j) /= pivot, out(k, j) /= pivot;
    for (Index i = 0; i < n; ++i) {
      const long double factor = a(i, k);
      if (i == k) continue;
      for (Index j = 0; j < n; ++j) a(i, j) -= factor * a(k, j), out(i, j) -= factor * out(k, j);
    }
  }
  return out;
}

LongMatrix laplacian(const Matrix& weights, bool normalized) {
  const Index n = weights.rows();
  std::vector<long double> degree(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) degree[static_cast<std::size_t>(i)] += weights(i, j);
  }
  LongMatrix out(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const long double di = degree[static_cast<std::size_t>(i)], dj = degree[static_cast<std::size_t>(j)];
      out(i, j) = (i == j ? (normalized ? 1 : di) : 0) - weights(i, j) / (normalized ? std::sqrt(di * dj) : 1);
    }
  }
  return out;
}

struct Twin {
  LongMatrix w, f;
  std::vector<long double> objective;
};

Twin twin(const Matrix& table, const LongMatrix& l, const NdfsOptions& o) {
  const LongMatrix x = support::widened(table), xt = support::transposed(x);
  const Index n = x.rows(), d = x.cols(), c = o.clusters;
  const long double eps = support::kUlp, alpha = o.alpha, beta = o.beta, gamma = o.gamma;
  Twin out;
  LongMatrix& f = out.f = support::widened(o.init);
  std::vector<long double> weights(static_cast<std::size_t>(d), 1);
  for (Index t = 0; t < o.iterations; ++t) {
    LongMatrix system = support::times(xt, x);
    for (Index j = 0; j < d; ++j) system(j, j) += beta * weights[static_cast<std::size_t>(j)];
    const LongMatrix b = inverse(system), fit = support::times(support::times(x, b), xt);
    out.w = support::times(b, support::times(xt, f));
    for (Index j = 0; j < d; ++j) {
      long double norm = 0;
      for (Index k = 0; k < c; ++k) norm += out.w(j, k) * out.w(j, k);
      weights[static_cast<std::size_t>(j)] = 1 / (2 * std::sqrt(norm + eps));
    }
    LongMatrix m = l;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) m(i, j) += alpha * ((i == j ? 1 : 0) - fit(i, j));
    }
    const LongMatrix mf = support::times(m, f), fff = support::times(f, support::times(support::transposed(f), f));
    for (Index i = 0; i < f.size(); ++i) {
      long double& value = f.data()[i];
      value = value * (gamma * value + eps) / (mf.data()[i] + gamma * fff.data()[i] + eps);
      if (o.clip && value < 0) value = 0;
    }
    for (Index k = 0; k < c; ++k) {
      long double norm = 0;
      for (Index i = 0; i < n; ++i) norm += f(i, k) * f(i, k);
      for (Index i = 0; i < n; ++i) f(i, k) /= std::sqrt(norm + eps);
    }
    const LongMatrix fmf = support::times(support::transposed(f), support::times(m, f)),
                     ff = support::times(support::transposed(f), f);
    long double objective = 0;
    for (Index k = 0; k < c; ++k) {
      objective += fmf(k, k);
      for (Index q = 0; q < c; ++q) objective += gamma / 2 * (ff(k, q) - (k == q)) * (ff(k, q) - (k == q));
    }
    out.objective.push_back(objective);
  }
  return out;
}

// A ring of neighbors and some more edges, all weights different.
Matrix some_weights(Index n, std::uint64_t seed) {
  const Random random = support::seeded(seed, 5);
  Matrix out(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) {
      const double u = random.uniform(static_cast<std::uint64_t>(i * n + j));
      if (j + 1 == i || (i == n - 1 && j == 0) || u < 0.2) out(i, j) = out(j, i) = 0.1 + u;
    }
  }
  return out;
}

Matrix some_labels(Index n, Index c, std::uint64_t seed) {
  const Random random = support::seeded(seed, 6);
  Matrix out(n, c, 0.02);
  for (Index i = 0; i < n; ++i) {
    out(i, random.below(static_cast<std::uint64_t>(i), c)) +=
        0.2 + 0.1 * random.uniform(static_cast<std::uint64_t>(n + i));
  }
  return out;
}

NdfsOptions random_options(Index n, std::uint64_t seed) {
  const Random random = support::seeded(seed, 7);
  NdfsOptions options;
  options.clusters = 2 + static_cast<Index>(seed % 3);
  options.alpha = std::pow(10, 2 * random.uniform(1) - 1);
  options.beta = std::pow(10, 3 * random.uniform(2) - 2);
  options.gamma = std::pow(10, 2 + 4 * random.uniform(3));
  options.laplacian = seed % 2 == 0 ? "plain" : "normalized";
  options.clip = seed % 4 < 2;
  options.iterations = 1 + static_cast<Index>(seed % 5);
  options.init = some_labels(n, options.clusters, seed);
  return options;
}

TEST(Ndfs, EqualsTheLiteralFormulas) {
  std::set<std::string> paths;
  Index below_zero = 0;
  for (std::uint64_t seed = 0; seed < 48; ++seed) {
    const Index n = seed % 3 == 0 ? 9 : 22, d = seed % 3 == 1 ? 6 : 14;
    Matrix x = support::mixture(n, d, 3, d / 2, 2, seed);
    if (seed % 5 == 0) x = support::thinned(x, 0.4, seed);
    if (seed % 7 == 3) support::copy_columns(x, {{0, 3, 5}, {2, 4}});
    const Matrix weights = some_weights(n, seed);
    NdfsOptions options = random_options(n, seed);
    // A small gamma, where the sign of MF shows.
    if (seed % 8 == 1 || seed % 8 == 3) options.gamma = 3;
    const Twin wanted = twin(x, laplacian(weights, options.laplacian == "normalized"), options);
    const std::string what =
        concat("seed ", seed, ": ", n, " x ", d, ", gamma ", options.gamma, " clip ", options.clip);
    for (const Source& source : {support::dense(x), support::sparse(x, 7)}) {
      const Outcome found = run(source, weights, options);
      paths.insert(found.selection.report.path);
      ASSERT_LE(support::largest_difference(found.selection.components, wanted.w), 1e-8 * support::largest(wanted.w))
          << what;
      ASSERT_LE(support::largest_difference(found.f, wanted.f), 1e-8) << what;
      ASSERT_EQ(found.selection.report.objective.size(), wanted.objective.size());
      for (std::size_t t = 0; t < wanted.objective.size(); ++t) {
        const auto value = static_cast<double>(wanted.objective[t]);
        ASSERT_NEAR(found.selection.report.objective[t], value, 1e-8 * std::abs(value)) << what << " iteration " << t;
        ASSERT_NEAR(found.selection.report.objective[t],
                    term(found.selection, "smoothness")[t] + options.alpha * term(found.selection, "misfit")[t] +
                        options.gamma / 2 * term(found.selection, "overlap")[t],
                    1e-12 * std::abs(value));
      }
      for (Index j = 0; j < d; ++j) {
        const Matrix& w = found.selection.components;
        double norm = 0;
        for (Index k = 0; k < w.cols(); ++k) norm += w(j, k) * w(j, k);
        ASSERT_NEAR(found.selection.scores[static_cast<std::size_t>(j)], std::sqrt(norm), 1e-14 * std::sqrt(norm));
      }
      for (Index i = 0; i < n; ++i) {
        const double mine = found.f(i, found.selection.clusters[static_cast<std::size_t>(i)]);
        for (Index k = 0; k < found.f.cols(); ++k) {
          ASSERT_LE(found.f(i, k), mine) << what;
          ASSERT_TRUE(!options.clip || found.f(i, k) >= 0) << what;
          if (found.f(i, k) < 0) ++below_zero;
        }
      }
    }
  }
  EXPECT_EQ(paths, (std::set<std::string>{"d x d system", "n x n system"}));
  EXPECT_GT(below_zero, 0) << "no run without clipping went below 0: clip was not tested";
}

// L_ij = d_j - W_ij (degrees broadcast over the rows, as in scikit-feature) is not a Laplacian: with a gamma at which L
// counts, it leads elsewhere, and we do not follow.
TEST(Ndfs, LaplacianIsNotABroadcastDegree) {
  const Index n = 20;
  const Matrix x = support::mixture(n, 7, 3, 4, 2, 1), weights = some_weights(n, 2);
  NdfsOptions options;
  options.clusters = 3;
  options.gamma = 50;
  options.laplacian = "plain";
  options.iterations = 3;
  options.init = some_labels(n, 3, 4);
  LongMatrix broadcast(n, n);
  for (Index j = 0; j < n; ++j) {
    long double degree = 0;
    for (Index i = 0; i < n; ++i) degree += weights(i, j);
    for (Index i = 0; i < n; ++i) broadcast(i, j) = degree - weights(i, j);
  }
  const Outcome found = run(support::dense(x), weights, options);
  const Twin right = twin(x, laplacian(weights, false), options), wrong = twin(x, broadcast, options);
  EXPECT_LE(support::largest_difference(found.f, right.f), 1e-9);
  EXPECT_GT(support::largest_difference(found.f, wrong.f), 1e-2);
  EXPECT_GT(support::largest_difference(found.selection.components, wrong.w), 1e-2 * support::largest(right.w));
}

// The rows of L = D - W sum to 0: where F is constant on a graph, its smoothness is 0.
TEST(Ndfs, PlainLaplacianRowsSumToZero) {
  const Index n = 18;
  const Matrix x = support::random_matrix(n, 5, 1);
  NdfsOptions options;
  options.clusters = 1;
  options.alpha = 0;
  options.gamma = 1;
  options.laplacian = "plain";
  options.iterations = 3;
  options.init = Matrix(n, 1, 0.3);
  const Outcome found = run(support::dense(x), some_weights(n, 3), options);
  for (const double value : term(found.selection, "smoothness")) EXPECT_NEAR(value, 0, 1e-12);
  for (Index i = 0; i < n; ++i) EXPECT_NEAR(found.f(i, 0), 1 / std::sqrt(static_cast<double>(n)), 1e-12);
}

// With D = I, W of the first iteration solves X'(F - XW) = beta W: more rows than go through one Gram matrix.
TEST(Ndfs, ManyRowsAndMoreColumns) {
  const Index n = 1030, d = 1040, c = 2;
  const Matrix x = support::random_matrix(n, d, 1);
  Matrix ring(n, n);
  for (Index i = 0; i < n; ++i) ring(i, (i + 1) % n) = ring((i + 1) % n, i) = 1;
  NdfsOptions options;
  options.clusters = c;
  options.beta = 3;
  options.iterations = 1;
  options.init = some_labels(n, c, 1);
  const Matrix w = run(support::dense(x), ring, options).selection.components;
  Matrix residual = options.init, gradient(d, c);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) {
      for (Index k = 0; k < c; ++k) residual(i, k) -= x(i, j) * w(j, k);
    }
    for (Index j = 0; j < d; ++j) {
      for (Index k = 0; k < c; ++k) gradient(j, k) += x(i, j) * residual(i, k);
    }
  }
  for (Index i = 0; i < w.size(); ++i) gradient.data()[i] -= options.beta * w.data()[i];
  EXPECT_GT(support::largest(w), 1e-4);
  EXPECT_LE(support::largest(gradient), 1e-10);
}

// --- The first F -------------------------------------------------------------------------------------------------

// Clusters that no start can miss: the default F is Y(Y'Y)^-1/2 + 0.02 of them, up to the order of the columns.
TEST(Ndfs, StartsFromKMeans) {
  for (const Index d : {6, 260}) {  // the columns themselves, and their principal components
    const Index n = 60;
    Matrix x = support::random_matrix(n, d, 1);
    std::vector<int> group;
    for (Index i = 0; i < n; ++i) {
      group.push_back(i < 10 ? 0 : i < 30 ? 1 : 2);
      x(i, group.back()) += 200;
    }
    NdfsOptions options;
    options.clusters = 3;
    options.iterations = 3;
    Context context(1);
    const Selection found = ndfs(support::dense(x), options, context);
    options.init = Matrix(n, 3, 0.02);
    const double sizes[] = {10, 20, 30};
    for (Index i = 0; i < n; ++i) {
      const int k = group[static_cast<std::size_t>(i)];
      options.init(i, k) += 1 / std::sqrt(sizes[k]);
    }
    const Selection wanted = ndfs(support::dense(x), options, context);
    EXPECT_LE(support::largest_difference(found.scores, wanted.scores), 1e-9 * support::largest(wanted.scores)) << d;
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (std::size_t j = 0; j < group.size(); ++j) {
        EXPECT_EQ(found.clusters[i] == found.clusters[j], group[i] == group[j]) << i << " and " << j;
      }
    }
  }
}

// --- Stopping, twins, threads --------------------------------------------------------------------------------------

TEST(Ndfs, ToleranceStops) {
  const Matrix x = support::mixture(50, 8, 3, 4, 4, 1);
  NdfsOptions options;
  options.clusters = 3;
  options.iterations = 300;
  Context context(1);
  const Selection all = ndfs(support::dense(x), options, context);
  EXPECT_EQ(all.report.iterations, 300);
  EXPECT_EQ(all.report.status, Status::max_iterations);
  // A constant F on a ring: nothing moves after a few iterations, to the last bit, and all are run nevertheless.
  Matrix ring(50, 50);
  for (Index i = 0; i < 50; ++i) ring(i, (i + 1) % 50) = ring((i + 1) % 50, i) = 1;
  NdfsOptions settled = options;
  settled.clusters = 1;
  settled.alpha = 0;
  settled.laplacian = "plain";
  settled.init = Matrix(50, 1, 0.3);
  const Report report = run(support::dense(x), ring, settled).selection.report;
  EXPECT_EQ(report.iterations, 300);
  EXPECT_EQ(report.objective[10], report.objective[11]);
  options.tolerance = 1e-4;
  const Selection some = ndfs(support::dense(x), options, context);
  EXPECT_EQ(some.report.status, Status::converged);
  const std::size_t count = some.report.objective.size();
  ASSERT_LT(count, 300u);
  const auto change = [&](std::size_t t) {
    return std::abs(all.report.objective[t] - all.report.objective[t - 1]) / std::abs(all.report.objective[t]);
  };
  EXPECT_LE(change(count - 1), 1e-4);
  for (std::size_t t = 1; t + 1 < count; ++t) EXPECT_GT(change(t), 1e-4) << "should have stopped at " << t;
  for (std::size_t t = 0; t < count; ++t) EXPECT_EQ(some.report.objective[t], all.report.objective[t]);
  options.iterations = 2;
  options.tolerance = 1e-15;
  EXPECT_EQ(ndfs(support::dense(x), options, context).report.status, Status::max_iterations);
}

TEST(Ndfs, DenseAndSparseAgreeAndThreadsGiveTheSameBits) {
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{90, 30}, {30, 90}, {60, 300}}) {
    const Matrix x = support::thinned(support::mixture(n, d, 3, d / 2, 4, 2), 0.5, 3);
    NdfsOptions options;
    options.clusters = 3;
    options.gamma = 1e3;
    Context one(1);
    const Selection wanted = ndfs(support::dense(x), options, one);
    for (const Source& source : {support::dense(x, 7), support::sparse(x), support::sparse(x, 7)}) {
      const Selection first = ndfs(source, options, one);
      EXPECT_LE(support::largest_difference(first.scores, wanted.scores), 1e-5 * support::largest(wanted.scores));
      for (const int threads : {2, 5}) {
        Context many(threads);
        const Selection found = ndfs(source, options, many);
        EXPECT_TRUE(support::same_bits(found.scores, first.scores)) << threads << " threads";
        EXPECT_TRUE(support::same_bits(found.report.objective, first.report.objective)) << threads << " threads";
      }
    }
  }
}

TEST(Ndfs, ConstantColumnsLeaveFirst) {
  for (const Index n : {40, 6}) {
    const Matrix x = support::mixture(n, 9, 2, 4, 4, 1);
    std::vector<Index> kept = {0, 1, 3, 4, 5, 7, 8};
    Matrix with = x;
    for (Index i = 0; i < n; ++i) with(i, 2) = 0, with(i, 6) = 0.1;
    NdfsOptions options;
    options.clusters = 2;
    options.gamma = 100;
    Context context(1);
    const Selection found = ndfs(support::dense(with), options, context);
    const Selection wanted = ndfs(support::dense(support::columns_of(x, kept)), options, context);
    EXPECT_EQ(found.scores[2], 0);
    EXPECT_EQ(found.scores[6], 0);
    for (std::size_t j = 0; j < kept.size(); ++j) {
      EXPECT_NEAR(found.scores[static_cast<std::size_t>(kept[j])], wanted.scores[j],
                  1e-12 * support::largest(wanted.scores));
    }
  }
}

// --- Hostile input -----------------------------------------------------------------------------------------------

// With D = I, X times s and beta times s^2 give W / s.
TEST(Ndfs, UnitsOutOfRangeAreScaled) {
  const Matrix x = support::mixture(30, 6, 2, 3, 4, 1);
  NdfsOptions options;
  options.clusters = 2;
  for (const double unit : {1e40, 1e-40, 1e60, 1e-60}) {
    Matrix scaled = x;
    for (Index i = 0; i < x.size(); ++i) scaled.data()[i] *= unit;
    for (const Source& source : {support::dense(scaled), support::sparse(scaled)}) {
      Context context(1);
      options.iterations = 1;  // D = I: nothing but the units differs
      options.beta = 2 * unit * unit;
      const Selection found = ndfs(source, options, context);
      options.beta = 2;
      const Selection wanted = ndfs(support::dense(x), options, context);
      for (std::size_t j = 0; j < 6; ++j) {
        EXPECT_NEAR(found.scores[j] * unit, wanted.scores[j], 1e-9 * support::largest(wanted.scores)) << unit;
      }
      options.iterations = 20;
      EXPECT_TRUE(support::all_finite(ndfs(source, options, context).scores)) << unit;
    }
  }
}

TEST(Ndfs, HostileTables) {
  Matrix two(2, 3), one = support::random_matrix(20, 1, 1), twins(20, 4), far = support::random_matrix(20, 4, 2);
  Matrix zeros(20, 3), mixed = support::random_matrix(20, 3, 3), ramp(25, 6);
  for (Index j = 0; j < 3; ++j) two(1, j) = static_cast<double>(j);
  for (Index i = 0; i < 20; ++i) {
    for (Index j = 0; j < 4; ++j) twins(i, j) = static_cast<double>(i % 3), far(i, j) += 1e12;
    zeros(i, 0) = i == 0 ? 1 : 0;
    mixed(i, 0) *= 1e20, mixed(i, 1) *= 1e-20;
  }
  for (Index i = 0; i < ramp.size(); ++i) ramp.data()[i] = static_cast<double>(i) * 1e8;
  for (const Matrix& x : {two, one, twins, far, zeros, mixed, ramp, support::transposed(ramp)}) {
    for (const double gamma : {1e-3, 1.0, 1e8}) {
      for (const double alpha : {0.0, 1.0, 1e6}) {
        for (const bool clip : {true, false}) {
          NdfsOptions options;
          options.clusters = std::min<Index>(x.rows(), 5);
          options.alpha = alpha;
          options.gamma = gamma;
          options.clip = clip;
          for (const Source& source : {support::dense(x), support::sparse(x)}) {
            Context context(1);
            const Selection found = ndfs(source, options, context);
            EXPECT_TRUE(support::all_finite(found.scores));
            EXPECT_TRUE(support::all_finite(found.report.objective));
            EXPECT_EQ(static_cast<Index>(found.clusters.size()), x.rows());
          }
        }
      }
    }
  }
}

TEST(Ndfs, WarnsOfColumnsFarFromZero) {
  Matrix x = support::mixture(40, 5, 2, 3, 4, 1);
  NdfsOptions options;
  options.clusters = 2;
  Context context(1);
  EXPECT_TRUE(ndfs(support::dense(x), options, context).report.warnings.empty());
  for (Index i = 0; i < x.rows(); ++i) x(i, 3) += 1e6;
  const auto warnings = ndfs(support::dense(x), options, context).report.warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].text().find("not centered"), std::string::npos);
}

TEST(Ndfs, Errors) {
  const Source source = support::dense(support::mixture(20, 4, 2, 2, 3, 1));
  const auto refuse = [&](ErrorCode code, const std::vector<std::string>& pieces, const NdfsOptions& options) {
    Context context(1);
    support::expect_error(code, pieces, [&] { ndfs(source, options, context); });
  };
  NdfsOptions options;
  options.clusters = 21;
  refuse(ErrorCode::usage, {"ndfs", "clusters = 21", "n = 20"}, options);
  options = {};
  options.beta = 0;
  refuse(ErrorCode::usage, {"ndfs", "beta = 0"}, options);
  options = {};
  options.graph.neighbors = 0;
  refuse(ErrorCode::usage, {"ndfs", "neighbors = 0"}, options);
  options = {};
  options.laplacian = "random walk";
  refuse(ErrorCode::usage, {"ndfs", "laplacian"}, options);
  options = {};
  options.init = Matrix(20, 7);
  refuse(ErrorCode::usage, {"init is 20 x 7", "20 x 8"}, options);
  options.init = Matrix(20, 8, -1);
  refuse(ErrorCode::usage, {"init", "negative"}, options);
  options = {};
  options.gamma = 1e308;
  options.init = Matrix(20, 8, 1e3);
  refuse(ErrorCode::usage, {"overflow", "gamma"}, options);
  options = {};
  Context context(1);
  support::expect_error(ErrorCode::usage, {"a graph of 5 rows", "n = 20"},
                        [&] { ndfs(source, support::graph_of(some_weights(5, 1)), options, context); });
}

TEST(Ndfs, RefusesSystemsThatDoNotFit) {
  NdfsOptions options;
  Context context(1);
  context.memory_limit = 255;
  const Source source = support::dense(support::mixture(20, 4, 2, 2, 3, 1));
  support::expect_error(ErrorCode::resources, {"4 equations", "256 bytes"}, [&] { ndfs(source, options, context); });
  ++context.memory_limit;
  EXPECT_NO_THROW(ndfs(source, options, context));
  // No entries: the shape alone is refused, before anything is allocated.
  std::vector<std::int64_t> offsets(20001);
  const CsrView view{20000, 20000, offsets.data(), nullptr, nullptr, DType::f64};
  context.memory_limit = 0;
  support::expect_error(ErrorCode::resources, {"20000 equations", "16384"},
                        [&] { ndfs(Source(make_sparse_store(view)), options, context); });
}

}  // namespace
}  // namespace tamis
