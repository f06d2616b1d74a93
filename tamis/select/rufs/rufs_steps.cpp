// RUFS: its objective, its start, and the rounds of its three steps.
#include "tamis/select/rufs/rufs_steps.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/base/text/spelling.h"
#include "tamis/graph/laplacian.h"
#include "tamis/select/rufs/rufs_algebra.h"

namespace tamis {

using namespace rufs_algebra;

RufsTerms rufs_terms(const RufsProblem& problem, const RufsState& s, Context& context) {
  RufsTerms out;
  out.fit = problem.fit * sum(residual_norms(problem, s.g, s.xf, product_transposed_right(s.f, s.f)));
  out.shrink = problem.shrink * sum_of_column_norms(problem, s.f);
  for (Index i = 0; i < s.g.size(); ++i) out.mass += problem.mu * s.g.data()[i];
  out.graph = problem.nu * dot(s.g, laplacian_times(problem.graph, Laplacian::plain, s.g, context));
  out.regression = problem.alpha * sum_of_row_norms(combined(s.xw, -1, s.g));
  out.sparsity = problem.beta * sparsity_of(problem, s.w);
  out.penalty = problem.zeta / 4 * squared_norm(departure(s.g));
  return out;
}

double rounding_of(const RufsProblem& problem, const RufsState& s, double objective) {
  const std::vector<double> norms = residual_norms(problem, s.g, s.xf, product_transposed_right(s.f, s.f));
  double lost = 0;
  for (std::size_t i = 0; i < norms.size(); ++i) {
    const double square = 64 * kUlp * problem.squares[i];  // of ||g_i F - x_i||^2
    lost += square / std::max(norms[i], std::sqrt(square) + kTiny);
  }
  return problem.fit * lost + 1e-10 * objective;
}

Matrix first_basis(const RufsProblem& problem, const Matrix& g, Context& context) {
  const EigenPairs gram = symmetric_eigen(product_transposed_left(g, g));
  const Index c = g.cols();
  Matrix inverse(c, c);
  for (Index a = 0; a < c; ++a) {
    for (Index b = 0; b < c; ++b) {
      for (Index k = 0; k < c; ++k) {
        const double value = gram.values[k];
        if (value > 1e-12 * gram.values[0]) inverse(a, b) += gram.vectors(a, k) * gram.vectors(b, k) / value;
      }
    }
  }
  Matrix f = product_transposed_right(inverse, multiply_transposed(problem.x, g, context));
  double total = 0, positive = 0;
  const auto root = [&](Index j) { return problem.roots[j]; };
  for (Index k = 0; k < c; ++k) {
    for (Index j = 0; j < f.cols(); ++j) {
      f(k, j) = std::max(f(k, j), 0.0);
      total += root(j) * f(k, j), positive += f(k, j) > 0 ? root(j) * root(j) : 0;
    }
  }
  const double offset = positive > 0 ? 0.2 * total / positive : 0.0;
  for (Index k = 0; k < c; ++k) {
    for (Index j = 0; j < f.cols(); ++j) f(k, j) += root(j) * offset;
  }
  return f;
}

namespace {

// J after a step, which cannot have risen but by rounding.
RufsTerms checked(const RufsProblem& problem, const RufsState& state, const RufsTerms& before, Context& context) {
  const RufsTerms after = rufs_terms(problem, state, context);
  require(std::isfinite(after.sum()), ErrorCode::bad_data, MethodName{"rufs"},
          ": values so large that J overflows: scale the data");
  require(after.sum() <= before.sum() + rounding_of(problem, state, before.sum()), ErrorCode::internal,
          MethodName{"rufs"}, ": J rose from ", before.sum(), " to ", after.sum());
  return after;
}

}  // namespace

RufsFit fit_rufs(const RufsProblem& problem, Matrix g, Index rounds, double tolerance, Context& context) {
  RufsFit out;
  RufsState& state = out.state;
  state.g = std::move(g);
  WeightStep weights(problem, context);
  state.f = first_basis(problem, state.g, context);
  state.xf = multiply(problem.x, transposed(state.f), context);
  weights.start(state, context);
  RufsTerms now = rufs_terms(problem, state, context);
  require(std::isfinite(now.sum()), ErrorCode::bad_data, MethodName{"rufs"},
          ": values so large that J overflows: scale the data");
  out.trace.push_back(now);
  weights.run(state, WeightStep::Gap::rough, context);
  now = checked(problem, state, now, context);
  const auto most = static_cast<double>(rounds);
  context.phase("rounds", {0, most, tolerance > 0});
  for (Index round = 1; round <= rounds && !out.converged; ++round) {
    context.check_cancelled();
    label_step(problem, state, context);
    now = checked(problem, state, now, context);
    basis_step(problem, state, context);
    now = checked(problem, state, now, context);
    weights.run(state, WeightStep::Gap::rough, context);
    now = checked(problem, state, now, context);
    out.converged = tolerance > 0 && out.trace.back().sum() - now.sum() <= tolerance * now.sum();
    out.trace.push_back(now);
    context.phase("rounds", {static_cast<double>(round), most, tolerance > 0}, concat("J ", short_number(now.sum())));
  }
  context.phase("final weights");
  out.gap = weights.run(state, WeightStep::Gap::fine, context);
  out.trace.back() = checked(problem, state, now, context);
  return out;
}

}  // namespace tamis
