// How smooth the columns of a table are on a graph of its rows: the sums that LapScore and SPEC are made of.
#pragma once

#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/passes/passes.h"
#include "tamis/graph/graph.h"

namespace tamis {

// For every column f, in unit^2: f'Lf as a sum over edges, w_ij (f_i - f_j)^2, which no offset can spoil; and with
// degrees d: the weighted mean f'd / sum d (natural units) and the scatter around it, sum_i d_i (f_i - mean)^2.
struct Smoothness {
  std::vector<double> roughness;  // f'Lf
  std::vector<double> mean;
  std::vector<double> scatter;
  double total_degree = 0;
  double unit = 1.0;
};

Smoothness column_smoothness(const Source& source, const ColumnMoments& moments, const Graph& graph, Context& context);

}  // namespace tamis
