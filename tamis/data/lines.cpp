#include "tamis/data/lines.h"

#include <cstring>

#include "tamis/base/error.h"

namespace tamis {
namespace {

constexpr std::size_t kFirst = std::size_t{1} << 12;
constexpr std::size_t kLinesAtOnce = std::size_t{1} << 20;
constexpr std::size_t kMostLine = std::size_t{256} << 20;

}  // namespace

LineReader::LineReader(ByteStream& bytes) : bytes_(bytes), buffer_(kFirst) {}

bool LineReader::next_slowly(std::string_view& line) {
  const bool filled = end_ == buffer_.size();
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (filled && buffer_.size() < kLinesAtOnce) buffer_.resize(kLinesAtOnce);  // not so small a file
  for (;;) {
    if (end_ == buffer_.size()) {
      require(end_ < kMostLine, ErrorCode::bad_data, where(), ": line ", line_ + 1, ": longer than ", kMostLine,
              " bytes");
      buffer_.resize(2 * end_);
    }
    const std::size_t count = bytes_.read(buffer_.data() + end_, buffer_.size() - end_);
    if (count == 0) break;
    const void* found = std::memchr(buffer_.data() + end_, '\n', count);
    end_ += count;
    if (found == nullptr) continue;
    return take(line, static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data()), 1);
  }
  if (end_ == 0) return false;
  return take(line, end_, 0);
}

}  // namespace tamis
