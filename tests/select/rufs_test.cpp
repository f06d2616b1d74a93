#include "tamis/select/rufs/rufs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "tamis/select/rufs/rufs_steps.h"
#include "tests/support/checks.h"
#include "tests/support/golden.h"
#include "tests/support/graphs.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

Matrix laplacian_of(const Matrix& weights) {
  Matrix out(weights.rows(), weights.cols());
  for (Index i = 0; i < out.rows(); ++i) {
    for (Index j = 0; j < out.cols(); ++j) {
      if (i == j) continue;
      out(i, j) = -weights(i, j);
      out(i, i) += weights(i, j);
    }
  }
  return out;
}

Matrix weights_of(const Graph& graph) {
  Matrix out(graph.rows, graph.rows);
  for (Index i = 0; i < graph.rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    for (Index q = graph.offsets[at]; q < graph.offsets[at + 1]; ++q) {
      out(i, graph.columns[static_cast<std::size_t>(q)]) = graph.weights[static_cast<std::size_t>(q)];
    }
  }
  return out;
}

long double row_norms(const support::LongMatrix& a) {
  long double total = 0;
  for (Index i = 0; i < a.rows(); ++i) {
    long double square = 0;
    for (Index k = 0; k < a.cols(); ++k) square += a(i, k) * a(i, k);
    total += std::sqrt(square);
  }
  return total;
}

support::LongMatrix minus(support::LongMatrix a, const support::LongMatrix& b) {
  for (Index i = 0; i < a.size(); ++i) a.data()[i] -= b.data()[i];
  return a;
}

// J term by term from its definition.
double twin_objective(const Matrix& x, const Matrix& weights, const Matrix& w, const Matrix& f, const Matrix& g,
                      const RufsOptions& o) {
  using support::times;
  using support::transposed;
  using support::widened;
  const support::LongMatrix X = widened(x), W = widened(w), F = widened(f), G = widened(g);
  long double j = row_norms(minus(times(G, F), X)) + o.shrink * row_norms(transposed(F));
  for (Index i = 0; i < G.size(); ++i) j += o.mu * G.data()[i];
  const support::LongMatrix smooth = times(transposed(G), times(widened(laplacian_of(weights)), G));
  support::LongMatrix gram = times(transposed(G), G);
  long double penalty = 0;
  for (Index a = 0; a < gram.rows(); ++a) {
    j += o.nu * smooth(a, a);
    gram(a, a) -= 1;
    for (Index b = 0; b < gram.cols(); ++b) penalty += gram(a, b) * gram(a, b);
  }
  j += o.alpha * row_norms(minus(times(X, W), G)) + o.beta * row_norms(W) + o.zeta / 4 * penalty;
  return static_cast<double>(j);
}

// A problem that owns what it refers to.
struct Owned {
  Context context;
  Centered x;
  Graph graph;
  RufsProblem problem;
  Owned(const Source& source, const Matrix& weights, const RufsOptions& o)
      : context(2),
        x(source, std::vector<double>(static_cast<std::size_t>(source.cols())), 1.0),
        graph(support::graph_of(weights)),
        problem{x,
                graph,
                o.alpha,
                o.beta,
                o.nu,
                o.mu,
                o.shrink,
                o.zeta,
                1.0,
                row_squared_norms(source, context),
                std::vector<double>(static_cast<std::size_t>(source.cols()), 1.0)} {}
};

RufsOptions variant(char name) {
  RufsOptions o;
  if (name == 'D') o.alpha = 10, o.beta = 0.1;
  if (name == 'E') o.alpha = 0.01;
  return o;
}

std::string start_of(char name) { return name == 'C' ? "G0_lab" : name == 'B' ? "G0_rand" : "G0_lab02"; }

RufsState start_state(Owned& owned, const Matrix& g) {
  RufsState state;
  state.g = g;
  state.f = first_basis(owned.problem, g, owned.context);
  state.xf = multiply(owned.x, support::transposed(state.f), owned.context);
  return state;
}

std::vector<double> norms_of_rows(const Matrix& w) {
  std::vector<double> out;
  for (Index i = 0; i < w.rows(); ++i) {
    double square = 0;
    for (Index k = 0; k < w.cols(); ++k) square += w(i, k) * w(i, k);
    out.push_back(std::sqrt(square));
  }
  return out;
}

// J never rises, and ends at what its definition says of nonnegative F and G.
void expect_descent(const RufsFit& fit, const Matrix& x, const Matrix& weights, const RufsOptions& o,
                    const std::string& what) {
  for (std::size_t t = 1; t < fit.trace.size(); ++t) {
    EXPECT_LE(fit.trace[t].sum(), fit.trace[t - 1].sum() * (1 + 1e-12)) << what << " round " << t;
  }
  const RufsState& s = fit.state;
  const double wanted = twin_objective(x, weights, s.w, s.f, s.g, o);
  // A row that X W meets exactly has ||r|| = sqrt(||r||^2), where the square is known to 1e-16 of what it is made of.
  EXPECT_NEAR(fit.trace.back().sum(), wanted, 1e-8 * wanted) << what;
  EXPECT_GE(*std::min_element(s.f.data(), s.f.data() + s.f.size()), 0.0) << what;
  EXPECT_GE(*std::min_element(s.g.data(), s.g.data() + s.g.size()), 0.0) << what;
}

class RufsGolden : public testing::TestWithParam<std::string> {};

TEST_P(RufsGolden, StartsAndSlopesAreTheOriginals) {
  const std::string file = "rufs_" + GetParam();
  const Matrix x = support::golden(file, "X"), weights = support::golden(file, "graph_W");
  for (const char v : {'A', 'B', 'C', 'D', 'E'}) {
    for (const bool sparse : {false, true}) {
      const RufsOptions o = variant(v);
      Owned owned(sparse ? support::sparse(x) : support::dense(x), weights, o);
      RufsState state = start_state(owned, support::golden(file, start_of(v)));
      WeightStep(owned.problem, owned.context).start(state, owned.context);
      const std::string key(1, v);
      const auto expect_golden = [&](const std::string& name, const Matrix& found) {
        const Matrix wanted = support::golden(file, key + name);
        EXPECT_LE(support::largest_difference(found, wanted), 1e-9 * support::largest(wanted)) << key << name;
      };
      expect_golden("_F_init", state.f);
      expect_golden("_W_init", state.w);
      expect_golden("_gradG_init", label_gradient(owned.problem, state, owned.context));
      expect_golden("_gradF_init", basis_gradient(owned.problem, state, owned.context));
      const double j = rufs_terms(owned.problem, state, owned.context).sum();
      const double wanted = twin_objective(x, weights, state.w, state.f, state.g, o);
      EXPECT_NEAR(j, wanted, 1e-10 * wanted) << key;
    }
  }
}

double twin_regression(const Matrix& x, const Matrix& w, const Matrix& g, const RufsOptions& o) {
  const support::LongMatrix fitted = support::times(support::widened(x), support::widened(w));
  return static_cast<double>(o.alpha * row_norms(minus(fitted, support::widened(g))) +
                             o.beta * row_norms(support::widened(w)));
}

TEST_P(RufsGolden, TheWeightStepReachesTheOptimum) {
  const std::string file = "rufs_" + GetParam();
  const Matrix x = support::golden(file, "X"), weights = support::golden(file, "graph_W");
  for (const char v : {'A', 'C', 'D'}) {
    const RufsOptions o = variant(v);
    const std::string key = std::string("opt") + v;
    Owned owned(support::dense(x), weights, o);
    RufsState state = start_state(owned, support::golden(file, start_of(v)));
    WeightStep step(owned.problem, owned.context);
    step.start(state, owned.context);
    const double gap = step.run(state, WeightStep::Gap::fine, owned.context);
    EXPECT_LE(gap, 1e-8) << key;
    const double golden = twin_regression(x, support::golden(file, key + "_W"), state.g, o);
    const double found = twin_regression(x, state.w, state.g, o);
    // The golden gap is 6e-6 in widecn D and at most 3e-7 elsewhere.
    const bool rough = GetParam() == "widecn" && v == 'D';
    EXPECT_LE(found, golden * (1 + 1e-8)) << key;
    EXPECT_GE(found, golden * (1 - (rough ? 6e-6 : 3e-7))) << key;
    const std::vector<double> scores = norms_of_rows(state.w);
    EXPECT_LE(support::largest_difference(scores, support::golden_vector(file, key + "_score")),
              1e-3 * support::largest(scores))
        << key;
  }
}

TEST_P(RufsGolden, EndsAtOrBelowTheOriginal) {
  const std::string file = "rufs_" + GetParam();
  const Matrix x = support::golden(file, "X"), weights = support::golden(file, "graph_W");
  for (const char v : {'A', 'C', 'D', 'E'}) {
    const RufsOptions o = variant(v);
    const std::string key(1, v);
    Owned owned(support::dense(x), weights, o);
    const double original = twin_objective(x, weights, support::golden(file, key + "_W"),
                                           support::golden(file, key + "_F"), support::golden(file, key + "_G"), o);
    const RufsFit fit =
        fit_rufs(owned.problem, support::golden(file, start_of(v)), o.iterations, o.tolerance, owned.context);
    expect_descent(fit, x, weights, o, file + " " + key);
    EXPECT_LE(fit.trace.back().sum(), original) << file << " " << key;
  }
}

// The same through the front door: its own graph, and the given G.
TEST_P(RufsGolden, TheSelectionIsTheFit) {
  const std::string file = "rufs_" + GetParam();
  const Matrix x = support::golden(file, "X"), weights = support::golden(file, "graph_W");
  RufsOptions o;
  o.init = support::golden(file, "G0_lab");
  o.clusters = o.init.cols();
  Owned owned(support::dense(x), weights, o);
  const RufsFit fit = fit_rufs(owned.problem, o.init, o.iterations, o.tolerance, owned.context);
  Context context(2);
  const Selection found = rufs(support::dense(x), o, context);
  EXPECT_LE(support::largest_difference(found.scores, norms_of_rows(fit.state.w)),
            1e-3 * support::largest(found.scores));
  EXPECT_EQ(found.scores, norms_of_rows(found.components));
  EXPECT_NEAR(found.report.objective.back(), fit.trace.back().sum(), 1e-4 * fit.trace.back().sum());
  double sum = 0;
  for (const Trace& term : found.report.terms) sum += term.second.back();
  EXPECT_NEAR(sum, found.report.objective.back(), 1e-9 * sum);
}

INSTANTIATE_TEST_SUITE_P(Cases, RufsGolden, testing::ValuesIn(support::golden_cases()),
                         [](const auto& which) { return which.param; });

// G = Y (Y'Y)^-1/2 of rows dealt out in turn.
Matrix dealt(Index n, Index c) {
  Matrix g(n, c);
  for (Index i = 0; i < n; ++i) g(i, i % c) = 1 / std::sqrt(static_cast<double>((n - i % c + c - 1) / c));
  return g;
}

Matrix graph_matrix(const Matrix& x) {
  Context context(1);
  return weights_of(neighbor_graph(support::dense(x), {}, context));
}

TEST(Rufs, JNeverRises) {
  for (const auto& [n, d] : {std::pair<Index, Index>{70, 12}, {18, 50}, {25, 25}, {9, 1}}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const Matrix x = support::mixture(n, d, 3, 6, 2, seed), weights = graph_matrix(x);
      for (const auto& [alpha, beta, nu, zeta] :
           {std::array<double, 4>{1, 1, 1, 1e7}, {30, 0.03, 0, 1e7}, {0.1, 1, 100, 10}, {1e4, 1e-2, 1, 1e3}}) {
        RufsOptions o;
        o.alpha = alpha, o.beta = beta, o.nu = nu, o.zeta = zeta, o.iterations = 6;
        Owned owned(seed == 2 ? support::sparse(x) : support::dense(x, 7), weights, o);
        Matrix g = dealt(n, 3);
        if (seed == 3) {
          const Random random = support::seeded(seed, 5);
          for (Index i = 0; i < g.size(); ++i) g.data()[i] = random.uniform(static_cast<std::uint64_t>(i));
        }
        const RufsFit fit = fit_rufs(owned.problem, g, o.iterations, 0, owned.context);
        EXPECT_EQ(fit.trace.size(), 7U);  // tolerance 0 runs every round
        expect_descent(fit, x, weights, o, concat(n, " x ", d, ", alpha ", alpha, ", seed ", seed));
      }
    }
  }
}

// One column times sqrt(m) in place of m copies: J of the whole table never rises, and its W is as good.
TEST(Rufs, JOfCopiesIsThatOfTheWholeTable) {
  for (const auto& [n, d] : {std::pair<Index, Index>{40, 9}, {14, 30}}) {
    Matrix x = support::mixture(n, d, 3, 6, 2, 8);
    support::copy_columns(x, {{1, 4, 7}, {0, 6}});
    const Matrix weights = graph_matrix(x);
    RufsOptions o;
    o.alpha = 3;
    std::vector<Index> firsts, group = {0, 1, 2, 3, 1, 4, 0, 1};
    for (Index j = 8; j < d; ++j) group.push_back(j - 3);
    for (Index j = 0; j < d; ++j) {
      if (j != 4 && j != 6 && j != 7) firsts.push_back(j);
    }
    std::vector<double> roots(firsts.size(), 1.0);
    roots[0] = std::sqrt(2.0), roots[1] = std::sqrt(3.0);
    Owned whole(support::dense(x), weights, o),
        distinct(support::dense(x).with_columns(firsts).with_column_scale(roots), weights, o);
    distinct.problem.roots = roots;
    RufsFit fit = fit_rufs(distinct.problem, dealt(n, 3), 5, 0, distinct.context);
    Matrix w(d, 3), f(3, d);
    for (Index j = 0; j < d; ++j) {
      const auto g = static_cast<std::size_t>(group[static_cast<std::size_t>(j)]);
      for (Index k = 0; k < 3; ++k) {
        w(j, k) = fit.state.w(static_cast<Index>(g), k) / roots[g];
        f(k, j) = fit.state.f(k, static_cast<Index>(g)) / roots[g];
      }
    }
    fit.state.w = w, fit.state.f = f;
    expect_descent(fit, x, weights, o, concat(n, " x ", d));
    const RufsFit plain = fit_rufs(whole.problem, dealt(n, 3), 5, 0, whole.context);
    EXPECT_NEAR(plain.trace[0].sum(), fit.trace[0].sum(), 1e-9 * plain.trace[0].sum());
    EXPECT_NEAR(plain.trace[1].sum(), fit.trace[1].sum(), 1e-4 * plain.trace[1].sum());
  }
}

// The optimum of the W step does not depend on how its ridge problems are solved.
TEST(Rufs, DecomposedAndIteratedWeightsAgree) {
  for (const auto& [n, d] : {std::pair<Index, Index>{60, 20}, {20, 60}}) {
    for (const bool sparse : {false, true}) {
      const Matrix x = support::thinned(support::mixture(n, d, 3, 8, 2, 4), 0.6, 5);
      RufsOptions o;
      o.alpha = 3;
      Owned owned(sparse ? support::sparse(x) : support::dense(x), graph_matrix(x), o);
      std::vector<double> value;
      std::vector<std::vector<double>> scores;
      for (const Index decomposed : {kDecomposed, Index{0}}) {
        RufsState state = start_state(owned, dealt(n, 3));
        WeightStep step(owned.problem, owned.context, decomposed);
        step.start(state, owned.context);
        EXPECT_LE(step.run(state, WeightStep::Gap::fine, owned.context), 1e-8) << step.path();
        EXPECT_EQ(std::string(step.path()) == "products", decomposed == 0);
        value.push_back(twin_regression(x, state.w, state.g, o));
        scores.push_back(norms_of_rows(state.w));
      }
      EXPECT_NEAR(value[0], value[1], 2e-8 * value[0]);
      EXPECT_LE(support::largest_difference(scores[0], scores[1]), 1e-3 * support::largest(scores[0]));
    }
  }
}

// A W step of a problem that is hard, or large, ends when its arithmetic is spent, and J has not risen.
TEST(Rufs, WeightsEndWhenTheirArithmeticIsSpent) {
  const Matrix x = support::mixture(60, 20, 3, 8, 2, 4);
  RufsOptions o;
  o.alpha = 0.1, o.beta = 0.5;
  Owned owned(support::dense(x), graph_matrix(x), o);
  for (const Index decomposed : {kDecomposed, Index{0}}) {
    RufsState state = start_state(owned, dealt(60, 3));
    // 4 n d c flops an iteration: 4e10 of them are 2.78 million, of which 1e-5 are 27.
    WeightStep step(owned.problem, owned.context, decomposed, 1e-5);
    step.start(state, owned.context);
    const double before = twin_regression(x, state.w, state.g, o);
    EXPECT_GT(step.run(state, WeightStep::Gap::fine, owned.context), 1e-8) << step.path();
    EXPECT_EQ(step.iterations(), 27) << step.path();
    EXPECT_LT(twin_regression(x, state.w, state.g, o), before) << step.path();
  }
}

// W = 0 is optimal exactly if U = -alpha g_i / ||g_i|| is feasible: beta >= max_j ||(X'U)_j||.
TEST(Rufs, WeightsVanishExactlyWhereTheDualSaysSo) {
  const Matrix x = support::mixture(40, 9, 3, 4, 3, 6), g = dealt(40, 3);
  Matrix u = g;
  for (Index i = 0; i < u.rows(); ++i) u(i, i % 3) = 2;  // alpha = 2
  const Matrix xu = support::narrowed(support::times(support::transposed(support::widened(x)), support::widened(u)));
  const double threshold = support::largest(norms_of_rows(xu));
  for (const double part : {0.999, 1.001, 1e6}) {
    RufsOptions o;
    o.alpha = 2, o.beta = part * threshold;
    Owned owned(support::dense(x), graph_matrix(x), o);
    RufsState state = start_state(owned, g);
    WeightStep step(owned.problem, owned.context);
    step.start(state, owned.context);
    EXPECT_LE(step.run(state, WeightStep::Gap::fine, owned.context), 1e-8);
    EXPECT_EQ(support::largest(state.w) == 0, part > 1) << part;
  }
}

// X / u with weights to match is the same problem, with W u and F / u.
TEST(Rufs, UnitsChangeNothing) {
  const Matrix x = support::mixture(30, 14, 3, 5, 2, 7), weights = graph_matrix(x);
  RufsOptions o;
  Owned plain(support::dense(x), weights, o),
      scaled(support::dense(x).with_row_scale(std::vector<double>(30, 0.25)), weights, o);
  scaled.problem.beta /= 4, scaled.problem.shrink *= 4, scaled.problem.fit = 4;
  const RufsFit a = fit_rufs(plain.problem, dealt(30, 3), 4, 0, plain.context);
  RufsFit b = fit_rufs(scaled.problem, dealt(30, 3), 4, 0, scaled.context);
  for (std::size_t t = 0; t < a.trace.size(); ++t) {
    EXPECT_NEAR(a.trace[t].sum(), b.trace[t].sum(), 1e-9 * a.trace[t].sum());
  }
  for (Index i = 0; i < b.state.w.size(); ++i) b.state.w.data()[i] /= 4;
  EXPECT_LE(support::largest_difference(a.state.w, b.state.w), 1e-6 * support::largest(a.state.w));
}

TEST(Rufs, SurvivesExtremeUnits) {
  for (const double unit : {1e-300, 1e-160, 1e-30, 1e30, 1e160}) {
    Matrix x = support::mixture(24, 6, 2, 3, 4, 8);
    for (Index i = 0; i < x.size(); ++i) x.data()[i] *= unit;
    for (const Source& source : {support::dense(x), support::sparse(x)}) {
      RufsOptions o;
      o.clusters = 2;
      Context context(2);
      const Selection found = rufs(source, o, context);
      EXPECT_TRUE(support::all_finite(found.scores)) << unit;
      EXPECT_TRUE(support::all_finite(found.report.objective)) << unit;
    }
  }
}

// Three groups; each has two columns of its own, where its rows are 4 larger than all others.
Matrix groups_with_columns(Index rows, Index cols) {
  Matrix x = support::random_matrix(rows, cols, 9);
  for (Index i = 0; i < rows; ++i) x(i, i % 3) += 4, x(i, 3 + i % 3) += 4;
  return x;
}

TEST(Rufs, InformativeColumnsComeFirst) {
  const Matrix x = groups_with_columns(200, 30);
  RufsOptions o;
  o.clusters = 3;
  Context context(2);
  const Selection found = rufs(support::dense(x), o, context);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_LT(found.ranking[k], 6) << k;
}

TEST(Rufs, ClustersThatStayEmptyAreLeftOut) {
  Matrix x(20, 3);
  for (Index i = 0; i < 20; ++i) x(i, i % 2) = 1, x(i, 2) = static_cast<double>(i % 2);
  RufsOptions o;
  o.clusters = 5;
  Context context(1);
  const Selection found = rufs(support::dense(x), o, context);
  EXPECT_TRUE(support::all_finite(found.scores));
  EXPECT_EQ(found.components.cols(), 2);
  ASSERT_FALSE(found.report.warnings.empty());
  EXPECT_NE(found.report.warnings[0].text().find("2 of 5 clusters"), std::string::npos);
}

TEST(Rufs, RefusesAStartThatIsNone) {
  const Source source = support::dense(support::mixture(12, 4, 2, 2, 3, 10));
  RufsOptions o;
  o.clusters = 3;
  Context context(1);
  o.init = Matrix(12, 2, 0.5);
  support::expect_error(ErrorCode::usage, {"rufs: init is 12 x 2", "12 x 3"}, [&] { rufs(source, o, context); });
  o.init = Matrix(12, 3, 0.5);
  for (const double bad : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
    o.init(7, 1) = bad;
    support::expect_error(ErrorCode::usage, {"rufs: init holds"}, [&] { rufs(source, o, context); });
  }
}

}  // namespace
}  // namespace tamis
