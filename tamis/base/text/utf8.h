// Characters of UTF-8 text, one way and the other, and the case of ASCII letters. No locale has a say in any of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tamis {

struct Character {
  std::size_t bytes = 0;  // 0: no valid character begins here
  std::uint32_t code = 0;
};

// The character that `text` starts with (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
Character first_character(std::string_view text);
// Whether a byte of valid UTF-8 text is the first of a character.
inline bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }
void append_utf8(std::string& out, std::uint32_t code);
// The number of characters of valid UTF-8 text, for lining up columns on a terminal.
std::size_t character_count(std::string_view text);

std::string lower_case(std::string_view text);

}  // namespace tamis
