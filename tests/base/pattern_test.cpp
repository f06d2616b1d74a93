#include "tamis/base/text/pattern.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tamis {
namespace {

// By the definition: * takes 0, 1, 2, ... bytes.
bool matches_slowly(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern[0] == '*') {
    for (std::size_t taken = 0; taken <= name.size(); ++taken) {
      if (matches_slowly(pattern.substr(1), name.substr(taken))) return true;
    }
    return false;
  }
  return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) &&
         matches_slowly(pattern.substr(1), name.substr(1));
}

// All words of up to `longest` letters.
std::vector<std::string> words(const std::string& letters, std::size_t longest) {
  std::vector<std::string> out = {""};
  for (std::size_t from = 0, length = 0; length < longest; ++length) {
    const std::size_t to = out.size();
    for (; from < to; ++from) {
      for (const char letter : letters) out.push_back(out[from] + letter);
    }
  }
  return out;
}

TEST(Pattern, MatchesAsDefined) {
  const auto names = words("ab", 5);
  for (const auto& pattern : words("ab*?", 4)) {
    for (const auto& name : names) {
      ASSERT_EQ(matches_pattern(pattern, name), matches_slowly(pattern, name)) << pattern << " and " << name;
    }
  }
}

TEST(Pattern, QuestionMarkIsOneCharacter) {
  EXPECT_TRUE(matches_pattern("temp_?C",
                              "temp_\xC2\xB0"
                              "C"));
  EXPECT_FALSE(matches_pattern("temp_??C",
                               "temp_\xC2\xB0"
                               "C"));
}

TEST(Pattern, IsOneWhereItHasStarOrQuestionMark) {
  EXPECT_TRUE(is_pattern("mt-*") && is_pattern("q?"));
  EXPECT_FALSE(is_pattern("mt-") || is_pattern(""));
}

}  // namespace
}  // namespace tamis
