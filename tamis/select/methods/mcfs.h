// MCFS: Multi-Cluster Feature Selection (Cai, Zhang & He, KDD 2010).
//
//   Y = D^-1/2 [xi_1 .. xi_K], xi the smoothest eigenvectors of I - D^-1/2 W D^-1/2 after the trivial one,
//   W a graph of nearest rows, D its degrees
//   a_k = the lasso of y_k on X (no intercept, X as it is) where its path has m active columns
//
// Score of feature j: max_k |a_kj|, higher is better.
//
// Passes over X: those of the graph; then one for X'X where n >= d and d is small, else one or two a step of the paths
// (all K at once). Memory: the graph, 2 n K + 5 d K numbers, K m^2 / 2, and d^2 or min(n, d) times the number of
// columns that any path took up.
#pragma once

#include <optional>

#include "tamis/base/context.h"
#include "tamis/base/options.h"
#include "tamis/data/source.h"
#include "tamis/graph/graph.h"
#include "tamis/select/method.h"
#include "tamis/select/plan.h"
#include "tamis/select/selection.h"

namespace tamis {

struct McfsOptions {
  Index clusters = 8;
  GraphOptions graph;
  std::optional<Index> dims;    // K eigenvectors; unset: clusters, at most n - 1
  std::optional<Index> active;  // m; unset: `features`, else 200; in both cases at most n - 1 and the columns that vary
  bool normalize = false;       // each a_k is divided by its 2-norm, as the authors' code does
  double ridge = 0.0;           // on the diagonal of the Gram matrix of active columns; the authors' code has 0.001
  std::optional<Index> features;  // how many features the caller will take
  Matrix embedding;               // Y (n x K) given instead of one from a graph; may be empty
};

// How the paths see X: by X'X, by those of its columns that are needed, or by the active columns of X themselves.
enum class McfsView { gram, gram_columns, active_columns };

struct McfsPlan : Plan {
  McfsPlan(const Shape& shape, const McfsOptions& options, int threads);
  Index dims, active;  // K and m
  McfsView view;
};

Options describe(McfsOptions& options);
Method mcfs_method();
// Selection::components: the coefficients, d x K, not normalised.
Selection mcfs(const Source& source, const McfsOptions& options, Context& context);

}  // namespace tamis
