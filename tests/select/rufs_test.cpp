#include "tamis/select/rufs.h"

#include <gtest/gtest.h>

#include <limits>

#include "tamis/select/rufs_steps.h"
#include "tests/support/checks.h"
#include "tests/support/golden.h"
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
        graph(graph_of(weights)),
        problem{x,        graph,  o.alpha, o.beta,  o.nu,
                o.mu,     o.shrink, o.zeta, 1.0, row_squared_norms(source, context)} {}
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
      const double wanted = support::golden(file, key + "_obj_init")(0, 0);
      EXPECT_NEAR(j, wanted, 1e-9 * wanted) << key;
      EXPECT_NEAR(j, twin_objective(x, weights, state.w, state.f, state.g, o), 1e-9 * wanted) << key;
    }
  }
}

TEST_P(RufsGolden, TheWeightStepReachesTheOptimum) {
  const std::string file = "rufs_" + GetParam();
  const Matrix x = support::golden(file, "X"), weights = support::golden(file, "graph_W");
  for (const char v : {'A', 'C', 'D'}) {
    const RufsOptions o = variant(v);
    Owned owned(support::dense(x), weights, o);
    RufsState state = start_state(owned, support::golden(file, start_of(v)));
    WeightStep step(owned.problem, owned.context);
    step.start(state, owned.context);
    const double gap = step.run(state, owned.context);
    std::printf("%s %c: gap %.1e after %ld\n", file.c_str(), v, gap, static_cast<long>(step.iterations()));
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
    const RufsState& s = fit.state;
    const double j = twin_objective(x, weights, s.w, s.f, s.g, o);
    EXPECT_LE(j, original * (1 + 1e-9)) << file << " " << v;
    double moved=support::largest_difference(s.g, support::golden(file, start_of(v)));
    std::printf("%s %c: %.6f, original %.6f, rounds %zu conv %d moved %.2g its %ld: ", file.c_str(), v, j, original, fit.trace.size()-1, fit.converged, moved, (long)fit.weight_iterations);
    for(auto&t:fit.trace) std::printf(" %.5f",t.sum());
    std::printf("\n");
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, RufsGolden, testing::ValuesIn(support::golden_cases()),
                         [](const auto& which) { return which.param; });

}  // namespace
}  // namespace tamis
