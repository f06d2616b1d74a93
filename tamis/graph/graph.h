// A graph of rows: every row joined to its nearest ones, W = max(W, W'), zero diagonal. Never n x n in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/base/options.h"
#include "tamis/data/source.h"

namespace tamis {

struct Graph;
struct Neighbors;

struct GraphOptions {
  Index neighbors = 5;              // of each row, itself not counted; n - 1 where there are fewer rows
  std::optional<double> bandwidth;  // t of the heat kernel; unset: the mean distance over all pairs of rows
  std::string weights = "heat";     // heat: exp(-||xi - xj||^2 / (2 t^2)), binary: 1, cosine: max(0, cos(xi, xj))
  double recall = 0.98;             // the share of the nearest rows to be found; 1: all of them
  Index exact_rows = 30000;         // up to this many rows all of them are found whatever the recall; for tests
  std::shared_ptr<const Graph> given = nullptr;  // used in place of one of nearest rows (given.h)
};

// The options above, to be joined with a method's own.
Options describe(GraphOptions& options);
Option neighbors_option(Index& value);

// Symmetric, in compressed rows with rising columns.
struct Graph {
  Index rows = 0;
  Index neighbors = 0;             // as used
  double bandwidth = 0;            // as used; 0 where weights take none
  bool sampled_bandwidth = false;  // the mean distance was taken over a seeded sample of pairs
  double recall = 1;               // measured on a sample of rows, where rows were searched in cells
  Index cells = 0, probes = 0;     // of that search; 0 where it was exact
  std::string origin;              // of a given graph: its file, or what else it was given as
  std::vector<Index> offsets;      // rows + 1
  std::vector<std::int32_t> columns;
  std::vector<double> weights;
  std::vector<double> degree;  // sums of the rows of W
};

// Whether nearest rows are searched in cells (neighbors.h), and not exactly.
bool searches_cells(const GraphOptions& options, Index rows);
// Whether the mean distance of that many rows is taken over a sample of pairs.
bool samples_bandwidth(const GraphOptions& options, Index rows);

Graph neighbor_graph(const Source& source, const GraphOptions& options, Context& context);
// Of nearest rows that are known, with weights of 1.
Graph binary_graph(Neighbors found, Index rows);

// sum_g by[g] graphs[g], of graphs of the same rows.
Graph weighted_sum(std::span<const Graph> graphs, std::span<const double> by);
// The connected part of every row, counted from 0 in the order of their first rows.
std::vector<int> connected_parts(const Graph& graph);
// Newman's modularity of a clustering of the rows: the part of the weights within clusters, less what is expected of
// the degrees alone.
double modularity(const Graph& graph, const std::vector<int>& labels);

}  // namespace tamis
