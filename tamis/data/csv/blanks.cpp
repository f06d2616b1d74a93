#include "tamis/data/csv/blanks.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tamis/base/error.h"
#include "tamis/base/text/number.h"
#include "tamis/data/csv/cells.h"
#include "tamis/data/csv/encoding.h"
#include "tamis/data/csv/layout.h"

namespace tamis {
namespace {

constexpr std::size_t kPeeked = std::size_t{1} << 16;

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool ends_line(char c) { return c == '\n' || c == '\r'; }

// Takes text byte by byte and gives what it becomes.
class BlankJoiner {
 public:
  void add(char c, std::string& out) {
    if (within_quotes_) {
      within_quotes_ = c != '"';
      out.push_back(c);
    } else if (is_blank(c)) {
      pending_ = begun_;
    } else if (ends_line(c)) {
      begun_ = pending_ = hash_ = false;
      out.push_back(c);
    } else {
      // "# a b" is a first name with a sign before it, as "#a b" is.
      if (pending_ && !hash_) out.push_back('\t');
      hash_ = !begun_ && c == '#';
      begun_ = true;
      pending_ = false;
      within_quotes_ = c == '"';
      out.push_back(c);
    }
  }

 private:
  bool begun_ = false;    // the line has a cell
  bool pending_ = false;  // blanks were seen after it
  bool hash_ = false;     // it is a # so far
  bool within_quotes_ = false;
};

class BlankStream final : public ByteStream {
 public:
  explicit BlankStream(std::unique_ptr<ByteStream> bytes) : ByteStream(bytes->where()), bytes_(std::move(bytes)) {}

  std::size_t read(void* out, std::size_t size) override {
    if (taken_ == joined_.size() && !join_more()) return 0;
    const std::size_t count = std::min(size, joined_.size() - taken_);
    std::memcpy(out, joined_.data() + taken_, count);
    taken_ += count;
    return count;
  }

 private:
  bool join_more() {
    constexpr std::size_t kAtOnce = std::size_t{1} << 18;
    taken_ = 0;
    joined_.clear();
    piece_.resize(kAtOnce);
    for (std::size_t count = 1; joined_.empty() && count > 0;) {
      count = bytes_->read(piece_.data(), piece_.size());
      for (std::size_t i = 0; i < count; ++i) joiner_.add(piece_[i], joined_);
    }
    return !joined_.empty();
  }

  std::unique_ptr<ByteStream> bytes_;
  BlankJoiner joiner_;
  std::string piece_, joined_;
  std::size_t taken_ = 0;
};

// What was read to look at it, then the rest.
class Peeked final : public ByteStream {
 public:
  Peeked(std::unique_ptr<ByteStream> bytes, std::string first)
      : ByteStream(bytes->where()), bytes_(std::move(bytes)), first_(std::move(first)) {}

  std::size_t read(void* out, std::size_t size) override {
    if (taken_ == first_.size()) return bytes_->read(out, size);
    const std::size_t count = std::min(size, first_.size() - taken_);
    std::memcpy(out, first_.data() + taken_, count);
    taken_ += count;
    return count;
  }

  std::optional<std::uint64_t> remaining() const override {
    const auto rest = bytes_->remaining();
    return rest ? std::optional<std::uint64_t>(*rest + first_.size() - taken_) : std::nullopt;
  }

 private:
  std::unique_ptr<ByteStream> bytes_;
  std::string first_;
  std::size_t taken_ = 0;
};

// Lines of a table: neither blank nor comments.
std::vector<std::string> lines_of(std::string_view text) {
  constexpr std::size_t kLines = 20;
  std::vector<std::string> lines;
  while (!text.empty() && lines.size() < kLines) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    if (!line.empty() && line[0] != '#') lines.emplace_back(line);
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}

bool is_number(std::string_view cell) {
  double value = 0.0;
  return parse_number(cell, value, '.') == NumberStatus::ok || parse_number(cell, value, ',') == NumberStatus::ok;
}

bool may_be_value(std::string_view cell) { return is_number(cell) || is_missing(cell) || is_boolean(cell); }

// Numbers, missing values, TRUE and FALSE; the first cell may name the row.
bool holds_values(const Cells& cells) {
  return cells.size() > 1 && std::all_of(cells.begin() + 1, cells.end(), may_be_value) &&
         std::any_of(cells.begin(), cells.end(), is_number);
}

bool has_delimiter(std::string_view line) {
  return std::any_of(line.begin(), line.end(), [](char c) { return c == '\t' || c == ';' || c == ',' || c == '|'; });
}

// A line that some other delimiter cuts into numbers.
bool cut_otherwise(std::string_view line) {
  const auto reads = [](std::string_view cell) { return is_missing(cell) || reads_as_number(cell, '\t'); };
  for (const char delimiter : {'\t', ';', ',', '|'}) {
    const Cells cells = cells_of(line, delimiter);
    if (cells.size() > 1 && std::all_of(cells.begin() + 1, cells.end(), reads)) return true;
  }
  return false;
}

// Files that are no text tables, whatever their name says.
void require_no_other_format(std::string_view start, const std::string& where) {
  constexpr std::pair<std::string_view, const char*> kFormats[] = {
      {"PK\x03\x04", "a zip archive (an Excel workbook?)"},
      {"\xD0\xCF\x11\xE0", "an old Excel workbook (.xls)"},
      {"\x1F\x8B", "gzip data without the ending .gz"},
      {"\x89HDF", "an HDF5 file"},
      {"PAR1", "a Parquet file"},
      {"\x93NUMPY", "an .npy array"},
      {"%PDF", "a PDF document"},
      {"<!DOCTYPE", "an HTML page"},
      {"<!doctype", "an HTML page"},
      {"<html", "an HTML page"},
      {"<?xml", "an XML document"},
      {"{\"", "a JSON document"},
      {"[{", "a JSON document"},
  };
  if (start.starts_with("\xEF\xBB\xBF")) start.remove_prefix(3);
  for (const auto& [mark, what] : kFormats) {
    require(!start.starts_with(mark), ErrorCode::bad_data, where, ": ", what, ", not a text table");
  }
}

}  // namespace

bool cut_by_blanks(std::string_view start, bool complete) {
  if (!complete) start = start.substr(0, start.find_last_of("\r\n") + 1);  // npos + 1: nothing
  std::string joined;
  BlankJoiner joiner;
  for (const char c : start) joiner.add(c, joined);
  const std::vector<std::string> plain = lines_of(start), lines = lines_of(joined);
  if (lines.size() < 2 || plain.size() != lines.size()) return false;
  const Cells last = cells_of(lines.back(), '\t');
  if (last.size() < 2 || group_separator(plain.back()) == ' ' || std::none_of(last.begin(), last.end(), is_number)) {
    return false;
  }
  // The header may lack the name of the first column, as R writes it.
  std::size_t uneven = 0;  // which the reader refuses by their line
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const Cells cells = cells_of(lines[i], '\t');
    uneven += cells.size() != last.size() ? 1 : 0;
    if (!holds_values(cells) && has_delimiter(plain[i])) return false;
  }
  if (4 * uneven >= lines.size()) return false;
  const std::size_t head = cells_of(lines[0], '\t').size();
  const bool even = head == last.size() || head + 1 == last.size();
  return even && !cut_otherwise(plain.back());
}

std::unique_ptr<ByteStream> blanks_as_tabs(std::unique_ptr<ByteStream> bytes) {
  return std::make_unique<BlankStream>(std::move(bytes));
}

TableText open_table_text(ByteStream& bytes, char delimiter, Index skip) {
  std::unique_ptr<ByteStream> text = open_as_utf8(bytes);
  if (delimiter != 0) return {std::move(text), delimiter};
  std::string first(kPeeked, '\0');
  first.resize(text->read_full(first.data(), kPeeked));
  require_no_other_format(first, text->where());
  const bool complete = first.size() < kPeeked;
  std::string_view start = first;
  for (; skip > 0 && !start.empty(); --skip) start.remove_prefix(std::min(start.find('\n'), start.size() - 1) + 1);
  const bool blanks = cut_by_blanks(start, complete);
  text = std::make_unique<Peeked>(std::move(text), std::move(first));
  if (!blanks) return {std::move(text), 0};
  return {blanks_as_tabs(std::move(text)), '\t'};
}

}  // namespace tamis
