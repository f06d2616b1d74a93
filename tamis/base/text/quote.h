// Bytes of a file as they may stand in a one-line message or on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tamis {

// Control characters and invalid UTF-8 become \xNN; cut after `most` characters ("...").
std::string printable(std::string_view text, std::size_t most = 60);
// The same between quotes, cut shorter: what arrived.
std::string in_quotes(std::string_view text);
// A word as a shell takes it.
std::string shell_word(std::string_view word);
// Joins words with ", ", at most a dozen of them.
template <class Words>
std::string listed(const Words& words) {
  constexpr std::size_t kMost = 12;
  std::string out;
  std::size_t count = 0;
  for (const auto& word : words) {
    if (count == kMost) return out + ", ...";
    if (count++ > 0) out += ", ";
    out += printable(word);
  }
  return out;
}

}  // namespace tamis
