// Rows copied out of blocks in the order of the rows. Used by the passes that moments.cpp and sample.cpp make.
#pragma once

#include <cstdint>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/source.h"
#include "tamis/linalg/archive.h"

namespace tamis {

struct TakenRows {
  std::vector<Bytes> values;                       // of each row, in the type they are stored in
  std::vector<std::vector<std::int32_t>> columns;  // of each row, where sparse
};

// The pass of column_moments(), which takes these rows on its way. False, and nothing is taken, where the moments were
// known already, unless the rows are on other machines: those are read again, and come as doubles.
bool moments_and_rows(const Source& source, const std::vector<Index>& rows, TakenRows& taken, Context& context);

// Those of `rows` (increasing) that the block holds, in the columns of the source.
TakenRows rows_of_block(const Source& source, const Block& block, const std::vector<Index>& rows);
void append(TakenRows& into, TakenRows&& from);
// The values as doubles.
void widen(TakenRows& rows, DType dtype);

void pack(Packer& packer, const TakenRows& rows);
TakenRows unpack_rows(Unpacker& parts);

}  // namespace tamis
