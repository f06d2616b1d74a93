// Bringing columns or rows to one scale before a method sees them. Nothing is shifted, so sparse data stay sparse;
// the methods center by themselves.
#pragma once

#include <string>

#include "tamis/data/passes/passes.h"

namespace tamis {

enum class Scaling {
  none,
  standard,  // columns divided by their standard deviation (n - 1)
  minmax,    // columns divided by their range
  unit,      // rows divided by their 2-norm
  automatic  // none or standard, by the units of the columns (run/doubts.h); resolved before anything is scaled
};

const char* name_of(Scaling scaling);
// "none", "standard", "minmax", "unit", "auto". Throws Error(usage).
Scaling parse_scaling(const std::string& text);

// Columns without variation and rows of zeros stay as they are.
Source scaled(const Source& source, Scaling scaling, const ColumnMoments& moments, Context& context);

// Columns of unit deviation, whatever their magnitudes, and their moments; columns without variation stay as they are.
// A pass where the columns differ so much that the squares of some are out of range beside those of others.
struct UnitDeviations {
  Source source;
  ColumnMoments moments;
};
UnitDeviations unit_deviations(const Source& source, const ColumnMoments& moments, Context& context);

// The largest standard deviation over the smallest, of the columns that vary; 1 where none does.
double deviation_spread(const ColumnMoments& moments);
Index count_constant(const ColumnMoments& moments);

}  // namespace tamis
