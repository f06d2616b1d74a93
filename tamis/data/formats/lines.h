// The lines of a stream, one at a time, without holding the whole text.
#pragma once

#include <string_view>

#include "tamis/base/memory.h"
#include "tamis/data/formats/bytes.h"

namespace tamis {

inline constexpr std::size_t kMostLine = std::size_t{1} << 20;   // of one entry, one name or a comment
inline constexpr std::size_t kMostRow = std::size_t{256} << 20;  // of a line that holds a whole row

class LineReader {
 public:
  // Error(bad_data) for a line of `most` bytes or more.
  LineReader(ByteStream& bytes, Budget& budget, std::size_t most);

  // The next line without its end (\n or \r\n); valid until the next call. False at the end of the stream.
  bool next(std::string_view& line) {
    ++line_;
    const char* from = buffer_.as<char>() + begin_;
    const void* found = std::char_traits<char>::find(from, end_ - begin_, '\n');
    if (found == nullptr) return next_slowly(line);
    return take(line, static_cast<const char*>(found) - from, 1);
  }
  // What has been read of the lines to come, perhaps nothing; for who can take a line where it stands.
  std::string_view ahead() const { return {buffer_.as<char>() + begin_, end_ - begin_}; }
  // Passes the next line, of `size` bytes with its end, all of which lies ahead.
  void pass(std::size_t size) {
    begin_ += size;
    ++line_;
  }
  // Of the line that next() reads or returned, counted from 1.
  Index line() const { return line_; }
  // Bytes taken from the stream and not yet handed out.
  std::size_t held() const { return end_ - begin_; }
  const std::string& where() const { return bytes_.where(); }

 private:
  bool next_slowly(std::string_view& line);
  void lengthen();
  bool take(std::string_view& line, std::size_t size, std::size_t end_size) {
    line = {buffer_.as<char>() + begin_, size};
    if (line.ends_with('\r')) line.remove_suffix(1);
    begin_ += size + end_size;
    return true;
  }

  ByteStream& bytes_;
  Budget& budget_;
  std::size_t most_;
  Buffer buffer_;
  std::size_t begin_ = 0, end_ = 0;
  Index line_ = 0;
};

// The next word of a line, words being separated by spaces and tabs; empty at the end.
inline std::string_view next_word(std::string_view& line) {
  std::size_t i = 0;
  while (i < line.size() && (line[i] == ' ' || line[i] == '\t')) ++i;
  std::size_t j = i;
  while (j < line.size() && line[j] != ' ' && line[j] != '\t') ++j;
  const std::string_view word = line.substr(i, j - i);
  line.remove_prefix(j);
  return word;
}

}  // namespace tamis
