// Column subset selection by greedy steps: forward selection component analysis, principal variables (Farahat, Ghodsi &
// Kamel, ICDM 2011; Puggini & McLoone, TPAMI 2017; McCabe, Technometrics 1984).
//
//   minimize over |S| = k:  ||X - X_S X_S^+ X||^2,     X centered, columns of unit deviation unless `standardize` is
//   off
//
//   R = X'X;  always  j* = argmax ||R_:j||^2 / R_jj,  R <- R - R_:j R_j: / R_jj
//
// All gains are evaluated in every step, since one can rise when another column enters. Score of a feature:
// (d - rank + 1) / d. The columns after the path follow by what they would add next, and those that are explained
// already by what they explain alone. Ties (1e-9 of the best gain, more where rounding of R_jj moves a gain further) go
// to the column that explains more alone, then to the lower index.
//
// A group G of columns enters as one. It adds tr(R_GG^+ R_G: R_:G), what its columns explain together: of the
// eigenvectors of R_GG those count whose eigenvalue is above rounding, since the indicators of one variable add up to a
// constant.
//
// With d <= n the passes are one for X'X, and a step costs d^2. With more columns than rows nothing of d x d is formed:
// R = X'(I - QQ')X stays a product, XX' starts it, and a step is two products with X. Memory: d^2, or n^2 + k d.
#pragma once

#include <optional>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/base/options.h"
#include "tamis/data/source.h"
#include "tamis/select/method.h"
#include "tamis/select/plan.h"
#include "tamis/select/selection.h"

namespace tamis {

struct CssOptions {
  std::optional<double> variance;  // stop where the columns explain this share of the variance
  std::optional<double> r2;        // stop where every column is explained this well
  Index swaps = 0;                 // rounds of swaps after the path, at most
  bool standardize = true;         // divide columns by their standard deviation
  std::vector<Index> forced;       // columns that enter first
  ColumnGroups groups;             // columns that enter as one
  std::optional<Index> length;     // of the path, in groups; unset: until everything is explained
};

struct CssPlan : Plan {
  CssPlan(const Shape& shape, const CssOptions& options, int threads);
  bool by_rows;  // X is multiplied, and nothing of d x d is formed
  Index length;  // of the path
};

Options describe(CssOptions& options);
Method css_method();
Selection css(const Source& source, const CssOptions& options, Context& context);

}  // namespace tamis
