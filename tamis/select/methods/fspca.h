// FSPCA: PCA with exactly k rows (Tian, Nie, Wang & Li: Learning Feature Sparse Principal Subspace. NeurIPS 2020).
//
//   maximize over W (d x m, W'W = I, at most k rows not 0):  tr(W'AW),     A = X'X, X centered
//
//   start: S = the k largest diagonal entries of the rank-m part of A; W = the leading eigenvectors of A_SS
//   step:  P = AW (W'AW)^+ W'A; S = the k largest of diag P; W = the leading eigenvectors of A_SS
//
// Columns that are included in any case are in every S, and count among the k. With m = k the objective is tr(A_SS), so
// that S would be the k columns of the largest variance: m is at most k / 2 where it is not given. No step lowers the
// objective; it ends where S stays. Score of a feature in S: the norm of its row of W (1e-4 where it is less); the
// others follow by diag P, below. Not nested: another k may choose other columns, so k should be given. Without it S is
// all columns, and W are the principal directions.
//
// Passes over X: those of two principal subspaces a step, one of them of k columns. Memory: a few d x m; nothing of d x
// d unless that is the cheaper way to the principal directions.
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

struct FspcaOptions {
  std::optional<Index> dims;  // m; unset: 7, at most k / 2 and the rank
  Index iterations = 10;
  std::optional<Index> features;  // k; unset: all columns
  std::vector<Index> forced;      // columns that are in S in any case
};

struct FspcaPlan : Plan {
  FspcaPlan(const Shape& shape, const FspcaOptions& options, int threads);
  Index rows;  // k
  Index dims;  // m, at most
};

Options describe(FspcaOptions& options);
Method fspca_method();
Selection fspca(const Source& source, const FspcaOptions& options, Context& context);

}  // namespace tamis
