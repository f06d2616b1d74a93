#include "tamis/data/missing.h"

#include "read_support.h"

namespace tamis {
namespace {

const std::string kText =
    "id,a,b,c,y\n"
    "r0,1,10,NA,u\n"
    "r1,2,NA,5,v\n"
    "r2,3,30,6,u\n"
    "r3,4,40,NA,w\n"
    "r4,9,20,7,u\n";

Table read_with(Missing missing, const std::string& text = kText) {
  const Folder folder;
  Context context(1);
  ReadOptions options;
  options.id_column = "id";
  options.labels = {"y"};
  options.missing = missing;
  return read_table(folder.write("x.csv", text), options, context);
}

TEST(Missing, RowsAreDroppedWithTheirLabels) {
  const Table table = read_with(Missing::drop_rows);
  EXPECT_EQ(values(table.source), (Rows{{3, 30, 6}, {9, 20, 7}}));
  EXPECT_EQ(table.row_ids, (std::vector<std::string>{"r2", "r4"}));
  EXPECT_EQ(table.labels.at("y").classes, (std::vector<int>{0, 0}));
  EXPECT_EQ(table.labels.at("y").names, (std::vector<std::string>{"u"}));
  ASSERT_EQ(table.notes.size(), 1U);
  EXPECT_NE(table.notes[0].find("3 of 5 rows have missing values and are dropped (3 values in 2 of 3 columns)"),
            std::string::npos)
      << table.notes[0];
}

TEST(Missing, ColumnsAreDroppedAndPositionsStay) {
  const Table table = read_with(Missing::drop_columns);
  EXPECT_EQ(values(table.source), (Rows{{1}, {2}, {3}, {4}, {9}}));
  EXPECT_EQ(table.names, (std::vector<std::string>{"a"}));
  EXPECT_EQ(table.columns, (std::vector<Index>{1}));
  EXPECT_EQ(table.excluded_columns, (std::vector<std::string>{"id", "y", "b", "c"}));
  EXPECT_EQ(table.labels.at("y").names.size(), 3U);
}

TEST(Missing, MeanAndMedianOfTheOthers) {
  const Table mean = read_with(Missing::mean), median = read_with(Missing::median);
  EXPECT_EQ(values(mean.source), (Rows{{1, 10, 6}, {2, 25, 5}, {3, 30, 6}, {4, 40, 6}, {9, 20, 7}}));
  EXPECT_EQ(values(median.source), (Rows{{1, 10, 6}, {2, 25, 5}, {3, 30, 6}, {4, 40, 6}, {9, 20, 7}}));
  const std::string skewed = "id,a,b,y\nr,1,1,u\nr,NA,2,u\nr,2,3,u\nr,30,4,u\n";
  EXPECT_EQ(values(read_with(Missing::mean, skewed).source)[1][0], 11.0);
  EXPECT_EQ(values(read_with(Missing::median, skewed).source)[1][0], 2.0);
  EXPECT_NE(mean.notes[0].find("3 missing values in 2 of 3 columns and 3 of 5 rows are replaced by the mean"),
            std::string::npos);
}

TEST(Missing, AColumnWithoutAnyValueIsLeftOut) {
  const Table table = read_with(Missing::mean, "id,a,b,y\nr,NA,2,u\ns,NA,3,u\n");
  EXPECT_EQ(table.names, (std::vector<std::string>{"b"}));
  EXPECT_NE(table.notes[0].find("left out: a"), std::string::npos);
}

TEST(Missing, NothingLeftIsRefused) {
  const std::string text = "id,a,b,y\nr,NA,2,u\ns,3,NA,u\n";
  EXPECT_NE(error_of(ErrorCode::bad_data, [&] { read_with(Missing::drop_rows, text); }).find("every row"),
            std::string::npos);
  EXPECT_NE(error_of(ErrorCode::bad_data, [&] { read_with(Missing::drop_columns, text); }).find("every column"),
            std::string::npos);
}

TEST(Missing, ArraysAndTransposedTables) {
  const Folder folder;
  Context context(1);
  ReadOptions options;
  options.missing = Missing::mean;
  options.transpose = true;
  const std::string path = folder.write("x.csv", "s,t,u\n1,NA,3\n4,5,6\n");
  EXPECT_EQ(values(read_table(path, options, context).source), (Rows{{1, 4}, {2, 5}, {3, 6}}));
}

TEST(Missing, WordsOfTheOption) {
  EXPECT_EQ(parse_missing("drop-columns"), Missing::drop_columns);
  EXPECT_NE(error_of(ErrorCode::usage, [] { parse_missing("zero"); }).find("missing = zero"), std::string::npos);
}

}  // namespace
}  // namespace tamis
