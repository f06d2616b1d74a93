// Patterns for names, as shells have them: * stands for any characters, ? for one.
#pragma once

#include <string_view>

namespace tamis {

bool is_pattern(std::string_view word);
// Whether the whole name matches. ? stands for one character of UTF-8.
bool matches_pattern(std::string_view pattern, std::string_view name);

}  // namespace tamis
