// Lists of words: names or positions of features.
#pragma once

#include <string>
#include <vector>

#include "tamis/data/formats/bytes.h"

namespace tamis {

// One word a line, in quotes or not, without the blanks around it; each once, where it comes first. Blank lines are
// passed over, and so is whatever follows a # outside quotes that begins the line or stands after a blank.
std::vector<std::string> read_list(ByteStream& bytes, Context& context);

}  // namespace tamis
