#include "tamis/base/options.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/checks.h"

namespace tamis {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Sample {
  double power = 1;
  Index count = 8;
  bool flag = false;
  std::string start = "kmeans++";
  std::optional<double> beta;
  std::optional<Index> dims;
};

Options describe(Sample& s) {
  return {
      {"power", "p", &s.power, {0, 2, true, false}, {}, "help", ""},
      {"count", "n_count", &s.count, {1, kInf}, {}, "help", ""},
      {"flag", "flag", &s.flag, {}, {}, "help", ""},
      {"start", "init", &s.start, {}, {"kmeans++", "random"}, "help", ""},
      {"beta", "beta", &s.beta, {0, kInf}, {}, "help", "from sparsity"},
      {"dims", "n_components", &s.dims, {1, 10}, {}, "help", "as needed"},
  };
}

TEST(Range, ContainsItsEndsUnlessOpen) {
  const Range closed{0, 2, false, false}, open{0, 2, true, true}, half{1};
  EXPECT_TRUE(closed.contains(0));
  EXPECT_TRUE(closed.contains(2));
  EXPECT_FALSE(closed.contains(-1e-300));
  EXPECT_FALSE(closed.contains(std::nextafter(2, 3)));
  EXPECT_FALSE(open.contains(0));
  EXPECT_FALSE(open.contains(2));
  EXPECT_TRUE(open.contains(1e-300));
  EXPECT_TRUE(half.contains(1e300));
  EXPECT_FALSE(half.contains(0.999));
}

TEST(Range, NeverContainsNanOrInfinity) {
  for (const Range& range : {Range{}, Range{0, kInf}, Range{-kInf, 0}, Range{0, 2}}) {
    EXPECT_FALSE(range.contains(std::nan("")));
    EXPECT_FALSE(range.contains(kInf));
    EXPECT_FALSE(range.contains(-kInf));
  }
}

TEST(Range, Text) {
  EXPECT_EQ((Range{0, 2, true, false}.to_text()), "0 < x <= 2");
  EXPECT_EQ((Range{0, 1, false, true}.to_text()), "0 <= x < 1");
  EXPECT_EQ((Range{1}.to_text()), "x >= 1");
  EXPECT_EQ((Range{-kInf, 3, false, true}.to_text()), "x < 3");
}

TEST(Options, ThePythonNameIsTheSameUnlessGiven) {
  Index value = 1;
  const Options joined = join({{.name = "p", .value = &value}}, {{.name = "dims", .python_name = "n_components"}});
  ASSERT_EQ(joined.size(), 2u);
  EXPECT_EQ(joined[0].in_python(), "p");
  EXPECT_EQ(joined[1].in_python(), "n_components");
}

TEST(Options, RangesFromOneSide) {
  EXPECT_TRUE(at_least(0).contains(0));
  EXPECT_FALSE(above(0).contains(0));
  EXPECT_EQ(above(0).to_text(), "x > 0");
}

TEST(Options, ValueTextShowsDefaultsAndUnset) {
  Sample s;
  const Options o = describe(s);
  EXPECT_EQ(value_text(o[0]), "1");
  EXPECT_EQ(value_text(o[1]), "8");
  EXPECT_EQ(value_text(o[2]), "no");
  EXPECT_EQ(value_text(o[3]), "kmeans++");
  EXPECT_EQ(value_text(o[4]), "from sparsity");
  EXPECT_EQ(value_text(o[5]), "as needed");
  s.beta = 0.1;
  s.dims = 7;
  s.flag = true;
  EXPECT_EQ(value_text(o[4]), "0.1");
  EXPECT_EQ(value_text(o[5]), "7");
  EXPECT_EQ(value_text(o[2]), "yes");
}

TEST(Options, ValueTextRoundTrips) {
  Sample s;
  const Options o = describe(s);
  for (const double value : {0.1, 1.0 / 3, 1e-300, 2.0, 5e-324, 1.5}) {
    s.power = value;
    const std::string written = value_text(o[0]);
    s.power = 99;
    set_from_text(o[0], "x", written);
    EXPECT_EQ(s.power, value) << written;
  }
}

TEST(Options, ParsesEveryType) {
  Sample s;
  const Options o = describe(s);
  set_from_text(o[0], "x", "1.5e0");
  set_from_text(o[1], "x", "+12");
  set_from_text(o[2], "x", "yes");
  set_from_text(o[3], "x", "random");
  set_from_text(o[4], "x", "1e3");
  set_from_text(o[5], "x", "10");
  EXPECT_EQ(s.power, 1.5);
  EXPECT_EQ(s.count, 12);
  EXPECT_TRUE(s.flag);
  EXPECT_EQ(s.start, "random");
  EXPECT_EQ(s.beta, 1000.0);
  EXPECT_EQ(s.dims, 10);
  for (const char* no : {"no", "false", "0"}) {
    s.flag = true;
    set_from_text(o[2], "x", no);
    EXPECT_FALSE(s.flag) << no;
  }
}

TEST(Options, RefusesWhatItCannotRead) {
  Sample s;
  const Options o = describe(s);
  for (const char* bad :
       {"", " ", "abc", "1,5", "1 ", " 1", "0x10", "1e", "--1", "+-1", "1.5.2", "nan", "inf", "1e999"}) {
    support::expect_error(ErrorCode::usage, {"ufcm: power = ", "<= 2"}, [&] { set_from_text(o[0], "ufcm", bad); });
  }
  for (const char* bad : {"", "1.5", "1e2", "abc", "99999999999999999999", "0", "-3"}) {
    support::expect_error(ErrorCode::usage, {"ufcm: count = ", ">= 1"}, [&] { set_from_text(o[1], "ufcm", bad); });
  }
  for (const char* bad : {"", "maybe", "2"}) {
    support::expect_error(ErrorCode::usage, {"ufcm: flag = ", "yes"}, [&] { set_from_text(o[2], "ufcm", bad); });
  }
  for (const char* bad : {"", "Random", "kmeans"}) {
    support::expect_error(ErrorCode::usage, {"ufcm: start = ", "kmeans++, random"},
                          [&] { set_from_text(o[3], "ufcm", bad); });
  }
}

TEST(Options, RangeErrorsNameOptionValueAndRange) {
  Sample s;
  const Options o = describe(s);
  support::expect_error(ErrorCode::usage, {"ufcm: power = 0, need 0 < x <= 2"},
                        [&] { set_from_text(o[0], "ufcm", "0"); });
  support::expect_error(ErrorCode::usage, {"ufcm: power = 2.5, need"}, [&] { set_from_text(o[0], "ufcm", "2.5"); });
  support::expect_error(ErrorCode::usage, {"ufcm: beta = -1, need x >= 0"}, [&] { set_from_text(o[4], "ufcm", "-1"); });
  support::expect_error(ErrorCode::usage, {"ufcm: dims = 11, need 1 <= x <= 10"},
                        [&] { set_from_text(o[5], "ufcm", "11"); });
}

TEST(Options, ValidateVisitsAll) {
  Sample s;
  EXPECT_NO_THROW(validate(describe(s), "x"));
  s.dims = 0;
  support::expect_error(ErrorCode::usage, {"x: dims = 0"}, [&] { validate(describe(s), "x"); });
  s.dims.reset();
  s.power = std::nan("");
  support::expect_error(ErrorCode::usage, {"x: power = nan"}, [&] { validate(describe(s), "x"); });
  s.power = kInf;
  support::expect_error(ErrorCode::usage, {"x: power = inf"}, [&] { validate(describe(s), "x"); });
  s.power = 1;
  s.start = "no such";
  support::expect_error(ErrorCode::usage, {"x: start = no such, need kmeans++, random"},
                        [&] { validate(describe(s), "x"); });
}

TEST(Options, TypeAndRangeText) {
  Sample s;
  const Options o = describe(s);
  EXPECT_EQ(type_text(o[0]), "number");
  EXPECT_EQ(type_text(o[1]), "integer");
  EXPECT_EQ(type_text(o[2]), "yes/no");
  EXPECT_EQ(type_text(o[3]), "one of");
  EXPECT_EQ(type_text(o[4]), "number");
  EXPECT_EQ(type_text(o[5]), "integer");
  EXPECT_EQ(range_text(o[2]), "yes or no");
  EXPECT_EQ(range_text(o[3]), "kmeans++, random");
}

TEST(Options, MessagesSayWhatIsAllowed) {
  double number = 0;
  Index integer = 0;
  bool flag = false;
  std::vector<Index> list;
  EXPECT_EQ(allowed_values({.value = &number}), "a number");
  EXPECT_EQ(allowed_values({.value = &number, .range = {.low = 0, .high = 2, .low_open = true}}),
            "a number > 0 and <= 2");
  EXPECT_EQ(allowed_values({.value = &integer, .range = {.low = 1, .high = 1024}}), "an integer 1..1024");
  EXPECT_EQ(allowed_values({.value = &list, .range = at_least(2)}), "a comma-separated list of integers >= 2");
  EXPECT_EQ(allowed_values({.value = &flag}), "yes or no");
  support::expect_error(ErrorCode::usage, {"m: evidence = maybe, need yes or no"},
                        [&] { set_from_text({.name = "evidence", .value = &flag}, "m", "maybe"); });
}

}  // namespace
}  // namespace tamis
