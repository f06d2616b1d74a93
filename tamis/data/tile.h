// Cutting centred tiles out of dense blocks: the one place that knows element types and strides.
#pragma once

#include <vector>

#include "tamis/data/passes.h"

namespace tamis {

// Rows and columns of a tile: small enough for the cache, large enough for BLAS. Constants of the program, since
// the order of sums follows them.
inline constexpr Index kTileRows = 64;
inline constexpr Index kTileCols = 256;

// out (rows x cols, row-major) = Z[block.first + row0 .., col0 ..].
template <class T>
void load_tile(const Centered& z, const Block& block, Index row0, Index rows, Index col0, Index cols, T* out);

// The value of one element of a dense view.
double element(const DenseView& view, Index row, Index column);

}  // namespace tamis
