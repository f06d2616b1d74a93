#include "tamis/data/formats/libsvm.h"

#include "read_support.h"

namespace tamis {
namespace {

Reading parse(const std::string& text, const ReadOptions& options = {}) {
  Context context(1);
  const auto bytes = open_memory(text, "x.svm");
  return read_libsvm(*bytes, options, context);
}

std::string refused(const std::string& text) {
  return error_of(ErrorCode::bad_data, [&] { parse(text); });
}

TEST(Libsvm, RowsAndLabels) {
  ReadOptions options;
  options.labels = {"label"};
  const Table table = parse("+1 1:0.5 3:2 # note\n# a comment\n\n-1.0 2:-1e1\r\n3\t3:4\n", options).table;
  EXPECT_EQ(values(table.source), (Rows{{0.5, 0, 2}, {0, -10, 0}, {0, 0, 4}}));
  EXPECT_TRUE(table.source.sparse());
  EXPECT_EQ(table.labels.at("label").names, (std::vector<std::string>{"1", "3"}));
  EXPECT_EQ(table.labels.at("label").classes, (std::vector<int>{0, -1, 1}));
  options = {};
  options.transpose = true;
  EXPECT_EQ(values(parse("1 1:1\n2 2:3\n3\n", options).table.source), (Rows{{1, 0, 0}, {0, 3, 0}}));
  EXPECT_EQ(values(parse("1,2 1:1\n3 1:2\n").table.source), (Rows{{1}, {2}}));
}

TEST(Libsvm, Refuses) {
  EXPECT_EQ(refused("1 1:1\n1 qid:3 1:1\n"), "x.svm: line 2: qid is not read: remove it");
  EXPECT_EQ(refused("1 0:1\n"), "x.svm: line 1: index 0, indices start from 1");
  EXPECT_EQ(refused("1 2:1 2:1\n"), "x.svm: line 1: index 2 after 2, indices must increase");
  EXPECT_EQ(refused("1 1:nan\n"), "x.svm: line 1: feature 1: \"nan\" is not finite");
  EXPECT_EQ(refused("1 1:1e999\n"), "x.svm: line 1: feature 1: \"1e999\" is too large for a double");
  EXPECT_EQ(refused("1 1:1\n"), "x.svm: 1 row, need at least 2");
  EXPECT_EQ(refused(""), "x.svm: 0 rows, need at least 2");
  EXPECT_EQ(refused("1\n2\n"), "x.svm: 0 columns, need at least 1");
  for (const char* line : {"1:1 2:1", "a 1:1", "1 1", "1 1:", "1 :1", "1 1:1:1", "1 -1:1", "1 1.5:1", "1 99999999999:1",
                           "1 2147483647:1", "1 1:0x10", "nan 1:1"}) {
    refused("1 1:1\n" + std::string(line) + "\n");
  }
  refused("1 2000000000:1\n1 1:1\n");  // out of proportion to the file
}

}  // namespace
}  // namespace tamis
