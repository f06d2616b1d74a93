// How the first lines of a text table are laid out: its delimiter, what stands above the header, and headers and rows
// that end differently.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tamis/base/types.h"

namespace tamis {

// The cells of a line, without quotes around them.
using Cells = std::vector<std::string_view>;
Cells cells_of(std::string_view text, char delimiter);

struct CsvLayout {
  char delimiter = ',';
  std::size_t skipped_bytes = 0;  // of titles and comments above the table, and of Excel's sep=
  Index skipped_lines = 0;
  std::string skipped_text;   // the first title or comment; empty: none
  bool row_names = false;     // the header lacks a name for the first column, as R writes it
  bool trailing = false;      // every row ends with a delimiter, and the cell after it is blank and has no name
  bool header_short = false;  // which lacks the trailing delimiter
  std::string units;          // the line below the header, where it holds units or more names; empty: there is none
};

// `start`: the first bytes of the text, `complete` where they are all. `delimiter` 0: the one of tab, semicolon, comma
// and bar that cuts the first lines into equally many cells; comma where there is none. `header_allowed` false: the
// table has none. Nothing is skipped where a row of numbers could be meant.
CsvLayout find_layout(std::string_view start, bool complete, char delimiter, bool header_allowed);

}  // namespace tamis
