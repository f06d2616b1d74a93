// A graph of the rows that the caller has, in place of one of nearest rows: n x n weights, in any form that a table can
// have.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/source.h"
#include "tamis/graph/graph.h"

namespace tamis {

// W as a graph: finite, >= 0 and symmetric, with an edge at least; the diagonal is left out. The two weights of an edge
// may differ by rounding (1e-6 of the larger), which then counts. Otherwise Error(bad_data), by row and column;
// Error(resources) where the edges do not fit context.memory_limit. `where` begins messages, and is Graph::origin.
std::shared_ptr<const Graph> graph_of_weights(const Source& w, const std::string& where, Context& context);

// The same of a file.
std::shared_ptr<const Graph> read_graph(const std::string& path, Context& context);

// The edges among the given rows (increasing).
std::shared_ptr<const Graph> graph_among(const Graph& graph, const std::vector<Index>& rows);

// Rows without an edge.
Index isolated_rows(const Graph& graph);

// The given graph, or that of the nearest rows.
std::shared_ptr<const Graph> graph_of_rows(const Source& source, const GraphOptions& options, Context& context);

// Throws Error(usage) where a graph is given that has other rows, or options that would make one are set beside it.
void require_fitting(const GraphOptions& options, Index rows, const std::string& method);

}  // namespace tamis
