#include "tamis/data/table.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "read_support.h"
#include "tamis/base/text/quote.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/formats/list.h"
#include "tamis/data/labels.h"

namespace tamis {
namespace {

Table read(const std::string& path, const ReadOptions& options = {}, std::uint64_t limit = 0) {
  Context context(2);
  context.memory_limit = limit;
  return read_table(path, options, context);
}

const Rows kWanted = {{1, 2}, {3, 4}};

TEST(ReadTable, ByEnding) {
  const Folder folder;
  const std::string npy = npy_of<double>("<f8", "(2, 2)", {1, 2, 3, 4});
  const std::string mtx = "%%MatrixMarket matrix array real general\n2 2\n1\n3\n2\n4\n";
  const std::string svm = "0 1:1 2:2\n0 1:3 2:4\n";
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.csv", "1,2\n3,4\n"}, {"a.CSV", "1,2\n3,4\n"}, {"a.txt", "1;2\n3;4\n"}, {"a.tsv", "1\t2\n3\t4\n"},
      {"a.npy", npy},          {"a.mtx", mtx},          {"a.svm", svm},          {"a.libsvm", svm},
      {"a.svmlight", svm}};
  for (const auto& [name, bytes] : files) {
    EXPECT_EQ(values(read(folder.write(name, bytes)).source), kWanted) << name;
    EXPECT_EQ(values(read(folder.write(name + ".gz", gzipped(bytes))).source), kWanted) << name;
  }
  EXPECT_EQ(read(folder.path("a.csv")).path, folder.path("a.csv"));
}

TEST(ReadTable, RefusesWhatItCannotRead) {
  const Folder folder;
  error_of(ErrorCode::io, [&] { read(folder.path("absent.csv")); });
  error_of(ErrorCode::io, [&] { read(folder.path("absent.xyz")); });
  error_of(ErrorCode::bad_data, [&] { read(folder.path("")); });
  error_of(ErrorCode::bad_data, [&] { read("/dev/zero"); });
  error_of(ErrorCode::bad_data, [&] { read("/dev/null"); });
  for (const char* name : {"a.parquet", "a.arrow", "a.feather", "a.h5ad", "a.mat", "a.h5"}) {
    EXPECT_NE(error_of(ErrorCode::bad_data, [&] { read(folder.write(name, "x")); }).find("Python package tamis"),
              std::string::npos);
  }
  EXPECT_NE(error_of(ErrorCode::bad_data, [&] { read(folder.write("a.xyz", "x")); }).find(".csv"), std::string::npos);
  std::filesystem::create_symlink("/dev/zero", folder.path("zero.csv"));
  error_of(ErrorCode::bad_data, [&] { read(folder.path("zero.csv")); });
}

TEST(ReadTable, PathIsMadePrintable) {
  const Folder folder;
  EXPECT_NE(
      error_of(ErrorCode::bad_data, [&] { read(folder.write("a\n\x1b[2J.csv", "x")); }).find("a\\x0a\\x1b[2J.csv: "),
      std::string::npos);
}

TEST(ReadTable, NamedPipe) {
  const Folder folder;
  const std::string path = folder.path("pipe.csv");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    std::ofstream(path) << "1,2\n3,4\n";
  });
  EXPECT_EQ(values(read(path).source), kWanted);
  writer.join();
}

TEST(ReadTable, CancelledWhileAPipeIsSilent) {
  const Folder folder;
  const std::string path = folder.path("pipe.csv");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  Context context(1);
  const auto start = std::chrono::steady_clock::now();
  context.is_cancelled = [&] { return std::chrono::steady_clock::now() - start > std::chrono::milliseconds(200); };
  error_of(ErrorCode::interrupted, [&] { read_table(path, {}, context); });
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(OpenTable, SaysWhatTheRowsAreLikeAndLeavesThem) {
  const Folder folder;
  const std::string npy = npy_of<std::int16_t>("<i2", "(2, 3)", {1, 2, 3, 4, 5, 6});
  const std::string path = folder.write("a.npy", npy), labels = folder.write("y.txt", "p\nq\nr\n");
  Context context(2);
  ReadOptions options;
  options.transpose = true;
  options.labels = {labels};
  for (const bool stays : {true, false}) {
    Opened opened = open_table(path, options, context);
    ASSERT_TRUE(opened.rows());
    EXPECT_EQ(opened.rows()->rows, 3);
    EXPECT_EQ(opened.rows()->cols, 2);
    EXPECT_EQ(opened.rows()->dtype, DType::i16);
    EXPECT_FALSE(opened.rows()->sparse());
    const Table table = stays ? opened.leave_on_disk() : opened.load();
    EXPECT_EQ(table.source.store().in_memory(), !stays);
    EXPECT_EQ(values(table.source), (Rows{{1, 4}, {2, 5}, {3, 6}}));
    EXPECT_EQ(table.labels.at(labels).classes, (std::vector<int>{0, 1, 2}));
    EXPECT_EQ(table.format, "npy");
  }
  for (const auto& other : {folder.write("a.npy.gz", gzipped(npy)), folder.write("a.csv", "1,2\n3,4\n5,6\n")}) {
    EXPECT_FALSE(open_table(other, {}, context).rows()) << other;
  }
}

TEST(ReadTable, LabelsFromFiles) {
  const Folder folder;
  const std::string data = folder.write("a.csv", "1,2\n3,4\n5,6\n");
  const auto classes = [&](const std::string& name, const std::string& bytes) {
    ReadOptions options;
    options.labels = {folder.write(name, bytes)};
    return read(data, options).labels.at(options.labels[0]).classes;
  };
  EXPECT_EQ(classes("y.txt", "b\na\nb\n"), (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(classes("y.csv", "class\n10\n2\n10.0\n"), (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(classes("y.csv", "class\n10\n\n3\n"), (std::vector<int>{1, -1, 0}));
  EXPECT_EQ(classes("y.csv", "1\n-1\n\n"), (std::vector<int>{0, -1, -1}));
  EXPECT_EQ(classes("y.csv.gz", gzipped("\"p\"\n\"q\"\np")), (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(classes("y.npy", npy_of<std::int64_t>("<i8", "(3,)", {4, 4, 1})), (std::vector<int>{1, 1, 0}));
  for (const char* text : {"1\n2\n", "1\n2\n3\n4\n5\n", "", "1,2\n1,2\n1,2\n"}) {
    EXPECT_NE(error_of(ErrorCode::bad_data, [&] { classes("bad.csv", text); }).find("bad.csv: "), std::string::npos)
        << text;
  }
  ReadOptions options;
  options.labels = {"nowhere"};
  const std::string named = folder.write("b.csv", "a,b\n1,2\n3,4\n");
  EXPECT_NE(error_of(ErrorCode::usage, [&] { read(named, options); }).find("the data have a, b"), std::string::npos);
}

TEST(Labels, TextIsSortedByBytes) {
  const Context context(1);
  Budget budget(context, "labels");
  LabelBuilder builder(budget);
  for (const char* word : {"b", "10", "", "2", "-1", "b"}) builder.add(word);
  const Labels labels = builder.finish();
  EXPECT_EQ(labels.names, (std::vector<std::string>{"10", "2", "b"}));
  EXPECT_EQ(labels.classes, (std::vector<int>{2, 0, -1, 1, -1, 2}));
}

std::string inflated(const std::string& bytes, std::uint64_t limit = UINT64_MAX) {
  const auto stream = open_gzip(open_memory(bytes, "x.gz"), limit);
  std::string out(1000, '\0');
  out.resize(stream->read_full(out.data(), out.size()));
  return out;
}

TEST(Gzip, SeveralMembersAndPadding) {
  EXPECT_EQ(inflated(gzipped("abc") + gzipped("") + gzipped("de") + std::string(700, '\0')), "abcde");
}

TEST(Gzip, CutAtEveryByte) {
  const std::string good = gzipped("hello, hello, hello");
  for (std::size_t size = 0; size < good.size(); ++size) {
    error_of(ErrorCode::bad_data, [&] { inflated(good.substr(0, size)); });
  }
  error_of(ErrorCode::bad_data, [&] { inflated(good + "x"); });
  error_of(ErrorCode::bad_data, [&] { inflated("plain text"); });
}

TEST(Gzip, BombStopsAtTheLimit) {
  const Folder folder;
  const std::string bomb = gzipped(std::string(20 << 20, '0'));
  EXPECT_LT(bomb.size(), 30000U);
  error_of(ErrorCode::resources, [&] { inflated(bomb, 500); });
  std::string rows;
  for (int i = 0; i < (1 << 20); ++i) rows += "1,2\n";
  error_of(ErrorCode::resources, [&] { read(folder.write("bomb.csv.gz", gzipped(rows)), {}, 1 << 20); });
  error_of(ErrorCode::bad_data, [&] { read(folder.write("zeros.csv.gz", bomb), {}, 1 << 30); });
  const std::string npy = npy_bytes(npy_dict("<f8", "(1000000000000, 8)"), "");
  error_of(ErrorCode::resources, [&] { read(folder.write("huge.npy.gz", gzipped(npy))); });
}

TEST(ReadTable, LargeArrayByAllThreads) {
  const Folder folder;
  const Index rows = 5 << 20;
  std::string bytes = npy_bytes(npy_dict("<i8", "(" + std::to_string(rows) + ", 1)"), "");
  const std::size_t header = bytes.size();
  bytes.resize(header + static_cast<std::size_t>(rows) * 8);
  for (Index i = 0; i < rows; ++i) std::memcpy(bytes.data() + header + i * 8, &i, 8);
  const Table table = read(folder.write("a.npy", bytes));
  const Block first = table.source.store().block(0);
  const auto* numbers = static_cast<const std::int64_t*>(first.dense.data);
  for (Index i = 0; i < rows; ++i) ASSERT_EQ(numbers[i], i);
}

TEST(ReadList, WordsCommentsAndQuotes) {
  const Folder folder;
  Context context(1);
  const std::string path =
      folder.write("list.txt", "\xEF\xBB\xBF# features\r\n a \r\n\r\nb,c\r\nd#1 # why\r\n\"# x\"\"y\"\r\n3");
  EXPECT_EQ(read_list(path, context), (std::vector<std::string>{"a", "b,c", "d#1", "# x\"y", "3"}));
  error_of(ErrorCode::io, [&] { read_list(folder.path("absent"), context); });
  error_of(ErrorCode::bad_data, [&] { read_list(folder.path(""), context); });
  error_of(ErrorCode::bad_data, [&] { read_list(folder.write("bad", "\"a\n"), context); });
  EXPECT_TRUE(read_list(folder.write("empty", ""), context).empty());
}

TEST(Quote, ControlAndInvalidBytesAreEscaped) {
  EXPECT_EQ(printable("a\tb\x1b[0m\xff\xc3\xa9\xc2\x9b\xe2\x80\xae"),
            "a\\x09b\\x1b[0m\\xff\xc3\xa9\\xc2\\x9b\\xe2\\x80\\xae");
  EXPECT_EQ(in_quotes(std::string(100, 'x')), "\"" + std::string(30, 'x') + "...\"");
}

}  // namespace
}  // namespace tamis
