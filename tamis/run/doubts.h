// What in a table is seldom meant as it stands, found before a method runs: a line each, with the cure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tamis/data/passes/passes.h"
#include "tamis/data/scale.h"

namespace tamis {

using ColumnName = std::function<std::string(Index)>;

// Raw counts; and in dense rows columns that rise or fall from row to row as identifiers and times do, and numbers that
// stand for missing values (-9999 and the like, far from all others of their column). A pass only where the moments
// raise a doubt.
std::vector<Message> doubts(const Source& source, const ColumnMoments& moments, const ColumnName& name,
                            Context& context);

// Whole numbers from 0 on as molecules, words and clicks give: 50 columns or more, half of them with a 0, of which few
// reach the largest number; or 20 or more of very different sizes that vary at least as counts of their size do.
bool looks_like_counts(const Source& source, const ColumnMoments& moments);

// The scaling that --scale auto takes, and why, in words. None where the columns share a unit, by their types and
// ranges:
//   sparse rows; all numbers in -1..1 (shares, yes and no); 20 or more columns, nearly all of them from 0 on, of whole
//   numbers (counts, pixels) or of similar largest values (intensities, logarithms of counts);
// or where their standard deviations differ by a factor of 10 at most. Otherwise standard.
struct ScaleAdvice {
  Scaling scale = Scaling::none;
  std::string reason;
};
ScaleAdvice advise_scaling(const Source& source, const ColumnMoments& moments, const ColumnName& name);

// Where that advice is to scale, and standard deviations differ by more than 100: which columns dominate, and which do
// not count, and `cure`.
std::vector<Message> doubts_of_units(const Source& source, const ColumnMoments& moments, const ColumnName& name,
                                     Scaling cure = Scaling::standard);

}  // namespace tamis
