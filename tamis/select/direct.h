// What the methods that score columns one by one, without iterating, share: what they refuse, and how they end.
#pragma once

#include <chrono>
#include <vector>

#include "tamis/data/passes/passes.h"
#include "tamis/graph/graph.h"
#include "tamis/select/plan.h"
#include "tamis/select/selection.h"

namespace tamis {

// The moments of a table that has rows to compare and a column that varies.
ColumnMoments checked_moments(const Source& source, Context& context);

// Counts the time and the passes of one method from its beginning.
class Stopwatch {
 public:
  explicit Stopwatch(Context& context) : context_(context), passes_(context.passes()) {}
  double seconds() const;
  void write(Report& report) const;

 private:
  Context& context_;
  const Index passes_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

Selection direct_selection(std::vector<double> scores, const Plan& plan, const Stopwatch& watch);

// What a search of nearest rows in cells came to.
void report_search(const Graph& graph, Report& report);
// What there is to say of a given graph.
void report_given(const Graph& graph, Report& report);
// What the data decided about a graph.
void report_graph(const Graph& graph, const GraphOptions& options, Report& report);

}  // namespace tamis
