// Cutting centered tiles out of dense blocks: the one place that knows element types and strides.
#pragma once

#include "tamis/data/passes/passes.h"
#include "tamis/linalg/kernels.h"

namespace tamis {

// Rows and columns of a tile: long stretches of a row, so that memory is read in streams, and few enough rows to
// stay in the cache. Constants of the program, since the order of sums follows them.
inline constexpr Index kTileRows = 32;
inline constexpr Index kTileCols = 1024;

// The distance between rows of a tile: never a power of two, where all rows would share a few lines of the cache.
inline Index tile_step(Index cols) { return cols + 8; }

// out[i * step + j] = Z[block.first + row0 + i, col0 + j].
template <class T>
void load_tile(const Centered& z, const Block& block, Index row0, Index rows, Index col0, Index cols, T* out,
               Index step);

// Neighboring columns of the store where they lie, as the kernels take them; rows must have no scale and their elements
// be neighbors.
RowsOfColumns run_of(const Centered& z, const Block& block, Index row0, Index rows, Index col0, Index cols);

// Rows [first, first + rows) of Z in the columns [col0, col0 + cols), one after the other.
template <class T>
void load_part(const Centered& z, Index first, Index rows, Index col0, Index cols, T* out);

// The value of one element of a dense view.
double element(const DenseView& view, Index row, Index column);

}  // namespace tamis
