// The header of an .npy file: a magic word, a length, and a Python dictionary of exactly three entries. The
// grammar is flat, so the parser never recurses and nothing is ever evaluated.
#include <array>
#include <charconv>
#include <cstring>

#include "tamis/base/error.h"
#include "tamis/base/text/quote.h"
#include "tamis/data/formats/npy.h"

namespace tamis {
namespace {

constexpr std::size_t kMostHeader = std::size_t{1} << 16;

class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  NpyHeader parse() {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = word();
      expect(':');
      entry(key);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    require(text_.find_first_not_of(' ') == text_.size() - 1 && text_.back() == '\n', ErrorCode::bad_data, where_,
            ": the header does not end where it says");
    require(seen_ == 7, ErrorCode::bad_data, where_, ": the header needs descr, fortran_order and shape");
    return header_;
  }

 private:
  void entry(std::string_view key) {
    unsigned bit = 0;
    if (key == "descr") {
      bit = 1;
      descr();
    } else if (key == "fortran_order") {
      bit = 2;
      fortran_order();
    } else if (key == "shape") {
      bit = 4;
      shape();
    }
    require(bit != 0 && (seen_ & bit) == 0, ErrorCode::bad_data, where_, ": unexpected header entry ", in_quotes(key));
    seen_ |= bit;
  }

  void descr() {
    skip_spaces();
    require(!text_.starts_with('[') && !text_.starts_with('('), ErrorCode::bad_data, where_,
            ": a structured array, need plain numbers");
    const std::string_view type = word();
    const char order = type.empty() ? ' ' : type[0];
    const std::string_view rest = type.substr(type.empty() ? 0 : 1);
    const std::size_t digits = rest.empty() ? 0 : 1;
    header_.kind = rest.empty() ? ' ' : rest[0];
    std::size_t item = 0;
    const auto [end, status] = std::from_chars(rest.data() + digits, rest.data() + rest.size(), item);
    const bool whole = status == std::errc() && end == rest.data() + rest.size();
    require(header_.kind != 'O', ErrorCode::bad_data, where_, ": dtype ", in_quotes(type),
            " holds Python objects (pickle), which are never read; need plain numbers");
    require(std::strchr("<>|=", order) != nullptr && whole && known_type(header_.kind, item), ErrorCode::bad_data,
            where_, ": dtype ", in_quotes(type), ", need float16/32/64, int8..64, uint8..64 or bool");
    header_.swapped = order == '>';
    header_.item = header_.kind == 'U' ? 4 * item : item;
  }

  static bool known_type(char kind, std::size_t item) {
    switch (kind) {
      case 'f': return item == 2 || item == 4 || item == 8;
      case 'i':
      case 'u': return item == 1 || item == 2 || item == 4 || item == 8;
      case 'b': return item == 1;
      case 'S':
      case 'U': return item <= (std::size_t{1} << 20);
      default: return false;
    }
  }

  void fortran_order() {
    skip_spaces();
    header_.fortran = text_.starts_with("True");
    require(header_.fortran || text_.starts_with("False"), ErrorCode::bad_data, where_,
            ": fortran_order must be True or False");
    text_.remove_prefix(header_.fortran ? 4 : 5);
  }

  void shape() {
    expect('(');
    header_.count = 1;
    while (!accept(')')) {
      const Index size = integer();
      header_.shape.push_back(size);
      require(!__builtin_mul_overflow(header_.count, size, &header_.count), ErrorCode::bad_data, where_,
              ": the shape multiplies to more than 2^63 elements");
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  Index integer() {
    skip_spaces();
    Index value = 0;
    const auto [end, status] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    require(status == std::errc() && value >= 0, ErrorCode::bad_data, where_, ": bad size in the shape at ",
            in_quotes(text_.substr(0, 24)));
    text_.remove_prefix(end - text_.data());
    if (text_.starts_with('L')) text_.remove_prefix(1);  // Python 2 wrote long integers so
    return value;
  }

  std::string_view word() {
    skip_spaces();
    const char quote = text_.empty() ? ' ' : text_[0];
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, 1) : std::string_view::npos;
    require(end != std::string_view::npos, ErrorCode::bad_data, where_, ": not a valid header at ",
            in_quotes(text_.substr(0, 24)));
    const std::string_view inside = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return inside;
  }

  bool accept(char c) {
    skip_spaces();
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    require(accept(c), ErrorCode::bad_data, where_, ": not a valid header, expected ", c, " at ",
            in_quotes(text_.substr(0, 24)));
  }

  void skip_spaces() {
    while (text_.starts_with(' ')) text_.remove_prefix(1);
  }

  std::string_view text_;
  const std::string& where_;
  NpyHeader header_;
  unsigned seen_ = 0;
};

}  // namespace

NpyHeader read_npy_header(ByteStream& bytes) {
  const auto exactly = [&](void* out, std::size_t size) {
    require(bytes.read_full(out, size) == size, ErrorCode::bad_data, bytes.where(),
            ": ends within the header of the array");
  };
  std::array<unsigned char, 8> start{};
  exactly(start.data(), start.size());
  require(std::memcmp(start.data(), "\x93NUMPY", 6) == 0, ErrorCode::bad_data, bytes.where(),
          ": does not begin as a NumPy array does");
  const int version = start[6];
  require(version >= 1 && version <= 3 && start[7] == 0, ErrorCode::bad_data, bytes.where(), ": version ", version, ".",
          static_cast<int>(start[7]), ", need 1.0, 2.0 or 3.0");
  std::array<unsigned char, 4> size_bytes{};
  exactly(size_bytes.data(), version == 1 ? 2 : 4);
  std::size_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) size |= static_cast<std::size_t>(size_bytes[i]) << (8 * i);
  require(size > 0 && size <= kMostHeader, ErrorCode::bad_data, bytes.where(), ": a header of ", size,
          " bytes, need 1..", kMostHeader);
  std::string text(size, '\0');
  exactly(text.data(), size);
  return HeaderParser(text, bytes.where()).parse();
}

}  // namespace tamis
