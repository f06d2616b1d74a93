// Laplacian Score (He, Cai & Niyogi, NIPS 2005): columns that are smooth on a graph of the rows.
//
//   score_j = 1 - (f~'L f~) / (f~'D f~),   f~ = f - (f'D1 / 1'D1) 1,   L = D - W
//
// 1 is smooth, 0 is what noise gives on average, -1 the roughest; a column without variation scores -1.
// Passes over X: the graph's (neighbors.h), and one. Memory: the graph, n k edges.
#pragma once

#include "tamis/base/context.h"
#include "tamis/base/options.h"
#include "tamis/data/source.h"
#include "tamis/graph/graph.h"
#include "tamis/select/method.h"
#include "tamis/select/plan.h"
#include "tamis/select/selection.h"

namespace tamis {

struct LapScoreOptions {
  GraphOptions graph;
};

struct LapScorePlan : Plan {
  LapScorePlan(const Shape& shape, const LapScoreOptions& options, int threads);
};

Options describe(LapScoreOptions& options);
Method lapscore_method();
Selection lapscore(const Source& source, const LapScoreOptions& options, Context& context);

}  // namespace tamis
