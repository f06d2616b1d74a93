#include "tamis/data/header.h"

#include "tamis/data/csv/blanks.h"
#include "tamis/data/formats/csv_columns.h"
#include "tamis/data/formats/csv_scanner.h"
#include "tamis/data/formats/words.h"

namespace tamis {

std::vector<std::string> read_header(ByteStream& bytes, char delimiter, const ReadOptions& options, Context& context) {
  Budget budget(context, bytes.where());
  const TableText text = open_table_text(bytes, delimiter, options.skip);
  CsvScanner scanner(*text.bytes);
  scanner.skip_lines(options.skip);
  const CsvLayout layout = scanner.layout(text.delimiter, options.header != ReadOptions::Header::no);
  scanner.skip_blank_lines();
  FirstLine line(budget);
  read_first_line(scanner, layout, line);
  if (!is_header(line, layout, options.header)) return {};
  std::vector<std::string> names;
  for (Index j = 0; j < line.size(); ++j) add_word(names, line.cell(j), budget);
  return names;
}

}  // namespace tamis
