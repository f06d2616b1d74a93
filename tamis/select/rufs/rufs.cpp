#include "tamis/select/rufs/rufs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/base/text/spelling.h"
#include "tamis/data/passes/passes.h"
#include "tamis/graph/given.h"
#include "tamis/select/direct.h"
#include "tamis/select/row_clusters.h"
#include "tamis/select/rufs/rufs_steps.h"
#include "tamis/select/shared_options.h"
#include "tamis/select/varying.h"

namespace tamis {

namespace {

constexpr double kFineGap = 1e-6;  // a W step that ends above it is worth a warning

void check_rufs(const Source& source, const RufsOptions& options) {
  require_valid(options, "rufs");
  require_fitting(options.graph, source.rows(), "rufs");
  const Index n = source.rows();
  require(options.clusters <= n || n < 2, ErrorCode::usage, MethodName{"rufs"}, ": ", OptionName{"clusters"}, " = ",
          options.clusters, ", need 1..n = ", n);
  const Matrix& init = options.init;
  if (init.empty()) return;
  require(init.rows() == n && init.cols() == options.clusters, ErrorCode::usage, MethodName{"rufs"}, ": init is ",
          init.rows(), " x ", init.cols(), ", need n x ", OptionName{"clusters"}, " = ", n, " x ", options.clusters);
  for (Index i = 0; i < init.size(); ++i) {
    require(init.data()[i] >= 0 && std::isfinite(init.data()[i]), ErrorCode::usage, MethodName{"rufs"}, ": init holds ",
            init.data()[i], ", need numbers >= 0");
  }
}

// The distinct columns among those that vary, in units that keep their squares in range.
struct RufsTable {
  std::vector<Index> kept;
  Copies copies;
  double unit;
  Source source;
};

RufsTable rufs_table(const Source& source, Context& context) {
  Varying varying = varying_columns(source, context);
  Distinct distinct = distinct_columns(varying, context);
  if (varying.unit != 1) {
    distinct.source = distinct.source.with_row_scale(std::vector<double>(source.rows(), 1 / varying.unit));
  }
  return {std::move(varying.kept), std::move(distinct.copies), varying.unit, std::move(distinct.source)};
}

// G = Y (Y'Y)^-1/2, without the clusters that k-means left empty.
Matrix first_labelling(const std::vector<int>& labels, Index clusters) {
  std::vector<double> counts(clusters);
  for (const int label : labels) ++counts[label];
  std::vector<Index> place;
  Index used = 0;
  for (const double count : counts) place.push_back(count > 0 ? used++ : -1);
  Matrix g(static_cast<Index>(labels.size()), used);
  for (Index i = 0; i < g.rows(); ++i) {
    const Index label = labels[i];
    g(i, place[label]) = 1 / std::sqrt(counts[label]);
  }
  return g;
}

// Scores, W, F and clusters of all columns, in their own units.
Selection rufs_selection(const RufsFit& fit, const RufsTable& prepared, Index d) {
  Selection out;
  const RufsState& state = fit.state;
  spread_over_columns(state.w, prepared.kept, prepared.copies, d, prepared.unit, out);
  out.centers = Matrix(state.f.rows(), d);
  for (std::size_t i = 0; i < prepared.kept.size(); ++i) {
    const Index g = prepared.copies.group[i];
    const double root = prepared.copies.root[g];
    for (Index k = 0; k < state.f.rows(); ++k) out.centers(k, prepared.kept[i]) = state.f(k, g) / root * prepared.unit;
  }
  for (Index i = 0; i < state.g.rows(); ++i) {
    const double* row = state.g.row(i);
    out.clusters.push_back(static_cast<int>(std::max_element(row, row + state.g.cols()) - row));
  }
  return out;
}

void write_report(const RufsFit& fit, const RufsOptions& options, Report& report) {
  report.status = fit.converged ? Status::converged : Status::max_iterations;
  report.iterations = static_cast<Index>(fit.trace.size()) - 1;
  report.terms = {{"fit", {}},        {"shrink", {}},   {"mass", {}},   {"graph", {}},
                  {"regression", {}}, {"sparsity", {}}, {"penalty", {}}};
  for (std::size_t t = 1; t < fit.trace.size(); ++t) {
    const RufsTerms& terms = fit.trace[t];
    report.objective.push_back(terms.sum());
    const double parts[] = {terms.fit,        terms.shrink,   terms.mass,   terms.graph,
                            terms.regression, terms.sparsity, terms.penalty};
    for (std::size_t k = 0; k < report.terms.size(); ++k) report.terms[k].second.push_back(parts[k]);
  }
  const Index used = fit.state.g.cols();
  report.resolved.emplace_back("clusters", static_cast<double>(used));
  report.resolved.emplace_back("gap", fit.gap);
  if (used < options.clusters) {
    report.warnings.push_back(message(MethodName{"rufs"}, ": ", used, " of ", options.clusters,
                                      " clusters used: k-means left the rest empty"));
  }
  if (fit.gap > kFineGap) {
    report.warnings.push_back(
        message(MethodName{"rufs"}, ": W is within ", short_number(fit.gap, 2), " of its optimum, wanted ", kFineGap));
  }
}

}  // namespace

// Numbers and seconds fitted to the peaks and times of bench/forecast.py; how many iterations there are depends on the
// data.
RufsPlan::RufsPlan(const Shape& shape, const RufsOptions& options, int threads) : Plan(shape, Code::systems, threads) {
  constexpr double kSquares = 1.35, kFactors = 27, kPasses = 500, kSmallBuffers = 1.5e5;
  constexpr double kEntry = 2.3e-9, kFactor = 2.7e-7, kRow = 1e-4;
  const GraphCost graph(shape, options.graph, threads);
  const RidgePath ridge = ridge_path(shape.rows, shape.cols, shape.sparse);
  const double c = static_cast<double>(options.clusters), side = std::min(shape.n(), shape.d());
  const double both = shape.n() + shape.d(), squares = ridge == RidgePath::iterated ? 0 : kSquares * side * side;
  path = graph_path(options.graph, shape.rows) + "; W by " + name_of(ridge);
  kept += kSmallBuffers * std::min(1.0, c / kSmallPieces);
  phases = {{"nearest rows", graph.searching},
            {"graph", graph.making},
            {"clusters of rows", graph.kept + row_clusters_numbers(shape, threads)},
            {"systems", graph.kept + squares + kFactors * both * c}};
  if (ridge == RidgePath::columns) phases.push_back({"gram", graph.kept + column_gram_numbers(shape, threads)});
  if (ridge == RidgePath::rows) phases.push_back({"gram", graph.kept + row_gram_numbers(shape, threads)});
  seconds = graph.seconds + kEntry * shape.entries * side / threads + kFactor * both * c * c + kRow * shape.n();
  passes = graph.passes + kPasses;
}

Options describe(RufsOptions& o) {
  const Options own = {
      shared::clusters(o.clusters),
      {.name = "alpha", .value = &o.alpha, .range = above(0), .help = "weight of the robust regression of G on X"},
      {.name = "beta", .value = &o.beta, .range = above(0), .help = "weight of the row sparsity of W"},
      {.name = "nu", .value = &o.nu, .range = at_least(0), .help = "weight of the smoothness of G on the graph"},
      {.name = "mu", .value = &o.mu, .range = at_least(0), .help = "weight of the sum of G"},
      {.name = "shrink", .value = &o.shrink, .range = at_least(0), .help = "weight of the norms of the columns of F"},
      {.name = "zeta", .value = &o.zeta, .range = above(0), .help = "weight of the penalty that keeps G'G near I"},
      shared::restarts(o.restarts, "for the initial G"),
      {.name = "iterations",
       .python_name = "max_iter",
       .value = &o.iterations,
       .range = at_least(1),
       .help = "maximum number of rounds over G, F and W"},
      shared::tolerance(o.tolerance, "gain of J in a round", "rounds"),
  };
  return join(own, describe(o.graph));
}

Selection rufs(const Source& source, const RufsOptions& options, Context& context) {
  const Stopwatch watch(context);
  check_rufs(source, options);
  const RufsTable prepared = rufs_table(source, context);
  const RufsPlan plan(shape_of(prepared.source), options, context.threads());
  const auto joined = graph_of_rows(source, options.graph, context);
  const Graph& graph = *joined;
  const Centered x(prepared.source, std::vector<double>(prepared.copies.root.size()), 1.0);
  const double unit = prepared.unit;
  const RufsProblem problem{x,
                            graph,
                            options.alpha,
                            options.beta / unit,
                            options.nu,
                            options.mu,
                            options.shrink * unit,
                            options.zeta,
                            unit,
                            row_squared_norms(prepared.source, context),
                            prepared.copies.root};
  Matrix g = options.init.empty()
                 ? first_labelling(cluster_rows(prepared.source, options.clusters, options.restarts, context).labels,
                                   options.clusters)
                 : options.init;
  const RufsFit fit = fit_rufs(problem, std::move(g), options.iterations, options.tolerance, context);
  Selection out = rufs_selection(fit, prepared, source.cols());
  out.report.path = plan.path;
  report_graph(graph, options.graph, out.report);
  write_report(fit, options, out.report);
  watch.write(out.report);
  return out;
}

Method rufs_method() {
  return {
      .name = "rufs",
      .python_name = "RUFS",
      .summary = "robust regression on robustly learned nonnegative labels",
      .formula =
          "minimize ||X - GF||_21 + nu tr(G'LG) + alpha ||XW - G||_21 + beta ||W||_21 over F >= 0, G >= 0, G'G = I, "
          "W; score_j = ||w_j||",
      .reference = "Qian & Zhai: Robust Unsupervised Feature Selection. IJCAI 2013",
      .bind = bind<RufsOptions, RufsPlan, rufs>,
      .in_paper = true,
      .grid = {{"alpha", {"0.01", "1", "100"}}, {"beta", {"0.01", "1", "100"}}},
      .reasons = {.text = "Why: the cluster (counted from 0) with the largest weight for the feature, that weight, and "
                          "the clusters whose centers have its highest and lowest value.",
                  .column = "cluster"},
  };
}

}  // namespace tamis
