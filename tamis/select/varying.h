// The columns of a table that vary, which are all that the methods with a W look at, and what they learn of them spread
// over all columns again.
#pragma once

#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/passes/passes.h"
#include "tamis/select/copies.h"
#include "tamis/select/groups.h"
#include "tamis/select/selection.h"

namespace tamis {

struct Varying {
  std::vector<Index> kept;  // their positions, increasing
  Source source;            // these columns, as they are
  ColumnMoments moments;    // of these columns
  // For methods that do not center: a power of two that brings values far from 1 near it, so that squares stay in
  // range.
  double unit = 1;
};

// Error(bad_data) where there are fewer than two rows, or where no column varies.
Varying varying_columns(const Source& source, Context& context);

// Those columns without the copies among them, each times the root of its number (copies.h).
struct Distinct {
  Copies copies;
  Source source;
  ColumnMoments moments;
};
Distinct distinct_columns(const Varying& varying, Context& context);
// The same, with copies merged only where each is a group by itself.
Distinct distinct_columns(const Varying& varying, const ColumnGroups& groups, Context& context);

// The scores ||w^i|| and the components W of all d columns, in units of the table where W, of the distinct columns, is
// in units of 1 / `unit`; 0 for columns that were left out.
void spread_over_columns(const Matrix& w, const std::vector<Index>& kept, const Copies& copies, Index d, double unit,
                         Selection& out);

}  // namespace tamis
