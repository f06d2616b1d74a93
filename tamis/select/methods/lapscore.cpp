#include "tamis/select/methods/lapscore.h"

#include <algorithm>

#include "tamis/graph/given.h"
#include "tamis/graph/smoothness.h"
#include "tamis/select/direct.h"

namespace tamis {

namespace {

constexpr double kFlat = -1;  // of a column without variation: what the roughest score

}  // namespace

Options describe(LapScoreOptions& o) { return describe(o.graph); }

LapScorePlan::LapScorePlan(const Shape& shape, const LapScoreOptions& options, int threads)
    : Plan(shape, Code::graphs, threads) {
  const GraphCost graph(shape, options.graph, threads);
  path = graph_path(options.graph, shape.rows);
  phases = {{"nearest rows", graph.searching}, {"graph", graph.making}};
  seconds = graph.seconds;
  passes = graph.passes;
}

Selection lapscore(const Source& source, const LapScoreOptions& options, Context& context) {
  const Stopwatch watch(context);
  require_valid(options, "lapscore");
  require_fitting(options.graph, source.rows(), "lapscore");
  const LapScorePlan plan(shape_of(source), options, context.threads());
  context.phase("moments of the columns");
  const ColumnMoments moments = checked_moments(source, context);
  const auto joined = graph_of_rows(source, options.graph, context);
  const Graph& graph = *joined;
  const Smoothness smooth = column_smoothness(source, moments, graph, context);
  std::vector<double> scores;
  for (Index j = 0; j < source.cols(); ++j) {
    const bool varies = moments.varies(j) && smooth.scatter[j] > 0;
    scores.push_back(varies ? std::max(kFlat, 1 - smooth.roughness[j] / smooth.scatter[j]) : kFlat);
  }
  Selection out = direct_selection(std::move(scores), plan, watch);
  out.flat = kFlat;
  report_graph(graph, options.graph, out.report);
  return out;
}

Method lapscore_method() {
  return {
      .name = "lapscore",
      .python_name = "LaplacianScore",
      .summary = "smooth on a nearest-neighbor graph",
      .formula = "score_j = 1 - (f'Lf) / (f'Df) for f less its weighted mean, L = D - W",
      .reference = "He, Cai & Niyogi: Laplacian Score for Feature Selection. NIPS 2005",
      .bind = bind<LapScoreOptions, LapScorePlan, lapscore>,
      .in_paper = true,
      .grid = {{"neighbors", {"3", "5", "10"}}},
  };
}

}  // namespace tamis
