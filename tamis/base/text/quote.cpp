#include "tamis/base/text/quote.h"

#include <algorithm>
#include <cstdint>

namespace tamis {
namespace {

bool is_tail(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// The length of the printable UTF-8 character that `text` starts with, or 0. Checks lengths, overlong forms,
// surrogates, and the C1 controls that some terminals obey.
std::size_t printable_length(std::string_view text) {
  const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto tail = [&](std::size_t i) { return is_tail(static_cast<unsigned char>(at(i))); };
  const unsigned first = at(0);
  if (first >= 0x20 && first < 0x7F) return 1;
  if (first >= 0xC2 && first <= 0xDF && tail(1)) return first == 0xC2 && at(1) < 0xA0 ? 0 : 2;
  if ((first & 0xF0) == 0xE0 && tail(1) && tail(2)) {
    const unsigned code = ((first & 0x0FU) << 12) | ((at(1) & 0x3FU) << 6) | (at(2) & 0x3FU);
    const bool direction = (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
                           (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF;
    return code < 0x800 || (code >= 0xD800 && code <= 0xDFFF) || direction ? 0 : 3;
  }
  if (first >= 0xF0 && first <= 0xF4 && tail(1) && tail(2) && tail(3)) {
    const bool outside = (first == 0xF0 && at(1) < 0x90) || (first == 0xF4 && at(1) > 0x8F);
    return outside ? 0 : 4;
  }
  return 0;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  std::size_t count = 0;
  while (!text.empty()) {
    if (count++ == most) return out + "...";
    const std::size_t length = printable_length(text.substr(0, 4));
    if (length > 0) {
      out += text.substr(0, length);
    } else {
      const auto byte = static_cast<unsigned char>(text[0]);
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  out += printable(text, 30);
  out += '"';
  return out;
}

}  // namespace tamis
