// The nearest rows of a dense table seen in three ways: as it is, with columns of unit deviation, and with rows of unit
// length; in all columns, and in each of two halves of them. One product of rows serves several distances: that of all
// columns is the sum of those of the halves, and from the product of two rows and their lengths follow both their
// distance and that of the rows at unit length. So three products do for nine searches of all columns and halves.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/source.h"
#include "tamis/graph/neighbors.h"

namespace tamis {

// As it is, unit deviations, unit rows; the neighbors of a row by index, without distances.
using ViewNeighbors = std::array<Neighbors, 3>;

// Whether one search does for all views of a table of that shape, if its numbers allow it.
bool shares_views(Index rows, Index cols, bool sparse);

// Of all columns, and where `half` (0 or 1 for every column, both of them) is not empty of either half. Nothing unless
// shares_views(), or where columns lie so far from 0, or rows have such lengths, that products would say too little of
// distances. Every column must vary.
std::optional<std::vector<ViewNeighbors>> nearest_in_views(const Source& source, const std::vector<char>& half,
                                                           Index count, Context& context);

}  // namespace tamis
