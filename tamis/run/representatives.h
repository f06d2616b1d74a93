// Which columns repeat which: for every column that was left out the selected column that stands for it, and how well
// the selected ones explain it; and groups of columns that repeat each other, whether they were selected or not.
//
//   R^2_j = c_j' C_SS^-1 c_j, c_j the correlations of column j with the selected columns S. The coefficients C_SS^-1
//   c_j say which of them stands for column j: the one with the largest. A selected column that better ranked ones
//   repeat (1 - R^2 < 1e-10) stands for none.
//
//   Groups: in the order of the ranking, the selected columns first, a column that is in no group leads one; all
//   columns in no group that correlate with it by |r| >= `threshold` join it.
//
// Rows with weights count as often in both.
//
// One pass for the R^2, n d k products; 2048 rows (512 to 2047 of more than 488 columns), sampled where there are
// more, for the groups, and as many d^2 products. What would cost more than seconds is left out, by shape alone
// (RedundancyWork).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/source.h"
#include "tamis/select/plan.h"

namespace tamis {

inline constexpr double kRedundant = 0.8;  // |r| of columns of a group, unless another is asked for

// "0.8", or "off": nothing. Throws Error(usage) unless it is in 0 < r <= 1.
std::optional<double> parse_redundancy(const std::string& text);
void require_redundancy(const std::optional<double>& threshold);

// Columns are positions in the source.
struct Redundancy {
  double threshold = kRedundant;
  std::vector<double> r2;                  // of each column: 1 where selected, NaN where constant; empty: left out
  std::vector<Index> representative;       // of each column; -1 where selected or constant; empty as r2
  std::vector<double> correlation;         // with the representative, NaN where there is none
  std::vector<std::vector<Index>> groups;  // of two columns or more: who leads it first, the others by falling |r|
  Index rows = 0;                          // that the groups were found in; 0: those of the R^2
  std::string note;                        // what was left out, and why; empty: nothing
};

// What is done for a table of that shape of which so many columns are selected.
struct RedundancyWork {
  RedundancyWork(const Shape& shape, Index selected);
  bool r2;          // one more pass
  bool all_groups;  // else those of selected columns alone, where there is R^2
  Index rows;       // that the groups are found in
};
void add_cost(const RedundancyWork& work, const Shape& shape, Index selected, int threads, Plan& plan);

Redundancy find_redundancy(const Source& source, const std::vector<Index>& ranking, const std::vector<Index>& selected,
                           double threshold, Context& context);

}  // namespace tamis
