// NDFS: Nonnegative Discriminative Feature Selection (Li, Yang, Liu, Zhou & Lu: Unsupervised Feature Selection Using
// Nonnegative Spectral Analysis. AAAI 2012).
//
//   minimise over F (n x c, F >= 0, F'F = I) and W (d x c):
//     tr(F'LF) + alpha (||XW - F||^2 + beta sum_j ||w_j||),     X as given: columns are not centred
//
// L is the Laplacian of a graph of neighbouring rows. F'F = I is a penalty, gamma/2 ||F'F - I||^2. Score of feature j:
// ||w_j||, the norm of a row of W, higher is better.
//
// Passes over X: one for the statistics, those of the graph and of k-means, then two an iteration (d <= n: X'F, XW), or
// two where d > n (XPX', X'T). Memory: 8 n c numbers and two d x d matrices, or one n x n where d > n.
#pragma once

#include <string>

#include "tamis/base/context.h"
#include "tamis/base/options.h"
#include "tamis/data/source.h"
#include "tamis/graph/graph.h"
#include "tamis/linalg/matrix.h"
#include "tamis/select/method.h"
#include "tamis/select/plan.h"
#include "tamis/select/selection.h"

namespace tamis {

struct NdfsOptions {
  Index clusters = 8;
  double alpha = 1.0;
  double beta = 1.0;
  double gamma = 1e8;
  std::string laplacian = "normalized";  // normalized: I - D^-1/2 W D^-1/2; plain: D - W
  Index iterations = 20;
  double tolerance = 0.0;  // relative change of the objective to stop at; 0: every iteration, as published
  bool clip = true;        // negative entries of F become 0; false: the update as published
  Index restarts = 10;     // k-means starts of the first F
  GraphOptions graph;
  Matrix init;  // a first F (n x clusters, >= 0); empty: from k-means
};

struct NdfsPlan : Plan {
  NdfsPlan(const Shape& shape, const NdfsOptions& options, int threads);
  bool by_columns;  // the systems are d x d, else n x n
};

Options describe(NdfsOptions& options);
Method ndfs_method();
Selection ndfs(const Source& source, const NdfsOptions& options, Context& context);
// With a graph of the caller's own; `labels`, where given, receives F as it ended.
Selection ndfs(const Source& source, const Graph& graph, const NdfsOptions& options, Context& context,
               Matrix* labels = nullptr);

}  // namespace tamis
