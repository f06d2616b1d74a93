// UDFS: unsupervised discriminative feature selection (Yang, Shen, Ma, Huang & Zhou: L2,1-Norm Regularized
// Discriminative Feature Selection for Unsupervised Learning. IJCAI 2011).
//
//   minimize over W (d x c, W'W = I):  tr(W'MW) + gamma sum_i ||w^i||
//   M = X'LX,  L = sum_i S_i H (X~_i X~_i' + lambda I)^-1 H S_i'
//
// X~_i: row i and its k nearest, centered among themselves; H = I - 11'/(k+1); S_i takes these rows from all. W in turn
// with D: the eigenvectors of the smallest eigenvalues of M + gamma D, D_ii = 1 / (2 ||w^i||), D = I to begin with. The
// objective never rises. Score of a feature: ||w^i||.
//
// Three restrictions, where the definition is degenerate. W has at most one column less than M: as many would be a
// basis of the whole space, whatever M is. With more columns than rows W lies in the span of the rows: all else has XW
// = 0, which is the minimum, and says nothing. Exact copies of a column count as one (copies.h).
//
// Work: the graph, n k^2 d, n d^2, and d^3 an iteration (n^3 and n^2 d where d > n). Memory: the rows, dense, d^2 or
// n^2 and n k^2 numbers. Not on Dask: neighborhoods are rows from anywhere.
#pragma once

#include "tamis/base/context.h"
#include "tamis/base/options.h"
#include "tamis/data/source.h"
#include "tamis/select/method.h"
#include "tamis/select/plan.h"
#include "tamis/select/selection.h"

namespace tamis {

struct UdfsOptions {
  Index clusters = 8;    // c: columns of W, at most one less than columns that vary (or than the rank of the rows)
  double gamma = 0.1;    // weight of the row sparsity
  double ridge = 1000;   // lambda, in squares of the data's unit
  Index neighbors = 15;  // k, at most n - 1
  Index iterations = 20;
  double tolerance = 1e-6;
};

struct UdfsPlan : Plan {
  UdfsPlan(const Shape& shape, const UdfsOptions& options, int threads);
  bool by_rows;  // W in the span of the rows
};

Options describe(UdfsOptions& options);
Method udfs_method();
Selection udfs(const Source& source, const UdfsOptions& options, Context& context);

}  // namespace tamis
