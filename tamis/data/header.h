// The names of the columns of a CSV text, read alone: whoever asks for columns by a pattern must know them before the
// rows are read.
#pragma once

#include <string>
#include <vector>

#include "tamis/data/formats/bytes.h"
#include "tamis/data/table.h"

namespace tamis {

// Empty where the first line holds no names. `delimiter` as in read_csv.
std::vector<std::string> read_header(ByteStream& bytes, char delimiter, const ReadOptions& options, Context& context);

}  // namespace tamis
