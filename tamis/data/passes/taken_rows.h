// Rows copied out of blocks in the order of the rows. Used by the passes that moments.cpp and sample.cpp make.
#pragma once

#include <cstdint>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/base/error.h"
#include "tamis/data/source.h"
#include "tamis/linalg/archive.h"

namespace tamis {

struct TakenRows {
  DType dtype = DType::f64;                        // in which they are stored
  std::vector<Bytes> values;                       // of each row
  std::vector<std::vector<std::int32_t>> columns;  // of each row, where sparse

  template <class Archive>
  void exchange(Archive& archive) {
    archive(dtype), archive(values), archive(columns);
    require(size_of(dtype) > 0, ErrorCode::internal, "rows of an unknown type");
  }
};

// The pass of column_moments(), which takes these rows on its way. False, and nothing is taken, where the moments were
// known already.
bool moments_and_rows(const Source& source, const std::vector<Index>& rows, TakenRows& taken, Context& context);

// Those of `rows` (increasing) that the block holds, in the columns of the source.
TakenRows rows_of_block(const Source& source, const Block& block, const std::vector<Index>& rows);
// Whether these can be that many rows of the source.
bool taken_fit(const TakenRows& taken, const Source& source, std::size_t rows);
// Chunks of other machines may differ in type: they become doubles.
void append(TakenRows& into, TakenRows&& from);

}  // namespace tamis
