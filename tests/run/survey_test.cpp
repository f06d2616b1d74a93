#include "tamis/run/survey.h"

#include <gtest/gtest.h>

#include "tests/data/read_support.h"

namespace tamis {
namespace {

Survey survey_of(const std::string& text) {
  const Folder folder;
  Context context(1);
  return survey_text(folder.write("t.csv", text), {}, context).value();
}

// The content of one column of these cells.
Content content_of(const std::vector<std::string>& cells) {
  std::string text = "name\n";
  for (const auto& cell : cells) text += "\"" + cell + "\"\n";
  return survey_of(text).columns.at(0).content;
}

TEST(Survey, TellsContentsApart) {
  EXPECT_EQ(content_of({"1", "-2.5", "3e4"}), Content::number);
  EXPECT_EQ(content_of({"1", "NA", "2"}), Content::number);
  EXPECT_EQ(content_of({"1", "two"}), Content::text);
  EXPECT_EQ(content_of({"2026-01-31", "2026-02-01 12:30:00"}), Content::date);
  EXPECT_EQ(content_of({"31.01.2026", "1/2/26"}), Content::date);
  EXPECT_EQ(content_of({"12:30", "08:15:59"}), Content::date);
  EXPECT_EQ(content_of({"2026-01-31", "soon"}), Content::text);
  EXPECT_EQ(content_of({"1.2.3-beta", "192.168.100.101"}), Content::text);
  EXPECT_EQ(content_of({"TRUE", "False"}), Content::yes_no);
  EXPECT_EQ(content_of({"NA", "n/a"}), Content::empty);
}

TEST(Survey, FindsCopiesByNumberAndConstants) {
  const Survey found = survey_of("a,b,c,d\n1,1.0,2,x\n2,2,2,x\n3,3.00,2,x\n");
  EXPECT_EQ(found.rows, 3);
  EXPECT_EQ(found.columns[1].copy_of, 0);
  EXPECT_EQ(found.columns[0].copy_of, -1);
  EXPECT_TRUE(found.columns[2].constant && found.columns[3].constant);
  EXPECT_TRUE(found.columns[0].counts_rows);
  EXPECT_EQ(columns_to_exclude(found), std::vector<Index>{3});
}

TEST(Survey, TakesShortAndLongRows) {
  const Survey found = survey_of("a,b\n1,2\n3\n4,5,6\n");
  EXPECT_EQ(found.rows, 3);
  EXPECT_EQ(found.ragged, 2);
  EXPECT_EQ(found.ragged_line, 3);
  EXPECT_EQ(found.columns[1].missing, 1);
}

TEST(Survey, NamesOfRows) {
  EXPECT_EQ(column_of_names(survey_of(",a\n0,5\n1,3\n2,9\n")), 0);
  EXPECT_EQ(column_of_names(survey_of("a,b\n1,x\n2,y\n")), 1);
  EXPECT_EQ(column_of_names(survey_of("a,b\n1,x\n2,x\n")), -1);
  EXPECT_EQ(column_of_names(survey_of(",a\n5,5\n1,3\n2,9\n")), 0) << "an index that was shuffled";
  for (const char* cells : {"12 ms,13 ms", "(3.5),(4.5)", "'12,'13", "12h,13h"}) {
    const std::string text = cells;
    const std::size_t at = text.find(',');
    const std::string rows = ",b\n" + text.substr(0, at) + ",1\n" + text.substr(at + 1) + ",2\n";
    EXPECT_EQ(column_of_names(survey_of("a" + rows)), -1) << cells;
    EXPECT_EQ(column_of_names(survey_of("sample_id" + rows)), 0) << cells;
  }
}

}  // namespace
}  // namespace tamis
