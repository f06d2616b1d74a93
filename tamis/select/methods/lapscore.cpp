#include "tamis/select/methods/lapscore.h"

#include <algorithm>

#include "tamis/graph/smoothness.h"
#include "tamis/select/direct.h"

namespace tamis {

Options describe(LapScoreOptions& o) { return describe(o.graph); }

Selection lapscore(const Source& source, const LapScoreOptions& options, Context& context) {
  const Stopwatch watch(context);
  LapScoreOptions copy = options;
  validate(describe(copy), "lapscore");
  const ColumnMoments moments = checked_moments(source, context);
  const Graph graph = neighbor_graph(source, options.graph, context);
  const Smoothness smooth = column_smoothness(source, moments, graph, context);
  std::vector<double> scores;
  for (Index j = 0; j < source.cols(); ++j) {
    const auto at = static_cast<std::size_t>(j);
    const bool varies = moments.varies(j) && smooth.scatter[at] > 0;
    scores.push_back(varies ? std::max(-1.0, 1 - smooth.roughness[at] / smooth.scatter[at]) : -1.0);
  }
  Selection out = direct_selection(std::move(scores), watch);
  report_graph(graph, options.graph, out.report);
  return out;
}

}  // namespace tamis
