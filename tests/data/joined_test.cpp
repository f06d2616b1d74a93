#include "tamis/data/joined.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/data/read_support.h"

namespace tamis {
namespace {

using Words = std::vector<std::string>;

// The label of each row, as a word; "" where it has none.
Words labels_of(const Folder& folder, const std::string& text, const Words& rows, const std::string& column = "kind",
                const std::string& id = "", const std::string& name = "meta.csv") {
  Context context(1);
  const Labels found = read_joined_labels({folder.write(name, text), column}, id, rows, context);
  Words out;
  for (const int k : found.classes) out.push_back(k < 0 ? "" : found.names[k]);
  return out;
}

TEST(JoinedLabels, AreThoseOfTheRowWithTheSameIdentifier) {
  const Folder folder;
  const Words rows = {"c", "a", "b"};
  EXPECT_EQ(labels_of(folder, "cell,age,kind\na,1,T\nx,2,B\nb,3,NK\nc,4,B\n", rows), (Words{"B", "T", "NK"}));
  EXPECT_EQ(labels_of(folder, "kind,cell\nT,a\nNK,b\n\nB,c\n", rows, "kind", "cell"), (Words{"B", "T", "NK"}));
  EXPECT_EQ(labels_of(folder, "cell\tkind\na\t T \nb\t\"N\tK\"\nc\t\n", rows, "kind", "", "meta.tsv"),
            (Words{"", "T", "N\tK"}));
  EXPECT_EQ(labels_of(folder, "cell,kind\n\"a\",T\n b ,T\nc,B", rows, "kind", "cell", "meta.csv"),
            (Words{"B", "T", "T"}));
}

// R writes names of rows before the first column, under no name.
TEST(JoinedLabels, RowNamesWithoutAHeading) {
  const Folder folder;
  EXPECT_EQ(labels_of(folder, "kind,age\nr1,T,3\nr2,B,4\n", {"r2", "r1"}), (Words{"B", "T"}));
  EXPECT_EQ(labels_of(folder, "kind,cell\nr1,T,a\nr2,B,b\n", {"r2", "r1"}), (Words{"B", "T"}));
  EXPECT_EQ(labels_of(folder, "\"kind\"\n\"r1\",\"T\"\n\"r2\",\"B\"\n", {"r2", "r1"}), (Words{"B", "T"}));
  EXPECT_EQ(labels_of(folder, "by kind\nname,kind\nr1,T\nr2,B\n", {"r2", "r1"}), (Words{"B", "T"}));
  EXPECT_EQ(labels_of(folder, "kind,cell\nr1,T,a\nr2,B,b\n", {"b", "a"}, "kind", "cell"), (Words{"B", "T"}));
}

TEST(JoinedLabels, AreRefusedWhereTheyDoNotFit) {
  const Folder folder;
  const std::string good = "cell,kind\na,T\nb,B\n";
  const auto message = [&](ErrorCode code, const std::string& text, const Words& rows,
                           const std::string& column = "kind") {
    return error_of(code, [&] { labels_of(folder, text, rows, column); });
  };
  const auto expect = [](const std::string& found, const Words& pieces) {
    for (const std::string& piece : pieces) EXPECT_NE(found.find(piece), std::string::npos) << found;
  };
  expect(message(ErrorCode::usage, good, {}), {"no identifiers", "id"});
  expect(message(ErrorCode::usage, good, {"a"}, "kinds"), {"no column 'kinds'", "kind", "cell, kind"});
  expect(message(ErrorCode::usage, "cell,kind,kind\na,T,T\n", {"a"}), {"2 columns are named 'kind'"});
  expect(message(ErrorCode::usage, "", {"a"}), {"no column 'kind'"});
  expect(message(ErrorCode::bad_data, good, {"a", "b", "q", "r", "s", "t"}),
         {"4 of 6 rows are missing", "'q', 'r', 's', ..."});
  expect(message(ErrorCode::bad_data, good, {"a", "b", "a"}), {"of the table", "1 of 3", "repeated", "'a'"});
  expect(message(ErrorCode::bad_data, good + "b,T\n", {"a"}), {"meta.csv", "1 of 3", "repeated", "'b'"});
  expect(message(ErrorCode::bad_data, good + "c\n", {"a"}), {"line 4", "1 cells, need 2"});
  expect(message(ErrorCode::bad_data, good + "c,T,1,2\n", {"a"}), {"line 4", "4 cells, need 2"});
}

TEST(JoinedLabels, AColonNamesAColumnOnlyBehindAFile) {
  const Folder folder;
  const std::string path = folder.write("meta.csv", "a,b\n"), odd = folder.write("meta.csv:b", "a\n");
  const auto found = column_of_file(path + ":kind");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->path, path);
  EXPECT_EQ(found->column, "kind");
  EXPECT_EQ(column_of_file(odd + ":c")->path, odd);  // the last colon counts
  for (const std::string& other : {path, odd, std::string("kind"), std::string(":kind"), folder.path("absent.csv:kind"),
                                   folder.path("") + ":kind"}) {
    EXPECT_FALSE(column_of_file(other)) << other;
  }
}

}  // namespace
}  // namespace tamis
