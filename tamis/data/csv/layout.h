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
  std::string skipped_text;     // the first title or comment; empty: none
  bool row_names = false;       // the header lacks a name for the first column, as R writes it
  bool split_decimals = false;  // ...but its cells look like numbers with decimal commas, cut at them
  Index trailing = 0;           // columns at the end without names and values, as where every row ends with a delimiter
  bool header_short = false;    // which lacks the trailing delimiter
  bool names_of_numbers = false;  // the first line names the columns, though its names are numbers
  std::string units;              // the line below the header, where it holds units or more names; empty: there is none
  Index unit_lines = 0;           // such lines
};

// `start`: the first bytes of the text, `complete` where they are all. `delimiter` 0: the one of tab, semicolon, comma
// and bar that cuts the first lines into equally many cells; comma where there is none. `header_allowed` false: the
// table has none. Nothing is skipped where a row of numbers could be meant.
CsvLayout find_layout(std::string_view start, bool complete, char delimiter, bool header_allowed);

}  // namespace tamis
