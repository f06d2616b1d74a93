// Lists of words: names or positions of features.
#pragma once

#include <string>
#include <vector>

#include "tamis/data/formats/bytes.h"

namespace tamis {

// One word a line, in quotes or not, without the blanks around it; each once, where it comes first. Blank lines are
// passed over, and so is whatever follows a # outside quotes that begins the line or stands after a blank.
std::vector<std::string> read_list(ByteStream& bytes, Context& context);

// A line of a file of groups: a feature and its group, or a group alone.
struct GroupLine {
  std::string feature;  // empty: the line has a group alone
  std::string group;
  Index line = 0;  // counted from 1
};

// Lines of two cells or lines of one cell, separated as in a CSV file; blank lines are passed over. Throws
// Error(bad_data) where lines differ, and on an empty cell.
std::vector<GroupLine> read_group_lines(ByteStream& bytes, Context& context);

}  // namespace tamis
