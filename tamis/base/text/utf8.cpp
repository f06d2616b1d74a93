#include "tamis/base/text/utf8.h"

#include <algorithm>
#include <array>

namespace tamis {

Character first_character(std::string_view text) {
  if (text.empty()) return {};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, lead};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || bytes > text.size()) return {};
  std::uint32_t code = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (begins_character(text[i])) return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[bytes] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
  return {bytes, code};
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code >= 0x10000) {
    put(0xF0 | (code >> 18 & 7));
    put(0x80 | (code >> 12 & 0x3F));
  } else if (code >= 0x800) {
    put(0xE0 | (code >> 12));
  }
  put(code >= 0x800 ? 0x80 | (code >> 6 & 0x3F) : 0xC0 | (code >> 6));
  put(0x80 | (code & 0x3F));
}

std::size_t character_count(std::string_view text) { return std::count_if(text.begin(), text.end(), begins_character); }

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace tamis
