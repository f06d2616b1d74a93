#include "tamis/base/text/spelling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "tamis/base/error.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/utf8.h"
#include "tamis/report/json.h"

namespace tamis {
namespace {

TEST(Spelling, NumbersReadBackTheSame) {
  for (const double value : {0.1, 1.0 / 3.0, 1e300, 5e-324, -0.0, 123456789.125}) {
    EXPECT_EQ(std::strtod(number_text(value).c_str(), nullptr), value);
  }
  EXPECT_EQ(number_text(7.0), "7");
  EXPECT_EQ(number_text(0.1f), "0.1");
  EXPECT_EQ(short_number(1.0 / 3.0, 4), "0.3333");
  EXPECT_EQ(fixed_number(2.0 / 3.0, 2), "0.67");
  EXPECT_EQ(fixed_number(-0.004, 2), "0.00");  // no minus before a zero
  EXPECT_EQ(fixed_number(-0.006, 2), "-0.01");
}

TEST(Spelling, NounsFollowTheirNumber) {
  EXPECT_EQ(counted(0, "row"), "0 rows");
  EXPECT_EQ(counted(1, "row"), "1 row");
  EXPECT_EQ(counted(1, "pass"), "1 pass");
  EXPECT_EQ(counted(2, "pass"), "2 passes");
}

TEST(Spelling, JsonKeepsValidTextExactly) {
  EXPECT_EQ(json_string("a\"b\\c\n\t\x01"), "\"a\\\"b\\\\c\\n\\t\\u0001\"");
  EXPECT_EQ(json_string("h\xC3\xA9 \xF0\x9F\x98\x80"), "\"h\xC3\xA9 \xF0\x9F\x98\x80\"");
  EXPECT_EQ(json_string("<script>{{7*7}}</script>"), "\"<script>{{7*7}}</script>\"");
  EXPECT_EQ(json_string(std::string_view("\0", 1)), "\"\\u0000\"");
}

TEST(Spelling, JsonReplacesEachInvalidByte) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(json_string("\xFF"), "\"" + bad + "\"");
  EXPECT_EQ(json_string("\xC0\x80"), "\"" + bad + bad + "\"");                      // overlong
  EXPECT_EQ(json_string("\xED\xA0\x80"), "\"" + bad + bad + bad + "\"");            // surrogate
  EXPECT_EQ(json_string("\xF4\x90\x80\x80"), "\"" + bad + bad + bad + bad + "\"");  // above U+10FFFF
  EXPECT_EQ(json_string("a\xE2\x82"), "\"a" + bad + bad + "\"");                    // cut short
}

TEST(Spelling, CsvCellsAreNoFormulas) {
  EXPECT_EQ(csv_cell("plain"), "plain");
  EXPECT_EQ(csv_cell("=cmd|' /C calc'!A0"), "\"'=cmd|' /C calc'!A0\"");
  for (const char* risky : {"+1", "-1", "@x", "\tx", "\rx"}) EXPECT_EQ(csv_cell(risky).substr(0, 2), "\"'") << risky;
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("a\"b"), "\"a\"\"b\"");
  EXPECT_EQ(csv_cell("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_cell(""), "");
}

TEST(Spelling, CharactersAreNotBytes) {
  EXPECT_EQ(character_count("abc"), 3u);
  EXPECT_EQ(character_count("h\xC3\xA9 \xF0\x9F\x98\x80"), 4u);
}

TEST(Spelling, Sizes) {
  EXPECT_EQ(parse_size("1", "--memory"), 1u);
  EXPECT_EQ(parse_size("4GiB", "--memory"), 4ull << 30);
  EXPECT_EQ(parse_size("1.5 KiB", "--memory"), 1536u);
  EXPECT_EQ(parse_size("2kB", "--memory"), 2000u);
  EXPECT_EQ(parse_size("3TiB", "--memory"), 3ull << 40);
  for (const char* bad : {"", "GiB", "0", "-1GiB", "4 gigs", "1e9", "nan", "inf", "4GiBx", "99999999TiB"}) {
    EXPECT_THROW(parse_size(bad, "--memory"), Error) << bad;
  }
  EXPECT_EQ(size_text(512), "512 B");
  EXPECT_EQ(size_text((1ull << 30) + 1), "1.1 GiB");
  EXPECT_GE(parse_size(size_text(123456789), "--memory"), 123456789u);
}

TEST(Json, PlacesCommasAndWritesNullForWhatIsNotFinite) {
  Json json;
  json.begin_object().member("a", 1).key("b").begin_array().end_array();
  json.member("c", std::vector<double>{0.5, NAN, INFINITY}).key("d").begin_object().end_object();
  json.member("e", "x").member("f", true).key("g").null().member("h", std::vector<std::string>{"p", "q"});
  json.member("i", std::uint64_t{18446744073709551615ull}).end_object();
  EXPECT_EQ(json.text(),
            "{\"a\": 1, \"b\": [], \"c\": [0.5, null, null], \"d\": {}, \"e\": \"x\", \"f\": true, \"g\": null, "
            "\"h\": [\"p\", \"q\"], \"i\": 18446744073709551615}");
}

TEST(Quote, AWordAsAShellTakesIt) {
  EXPECT_EQ(shell_word("table-1.csv"), "table-1.csv");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("my table"), "'my table'");
  EXPECT_EQ(shell_word("it's"), "\"it's\"");
  EXPECT_EQ(shell_word("it's $5"), "'it'\\''s $5'");
}

}  // namespace
}  // namespace tamis
