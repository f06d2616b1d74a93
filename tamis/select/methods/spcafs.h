// SPCAFS: feature selection by sparse PCA (Li, Nie, Bian, Wu & Li: Sparse PCA via l2,p-Norm Regularization for
// Unsupervised Feature Selection. TPAMI 2021).
//
//   minimize over W (d x d', W'W = I):  ||X - X W W'||^2 + beta sum_i (||w^i||^2 + eps)^(p/2),     X centered
//
// Score of feature i: ||w^i||, higher is better. ||X - XWW'||^2 = tr(S) - tr(W'SW), S = X'X, so this is UFCM (ufcm.h)
// at alpha = 0, where the clusters take no part: it is computed there, without k-means.
//
// Passes over X: a few for the principal directions, then one to three an iteration. Memory: as UFCM.
#pragma once

#include <optional>

#include "tamis/base/context.h"
#include "tamis/base/options.h"
#include "tamis/data/source.h"
#include "tamis/select/method.h"
#include "tamis/select/plan.h"
#include "tamis/select/selection.h"

namespace tamis {

struct SpcafsOptions {
  double sparsity = 0.3;
  std::optional<double> beta;  // unset: beta = sparsity * tr(W0'SW0) / sum_i ||w0^i||^p, W0 the leading PCA directions
  double p = 1.0;
  std::optional<Index> dims;  // unset: 7, less where fewer columns vary
  Index iterations = 50;
  double tolerance = 1e-6;
  ColumnGroups groups;  // columns that are chosen as one, as in ufcm
};

struct SpcafsPlan : Plan {
  SpcafsPlan(const Shape& shape, const SpcafsOptions& options, int threads);
};

Options describe(SpcafsOptions& options);
Method spcafs_method();
Selection spcafs(const Source& source, const SpcafsOptions& options, Context& context);

}  // namespace tamis
