#include "tamis/data/formats/lines.h"

#include <cstring>

#include "tamis/base/error.h"

namespace tamis {
namespace {

constexpr std::size_t kFirstLines = std::size_t{1} << 12;
constexpr std::size_t kLinesAtOnce = std::size_t{1} << 20;

}  // namespace

LineReader::LineReader(ByteStream& bytes, Budget& budget, std::size_t most)
    : bytes_(bytes), budget_(budget), most_(most), buffer_(kFirstLines) {}

bool LineReader::next_slowly(std::string_view& line) {
  const bool filled = end_ == buffer_.size();
  char* start = buffer_.as<char>();
  std::memmove(start, start + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (filled && buffer_.size() < kLinesAtOnce) buffer_.resize(kLinesAtOnce);  // not so small a file
  for (;;) {
    if (end_ == buffer_.size()) lengthen();
    start = buffer_.as<char>();
    const std::size_t count = bytes_.read(start + end_, buffer_.size() - end_);
    if (count == 0) break;
    const void* found = std::memchr(start + end_, '\n', count);
    end_ += count;
    if (found == nullptr) continue;
    return take(line, static_cast<const char*>(found) - start, 1);
  }
  if (end_ > 0) return take(line, end_, 0);
  --line_;
  return false;
}

// For a line that is longer than the buffer.
void LineReader::lengthen() {
  require(end_ < most_, ErrorCode::bad_data, where(), ": line ", line_, ": longer than ", most_, " bytes");
  budget_.take(end_);
  buffer_.resize(2 * end_);
}

}  // namespace tamis
