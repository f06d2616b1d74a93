#include "tamis/run/forecast.h"

#include <gtest/gtest.h>

#include "tamis/base/error.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

Plan some_plan(const Source& source) {
  Plan plan(shape_of(source), Code::moments, 1);
  plan.phases = {{"small", 10}, {"large", 1000}, {"small again", 20}};
  plan.seconds = 2, plan.passes = 3;
  return plan;
}

TEST(Forecast, TheLargestPhaseMakesThePeak) {
  const Source source = support::dense(support::mixture(40, 5, 2, 3, 4, 1));
  const Plan plan = some_plan(source);
  Plan without = plan;
  without.phases = {{"large", 1000}};
  EXPECT_EQ(plan.peak_numbers(), without.peak_numbers());
  const Forecast found = forecast(plan, source.size(), {});
  EXPECT_EQ(found.peak_bytes, forecast(without, source.size(), {}).peak_bytes);
  EXPECT_EQ(found.peak_bytes, found.data_bytes + static_cast<std::uint64_t>(plan.program + 8 * plan.peak_numbers()));
  EXPECT_EQ(found.passes, 3);
  EXPECT_GT(found.seconds, 2);
}

TEST(Forecast, CountsWhatTheProcessHoldsAndHasHeld) {
  const Source source = support::dense(support::mixture(40, 5, 2, 3, 4, 1));
  const Plan plan = some_plan(source);
  const std::uint64_t alone = forecast(plan, source.size(), {}).peak_bytes;
  EXPECT_NEAR(static_cast<double>(forecast(plan, source.size(), {5e8, 0}).peak_bytes), static_cast<double>(alone) + 5e8,
              1);
  EXPECT_EQ(forecast(plan, source.size(), {0, alone + 7}).peak_bytes, alone + 7);
  EXPECT_EQ(forecast(plan, source.size(), {0, alone - 7}).peak_bytes, alone);
}

TEST(Forecast, RefusesWhatDoesNotFit) {
  Forecast need;
  need.peak_bytes = 1000;
  EXPECT_NO_THROW(require_memory(need, 1000, "m"));
  support::expect_error(ErrorCode::resources, {"m", "memory"}, [&] { require_memory(need, 999, "m"); });
}

}  // namespace
}  // namespace tamis
