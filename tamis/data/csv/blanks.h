// Text tables with blanks between the cells, as numpy.savetxt, R's write.table and many instruments write them: one or
// more spaces or tabs, and perhaps some before the first cell.
#pragma once

#include <memory>
#include <string_view>

#include "tamis/data/formats/bytes.h"

namespace tamis {

// Whether blanks cut the first lines into equally many cells, and no other delimiter does. `complete`: these are all.
bool cut_by_blanks(std::string_view start, bool complete);

// Its blanks between cells as single tabs; those at the ends of lines go. What stands in quotes stays.
std::unique_ptr<ByteStream> blanks_as_tabs(std::unique_ptr<ByteStream> bytes);

// A text table as it is cut into cells: in UTF-8, with tabs where it has blanks.
struct TableText {
  std::unique_ptr<ByteStream> bytes;
  char delimiter;  // 0: still to be found
};
// `skip`: lines that do not count. `bytes` must outlive it.
TableText open_table_text(ByteStream& bytes, char delimiter, Index skip);

}  // namespace tamis
