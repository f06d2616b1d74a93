// What the methods that score columns one by one, without iterating, share: what they refuse, and how they end.
#pragma once

#include <chrono>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tamis/base/error.h"
#include "tamis/data/passes/passes.h"
#include "tamis/graph/given.h"
#include "tamis/graph/graph.h"
#include "tamis/select/plan.h"
#include "tamis/select/selection.h"

namespace tamis {

// The moments of a table that has rows to compare and a column that varies.
inline ColumnMoments checked_moments(const Source& source, Context& context) {
  const Index n = source.rows();
  require(n >= 2, ErrorCode::bad_data, n, " row", n == 1 ? "" : "s", ", need at least 2");
  require(source.cols() >= 1, ErrorCode::bad_data, "0 features, need at least 1");
  ColumnMoments moments = column_moments(source, context);
  for (Index j = 0; j < source.cols(); ++j) {
    if (moments.varies(j)) return moments;
  }
  throw NoVariation(message("no variation: all ", source.cols(), " columns are constant"));
}

// Counts the time and the passes of one method from its beginning.
class Stopwatch {
 public:
  explicit Stopwatch(Context& context) : context_(context), passes_(context.passes()) {}
  void write(Report& report) const {
    report.passes = context_.passes() - passes_;
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  Context& context_;
  const Index passes_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

inline Selection direct_selection(std::vector<double> scores, const Plan& plan, const Stopwatch& watch) {
  Selection out;
  out.report.path = plan.path;
  out.scores = std::move(scores);
  out.ranking = rank_by_score(out.scores);
  watch.write(out.report);
  return out;
}

// What a search of nearest rows in cells came to.
inline void report_search(const Graph& graph, Report& report) {
  if (graph.cells == 0) return;
  report.resolved.emplace_back("measured_recall", graph.recall);
  report.resolved.emplace_back("probes", static_cast<double>(graph.probes));
  report.resolved.emplace_back("cells", static_cast<double>(graph.cells));
}

// What there is to say of a given graph.
inline void report_given(const Graph& graph, Report& report) {
  const Index edges = std::ssize(graph.columns) / 2;
  report.resolved.emplace_back("edges", static_cast<double>(edges));
  const Index isolated = isolated_rows(graph);
  if (isolated == 0) return;
  report.resolved.emplace_back("isolated_rows", static_cast<double>(isolated));
  report.warnings.push_back(message(graph.origin, ": ", isolated, " of ", graph.rows, " rows ",
                                    isolated == 1 ? "has" : "have", " no edge in the graph"));
}

// What the data decided about a graph.
inline void report_graph(const Graph& graph, const GraphOptions& options, Report& report) {
  if (options.given) return report_given(graph, report);
  report.resolved.emplace_back("neighbors", static_cast<double>(graph.neighbors));
  if (options.weights == "heat") report.resolved.emplace_back("bandwidth", graph.bandwidth);
  report_search(graph, report);
}

}  // namespace tamis
