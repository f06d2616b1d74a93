// Sparse k-means (Witten & Tibshirani: A Framework for Feature Selection in Clustering. JASA 2010).
//
//   maximize over clusters C and weights w:  sum_j w_j a_j(C),   ||w||_2 <= 1, ||w||_1 <= s, w >= 0
//
// a_j: the between-cluster sum of squares of column j. In turn: k-means on the columns times sqrt(w_j), from the
// clusters so far; w = soft(a, t) / ||soft(a, t)||, with the least t >= 0 that keeps ||w||_1 <= s. The objective never
// falls. Score of a feature: w_j; the columns with w_j > 0 are those to select.
//
// s, where it is not given, is the one of ten values from 1.2 to 0.9 sqrt(d), and then of seven around the best, with
// the largest gap log O(s) - mean log O*(s), O the objective and O* that of tables whose columns are permuted, each on
// its own. The gap is taken in a sample of the rows where there are many.
//
// Passes over X: two a step of k-means (products with the centers, sums of the rows that moved). Memory: n c and c d
// numbers; for the gap up to 2^24 / c numbers, twice.
#pragma once

#include <optional>

#include "tamis/base/context.h"
#include "tamis/base/options.h"
#include "tamis/data/source.h"
#include "tamis/select/method.h"
#include "tamis/select/plan.h"
#include "tamis/select/selection.h"

namespace tamis {

struct SparseKmOptions {
  static constexpr bool kChoosesCount = true;
  Index clusters = 8;
  std::optional<double> bound;  // s; unset: by the gap
  Index permutations = 25;      // of the gap
  Index restarts = 10;          // of the k-means that it starts from
  Index iterations = 20;
  double tolerance = 1e-4;  // relative change of w, in the 1-norm
};

struct SparseKmPlan : Plan {
  SparseKmPlan(const Shape& shape, const SparseKmOptions& options, int threads);
  Index start_rows;  // that k-means starts with
  Index gap_rows;    // that the gap is taken in
};

Options describe(SparseKmOptions& options);
Method sparsekm_method();
Selection sparsekm(const Source& source, const SparseKmOptions& options, Context& context);

// w for the sums of squares a: nonnegative, ||w||_2 = 1 and ||w||_1 <= s; 0 where all a are. Where more than s^2
// columns lead together, each has an equal part of s.
std::vector<double> sparse_weights(const std::vector<double>& a, double s);

}  // namespace tamis
