// What in a table is seldom meant as it stands, found before a method runs: a line each, with the cure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tamis/data/passes/passes.h"

namespace tamis {

using ColumnName = std::function<std::string(Index)>;

// Raw counts; and in dense rows columns of whole numbers that rise from row to row (identifiers, times) and numbers
// that stand for missing values (-9999 and the like, far from all others of their column). A pass only where the
// moments raise a doubt.
std::vector<Message> doubts(const Source& source, const ColumnMoments& moments, const ColumnName& name,
                            Context& context);

// Where standard deviations differ by more than 100: which columns dominate, and which do not count. Nothing where all
// columns are in one unit, by their ranges: counts, pixels, shares.
std::vector<Message> doubts_of_units(const Source& source, const ColumnMoments& moments, const ColumnName& name);

}  // namespace tamis
