// Columns in the order of guided UFCM: greedily, the one that raises most
//
//   f(S) = sum_{j in S} x_j'(P - t I)x_j / ||X_S X_S'||_F        (X centered, P the guide, t what noise reaches)
//
// For a W that selects columns the numerator is UFCM's objective at alpha = 1, tr(W'X'PXW), in excess of chance; the
// norm stands in the place of the l2,p penalty. f is the alignment of X_S X_S', which is what k-means will see, with P:
// agreement is paid for, repetition costs. A group of columns is taken as one, and enters S as a whole.
#pragma once

#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/passes/passes.h"
#include "tamis/select/groups.h"

namespace tamis {

// What decides about the columns of Z; all in its units.
struct ColumnMerits {
  std::vector<double> scatter;  // x_j'x_j
  std::vector<double> excess;   // x_j'(P - t I)x_j
};

inline constexpr Index kLongestPath = 1100;  // groups of columns that are taken greedily at most

struct AlignedPath {
  std::vector<Index> groups;
  std::vector<double> alignment;  // f after each of them
};

// `forced` first, in their order; then, of the groups that may enter, always the one with the largest f, ties to the
// lower index.
AlignedPath aligned_path(const Centered& z, const ColumnMerits& merits, const ColumnGroups& groups,
                         const std::vector<Index>& forced, const std::vector<char>& may_enter, Context& context);

// f along a given order of groups, as far as a path goes.
AlignedPath alignment_along(const Centered& z, const ColumnMerits& merits, const ColumnGroups& groups,
                            const std::vector<Index>& order, Context& context);

inline constexpr double kEnough = 0.98;  // of the largest f: so much is worth no more columns
// The smallest k with f_k >= kEnough max f, but at least `least`, or as many as the path has. 0 for no path.
Index columns_worth_taking(const std::vector<double>& alignment, Index least);

}  // namespace tamis
