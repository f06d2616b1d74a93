// What `tamis info` tells of a table before anything is selected from it.
#pragma once

#include <utility>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/source.h"

namespace tamis {

struct Profile {
  Index not_finite = 0;                             // values that are NaN or infinite
  std::vector<Index> columns_not_finite;            // left out of all that follows
  std::vector<Index> constant;                      // columns without variation
  std::vector<std::pair<Index, Index>> duplicates;  // (column, the lowest column it equals), constant ones aside
  Index zeros = 0;                                  // values that are 0, stored or not
  double min = 0.0, max = 0.0;
  double deviation_least = 0.0, deviation_most = 0.0;  // standard deviations (n - 1) of the columns that vary
};

// Three passes, and one more for each 64 candidates of duplicate columns; memory a few numbers a column.
Profile profile(const Source& source, Context& context);

}  // namespace tamis
