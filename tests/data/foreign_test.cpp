// Formats that the library does not read: what open_table does with the reader it is given.
#include <algorithm>

#include "read_support.h"
#include "tamis/data/table.h"

namespace tamis {
namespace {

// Two rows, three columns in Fortran order, with names; labels under "kind" where they are asked for.
Reading two_by_three(const ReadOptions& options) {
  auto data = std::make_shared<std::vector<std::int16_t>>(std::vector<std::int16_t>{1, 4, 2, 5, 3, 6});
  Reading reading;
  Table& table = reading.table;
  table.source = Source(make_dense_store({data->data(), DType::i16, 2, 3, 1, 2}, data));
  table.format = "parquet";
  table.names = {"a", "b", "c"};
  table.row_ids = {"r0", "r1"};
  table.excluded_columns = {"kind"};
  reading.label_choices = {"a", "b", "c", "kind"};
  if (std::find(options.labels.begin(), options.labels.end(), "kind") != options.labels.end()) {
    table.labels["kind"] = {{1, 0}, {"x", "y"}};
  }
  return reading;
}

OpenedFile only_loaded(std::function<Reading()> load) { return {{}, 0, std::move(load), {}}; }

class Foreign : public testing::Test {
 protected:
  Table read(const std::string& path) {
    Context context(1);
    return read_table(path, options_, context);
  }

  Folder folder_;
  std::string path_ = folder_.write("a.parquet", "PAR1");
  ReadOptions options_;
  std::vector<std::string> asked_;  // the paths the reader was called with

  void SetUp() override {
    options_.foreign = [this](const std::string& path, const ReadOptions& options, Context&) {
      asked_.push_back(path);
      return only_loaded([options] { return two_by_three(options); });
    };
  }
};

TEST_F(Foreign, ItsTableArrives) {
  const Table table = read(path_);
  EXPECT_EQ(values(table.source), (Rows{{1, 2, 3}, {4, 5, 6}}));
  EXPECT_EQ(table.source.store().dtype(), DType::i16);
  EXPECT_EQ(table.path, path_);
  EXPECT_EQ(table.format, "parquet");
  EXPECT_EQ(table.names, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(table.row_ids, (std::vector<std::string>{"r0", "r1"}));
  EXPECT_EQ(table.excluded_columns, std::vector<std::string>{"kind"});
  EXPECT_TRUE(table.labels.empty());
}

TEST_F(Foreign, IsAskedByTheEndingAlone) {
  std::vector<std::string> paths;
  for (const char* name : {"a.pq", "a.arrow", "a.feather", "a.ipc", "a.h5ad", "a.mat", "a.h5", "A.Parquet"}) {
    paths.push_back(folder_.write(name, "x"));
    read(paths.back());
  }
  EXPECT_EQ(asked_, paths);

  EXPECT_EQ(values(read(folder_.write("a.csv", "7\n8\n")).source), (Rows{{7}, {8}}));
  const std::string unknown = error_of(ErrorCode::bad_data, [&] { read(folder_.write("a.xyz", "x")); });
  EXPECT_NE(unknown.find(".csv"), std::string::npos);
  EXPECT_NE(unknown.find(".parquet"), std::string::npos);
  error_of(ErrorCode::bad_data, [&] { read(folder_.write("a.parquet.gz", "x")); });
  error_of(ErrorCode::io, [&] { read(folder_.path("absent.parquet")); });
  EXPECT_EQ(asked_, paths);
}

TEST_F(Foreign, ReceivesTheOptions) {
  ReadOptions seen;
  options_.array = "layers/counts";
  options_.id_column = "id";
  options_.labels = {"kind"};
  options_.text_columns = {"note"};
  options_.transpose = true;
  options_.foreign = [&](const std::string&, const ReadOptions& options, Context&) {
    seen = options;
    return only_loaded([options] { return two_by_three(options); });
  };
  read(path_);
  EXPECT_EQ(seen.array, "layers/counts");
  EXPECT_EQ(seen.id_column, "id");
  EXPECT_EQ(seen.labels, std::vector<std::string>{"kind"});
  EXPECT_EQ(seen.text_columns, std::vector<std::string>{"note"});
  EXPECT_TRUE(seen.transpose);
}

TEST_F(Foreign, ItsLabelsComeBeforeFiles) {
  const std::string file = folder_.write("y.txt", "p\nq\n");
  options_.labels = {"kind", file};
  const Table table = read(path_);
  EXPECT_EQ(table.labels.at("kind").classes, (std::vector<int>{1, 0}));
  EXPECT_EQ(table.labels.at(file).classes, (std::vector<int>{0, 1}));

  options_.labels = {"nowhere"};
  const std::string message = error_of(ErrorCode::usage, [&] { read(path_); });
  EXPECT_NE(message.find("the data have a, b, c, kind"), std::string::npos) << message;
}

TEST_F(Foreign, ItsErrorPassesThrough) {
  const auto fails = []() -> Reading { throw Error(ErrorCode::resources, "a.parquet: too large"); };
  options_.foreign = [&](const std::string&, const ReadOptions&, Context&) { return only_loaded(fails); };
  EXPECT_EQ(error_of(ErrorCode::resources, [&] { read(path_); }), "a.parquet: too large");
  options_.foreign = [&](const std::string&, const ReadOptions&, Context&) -> OpenedFile {
    throw Error(ErrorCode::resources, "a.parquet: too large");
  };
  EXPECT_EQ(error_of(ErrorCode::resources, [&] { read(path_); }), "a.parquet: too large");
}

// Nothing is read until whoever opened the file has decided, and then only one of the two ways.
TEST_F(Foreign, WhoOpensDecides) {
  std::vector<std::string> called;
  options_.foreign = [&](const std::string&, const ReadOptions& options, Context&) {
    const auto way = [&called, options](const char* name) {
      return [&called, options, name] {
        called.emplace_back(name);
        return two_by_three(options);
      };
    };
    return OpenedFile{RowShape{2, 3, DType::i16, {}}, 77, way("load"), way("leave")};
  };
  Context context(1);
  Opened opened = open_table(path_, options_, context);
  EXPECT_TRUE(called.empty());
  ASSERT_TRUE(opened.rows());
  EXPECT_EQ(opened.rows()->nonzeros(), 6);
  EXPECT_EQ(opened.while_loading(), 77U);
  EXPECT_EQ(opened.leave_on_disk().names.size(), 3U);
  open_table(path_, options_, context).load();
  EXPECT_EQ(called, (std::vector<std::string>{"leave", "load"}));
}

TEST_F(Foreign, SizesThatDisagreeAreRefused) {
  const auto refuse = [&](ErrorCode code, auto spoil) {
    options_.foreign = [&](const std::string&, const ReadOptions& options, Context&) {
      return only_loaded([&spoil, options] {
        Reading reading = two_by_three(options);
        spoil(reading.table);
        return reading;
      });
    };
    error_of(code, [&] { read(path_); });
  };
  refuse(ErrorCode::internal, [](Table& table) { table.names.pop_back(); });
  refuse(ErrorCode::internal, [](Table& table) { table.row_ids.push_back("r2"); });
  refuse(ErrorCode::internal, [](Table& table) { table.labels["kind"] = {{0}, {"x"}}; });
  refuse(ErrorCode::bad_data, [](Table& table) { table.source = Source(); });
}

TEST_F(Foreign, WithoutAReaderPythonIsNamed) {
  options_.foreign = nullptr;
  for (const char* name : {"a.parquet", "a.pq", "a.ipc", "a.h5ad"}) {
    const std::string message = error_of(ErrorCode::bad_data, [&] { read(folder_.write(name, "x")); });
    EXPECT_NE(message.find("Python package tamis"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace tamis
