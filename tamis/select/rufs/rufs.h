// RUFS: Robust Unsupervised Feature Selection (Qian & Zhai, IJCAI 2013), with the constants of its authors' code.
//
//   minimize J over W (d x c), F (c x d, >= 0), G (n x c, >= 0):
//     ||X - GF||_21 + shrink sum_j ||f_j|| + mu sum(G) + nu tr(G'LG)
//       + alpha ||XW - G||_21 + beta ||W||_21 + zeta/4 ||G'G - I||^2
//
// ||A||_21 is the sum of the norms of the rows, f_j a column of F, L = D - W the Laplacian of the nearest-neighbor
// graph; X is taken as given, not centered. Score of feature j: ||w_j||, higher is better; constant columns score 0.
//
// Passes over X: the graph's (neighbors.h), then two for each iteration of the W step (about 100 to 500 in all) and
// of the F step. Memory: the graph, about 31 n c + 16 d c numbers, and a square matrix of side min(n, d) where
// that is at most 4096 (sparse: 1024).
#pragma once

#include "tamis/base/context.h"
#include "tamis/base/options.h"
#include "tamis/data/source.h"
#include "tamis/graph/graph.h"
#include "tamis/linalg/matrix.h"
#include "tamis/select/method.h"
#include "tamis/select/plan.h"
#include "tamis/select/selection.h"

namespace tamis {

struct RufsOptions {
  Index clusters = 8;
  double alpha = 1.0;
  double beta = 1.0;
  double nu = 1.0;
  double mu = 0.1;        // the code's constants, as the next two
  double shrink = 1e-4;   // of the columns of F
  double zeta = 1e7;      // of G'G = I
  Index restarts = 10;    // k-means starts for the first G
  Index iterations = 10;  // rounds over G, F and W
  double tolerance = 1e-4;
  GraphOptions graph;
  Matrix init;  // a first G (n x c, >= 0) instead of the one from k-means; no option of the command
};

struct RufsPlan : Plan {
  RufsPlan(const Shape& shape, const RufsOptions& options, int threads);
};

Options describe(RufsOptions& options);
Method rufs_method();
Selection rufs(const Source& source, const RufsOptions& options, Context& context);

}  // namespace tamis
