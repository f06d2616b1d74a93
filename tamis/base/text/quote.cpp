#include "tamis/base/text/quote.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

#include "tamis/base/text/utf8.h"

namespace tamis {
namespace {

// Neither controls, nor the C1 controls that some terminals obey, nor what turns the direction of the text around.
bool is_printable(std::uint32_t code) {
  const bool direction = (code >= 0x200B && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
                         (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF;
  return (code >= 0x20 && code < 0x7F) || (code >= 0xA0 && !direction);
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  std::size_t count = 0;
  while (!text.empty()) {
    if (count++ == most) return out + "...";
    const Character character = first_character(text);
    const std::size_t length = is_printable(character.code) ? character.bytes : 0;
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

std::string shell_word(std::string_view word) {
  const auto is_safe = [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
           std::string_view("_-./,:=+@%").find(letter) != std::string_view::npos ||
           static_cast<unsigned char>(letter) >= 0x80;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_safe)) return std::string(word);
  const bool has_quote = word.find('\'') != std::string_view::npos;
  const bool plain_within = word.find_first_of("\"$`\\!") == std::string_view::npos;
  if (has_quote && plain_within) return '"' + std::string(word) + '"';
  std::string out = "'";
  for (const char letter : word) out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return out + "'";
}

}  // namespace tamis
