#include "tamis/report/json_reader.h"

#include <gtest/gtest.h>

#include "tamis/base/error.h"
#include "tamis/report/json.h"

namespace tamis {
namespace {

bool refused(const std::string& text) {
  try {
    parse_json(text, "test");
  } catch (const Error& error) {
    return error.code() == ErrorCode::bad_data;
  }
  return false;
}

TEST(JsonReader, ReadsWhatTheWriterWrites) {
  const std::string odd = "a\"b\\c\n\t\x01\xc3\xa9 \xf0\x9f\x98\x80";
  Json json;
  json.begin_object().member("text", odd).member("flag", true).key("nothing").null();
  json.member("numbers", std::vector<double>{0.1, -3.0, 1e300, 5e-324}).member("counts", std::vector<Index>{0, 7});
  json.member("inner", std::map<std::string, std::string>{{"k", "v"}}).end_object();
  const JsonValue value = parse_json(" " + json.text() + "\n", "test");
  EXPECT_EQ(value.at("text").string(), odd);
  EXPECT_TRUE(value.at("flag").boolean());
  EXPECT_TRUE(value.at("nothing").is_null());
  EXPECT_EQ(value.at("numbers").numbers(), (std::vector<double>{0.1, -3.0, 1e300, 5e-324}));
  EXPECT_EQ(value.at("counts").indices(), (std::vector<Index>{0, 7}));
  EXPECT_EQ(value.at("inner").at("k").string(), "v");
}

TEST(JsonReader, Escapes) {
  EXPECT_EQ(parse_json(R"("\u00e9\ud83d\ude00\/\b\f")", "test").string(), "\xc3\xa9\xf0\x9f\x98\x80/\b\f");
  EXPECT_FALSE(parse_json("false", "test").boolean());
}

TEST(JsonReader, RefusesWhatIsNoJson) {
  for (const char* text : {"",
                           " ",
                           "{",
                           "[",
                           "[1,]",
                           "[,1]",
                           "{\"a\":1,}",
                           "{\"a\" 1}",
                           "{a:1}",
                           "{\"a\":1 \"b\":2}",
                           "[1 2]",
                           "01",
                           "1.",
                           ".5",
                           "-",
                           "+1",
                           "1e",
                           "0x1",
                           "nan",
                           "NaN",
                           "Infinity",
                           "tru",
                           "nulll",
                           "\"a",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\ud800\"",
                           "\"\\udc00\"",
                           "\"\\ud800\\u0041\"",
                           "\"\n\"",
                           "1 2",
                           "{} x",
                           "{\"a\":1,\"a\":2}",
                           "'a'"}) {
    EXPECT_TRUE(refused(text)) << text;
  }
}

TEST(JsonReader, BoundsTheDepth) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_FALSE(refused(nested(kJsonDepth)));
  EXPECT_TRUE(refused(nested(kJsonDepth + 2)));
  EXPECT_TRUE(refused(std::string(10'000'000, '[')));
}

TEST(JsonReader, KindsAreChecked) {
  const JsonValue value = parse_json(R"({"n": 1.5, "s": "x", "big": 1e999})", "test");
  EXPECT_THROW(value.at("n").index(), Error);
  EXPECT_THROW(value.at("n").string(), Error);
  EXPECT_THROW(value.at("s").number(), Error);
  EXPECT_THROW(value.at("s").array(), Error);
  EXPECT_THROW(value.at("big").number(), Error);
  EXPECT_THROW(value.at("absent"), Error);
}

}  // namespace
}  // namespace tamis
