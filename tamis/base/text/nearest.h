// Hints for words that were misspelled.
#pragma once

#include <string>
#include <vector>

namespace tamis {

// The name that is closest to the word, or "" where none is close.
std::string nearest_name(const std::string& word, const std::vector<std::string>& names);

// "; did you mean 'x'?" where one of the names is close to the word, else "".
std::string did_you_mean(const std::string& word, const std::vector<std::string>& names);

}  // namespace tamis
