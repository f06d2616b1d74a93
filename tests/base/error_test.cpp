#include "tamis/base/error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <locale>
#include <sstream>

#include "tamis/base/context.h"
#include "tamis/base/random.h"
#include "tamis/base/types.h"
#include "tests/support/checks.h"
#include "tests/support/seeds.h"

namespace tamis {
namespace {

TEST(Error, CarriesCodeAndOneLine) {
  try {
    fail(ErrorCode::usage, "lapscore: neighbors = ", 50, ", need 1..", 29);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_STREQ(error.what(), "lapscore: neighbors = 50, need 1..29");
  }
}

TEST(Message, IsSpelledWithTheNamesOfADoor) {
  const Message refused = message(MethodName{"mcfs"}, ": ", OptionName{"clusters"}, " = ", 0, ", need x >= 1");
  const Message whole =
      message("t.csv: ", refused, "; consider ", Flag{"scale", "unit"}, " or leave ", Flag{"k"}, " out");
  EXPECT_EQ(whole.text(), "t.csv: mcfs: clusters = 0, need x >= 1; consider --scale unit or leave --k out");
  const std::string other = whole.spelled([](const Name& name) {
    switch (name.kind) {
      case Name::Kind::method: return std::string("MCFS");
      case Name::Kind::option: return name.method + ".n_" + name.word;
      case Name::Kind::flag: return name.word + "=" + name.value;
    }
    return std::string();
  });
  EXPECT_EQ(other, "t.csv: MCFS: mcfs.n_clusters = 0, need x >= 1; consider scale=unit or leave k= out");
}

TEST(Message, NamesInTextsAreNotNames) {
  const Message plain("clusters = 3");
  const Message value = message(OptionName{"scale"}, " = ", "clusters");
  const Speller loud = [](const Name&) { return std::string("X"); };
  EXPECT_EQ(plain.spelled(loud), "clusters = 3");
  EXPECT_EQ(value.spelled(loud), "X = clusters");
}

TEST(Error, KeepsItsKindWhenItIsSpelledAnew) {
  try {
    try {
      throw NoVariation(message(OptionName{"p"}, " = 1"));
    } catch (Error& error) {
      error.spell([](const Name& name) { return "the " + name.word; });
      throw;
    }
  } catch (const NoVariation& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_data);
    EXPECT_STREQ(error.what(), "the p = 1");
  }
}

TEST(Error, CodesAreTheExitCodes) {
  EXPECT_EQ(static_cast<int>(ErrorCode::internal), 1);
  EXPECT_EQ(static_cast<int>(ErrorCode::usage), 2);
  EXPECT_EQ(static_cast<int>(ErrorCode::bad_data), 3);
  EXPECT_EQ(static_cast<int>(ErrorCode::resources), 4);
  EXPECT_EQ(static_cast<int>(ErrorCode::io), 5);
  EXPECT_EQ(static_cast<int>(ErrorCode::not_converged), 6);
  EXPECT_EQ(static_cast<int>(ErrorCode::interrupted), 130);
}

TEST(Error, RequireThrowsOnlyWhereTheConditionFails) {
  EXPECT_NO_THROW(require(true, ErrorCode::io, "never"));
  support::expect_error(ErrorCode::io, {"disk 3"}, [] { require(false, ErrorCode::io, "disk ", 3); });
}

TEST(Error, NumbersIgnoreTheGlobalLocale) {
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new Comma));
  const std::string written = concat(1234567, " ", 0.25);
  std::locale::global(before);
  EXPECT_EQ(written, "1234567 0.25");
}

// The definition: what a stream of ten digits in the C locale prints.
template <class T>
std::string streamed(T value) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(10);
  out << value;
  return out.str();
}

TEST(Error, PartsReadAsAStreamPrintsThem) {
  const Random random = support::seeded(7, 0);
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double magnitude = std::pow(10.0, 640 * random.uniform(3 * i) - 320);
    const double value = magnitude * (random.uniform(3 * i + 1) - 0.5);
    ASSERT_EQ(concat(value), streamed(value));
    const double whole = std::round(1e6 * random.uniform(3 * i + 2));
    ASSERT_EQ(concat(whole), streamed(whole));
  }
  using Limits = std::numeric_limits<double>;
  for (double value : {0.0, -0.0, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), Limits::denorm_min(),
                       Limits::max(), 1e10, 1e9, 0.1f + 0.0, 1.0 / 3}) {
    EXPECT_EQ(concat(value), streamed(value));
  }
  EXPECT_EQ(concat(std::numeric_limits<std::int64_t>::min(), "|", std::numeric_limits<std::uint64_t>::max(), "|", -1,
                   "|", std::int16_t{-7}, "|", 'x', true, std::string_view("yz"), std::string("w")),
            "-9223372036854775808|18446744073709551615|-1|-7|x1yzw");
}

TEST(Context, CancellationIsAnErrorOfItsOwn) {
  Context context(1);
  EXPECT_NO_THROW(context.check_cancelled());
  context.is_cancelled = [] { return true; };
  support::expect_error(ErrorCode::interrupted, {"interrupted"}, [&] { context.check_cancelled(); });
}

TEST(Context, HandsOnProgressAndWarnings) {
  Context context(1);
  EXPECT_NO_THROW(context.phase("x"));
  EXPECT_NO_THROW(context.warn(Message("nobody listens")));
  std::string seen;
  context.on_progress = [&](const Progress& p) {
    seen = concat(p.stage, " ", p.steps.done, " of ", p.steps.total, " ", p.phase, ", ", p.detail);
  };
  context.on_warning = [&](const Warning& line) { seen += "; " + line.text(); };
  const Stage stage(context, "ufcm");
  context.phase("iterations", {3, 12}, "objective 5");
  context.warn(Message("careful"));
  EXPECT_EQ(seen, "ufcm 3 of 12 iterations, objective 5; careful");
}

TEST(Types, SizesAndNames) {
  const std::vector<std::pair<DType, std::size_t>> sizes = {
      {DType::f32, 4}, {DType::f64, 8}, {DType::i8, 1},  {DType::i16, 2}, {DType::i32, 4},
      {DType::i64, 8}, {DType::u8, 1},  {DType::u16, 2}, {DType::u32, 4}, {DType::u64, 8}};
  for (const auto& [type, size] : sizes) EXPECT_EQ(size_of(type), size) << name_of(type);
  EXPECT_STREQ(name_of(DType::f32), "float32");
  EXPECT_STREQ(name_of(DType::u16), "uint16");
}

}  // namespace
}  // namespace tamis
