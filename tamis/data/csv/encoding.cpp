#include "tamis/data/csv/encoding.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "tamis/base/error.h"
#include "tamis/base/text/utf8.h"

namespace tamis {
namespace {

constexpr std::size_t kMark = 2;  // bytes of a byte-order mark

// The bytes that were read to look for a mark, then the others.
class PassedOn final : public ByteStream {
 public:
  PassedOn(ByteStream& bytes, std::string first) : ByteStream(bytes.where()), bytes_(bytes), first_(std::move(first)) {}

  std::size_t read(void* out, std::size_t size) override {
    if (first_.empty()) return bytes_.read(out, size);
    const std::size_t count = std::min(size, first_.size());
    std::memcpy(out, first_.data(), count);
    first_.erase(0, count);
    return count;
  }

  std::optional<std::uint64_t> remaining() const override {
    const auto rest = bytes_.remaining();
    return rest ? std::optional<std::uint64_t>(*rest + first_.size()) : std::nullopt;
  }

 private:
  ByteStream& bytes_;
  std::string first_;
};

class Utf16Stream final : public ByteStream {
 public:
  Utf16Stream(ByteStream& bytes, bool big_endian)
      : ByteStream(bytes.where()), bytes_(bytes), high_(big_endian ? 0 : 1) {}

  std::size_t read(void* out, std::size_t size) override {
    if (taken_ == decoded_.size()) decode_more();
    const std::size_t count = std::min(size, decoded_.size() - taken_);
    if (count > 0) std::memcpy(out, decoded_.data() + taken_, count);
    taken_ += count;
    return count;
  }

 private:
  void decode_more() {
    constexpr std::size_t kAtOnce = std::size_t{1} << 18;
    units_.resize(kAtOnce);
    const std::size_t count = bytes_.read_full(units_.data(), kAtOnce);
    require(count % 2 == 0, ErrorCode::bad_data, where(), ": UTF-16 text with an odd number of bytes");
    decoded_.clear();
    taken_ = 0;
    for (std::size_t i = 0; i < count; i += 2, offset_ += 2) add_unit(unit_at(i));
    require(count > 0 || lead_ == 0, ErrorCode::bad_data, where(), ": UTF-16 text ends within a character");
  }

  std::uint32_t unit_at(std::size_t i) const {
    return (static_cast<std::uint32_t>(units_[i + 1 - high_]) | static_cast<std::uint32_t>(units_[i + high_]) << 8);
  }

  // A character beyond U+FFFF is two units: 0xD800 + the upper ten bits, then 0xDC00 + the lower ten.
  void add_unit(std::uint32_t unit) {
    const bool trail = unit >= 0xDC00 && unit < 0xE000;
    require(trail == (lead_ != 0), ErrorCode::bad_data, where(), ": invalid UTF-16 at byte ", offset_);
    if (trail) {
      append_utf8(decoded_, 0x10000 + ((lead_ - 0xD800) << 10) + (unit - 0xDC00));
      lead_ = 0;
    } else if (unit >= 0xD800 && unit < 0xDC00) {
      lead_ = unit;
    } else {
      append_utf8(decoded_, unit);
    }
  }

  ByteStream& bytes_;
  std::size_t high_;  // which byte of a unit is the upper one
  std::vector<unsigned char> units_;
  std::string decoded_;
  std::size_t taken_ = 0;
  std::uint32_t lead_ = 0;  // the first unit of two
  std::uint64_t offset_ = kMark;
};

}  // namespace

std::unique_ptr<ByteStream> open_as_utf8(ByteStream& bytes) {
  std::string first(kMark, '\0');
  first.resize(bytes.read_full(first.data(), kMark));
  if (first == "\xFE\xFF") return std::make_unique<Utf16Stream>(bytes, true);
  if (first == "\xFF\xFE") return std::make_unique<Utf16Stream>(bytes, false);
  return std::make_unique<PassedOn>(bytes, first);
}

}  // namespace tamis
