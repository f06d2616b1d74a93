// CSV and TSV tables.
//
// A cell is a decimal number with surrounding spaces, in quotes or not, TRUE or FALSE, or missing (blank, NA and the
// like: NaN, unless ReadOptions::missing refuses them). Everything that is wrong with the cells is said in one message.
// The decimal sign is a point, or a comma where no commas stand between cells; a file that uses both is refused. Blank
// lines at the beginning and the end are ignored, between rows they are refused.
#pragma once

#include <optional>

#include "tamis/data/formats/bytes.h"
#include "tamis/data/table.h"

namespace tamis {

// `delimiter` 0: found from the first lines. `begins_at`: the row of the table that a file of several begins with, from
// which an index may count on; such a file may have a single row.
Reading read_csv(ByteStream& bytes, char delimiter, const ReadOptions& options, Context& context,
                 std::optional<Index> begins_at = std::nullopt);

}  // namespace tamis
