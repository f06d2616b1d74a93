#include "tamis/base/text/pattern.h"

#include "tamis/base/text/utf8.h"

namespace tamis {

namespace {

// The rest of a character of UTF-8 after its first byte.
void skip_continuation(std::string_view name, std::size_t& at) {
  while (at < name.size() && !begins_character(name[at])) ++at;
}

}  // namespace

bool is_pattern(std::string_view word) { return word.find_first_of("*?") != std::string_view::npos; }

// After a mismatch the last * takes one byte more; earlier ones need not change, since what they took was enough.
bool matches_pattern(std::string_view pattern, std::string_view name) {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t p = 0, n = 0, star = kNone, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++, taken = n;
    } else if (p < pattern.size() && pattern[p] == '?') {
      ++p, ++n;
      skip_continuation(name, n);
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p, ++n;
    } else if (star != kNone) {
      p = star + 1, n = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace tamis
