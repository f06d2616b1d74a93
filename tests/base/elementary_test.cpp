// The functions of the baseline CPU against those of long double.
#include "tamis/base/elementary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tamis/base/error.h"
#include "tamis/base/random.h"
#include "tests/support/seeds.h"

namespace tamis::elementary {
namespace {

constexpr double kUlp = std::numeric_limits<double>::epsilon();

// Within `units` in the last place of what is wanted, or of `floor` where that is larger.
void expect_close(double found, long double wanted, double units, const std::string& what, double floor = 0) {
  const double size = std::max(static_cast<double>(std::abs(wanted)), floor);
  EXPECT_LE(static_cast<double>(std::abs(found - wanted)), units * kUlp * size) << what;
}

TEST(Elementary, AgreesWithLongDouble) {
  const Random random = support::seeded(1, 1);
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const double u = 2 * random.uniform(2 * i) - 1, v = 2 * random.uniform(2 * i + 1) - 1;
    const double positive = std::ldexp(1 + random.uniform(3 * i), static_cast<int>(200 * u));
    for (const double x : {700 * u, 2 * u, 1e-9 * u}) {
      expect_close(portable::exp(x), std::exp(static_cast<long double>(x)), 2, concat("exp ", x));
    }
    for (const double x : {positive, 1 + 0.5 * u, 1 + 1e-9 * u}) {
      expect_close(portable::log(x), std::log(static_cast<long double>(x)), 2, concat("log ", x));
    }
    for (const double y : {0.5, -0.5, 0.3, -0.65, 1.0, 0.0}) {
      const long double wanted = std::pow(static_cast<long double>(positive), static_cast<long double>(y));
      expect_close(portable::pow(positive, y), wanted, 2 + 150, concat("pow ", positive, " ", y));
    }
    for (const double x : {1e4 * u, 7 * u, 0.5 * u}) {
      expect_close(portable::sin(x), std::sin(static_cast<long double>(x)), 2, concat("sin ", x), 1e-4);
      expect_close(portable::cos(x), std::cos(static_cast<long double>(x)), 2, concat("cos ", x), 1e-4);
    }
    for (const double x : {v, 1e-3 * v, 100 * v}) {
      const long double wide_u = u, wide_x = x;
      expect_close(portable::atan2(u, x), std::atan2(wide_u, wide_x), 2, concat("atan2 ", u, " ", x));
      expect_close(portable::hypot(u, x), std::hypot(wide_u, wide_x), 2, concat("hypot ", u, " ", x));
    }
  }
}

TEST(Elementary, EndsOfTheRange) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(portable::exp(0), 1);
  EXPECT_EQ(portable::exp(-inf), 0);
  EXPECT_EQ(portable::exp(800), inf);
  EXPECT_EQ(portable::exp(-800), 0);
  EXPECT_EQ(portable::log(1), 0);
  EXPECT_EQ(portable::log(0), -inf);
  EXPECT_EQ(portable::log(inf), inf);
  EXPECT_TRUE(std::isnan(portable::log(-1)));
  EXPECT_TRUE(std::isnan(portable::exp(std::nan(""))));
  EXPECT_EQ(portable::pow(0, 0.5), 0);
  EXPECT_EQ(portable::pow(0, 0.3), 0);
  EXPECT_EQ(portable::pow(7, 0), 1);
  EXPECT_EQ(portable::sin(0), 0);
  EXPECT_EQ(portable::cos(0), 1);
  EXPECT_EQ(portable::atan2(0, 1), 0);
  EXPECT_EQ(portable::atan2(1, 0), std::atan2(1.0, 0.0));
  EXPECT_EQ(portable::atan2(0, -1), std::atan2(0.0, -1.0));
  EXPECT_EQ(portable::hypot(3e300, 4e300), 5e300);
  EXPECT_EQ(portable::hypot(0, 0), 0);
}

}  // namespace
}  // namespace tamis::elementary
