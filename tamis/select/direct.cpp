#include "tamis/select/direct.h"

#include <utility>

#include "tamis/base/error.h"
#include "tamis/graph/given.h"

namespace tamis {

ColumnMoments checked_moments(const Source& source, Context& context) {
  const Index n = source.rows();
  require(n >= 2, ErrorCode::bad_data, n, " row", n == 1 ? "" : "s", ", need at least 2");
  require(source.cols() >= 1, ErrorCode::bad_data, "0 features, need at least 1");
  ColumnMoments moments = column_moments(source, context);
  for (Index j = 0; j < source.cols(); ++j) {
    if (moments.varies(j)) return moments;
  }
  throw NoVariation(message("no variation: all ", source.cols(), " columns are constant"));
}

double Stopwatch::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void Stopwatch::write(Report& report) const {
  report.passes = context_.passes() - passes_;
  report.seconds = seconds();
}

Selection direct_selection(std::vector<double> scores, const Plan& plan, const Stopwatch& watch) {
  Selection out;
  out.report.path = plan.path;
  out.scores = std::move(scores);
  out.ranking = rank_by_score(out.scores);
  watch.write(out.report);
  return out;
}

void report_search(const Graph& graph, Report& report) {
  if (graph.cells == 0) return;
  report.resolved.emplace_back("measured_recall", graph.recall);
  report.resolved.emplace_back("probes", static_cast<double>(graph.probes));
  report.resolved.emplace_back("cells", static_cast<double>(graph.cells));
}

void report_given(const Graph& graph, Report& report) {
  const Index edges = std::ssize(graph.columns) / 2;
  report.resolved.emplace_back("edges", static_cast<double>(edges));
  const Index isolated = isolated_rows(graph);
  if (isolated == 0) return;
  report.resolved.emplace_back("isolated_rows", static_cast<double>(isolated));
  report.warnings.push_back(message(graph.origin, ": ", isolated, " of ", graph.rows, " rows ",
                                    isolated == 1 ? "has" : "have", " no edge in the graph"));
}

void report_graph(const Graph& graph, const GraphOptions& options, Report& report) {
  if (options.given) return report_given(graph, report);
  report.resolved.emplace_back("neighbors", static_cast<double>(graph.neighbors));
  if (options.weights == "heat") report.resolved.emplace_back("bandwidth", graph.bandwidth);
  report_search(graph, report);
}

}  // namespace tamis
