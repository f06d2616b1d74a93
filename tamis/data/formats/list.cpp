#include "tamis/data/formats/list.h"

#include <algorithm>

#include "tamis/base/error.h"
#include "tamis/base/text/number.h"
#include "tamis/data/formats/csv_scanner.h"
#include "tamis/data/formats/words.h"

namespace tamis {
namespace {

std::string_view without_comment(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool after_blank = i == 0 || text[i - 1] == ' ' || text[i - 1] == '\t';
    if (text[i] == '#' && after_blank) return text.substr(0, i);
  }
  return text;
}

}  // namespace

std::vector<std::string> read_list(ByteStream& bytes, Context& context) {
  CsvScanner scanner(bytes);
  scanner.set_delimiter('\n');  // no delimiter within a line: a name may hold a comma
  Budget budget(context, [&] { return concat(bytes.where(), ": line ", scanner.line()); });
  DistinctWords words(budget);
  for (;;) {
    scanner.skip_blank_lines();
    if (scanner.at_end()) return {words.words().begin(), words.words().end()};
    const CsvCell cell = scanner.cell();
    const std::string_view word = cell.quoted ? cell.text : trimmed(without_comment(cell.text));
    if (cell.quoted || !word.empty()) words.add(word);
  }
}

std::vector<GroupLine> read_group_lines(ByteStream& bytes, Context& context) {
  CsvScanner scanner(bytes);
  scanner.find_delimiter();
  Budget budget(context, [&] { return concat(bytes.where(), ": line ", scanner.line()); });
  std::vector<GroupLine> out;
  for (;;) {
    scanner.skip_blank_lines();
    if (scanner.at_end()) return out;
    const Index line = scanner.line();
    std::vector<std::string> cells;
    do {
      cells.emplace_back(trimmed(scanner.cell().text));
      budget.take(text_bytes(cells.back()));
    } while (!scanner.row_ended() && cells.size() < 3);
    const bool alone = cells.size() == 1;
    const bool fits = cells.size() <= 2 && (out.empty() || out.front().feature.empty() == alone);
    require(fits && std::ranges::none_of(cells, &std::string::empty), ErrorCode::bad_data, bytes.where(), ": line ",
            line, ": need a feature and its group, or in every line a group alone");
    grow(out, 1, budget);
    out.push_back({alone ? "" : cells.front(), cells.back(), line});
  }
}

}  // namespace tamis
