#include "tamis/run/apply.h"

#include <gtest/gtest.h>

#include "tamis/base/error.h"

namespace tamis {
namespace {

const EarlierSelection kNamed{{1, 4}, {"b", "e"}, 6, {}};

std::string complaint(const EarlierSelection& selection, const OtherTable& table) {
  try {
    find_selected(selection, table);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_data);
    return error.what();
  }
  return "none";
}

TEST(FindSelected, TakesNamesWhereverTheyStand) {
  EXPECT_EQ(find_selected(kNamed, {"t", {"e", "x", "b"}, 3, {}}), (std::vector<Index>{2, 0}));
}

TEST(FindSelected, TakesPositionsWhereThereWereNoNames) {
  const EarlierSelection selection{{1, 4}, {}, 6, {}};
  EXPECT_EQ(find_selected(selection, {"t", {}, 6, {}}), (std::vector<Index>{1, 4}));
  EXPECT_NE(complaint(selection, {"t", {}, 7, {}}).find("7 columns"), std::string::npos);
}

TEST(FindSelected, NamesInOtherCapitalsOrWithBlanksAreRecognized) {
  const EarlierSelection selection{{0, 1}, {"temp", "load"}, 2, {}};
  EXPECT_EQ(complaint(selection, {"t", {"LOAD", "Temp ", "tempo"}, 3, {}}),
            "t: 2 of 2 selected columns are missing: 'temp' (did you mean 'Temp '?), 'load' (did you mean 'LOAD'?)");
}

TEST(FindSelected, NamesWhatIsMissingAndWhatItMayBeCalledNow) {
  const EarlierSelection selection{{0, 1, 2}, {"temperature", "flow", "sum"}, 3, {}};
  EXPECT_EQ(complaint(selection, {"t", {"Temperature", "flow", "max"}, 3, {}}),
            "t: 2 of 3 selected columns are missing: 'temperature' (did you mean 'Temperature'?), 'sum'");
  // 'flow' itself is selected, so it is no new name of another.
  EXPECT_EQ(complaint({{0, 1}, {"flow", "flox"}, 2, {}}, {"t", {"flow"}, 1, {}}),
            "t: 1 of 2 selected columns is missing: 'flox'");
}

TEST(FindSelected, RefusesNamesThatSeveralColumnsHave) {
  EXPECT_EQ(complaint(kNamed, {"t", {"b", "e", "b"}, 3, {}}), "t: 2 columns are named 'b', need one");
  EXPECT_NE(complaint({{0, 1}, {"b", "b"}, 2, {}}, {"t", {"b"}, 1, {}}).find("2 of the selected columns are named 'b'"),
            std::string::npos);
}

TEST(FindSelected, RefusesTextAndTablesWithoutNames) {
  EXPECT_NE(complaint(kNamed, {"t", {"e"}, 1, {"b"}}).find("column 'b' was selected, but here it holds text"),
            std::string::npos);
  EXPECT_NE(complaint(kNamed, {"t", {}, 6, {}}).find("no column names"), std::string::npos);
}

}  // namespace
}  // namespace tamis
