// The cells of a CSV text, pulled one at a time from a stream held a few megabytes at a time.
//
// Lines end with \n, \r\n or \r. A cell may stand in double quotes, "" being a quote, and then hold anything. A cell is
// at most kMostCell bytes. A byte-order mark is skipped. NUL bytes are refused.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "tamis/base/memory.h"
#include "tamis/base/text/number.h"
#include "tamis/data/csv/layout.h"
#include "tamis/data/formats/bytes.h"

namespace tamis {

struct CsvCell {
  std::string_view text;  // valid until the next call
  bool quoted = false;
};

class CsvScanner {
 public:
  static constexpr std::size_t kMostCell = std::size_t{1} << 20;

  explicit CsvScanner(ByteStream& bytes);

  // At the beginning of the text, in this order, each at most once.
  void skip_lines(Index count);
  // Passes what stands above the table, and keeps to the delimiter that was found.
  CsvLayout layout(char delimiter, bool header_allowed);
  // Keeps to the delimiter of the first lines, and passes nothing.
  void find_delimiter() { delimiter_ = find_layout(ahead(), eof_, 0, true).delimiter; }
  void set_delimiter(char delimiter) { delimiter_ = delimiter; }

  // At the beginning of a row: passes lines without anything but spaces, and says how many.
  Index skip_blank_lines();
  // At the beginning of a row of so many cells: passes a line that begins with # and is cut into fewer or more.
  bool skip_comment(Index cells);
  // At the beginning of a row: passes one of delimiters alone.
  bool skip_blank_row();
  // The next cell as far as it has been read, without quotes around it; nothing is taken.
  std::string_view peeked_cell() const;
  bool at_end() const { return eof_ && cursor_ == end_; }

  // Takes the next cell where it is a plain decimal number that is finite; otherwise takes nothing. `text` is valid
  // until the next call.
  bool number(double& value, std::string_view& text) {
    const char* from = cursor_;
    while (from < end_ && *from == ' ') ++from;
    const char* to = parse_short_decimal(from, end_, value);
    if (to == nullptr) {
      const auto [stop, status] = std::from_chars(from, end_, value);
      if (status != std::errc() || !(value - value == 0.0)) return false;
      to = stop;
    }
    if (to == end_) return false;
    if (*to == delimiter_) {
      row_ended_ = false;
    } else if (*to == '\n') {
      ++line_;
      row_ended_ = true;
    } else {
      return false;
    }
    text = {from, to};
    cursor_ = to + 1;
    return true;
  }
  // Takes the next cell as text.
  CsvCell cell();
  // Whether the cell taken last was the last of its row.
  bool row_ended() const { return row_ended_; }

  // The line of the next cell, counted from 1.
  Index line() const { return line_; }
  const std::string& where() const { return bytes_.where(); }

 private:
  std::string_view ahead() const { return {cursor_, end_}; }
  bool take_plain(CsvCell& cell);
  bool take_quoted(const char* quote, CsvCell& cell);
  bool take_end(const char* at);
  void more();
  void fill();

  ByteStream& bytes_;
  char delimiter_ = ',';
  Buffer buffer_;
  const char* cursor_ = nullptr;
  const char* end_ = nullptr;
  bool eof_ = false;
  char last_byte_ = '\n';  // of the stream, so far
  bool row_ended_ = true;
  Index line_ = 1;
  std::string unescaped_;
};

}  // namespace tamis
