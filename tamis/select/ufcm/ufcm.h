// UFCM: Unsupervised Feature analysis with Class Margin optimization
// (Wang, Nie, Chang, Yao, Li & Sheng, ECML PKDD 2015).
//
//   maximize over W (d x d', W'W = I), U (n x c, one 1 a row), G (c x d'):
//     tr(W' S W) - alpha ||X W - U G||^2 - beta sum_i (||w^i||^2 + eps)^(p/2),     S = X'X, X centered
//
// Score of feature i: ||w^i||, higher is better; with order = qr (d - rank + 1) / d. The sparsity term is the p-th
// power that the paper's weights D and its proof belong to, smoothed by eps = 1e-10, so that no iteration can lower the
// objective.
//
// With `exact` there is no sparsity term: W has at most k rows that are not 0, by the step of FSPCA (rows.h), and the
// columns outside of S score below those inside.
//
// With groups of columns the sparsity term is sum_g (||W_g||_F^2 + eps)^(p/2), and a column scores ||W_g||_F of its
// group.
//
// Passes over X: a few for the principal directions, then one or two an iteration (see docs/ufcm.md).
// Memory: 2 n d' + 8 d d' + 2 c d numbers; a d x d matrix only where that is cheaper than products and alpha != 1.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/base/options.h"
#include "tamis/data/source.h"
#include "tamis/select/groups.h"
#include "tamis/select/method.h"
#include "tamis/select/selection.h"

namespace tamis {

struct UfcmOptions {
  Index clusters = 8;
  double alpha = 1.0;
  double sparsity = 0.3;
  std::optional<double> beta;  // unset: beta = sparsity * tr(W0'SW0) / sum_i ||w0^i||^p, W0 the leading PCA directions
  double p = 1.0;
  std::optional<Index> dims;  // unset: min(clusters - 1, rank of the centered X), at least 1
  Index restarts = 10;
  Index iterations = 50;
  double tolerance = 1e-6;
  std::string order = "norm";     // of the columns: norm: by ||w^i||; qr: by pivoted QR on the rows of W
  bool exact = false;             // exactly `features` rows of W that are not 0, in the place of the penalty
  std::optional<Index> features;  // k, where exact
  std::vector<Index> forced;      // columns that are among them in any case, where exact
  ColumnGroups groups;            // columns that are chosen as one: ||W_g||_F in the place of the norms of their rows
  std::string name = "ufcm";      // in messages; a method that is this one with fewer options has its own
  std::vector<int> labels;        // n classes that fix U (Eq. 3), -1 where a row is free; empty: unsupervised

  bool aims() const { return exact; }
};

Options describe(UfcmOptions& options);
Method ufcm_method();
Selection ufcm(const Source& source, const UfcmOptions& options, Context& context);

}  // namespace tamis
