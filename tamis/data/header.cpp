#include "tamis/data/header.h"

#include "tamis/data/formats/csv_columns.h"
#include "tamis/data/formats/csv_scanner.h"
#include "tamis/data/formats/words.h"

namespace tamis {

std::vector<std::string> read_header(ByteStream& bytes, char delimiter, const ReadOptions& options, Context& context) {
  Budget budget(context, bytes.where());
  CsvScanner scanner(bytes);
  const char between = delimiter != 0 ? delimiter : scanner.sniff_delimiter();
  scanner.set_delimiter(between);
  scanner.skip_blank_lines();
  FirstLine line(budget);
  while (!scanner.at_end()) {
    line.add(scanner.cell().text);
    if (scanner.row_ended()) break;
  }
  const bool wanted = options.header == ReadOptions::Header::yes;
  const bool found = options.header == ReadOptions::Header::automatic && looks_like_header(line, between);
  std::vector<std::string> names;
  for (Index j = 0; (wanted || found) && j < line.size(); ++j) add_word(names, line.cell(j), budget);
  return names;
}

}  // namespace tamis
