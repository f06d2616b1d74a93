#include "tamis/data/formats/csv_scanner.h"

#include <algorithm>
#include <cstring>

#include "tamis/base/error.h"
#include "tamis/data/csv/cells.h"

namespace tamis {
namespace {

constexpr std::size_t kWindow = std::size_t{4} << 20;

}  // namespace

CsvScanner::CsvScanner(ByteStream& bytes) : bytes_(bytes) {
  const std::uint64_t whole = bytes.remaining().value_or(kWindow);
  buffer_.resize(std::min<std::uint64_t>(whole + 2, kWindow));  // small for small files
  cursor_ = end_ = buffer_.as<char>();
  fill();
  if (ahead().starts_with("\xEF\xBB\xBF")) cursor_ += 3;
}

CsvLayout CsvScanner::layout(char delimiter, bool header_allowed) {
  const CsvLayout found = find_layout(ahead(), eof_, delimiter, header_allowed);
  delimiter_ = found.delimiter;
  cursor_ += found.skipped_bytes;
  line_ += found.skipped_lines;
  return found;
}

void CsvScanner::skip_lines(Index count) {
  while (count > 0 && !at_end()) {
    const char* at = std::find_if(cursor_, end_, [](char c) { return c == '\n' || c == '\r'; });
    if (at < end_ && take_end(at)) {
      --count;
    } else {
      cursor_ = at;  // what is skipped need not be kept
      fill();
    }
  }
}

Index CsvScanner::skip_blank_lines() {
  Index blanks = 0;
  for (;;) {
    const char* at = cursor_;
    while (at < end_ && *at == ' ') ++at;
    if (at == end_) {
      if (eof_) return blanks;
      more();
    } else if (*at == '\n' || *at == '\r') {
      if (take_end(at)) {
        ++blanks;
      } else {
        more();
      }
    } else {
      return blanks;
    }
  }
}

bool CsvScanner::skip_comment(Index cells) {
  if (cursor_ == end_ || *cursor_ != '#') return false;
  const char* at = std::find_if(cursor_, end_, [](char c) { return c == '\n' || c == '\r'; });
  const auto delimiters = std::count(cursor_, at, delimiter_);
  if (at == end_ || delimiters + 1 == cells || is_missing(peeked_cell())) return false;
  return take_end(at);
}

bool CsvScanner::skip_blank_row() {
  for (;;) {
    const char* at = cursor_;
    bool delimiters = false;
    while (at < end_ && (*at == ' ' || *at == delimiter_)) delimiters = (*at++ != ' ') || delimiters;
    if (at == end_ && !eof_ && static_cast<std::size_t>(at - cursor_) <= kMostCell) {
      more();
      continue;
    }
    if (at == end_ || !delimiters || (*at != '\n' && *at != '\r')) return false;
    if (take_end(at)) return true;
    more();
  }
}

std::string_view CsvScanner::peeked_cell() const {
  std::string_view rest = ahead();
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  const bool quoted = rest.starts_with('"');
  if (quoted) rest.remove_prefix(1);
  const char ends[] = {delimiter_, '\n', '\r'};
  const std::size_t end = quoted ? rest.find('"') : rest.find_first_of({ends, sizeof ends});
  return trimmed(rest.substr(0, end));
}

CsvCell CsvScanner::cell() {
  CsvCell cell;
  for (;;) {
    const char* start = cursor_;
    while (start < end_ && *start == ' ') ++start;
    const bool quote = start < end_ && *start == '"';
    if (quote ? take_quoted(start, cell) : take_plain(cell)) break;
    require(!quote || !eof_, ErrorCode::bad_data, where(), ": line ", line_, ": the quote is never closed");
    more();
  }
  return cell;
}

bool CsvScanner::take_plain(CsvCell& cell) {
  const char* at = cursor_;
  while (at < end_ && *at != delimiter_ && *at != '\n' && *at != '\r' && *at != '\0') ++at;
  if (at == end_) return false;
  require(*at != '\0', ErrorCode::bad_data, where(), ": line ", line_,
          ": a NUL byte, need text in UTF-8, or in UTF-16 with a byte-order mark");
  cell.text = {cursor_, at};
  cell.quoted = false;
  return take_end(at);
}

bool CsvScanner::take_quoted(const char* quote, CsvCell& cell) {
  const char* from = quote + 1;
  const char* at = from;
  unescaped_.clear();
  for (;; ++at) {  // `at` becomes the closing quote
    at = static_cast<const char*>(std::memchr(at, '"', end_ - at));
    if (at == nullptr || at + 1 == end_) return false;  // whether the quote closes is not known yet
    if (at[1] != '"') break;
    unescaped_.append(from, ++at);
    from = at + 1;
  }
  const char* after = at + 1;
  while (after < end_ && *after == ' ') ++after;
  if (after == end_) return false;
  const std::string_view inside(quote + 1, at);
  require(inside.find('\0') == std::string_view::npos, ErrorCode::bad_data, where(), ": line ", line_,
          ": a NUL byte, need text in UTF-8, or in UTF-16 with a byte-order mark");
  const bool ends = *after == delimiter_ || *after == '\n' || *after == '\r';
  require(ends, ErrorCode::bad_data, where(), ": line ", line_, ": text after a closing quote");
  const Index before = line_;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const bool pair = inside[i] == '\r' && i + 1 < inside.size() && inside[i + 1] == '\n';
    if (inside[i] == '\n' || (inside[i] == '\r' && !pair)) ++line_;
  }
  if (!take_end(after)) {
    line_ = before;
    return false;
  }
  cell.quoted = true;
  cell.text = inside;
  if (!unescaped_.empty()) {
    unescaped_.append(from, at);
    cell.text = unescaped_;
  }
  return true;
}

// Passes the delimiter or line end; false where a \n may yet follow the \r that ends the buffer.
bool CsvScanner::take_end(const char* at) {
  if (*at == delimiter_ && *at != '\n') {
    row_ended_ = false;
    cursor_ = at + 1;
    return true;
  }
  if (*at == '\r' && at + 1 == end_ && !eof_) return false;
  const bool pair = *at == '\r' && at + 1 < end_ && at[1] == '\n';
  row_ended_ = true;
  ++line_;
  cursor_ = at + (pair ? 2 : 1);
  return true;
}

// Keeps what begins at the cursor and reads on.
void CsvScanner::more() {
  require(static_cast<std::size_t>(end_ - cursor_) <= kMostCell, ErrorCode::bad_data, where(), ": line ", line_,
          ": a cell of more than ", kMostCell, " bytes (a quote that is never closed?)");
  fill();
}

void CsvScanner::fill() {
  const auto kept = static_cast<std::size_t>(end_ - cursor_);
  std::memmove(buffer_.as<char>(), cursor_, kept);
  if (2 * kept >= buffer_.size()) buffer_.resize(kWindow);  // a small file that has grown meanwhile
  cursor_ = buffer_.as<char>();
  const std::size_t room = buffer_.size() - kept - 1;  // one byte for the line end that the last line may lack
  const std::size_t count = bytes_.read_full(buffer_.as<char>() + kept, room);
  char* end = buffer_.as<char>() + kept + count;
  eof_ = count < room;
  if (eof_ && count > 0 && end[-1] == '\x1A') --end;  // with which DOS ended texts
  if (end > buffer_.as<char>()) last_byte_ = end[-1];
  if (eof_ && last_byte_ != '\n' && last_byte_ != '\r') *end++ = '\n';
  end_ = end;
}

}  // namespace tamis
