#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <thread>

#include "tamis/base/context.h"
#include "tamis/base/text/progress_line.h"

namespace tamis {
namespace {

using std::chrono::milliseconds;
using Unit = Progress::Unit;
constexpr ProgressLine::Clock::time_point kStart{};

Progress in_iteration(double done, double total, bool at_most) {
  return {"ufcm", "iterations", "objective 5", Unit::items, {done, total, at_most}};
}

Progress in_pass(Index done, Index rows) {
  Progress at{"maxvar", "moments", "", Unit::items, {}};
  at.rows_done = done, at.rows = rows, at.pass = 1;
  return at;
}

TEST(ProgressLine, TimeLeftIsThePaceSoFarOverWhatIsLeft) {
  ProgressLine line;
  EXPECT_EQ(line.text(in_iteration(0, 12, false), kStart, 60), "ufcm: 0 of 12 iterations, objective 5")
      << "no pace yet";
  // 10 s for 2: 5 s each, 10 are left.
  EXPECT_EQ(line.text(in_iteration(2, 12, false), kStart + milliseconds(10000), 62),
            "ufcm: 2 of 12 iterations, objective 5, 50 s left in this step");
  // 3 s later in the third: 47 s.
  EXPECT_EQ(line.text(in_iteration(2, 12, false), kStart + milliseconds(13000), 62),
            "ufcm: 2 of 12 iterations, objective 5, 47 s left in this step");
  // However long the third takes, those after it take 45 s.
  EXPECT_EQ(line.text(in_iteration(2, 12, false), kStart + milliseconds(50000), 62),
            "ufcm: 2 of 12 iterations, objective 5, 45 s left in this step");
}

TEST(ProgressLine, BoundsAreCalledBounds) {
  ProgressLine line;
  line.text(in_iteration(0, 100, true), kStart, 90);
  EXPECT_EQ(line.text(in_iteration(4, 100, true), kStart + milliseconds(20000), 85),
            "ufcm: 4 of at most 100 iterations, objective 5, up to 8 min left in this step");
}

TEST(ProgressLine, ResumedRunsCountTheirOwnTime) {
  ProgressLine line;
  line.text(in_iteration(40, 50, false), kStart, 70);
  EXPECT_NE(line.text(in_iteration(42, 50, false), kStart + milliseconds(2000), 70).find("8 s left"),
            std::string::npos);
}

TEST(ProgressLine, PassesHaveTheirRowsAndAnUnknownEndHasNoTime) {
  ProgressLine line;
  EXPECT_EQ(line.text(in_pass(0, 4000000), kStart, 76), "maxvar: moments");
  EXPECT_EQ(line.text(in_pass(1000000, 4000000), kStart + milliseconds(2000), 76),
            "maxvar: moments, 1,000,000 of 4,000,000 rows, 6 s left in this pass");
  Progress pipe{"reading standard input", "", "", Unit::bytes, {50e6, 0}};
  pipe.rows_done = 12345;
  ProgressLine other;
  other.text(pipe, kStart, 90);
  EXPECT_EQ(other.text(pipe, kStart + milliseconds(3000), 90),
            "reading standard input: 47.7 MiB, 12,345 rows, 3 s so far");
}

TEST(ProgressLine, UnevenStepsHaveNoTimeLeft) {
  ProgressLine line;
  Progress at{"mcfs", "lasso paths", "", Unit::share, {0.1, 1, false, false}};
  line.text(at, kStart, 60);
  at.steps.done = 0.5;
  EXPECT_EQ(line.text(at, kStart + milliseconds(5000), 30), "mcfs: lasso paths 50 %");
}

TEST(ProgressLine, FitsEveryWidth) {
  ProgressLine line;
  Progress at = in_iteration(0, 100, true);
  at.stage =
      "reading t\xc3\xa4"
      "ble.csv";
  for (std::size_t width = 0; width < 130; ++width) {
    at.steps.done = static_cast<double>(width) / 2;
    const std::string text = line.text(at, kStart + milliseconds(1000 * width), width);
    std::size_t characters = 0;
    for (const char c : text) characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
    EXPECT_LE(characters, width) << text;
  }
}

TEST(ProgressLine, NothingThatATerminalWouldObey) {
  ProgressLine line;
  Progress at = in_iteration(1, 2, false);
  at.stage = "reading \x1b[2J.csv";
  EXPECT_EQ(line.text(at, kStart, 80).find('\x1b'), std::string::npos);
}

TEST(Walk, CountsRowsOfTheOutermostLoopOnly) {
  for (const int threads : {1, 3}) {
    Context context(threads);
    Index last = -1;
    const auto caller = std::this_thread::get_id();
    context.on_progress = [&](const Progress& at) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_EQ(at.rows, 1000);
      EXPECT_GE(at.rows_done, last);
      EXPECT_LE(at.rows_done, 1000);
      last = at.rows_done;
    };
    walk_rows(context, 20, 1000, [&](Index) {
      walk_rows(context, 3, 7, [&](Index) { context.check_cancelled(); });
      std::this_thread::sleep_for(milliseconds(20));
    });
    EXPECT_GT(last, -1);
  }
}

TEST(Stage, PartsHaveTheNameOfTheWhole) {
  Context context(1);
  std::string seen;
  context.on_progress = [&](const Progress& at) { seen = at.stage + "|" + at.phase; };
  const Stage outer(context, "compare, 1 of 3");
  context.phase("outer");
  {
    const Stage inner(context, "ufcm");
    context.phase("iterations", {1, 2});
    EXPECT_EQ(seen, "compare, 1 of 3: ufcm|iterations");
  }
  context.check_cancelled();
  context.phase("again");
  EXPECT_EQ(seen, "compare, 1 of 3|again");
}

}  // namespace
}  // namespace tamis
