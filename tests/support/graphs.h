// Graphs of rows from weights that a test has worked out.
#pragma once

#include <algorithm>

#include "tamis/graph/graph.h"
#include "tamis/linalg/matrix.h"

namespace tamis::support {

// Of the weights max(W, W'), without the diagonal.
inline Graph graph_of(const Matrix& w) {
  Graph graph;
  graph.rows = w.rows();
  graph.offsets.push_back(0);
  for (Index i = 0; i < w.rows(); ++i) {
    double degree = 0;
    for (Index j = 0; j < w.cols(); ++j) {
      const double weight = i == j ? 0.0 : std::max(w(i, j), w(j, i));
      if (!(weight > 0)) continue;
      graph.columns.push_back(static_cast<std::int32_t>(j));
      graph.weights.push_back(weight);
      degree += weight;
    }
    graph.offsets.push_back(std::ssize(graph.columns));
    graph.degree.push_back(degree);
  }
  return graph;
}

}  // namespace tamis::support
