#include "tamis/data/formats/shards.h"

#include "read_support.h"
#include "tamis/data/passes/passes.h"

namespace tamis {
namespace {

Rows rows_of(const std::string& path, const ReadOptions& options = {}) {
  Context context(1);
  const Matrix all = gather(read_shards(path, options, context).table.source, context);
  Rows out;
  for (Index i = 0; i < all.rows(); ++i) out.emplace_back(all.row(i), all.row(i) + all.cols());
  return out;
}

std::string refused_shards(const std::string& path, ErrorCode code = ErrorCode::bad_data) {
  return error_of(code, [&] { rows_of(path); });
}

TEST(Shards, NumbersInNamesCountAsNumbers) {
  const Folder folder;
  folder.write("part-10.csv", "a,b\n7,8\n7,9\n");
  folder.write("part-9.csv", "a,b\n3,4\n3,5\n");
  folder.write("part-009.csv", "a,b\n1,2\n1,3\n");  // equal as a number: by the name
  folder.write("part-9b.csv", "a,b\n5,6\n5,7\n");
  folder.write(".hidden.csv", "c\n1\n");
  folder.write("notes.txt", "no table");
  const Rows wanted = {{1, 2}, {1, 3}, {3, 4}, {3, 5}, {5, 6}, {5, 7}, {7, 8}, {7, 9}};
  EXPECT_EQ(rows_of(folder.path("")), wanted);
  EXPECT_EQ(rows_of(folder.path("part-*.csv")), wanted);
  EXPECT_EQ(rows_of(folder.path("part-?.csv")), (Rows{{3, 4}, {3, 5}}));
}

TEST(Shards, RowsAreReadAcrossFiles) {
  const Folder folder;
  folder.write("0.npy", npy_of<float>("<f4", "(2, 2)", {1, 2, 3, 4}));
  folder.write("1.npy", npy_of<float>("<f4", "(3, 2)", {5, 6, 7, 8, 9, 10}));
  folder.write("2.npy", npy_of<float>("<f4", "(2, 2)", {11, 12, 13, 14}));
  const Rows wanted = {{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 12}, {13, 14}};
  EXPECT_EQ(rows_of(folder.path("")), wanted);
  Context context(1);
  const Source source = read_shards(folder.path(""), {}, context).table.source;
  const std::vector<Index> asked = {1, 2, 4, 6};
  const Matrix some = gather_rows(source, asked, context);
  for (Index k = 0; k < 4; ++k) EXPECT_EQ(some(k, 1), wanted[asked[k]][1]);
}

TEST(Shards, LabelsAndIdentifiersGoOn) {
  const Folder folder;
  folder.write("1.csv", "id,x,class\nr1,1,red\nr2,2,blue\n");
  folder.write("2.csv", "id,x,class\nr3,3,green\nr4,4,red\n");
  ReadOptions options;
  options.id_column = "id";
  options.labels = {"class"};
  Context context(1);
  const Table table = read_shards(folder.path(""), options, context).table;
  EXPECT_EQ(table.row_ids, (std::vector<std::string>{"r1", "r2", "r3", "r4"}));
  const Labels& labels = table.labels.at("class");
  std::vector<std::string> words;
  for (const int c : labels.classes) words.push_back(labels.names[static_cast<std::size_t>(c)]);
  EXPECT_EQ(words, (std::vector<std::string>{"red", "blue", "green", "red"}));
}

TEST(Shards, Refuses) {
  const Folder folder;
  folder.write("1.csv", "a,b\n1,2\n3,4\n");
  folder.write("2.csv", "a,c\n1,2\n3,4\n");
  EXPECT_NE(refused_shards(folder.path("")).find("2.csv: column names differ"), std::string::npos);
  folder.write("2.csv", "a,b,c\n1,2,3\n4,5,6\n");
  EXPECT_NE(refused_shards(folder.path("")).find("2.csv: 3 columns"), std::string::npos);
  folder.write("2.npy", npy_of<double>("<f8", "(2, 2)", {1, 2, 3, 4}));
  EXPECT_NE(refused_shards(folder.path("")).find("need shards of one kind"), std::string::npos);
  folder.write("3.npy", npy_of<float>("<f4", "(2, 2)", {1, 2, 3, 4}));
  EXPECT_NE(refused_shards(folder.path("*.npy")).find("3.npy: float32"), std::string::npos);
  EXPECT_NE(refused_shards(folder.path("*.tsv"), ErrorCode::io).find("no file matches"), std::string::npos);
  const Folder empty;
  EXPECT_NE(refused_shards(empty.path("")).find("a folder without"), std::string::npos);
  ReadOptions transposed;
  transposed.transpose = true;
  Context context(1);
  error_of(ErrorCode::usage, [&] { read_shards(folder.path("*.csv"), transposed, context); });
}

}  // namespace
}  // namespace tamis
