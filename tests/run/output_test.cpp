#include "tamis/run/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "tamis/base/error.h"
#include "tamis/report/document.h"
#include "tamis/run/reduced.h"

namespace tamis {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t entries(const fs::path& path) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
}

class Output : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("tamis_output_" + std::to_string(getpid()));
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

TEST_F(Output, FilesAppearWholeAtTheCommit) {
  OutputFolder out(folder_ / "new", {"a.txt"}, {});
  out.add("a.txt", [](FileWriter& file) { file.write("hello"); });
  EXPECT_FALSE(fs::exists(folder_ / "new" / "a.txt"));
  out.commit();
  EXPECT_EQ(content(folder_ / "new" / "a.txt"), "hello");
  EXPECT_EQ(entries(folder_ / "new"), 1u);
}

TEST_F(Output, AFailureLeavesTheEarlierResultAndNoTraces) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "a.txt") << "earlier";
  try {
    OutputFolder out(folder_, {"a.txt", "b.txt"}, {});
    out.add("a.txt", [](FileWriter& file) { file.write("later"); });
    out.add("b.txt", [](FileWriter&) { fail(ErrorCode::io, "disk full"); });
    out.commit();
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
  }
  EXPECT_EQ(content(folder_ / "a.txt"), "earlier");
  EXPECT_EQ(entries(folder_), 1u);
}

TEST_F(Output, AFolderMadeForNothingIsRemoved) {
  {
    OutputFolder out(folder_, {}, {});
    EXPECT_THROW(out.add("a.txt", [](FileWriter&) { fail(ErrorCode::io, "disk full"); }), Error);
  }
  EXPECT_FALSE(fs::exists(folder_));
}

TEST_F(Output, OnlyAbandonedFilesOfItsOwnAreRemoved) {
  fs::create_directories(folder_);
  const std::set<std::string> others = {".11.state.tamis-abcdef", ".1.state.abcdef", "1.state.tamis-abcdef",
                                        ".1.state.tamis-abcde"};
  for (const auto& name : others) std::ofstream(folder_ / name) << "precious";
  std::ofstream(folder_ / ".1.state.tamis-abcdef") << "half of it";
  OutputFolder living(folder_, {}, {});
  living.add("1.state", [](FileWriter& file) { file.write("new"); });
  const OutputFolder next(folder_, {"1.state"}, {});
  EXPECT_FALSE(fs::exists(folder_ / ".1.state.tamis-abcdef"));
  for (const auto& name : others) EXPECT_TRUE(fs::exists(folder_ / name)) << name;
  living.commit();
  EXPECT_EQ(content(folder_ / "1.state"), "new");
}

TEST_F(Output, RefusesFilesAndInputs) {
  fs::create_directories(folder_);
  std::ofstream(folder_ / "selected.csv") << "a,b\n";
  fs::create_hard_link(folder_ / "selected.csv", folder_ / "other.csv");
  EXPECT_THROW(OutputFolder(folder_ / "selected.csv", {}, {}), Error);
  EXPECT_THROW(OutputFolder(folder_ / "selected.csv" / "below", {}, {}), Error);
  EXPECT_THROW(OutputFolder(folder_, {"selected.csv"}, {folder_ / "other.csv"}), Error);
  EXPECT_NO_THROW(OutputFolder(folder_, {"ranking.csv"}, {folder_ / "other.csv"}));
}

TEST_F(Output, FilesOfOthersAreNotReplaced) {
  fs::create_directories(folder_);
  const std::vector<std::string> names = {"report.html", "ranking.csv", "selection.json", "selected.csv"};
  for (const auto& name : names) {
    std::ofstream(folder_ / name) << "rank of teams\n";
    EXPECT_THROW(OutputFolder(folder_, {name}, {}), Error) << name;
    EXPECT_EQ(content(folder_ / name), "rank of teams\n");
  }
  std::ofstream(folder_ / "report.html") << "<!doctype html>\n<meta name=\"generator\" content=\"tamis 0.1\">\n";
  std::ofstream(folder_ / "ranking.csv") << "rank,index,name,score,selected\n";
  EXPECT_NO_THROW(OutputFolder(folder_, {"report.html", "ranking.csv"}, {}));
  std::ofstream(folder_ / "selection.json") << "{\"tamis\": \"0.1\", \"method\": \"maxvar\"}\n";
  EXPECT_NO_THROW(OutputFolder(folder_, names, {}));  // a table beside a selection of ours
}

TEST_F(Output, WriteErrorsAreTold) {
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  FileWriter writer(full, "x");
  writer.write("something");
  EXPECT_THROW(writer.flush(), Error);
  close(full);
}

// What write_reduced writes for a table.
std::string reduced(const Table& table, const std::vector<Index>& selected, const fs::path& folder) {
  Context context(1, 0);
  OutputFolder out(folder, {}, {});
  out.add("r", [&](FileWriter& file) { write_reduced(table, selected, "id", file, context); });
  out.commit();
  return content(folder / "r");
}

TEST_F(Output, ReducedTablesKeepOrderKindAndType) {
  auto data = std::make_shared<std::vector<float>>(std::vector<float>{1.5f, 2, 0.1f, 4, 5, 6});
  Table table;
  table.source = Source(make_dense_store({data->data(), DType::f32, 2, 3, 3, 1}, data));
  table.names = {"=a", "b", "c"};
  table.row_ids = {"x", "-y"};
  table.format = "csv";
  EXPECT_EQ(reduced_name(table), "selected.csv");
  EXPECT_EQ(reduced(table, {0, 2}, folder_), "id,\"'=a\",c\nx,1.5,0.1\n\"'-y\",4,6\n");
  EXPECT_EQ(reduced(table, {2, 0}, folder_), "id,c,\"'=a\"\nx,0.1,1.5\n\"'-y\",6,4\n") << "in the order given";

  table.format = "npy";
  EXPECT_EQ(reduced_name(table), "selected.npy");
  const std::string npy = reduced(table, {0, 2}, folder_);
  EXPECT_EQ(npy.size(), 128u + 4 * sizeof(float));
  EXPECT_NE(npy.find("'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"), std::string::npos);
  EXPECT_EQ(npy.substr(128, 4), std::string(reinterpret_cast<const char*>(&(*data)[0]), 4));
  EXPECT_EQ(npy.substr(140, 4), std::string(reinterpret_cast<const char*>(&(*data)[5]), 4));
}

TEST_F(Output, NamedColumnsOfAnyTypeAndOrderBecomeCsv) {
  // Fortran order; the whole numbers have no double of their own.
  auto data = std::make_shared<std::vector<std::uint64_t>>(
      std::vector<std::uint64_t>{1, 2, 18446744073709551615u, 9007199254740993u, 5, 6});
  Table table;
  table.source = Source(make_dense_store({data->data(), DType::u64, 2, 3, 1, 2}, data));
  table.names = {"a", "b", "c"};
  for (const char* format : {"parquet", "arrow", "feather"}) {
    table.format = format;
    EXPECT_EQ(reduced_name(table), "selected.csv");
    EXPECT_EQ(reduced(table, {0, 1}, folder_), "a,b\n1,18446744073709551615\n2,9007199254740993\n");
  }

  auto small = std::make_shared<std::vector<std::int8_t>>(std::vector<std::int8_t>{-1, 2, 3, -128});
  table.source = Source(make_dense_store({small->data(), DType::i8, 2, 2, 1, 2}, small));
  table.names = {"a", "b"};
  EXPECT_EQ(reduced(table, {0, 1}, folder_), "a,b\n-1,3\n2,-128\n");

  for (const char* format : {"mat", "h5ad"}) {
    table.format = format;
    EXPECT_EQ(reduced_name(table), "selected.npy");
  }
  EXPECT_EQ(reduced(table, {0, 1}, folder_).substr(128), (std::string{-1, 3, 2, -128}));
}

TEST_F(Output, SparseTablesBecomeMatrixMarket) {
  static const std::int64_t offsets[] = {0, 2, 3};
  static const std::int32_t columns[] = {0, 2, 1};
  static const double values[] = {0.5, 2, -3};
  Table table;
  table.source = Source(make_sparse_store({2, 3, offsets, columns, values, DType::f64}));
  table.format = "libsvm";
  EXPECT_EQ(reduced_name(table), "selected.mtx");
  EXPECT_EQ(reduced(table, {1, 2}, folder_), "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 2\n2 1 -3\n");
  EXPECT_EQ(reduced(table, {2, 1}, folder_), "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 -3\n");
}

TEST_F(Output, TheDocumentHasTheFixedShape) {
  auto data = std::make_shared<std::vector<double>>(6, 1.0);
  Table table;
  table.source = Source(make_dense_store({data->data(), DType::f64, 2, 3, 3, 1}, data));
  table.path = "t.npy";
  table.format = "npy";
  SelectRequest request;
  request.exclude = {1};
  SelectResult result;
  result.scores = {0.25, std::nan(""), 0.5};
  result.ranking = {2, 0};
  result.selected = {2};
  result.available = {0, 2};
  result.choices = 2;
  result.selection.report.objective = {1, 2.5};
  result.selection.report.terms = {{"scatter", {1, 2}}};
  result.selection.report.resolved = {{"dims", 3}};
  std::optional<Index> dims;
  std::optional<double> beta;
  const Method method{"m", "M", "", "", "", nullptr};
  const Options options = {{"dims", "", &dims, {}, {}, "", ""}, {"beta", "", &beta, {}, {}, "", ""}};
  const SelectionRecord record{table, method, options, request, result, 7, 1, 0, 99, {"careful"}};
  EXPECT_EQ(
      selection_json(record),
      "{\"tamis\": \"0.2.0\", \"schema\": 2, \"method\": \"m\", \"options\": {\"features\": 1, \"dims\": 3, \"beta\": "
      "null, "
      "\"scale\": \"none\", \"scale_reason\": null, \"counts\": false, \"seed\": 7, \"threads\": 1, \"memory\": null, "
      "\"include\": [], \"exclude\": [1], "
      "\"supervised\": false}, \"data\": {\"path\": \"t.npy\", \"rows\": 2, \"features\": 3, \"named\": false, \"id\": "
      "null, \"format\": \"npy\", "
      "\"sparse\": false, \"dtype\": \"float64\", \"stored\": 6, \"bytes\": 48, \"storage\": \"memory\", \"constant\": "
      "0, \"reading\": {}}, "
      "\"selected\": [2], \"columns\": [2], \"names\": [\"f2\"], \"scores\": [0.25, null, 0.5], \"verdict\": [\"1 of 2 "
      "columns selected.\"], \"redundancy\": null, "
      "\"clusters\": null, "
      "\"forecast\": "
      "{\"seconds\": 0, \"passes\": 0, \"peak_bytes\": 0}, "
      "\"report\": {\"status\": \"direct\", \"iterations\": 0, \"objective\": [1, 2.5], \"terms\": {\"scatter\": "
      "[1, 2]}, \"resumed_at\": 0, \"path\": \"\", \"seconds\": 0, \"passes\": 0, \"peak_bytes\": 99, \"seed\": 7, "
      "\"resolved\": "
      "{\"dims\": 3}, \"warnings\": [\"careful\"]}}\n");
  OutputFolder out(folder_, {}, {});
  out.add("ranking.csv", [&](FileWriter& file) { write_ranking(record, file); });
  out.commit();
  EXPECT_EQ(content(folder_ / "ranking.csv"),
            "rank,index,name,score,selected,column\n1,2,f2,0.5,1,2\n2,0,f0,0.25,0,0\n");
}

}  // namespace
}  // namespace tamis
