#include "tamis/run/features.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tamis/base/error.h"
#include "tests/support/checks.h"

namespace tamis {
namespace {

// A table of the given names with one row of zeros.
Table named(const std::vector<std::string>& names, Index cols) {
  auto data = std::make_shared<std::vector<double>>(static_cast<std::size_t>(cols), 0.0);
  Table table;
  table.source = Source(make_dense_store({data->data(), DType::f64, 1, cols, cols, 1}, data));
  table.names = names;
  return table;
}

std::string message_of(const std::vector<std::string>& words, const Table& table) {
  try {
    resolve_features({words}, table, "include");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.what();
  }
  return "";
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content)
      : path_(testing::TempDir() + "tamis_features_" + std::to_string(getpid())) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(FeatureCount, CountsAndFractions) {
  EXPECT_EQ(resolve_count(parse_feature_count("50"), 100), 50);
  EXPECT_EQ(resolve_count(parse_feature_count("1"), 1), 1);
  EXPECT_EQ(resolve_count(parse_feature_count("0.1"), 64), 6);    // 6.4
  EXPECT_EQ(resolve_count(parse_feature_count("0.001"), 64), 1);  // never none
  EXPECT_EQ(resolve_count(parse_feature_count("0.999"), 64), 64);
  EXPECT_EQ(resolve_count({}, 64), 64);
  for (const char* bad : {"0", "-1", "1.0", "2.5", "0.0", "-0.5", "nan", "inf", "", "x", "5x"}) {
    EXPECT_THROW(parse_feature_count(bad), Error) << bad;
  }
  EXPECT_THROW(resolve_count(parse_feature_count("65"), 64), Error);
}

TEST(Features, NamesWinOverPositions) {
  const Table table = named({"2", "a", "b"}, 3);
  EXPECT_EQ(resolve_features({{"2", "1", "b"}}, table, "include"), (std::vector<Index>{0, 1, 2}));
  EXPECT_EQ(resolve_features({{"b", "b", "2"}}, table, "include"), (std::vector<Index>{2, 0}));
}

TEST(Features, TablesWithoutNames) {
  const Table table = named({}, 5);
  EXPECT_EQ(resolve_features({{"f3", "0"}}, table, "include"), (std::vector<Index>{3, 0}));
  EXPECT_EQ(feature_name(table, 3), "f3");
}

TEST(Features, ComplaintsSayWhatIsWrong) {
  const Table table = named({"gene_a", "gene_b", "twice", "twice"}, 4);
  EXPECT_EQ(message_of({"gene_c"}, table), "include: no feature is named 'gene_c'; did you mean 'gene_a'?");
  EXPECT_EQ(message_of({"zzz"}, table), "include: no feature is named 'zzz'");
  EXPECT_EQ(message_of({"4"}, table), "include: position 4, need 0..3");
  EXPECT_EQ(message_of({"-1"}, table), "include: position -1, need 0..3");
  EXPECT_NE(message_of({"twice"}, table).find("2 columns are named 'twice'"), std::string::npos);
}

TEST(Features, ColumnsThatAreNoFeatures) {
  Table table = named({"a"}, 1);
  table.excluded_columns = {"note"};
  EXPECT_TRUE(resolve_features({{"note"}}, table, "exclude", true).empty());
  EXPECT_NE(message_of({"note"}, table), "");
}

TEST(Features, ListsOfWords) {
  Context context(1);
  EXPECT_EQ(list_words("a,b,,c", context), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(list_words("", context).empty());
  const TemporaryFile file("x\ny\n");
  EXPECT_EQ(list_words("@" + file.path(), context), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(list_words(file.path(), context), (std::vector<std::string>{"x", "y"}));
}

TEST(Features, OurRankingFilesAreRead) {
  Context context(1);
  const TemporaryFile file("rank,index,name,score,selected\n1,7,\"a,\"\"b\nc\",0.5,1\n2,0,d,0.25,0\n3,4,e,0.1,1\n");
  const FeatureList list = read_feature_list(file.path(), std::nullopt, context);
  EXPECT_EQ(list.words, (std::vector<std::string>{"7", "4"}));
  EXPECT_EQ(list.kind, FeatureList::Kind::features);
  EXPECT_EQ(read_feature_list(file.path(), 2, context).words, (std::vector<std::string>{"7", "0"}));
  EXPECT_THROW(read_feature_list(file.path(), 4, context), Error);
}

TEST(Features, OurRankingFilesHavePositionsInTheFile) {
  Context context(1);
  const TemporaryFile now("rank,index,name,score,selected,share,column\n1,1,\"4\",0.5,1,0.3,2\n2,0,d,0.25,0,0.1,0\n");
  EXPECT_EQ(read_feature_list(now.path(), std::nullopt, context).words, std::vector<std::string>{"2"});
  EXPECT_EQ(read_feature_list(now.path(), 2, context).kind, FeatureList::Kind::columns_of_file);
}

// What a ranking.csv of columns a, =b and c, made up names and all, chooses in another table.
std::vector<Index> chosen_by(const std::string& lines, const Table& table) {
  Context context(1);
  const TemporaryFile file("rank,index,name,score,selected,column\n" + lines);
  return resolve_features(read_feature_list(file.path(), std::nullopt, context), table, "list");
}

TEST(Features, RankingFilesGoByNameWhereTheTableHasNames) {
  using Positions = std::vector<Index>;
  const std::string lines = "1,2,c,0.5,1,2\n2,0,a,0.4,1,0\n3,1,\"'=b\",0.3,1,1\n";
  EXPECT_EQ(chosen_by(lines, named({"a", "=b", "c"}, 3)), (Positions{2, 0, 1}));
  EXPECT_EQ(chosen_by(lines, named({"c", "new", "a", "=b"}, 4)), (Positions{0, 2, 3})) << "moved, among others";
  EXPECT_EQ(chosen_by(lines, named({}, 3)), (Positions{2, 0, 1})) << "positions, where there are no names";
  support::expect_error(ErrorCode::bad_data, {"1 of 3 selected columns is missing", "'c' (did you mean 'C'?)"}, [&] {
    chosen_by(lines, named({"a", "=b", "C"}, 3));
  });
  Table labelled = named({"a", "=b"}, 2);
  labelled.excluded_columns = {"c"};
  labelled.columns = {0, 1};
  support::expect_error(ErrorCode::bad_data, {"column 'c' was selected, but here it holds text"},
                        [&] { chosen_by(lines, labelled); });
}

TEST(Features, RankingFilesOfColumnsWithTheSameName) {
  const std::string lines = "1,1,a,0.5,1,1\n2,2,b,0.4,1,2\n";
  EXPECT_EQ(chosen_by(lines, named({"a", "a", "b"}, 3)), (std::vector<Index>{1, 2})) << "each where it was";
  support::expect_error(ErrorCode::bad_data, {"2 columns are named 'a'"}, [&] {
    chosen_by(lines, named({"b", "a", "a"}, 3));
  });
}

TEST(Features, RankingFilesWithoutNames) {
  const std::string lines = "1,2,f2,0.5,1,2\n2,0,f0,0.4,1,0\n";
  EXPECT_EQ(chosen_by(lines, named({"x", "y", "z"}, 3)), (std::vector<Index>{2, 0})) << "of a table without names";
  EXPECT_EQ(chosen_by(lines, named({"f2", "f1", "f0"}, 3)), (std::vector<Index>{0, 2})) << "of one that has such names";
}

TEST(Features, SelectionsAreReadByTheReaderThatIsGiven) {
  Context context(1);
  const TemporaryFile file("{\n \"tamis\": \"1\"}");
  const SelectionReader reader = [](std::string_view json, const std::string&, Budget*) {
    EXPECT_TRUE(json.starts_with('{'));
    return EarlierSelection{{0, 2}, {"a", "c"}, 3, ""};
  };
  const FeatureList list = read_feature_list(file.path(), std::nullopt, context, reader);
  EXPECT_EQ(resolve_features(list, named({"c", "b", "a"}, 3), "list"), (std::vector<Index>{2, 0}));
  support::expect_error(ErrorCode::usage, {"ranking.csv"}, [&] { read_feature_list(file.path(), 1, context, reader); });
}

TEST(Features, RankingFilesTakeNoMoreThanTheLimit) {
  const std::string header = "rank,index,name,score,selected";
  const TemporaryFile wide(header + "\n" + std::string(1 << 20, ','));
  const TemporaryFile wide_header(header + std::string(1 << 20, ','));
  std::string many = header + "\n";
  for (int i = 0; i < 1 << 16; ++i) many += "1,1,,,1\n";
  const TemporaryFile long_file(many);
  Context context(1);
  for (const TemporaryFile* file : {&wide, &wide_header, &long_file}) {
    context.memory_limit = std::uint64_t{4} << 20;
    support::expect_error(ErrorCode::resources, {file->path(), "memory"},
                          [&] { read_feature_list(file->path(), 1, context); });
  }
  context.memory_limit = std::uint64_t{64} << 20;
  EXPECT_EQ(read_feature_list(long_file.path(), 1, context).words.size(), 1);
}

// A file of id, a, note, b: the features a and b stand at 1 and 3.
TEST(Features, TypedPositionsAreThoseOfTheFile) {
  Table table = named({"a", "3"}, 2);
  table.excluded_columns = {"id", "note"};
  table.columns = {1, 3};
  using Positions = std::vector<Index>;
  EXPECT_EQ(resolve_features({{"1", "a"}}, table, "include"), Positions{0});
  EXPECT_EQ(resolve_features({{"3"}}, table, "include"), Positions{1}) << "a name, and its position as well";
  EXPECT_TRUE(resolve_features({{"0", "2"}}, table, "exclude", true).empty());
  EXPECT_EQ(message_of({"2"}, table),
            "include: column '2' holds text, labels, row identifiers or missing values, need a feature");
  EXPECT_EQ(message_of({"4"}, table), "include: position 4, need 0..3");
  using Kind = FeatureList::Kind;
  table.names = {"3", "a"};
  EXPECT_EQ(resolve_features({{"3"}}, table, "include"), Positions{0}) << "names win";
  EXPECT_EQ(resolve_features({{"3"}, Kind::columns_of_file}, table, "list"), Positions{1});
  EXPECT_EQ(resolve_features({{"1"}, Kind::features}, table, "list"), Positions{1});
  EXPECT_EQ(columns_of_file(table, {1, 0}), (Positions{3, 1}));
}

TEST(Features, PatternsStandForEveryNameThatMatches) {
  const Table table = named({"mt-1", "b", "mt-2", "m*"}, 4);
  EXPECT_EQ(resolve_features({{"mt-*", "b"}}, table, "x"), (std::vector<Index>{0, 2, 1}));
  EXPECT_EQ(resolve_features({{"m*"}}, table, "x"), (std::vector<Index>{3})) << "a name wins";
  EXPECT_EQ(resolve_features({{"?"}}, table, "x"), (std::vector<Index>{1}));
  EXPECT_EQ(message_of({"xyzw*"}, table), "include: no column matches 'xyzw*'");
  EXPECT_NE(message_of({"MT-*"}, table).find("did you mean 'mt-1'?"), std::string::npos);
}

TEST(Features, LeavingOutKeepsPlacesInTheFile) {
  Table table = named({"a", "b", "c"}, 3);
  table.columns = {0, 2, 3};
  table.excluded_columns = {"id"};
  leave_out(table, {1});
  EXPECT_EQ(table.names, (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(table.columns, (std::vector<Index>{0, 3}));
  EXPECT_EQ(table.excluded_columns, (std::vector<std::string>{"id", "b"}));
  EXPECT_EQ(table.source.cols(), 2);
  EXPECT_EQ(resolve_features({{"3"}}, table, "x"), (std::vector<Index>{1}));
  EXPECT_THROW(leave_out(table, {0, 1}), Error);
}

}  // namespace
}  // namespace tamis
