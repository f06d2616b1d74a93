#include "tamis/base/text/utf8.h"

#include <gtest/gtest.h>

namespace tamis {
namespace {

TEST(Utf8, EveryCodeReadsBackAsItWasWritten) {
  for (std::uint32_t code = 0; code <= 0x10FFFF; ++code) {
    std::string bytes;
    append_utf8(bytes, code);
    const Character character = first_character(bytes);
    const bool surrogate = code >= 0xD800 && code < 0xE000;
    ASSERT_EQ(character.bytes, surrogate ? 0u : bytes.size()) << code;
    if (surrogate) continue;
    ASSERT_EQ(character.code, code);
    ASSERT_EQ(character_count(bytes), 1u) << code;
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      ASSERT_EQ(first_character(std::string_view(bytes).substr(0, cut)).bytes, 0u) << code;
    }
  }
}

TEST(Utf8, WhatIsNoCharacterIsNone) {
  for (const char* bytes : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                            "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xC3(", "\xE2\x82("}) {
    EXPECT_EQ(first_character(bytes).bytes, 0u) << bytes;
  }
}

TEST(Utf8, LowerCaseIsOfAsciiAlone) { EXPECT_EQ(lower_case("X.NPY \xC3\x84[@`{"), "x.npy \xC3\x84[@`{"); }

}  // namespace
}  // namespace tamis
