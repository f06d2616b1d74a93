// Guided UFCM: columns worth choosing where neither the number of groups nor the number of columns is known.
//
// The heart of UFCM (ufcm.h) is the margin tr(W'X'PXW), P = U (U'U)^-1 U', with U learnt from X W. Here W selects
// columns, and U comes from graphs of the rows at several scales, averaged (guide.h):
//
//   1  rows      a sample of `sample` rows, drawn by the seed, where there are more
//   2  guide     P from three graphs of nearest rows
//   3  evidence  a p-value per column from the guide of other columns (evidence.h); those that pass at a false
//   discovery
//                rate of 1 % may enter. Without it: those whose share x'Px / x'x is 4 deviations above chance
//   4  order     greedily by the alignment f(S) of X_S X_S' with P (alignment.h); the other columns follow by share
//   5  k         the smallest with f_k >= .98 max f, at least 50; narrow tables, and those without evidence, are kept
//   whole
//
// Groups of columns are chosen as one: the share of a group is that of its columns together, its p-value the smallest
// of theirs times their number (Bonferroni), f takes it as a block, and all counts are of groups.
//
// The margin is the paper's; the guide, the evidence, the order and k are ours. Score of a feature: (d - rank + 1) / d.
//
// Passes over X: one; all else sees the m sampled rows. Memory: those rows, and a few vectors of rows and columns.
// Work: m^2 d for the graphs (sparse, and dense where products are not shared, graph/views.h: 6 times the products of
// all pairs), m d^2 / 2 or 1100 m d for the order.
#pragma once

#include <optional>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/base/options.h"
#include "tamis/data/source.h"
#include "tamis/select/guided/guide.h"
#include "tamis/select/method.h"
#include "tamis/select/plan.h"
#include "tamis/select/selection.h"

namespace tamis {

inline constexpr Index kNarrow = 50;            // tables of so few columns are kept whole, and so many at least
inline constexpr double kDiscoveryRate = 0.01;  // false ones among the columns that may enter
inline constexpr double kGate = 4;              // deviations of the share above chance, where there is no evidence

struct GuidedOptions {
  GuideOptions guide;
  static constexpr bool kChoosesCount = true;
  Index sample = 4000;            // rows that are looked at, at least 100 c where c is given
  bool evidence = true;           // who may enter is decided by p-values; else by share alone, twice as fast
  std::vector<Index> forced;      // columns that enter first
  ColumnGroups groups;            // columns that are chosen as one
  std::optional<Index> features;  // how many features (groups) the caller will take; unset: it leaves that to f
  Source drawn;                   // draw_sample() of the source, before any scale was put on it; may be empty
};

struct GuidedPlan : Plan {
  GuidedPlan(const Shape& shape, const GuidedOptions& options, int threads);
  Index rows;  // that are looked at
};

Options describe(GuidedOptions& options);
Method guided_method();
Selection guided(const Source& source, const GuidedOptions& options, Context& context);

// How many of so many rows a run looks at; and on how many of these k-means on the selected columns is compared with
// the guide afterwards (run/agreement.h).
Index rows_looked_at(const GuidedOptions& options, Index rows);
Index rows_compared(Index rows, Index cols);
// The rows looked at in memory, read in the same pass as the moments of the source; empty where the source itself will
// do.
Source draw_sample(const Source& source, const GuidedOptions& options, Context& context);

// The same guide for columns that another method has put in order: their share, f along that order and how many are
// worth taking, and the evidence where options.evidence.
Guidance guide_along(const Source& source, const std::vector<Index>& order, const GuidedOptions& options,
                     Context& context);

}  // namespace tamis
