#include "tamis/data/formats/npy.h"

#include <cmath>

#include "read_support.h"
#include "tamis/data/formats/npy_rows.h"
#include "tamis/data/stores/disk_store.h"

namespace tamis {
namespace {

Source parse(const std::string& bytes, bool transpose = false) {
  Context context(1);
  const auto stream = open_memory(bytes, "x.npy");
  return read_npy_matrix(*stream, transpose, false, context);
}

std::string refused(const std::string& bytes) {
  return error_of(ErrorCode::bad_data, [&] { parse(bytes); });
}

template <class T>
std::string swapped(T value) {
  const std::string bytes = raw(value);
  return {bytes.rbegin(), bytes.rend()};
}

const Rows kWanted = {{1, 2, 3}, {4, 5, 6}};

TEST(Npy, EveryPlainType) {
  EXPECT_EQ(values(parse(npy_of<double>("<f8", "(2, 3)", {1, 2, 3, 4, 5, 6}))), kWanted);
  EXPECT_EQ(values(parse(npy_of<float>("<f4", "(2, 3)", {1, 2, 3, 4, 5, 6}))), kWanted);
  EXPECT_EQ(values(parse(npy_of<std::int8_t>("|i1", "(2, 3)", {1, 2, 3, 4, 5, 6}))), kWanted);
  EXPECT_EQ(values(parse(npy_of<std::int16_t>("<i2", "(2, 3)", {1, 2, 3, 4, 5, 6}))), kWanted);
  EXPECT_EQ(values(parse(npy_of<std::int32_t>("<i4", "(2, 3)", {1, 2, 3, 4, 5, 6}))), kWanted);
  EXPECT_EQ(values(parse(npy_of<std::int64_t>("<i8", "(2, 3)", {1, 2, 3, 4, 5, 6}))), kWanted);
  EXPECT_EQ(values(parse(npy_of<std::uint8_t>("|u1", "(2, 3)", {1, 2, 3, 4, 5, 6}))), kWanted);
  EXPECT_EQ(values(parse(npy_of<std::uint16_t>("<u2", "(2, 3)", {1, 2, 3, 4, 5, 6}))), kWanted);
  EXPECT_EQ(values(parse(npy_of<std::uint32_t>("<u4", "(2, 3)", {1, 2, 3, 4, 5, 6}))), kWanted);
  EXPECT_EQ(values(parse(npy_of<std::uint64_t>("<u8", "(2, 3)", {1, 2, 3, 4, 5, 6}))), kWanted);
  EXPECT_EQ(values(parse(npy_of<std::uint8_t>("|b1", "(2, 2)", {0, 1, 7, 0}))), (Rows{{0, 1}, {1, 0}}));
}

TEST(Npy, HalfPrecisionIsWidened) {
  // 1, -2, 65504, the smallest subnormal 2^-24, infinity, -0
  const Source source = parse(npy_of<std::uint16_t>("<f2", "(3, 2)", {0x3C00, 0xC000, 0x7BFF, 0x0001, 0x7C00, 0x8000}));
  EXPECT_EQ(source.store().dtype(), DType::f32);
  EXPECT_EQ(values(source), (Rows{{1, -2}, {65504, 0x1p-24}, {INFINITY, 0}}));
  EXPECT_TRUE(std::signbit(values(source)[2][1]));
  EXPECT_TRUE(std::isnan(values(parse(npy_of<std::uint16_t>("<f2", "(2, 1)", {0x7E00, 0})))[0][0]));
  std::vector<std::uint16_t> many(70000, 0x4000);
  many.back() = 0x4400;
  const Rows wide = values(parse(npy_of<std::uint16_t>("<f2", "(7000, 10)", many)));
  EXPECT_EQ(wide[0][0], 2.0);
  EXPECT_EQ(wide[6999][8], 2.0);
  EXPECT_EQ(wide[6999][9], 4.0);
}

TEST(Npy, BigEndianIsSwapped) {
  std::string f8, i4, f2;
  for (int k = 1; k <= 6; ++k) {
    f8 += swapped(static_cast<double>(k));
    i4 += swapped(std::int32_t{k});
    f2 += swapped(std::uint16_t{0x3C00});
  }
  EXPECT_EQ(values(parse(npy_bytes(npy_dict(">f8", "(2, 3)"), f8))), kWanted);
  EXPECT_EQ(values(parse(npy_bytes(npy_dict(">i4", "(2, 3)"), i4))), kWanted);
  EXPECT_EQ(values(parse(npy_bytes(npy_dict(">f2", "(2, 3)"), f2))), (Rows{{1, 1, 1}, {1, 1, 1}}));
}

// Numbers that need a change are changed a quarter of a mebibyte at a time.
TEST(Npy, EveryPieceOfALargeArrayIsSwapped) {
  constexpr int kCount = 80000;
  std::string payload;
  for (int k = 0; k < kCount; ++k) payload += swapped(static_cast<double>(k));
  const Rows rows = values(parse(npy_bytes(npy_dict(">f8", "(40000, 2)"), payload)));
  for (int k = 0; k < kCount; ++k) ASSERT_EQ(rows[static_cast<std::size_t>(k / 2)][static_cast<std::size_t>(k % 2)], k);
}

TEST(Npy, FortranOrderAndTransposeAreStrides) {
  const std::string fortran = npy_of<double>("<f8", "(2, 3)", {1, 4, 2, 5, 3, 6}, true);
  EXPECT_EQ(values(parse(fortran)), kWanted);
  EXPECT_EQ(values(parse(fortran, true)), (Rows{{1, 4}, {2, 5}, {3, 6}}));
  const std::string c = npy_of<double>("<f8", "(2, 3)", {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values(parse(c, true)), (Rows{{1, 4}, {2, 5}, {3, 6}}));
  EXPECT_EQ(parse(c, true).store().block(0).dense.row_stride, 1);
}

TEST(Npy, RowsOnDiskAreThoseInMemory) {
  std::string swapped_numbers;
  for (int k = 0; k < 15; ++k) swapped_numbers += swapped(std::int32_t{k});
  const std::vector<double> numbers = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const std::vector<std::uint16_t> halves = {0x3C00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800,
                                             0x4880, 0x4900, 0x4980, 0x4A00, 0x4A80, 0x4B00, 0x4B80};
  const Folder folder;
  Context context(1);
  for (const std::string& bytes :
       {npy_of<double>("<f8", "(5, 3)", numbers), npy_of<double>("<f8", "(5, 3)", numbers, true),
        npy_of<std::uint16_t>("<f2", "(5, 3)", halves), npy_of<std::uint16_t>("<f2", "(5, 3)", halves, true),
        npy_bytes(npy_dict(">i4", "(5, 3)"), swapped_numbers)}) {
    const std::string path = folder.write("x.npy", bytes);
    for (const bool transpose : {false, true}) {
      const auto rows = open_npy_rows(path, transpose, context);
      EXPECT_EQ(values(Source(make_disk_store(rows, 2, 0, 2))), values(parse(bytes, transpose)));
    }
  }
}

TEST(Npy, AFileThatShrinksIsRefused) {
  const Folder folder;
  const std::string path = folder.write("x.npy", npy_of<double>("<f8", "(2, 3)", {1, 2, 3, 4, 5, 6}));
  Context context(1);
  const auto rows = open_npy_rows(path, false, context);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  std::vector<std::byte> row(24);
  rows->read(0, 1, row.data());
  EXPECT_NE(error_of(ErrorCode::bad_data, [&] { rows->read(1, 1, row.data()); }).find("ends early"), std::string::npos);
}

TEST(Npy, EveryVersion) {
  const std::string payload = raw(1.0) + raw(2.0);
  for (const int version : {1, 2, 3}) {
    EXPECT_EQ(values(parse(npy_bytes(npy_dict("<f8", "(2, 1)"), payload, version))), (Rows{{1}, {2}}));
  }
  refused(npy_bytes(npy_dict("<f8", "(2, 1)"), payload, 4));
  EXPECT_EQ(values(parse(npy_bytes("{\"shape\":(2L,1L),'fortran_order':False,'descr':'<f8'}", payload))),
            (Rows{{1}, {2}}));
}

TEST(Npy, RefusesOtherTypes) {
  EXPECT_NE(refused(npy_bytes(npy_dict("|O", "(2, 1)"), "cos\nsystem\n(S'true'\ntR.")).find("never read"),
            std::string::npos);
  for (const char* type : {"<f16", "<c16", "<U3", "|S3", "<M8[ns]", "|V8", "<f3", "<i16", "", "f8", "<f", "<f8x",
                           "<f99999999999999999999"}) {
    EXPECT_EQ(refused(npy_bytes(npy_dict(type, "(2, 1)"), std::string(16, '\0'))).find("x.npy: "), 0U) << type;
  }
  EXPECT_NE(
      refused(npy_bytes("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }", "")).find("structured"),
      std::string::npos);
}

TEST(Npy, RefusesHostileShapes) {
  const std::string payload = raw(1.0) + raw(2.0);
  for (const char* shape : {"(1000000000000000, 10)",
                            "(9223372036854775807, 9223372036854775807)",
                            "(4294967296, 4294967296)",
                            "(2305843009213693952, 8)",
                            "(-2, 1)",
                            "()",
                            "(2,)",
                            "(1, 2, 1)",
                            "(2, 1",
                            "2, 1",
                            "(2 1)",
                            "(2.0, 1)",
                            "(0x2, 1)",
                            "(99999999999999999999, 1)",
                            "((2, 1), 1)",
                            "(0, 5)",
                            "(5, 0)",
                            "(3, 1)",
                            "(1, 1)",
                            "(2, 1, )x"}) {
    EXPECT_EQ(refused(npy_bytes(npy_dict("<f8", shape), payload)).find("x.npy: "), 0U) << shape;
  }
  EXPECT_EQ(refused(npy_of<double>("<f8", "(1, 2)", {1, 2})), "x.npy: 1 row, need at least 2");
  EXPECT_EQ(refused(npy_bytes(npy_dict("<f8", "(0, 2)"), "")), "x.npy: 0 rows, need at least 2");
}

TEST(Npy, RefusesLyingHeaders) {
  const std::string good = npy_of<double>("<f8", "(2, 1)", {1, 2});
  for (const int length : {0, 1, 57, 117, 119, 126, 134, 65535}) {
    std::string bytes = good;
    bytes.replace(8, 2, raw(static_cast<std::uint16_t>(length)));
    refused(bytes);
  }
  for (const std::string& dict :
       {std::string("{}"), std::string("{'descr': '<f8'}"), npy_dict("<f8", "(2, 1)") + "{}", std::string(60000, '('),
        "{" + std::string(60000, '{'), "{'shape': " + std::string(50000, '('), std::string("__import__('os')"),
        std::string("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (2, 1)}"),
        std::string("{'descr': '<f8', 'fortran_order': 1, 'shape': (2, 1)}"),
        std::string("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1), 'x': 1}")}) {
    refused(npy_bytes(dict, raw(1.0) + raw(2.0)));
  }
  refused(npy_bytes(npy_dict("<f8", "(2, 1)"), raw(1.0) + raw(2.0), 2).replace(8, 4, raw(0xFFFFFFFFU)));
  EXPECT_NE(refused(good + "x").find("1 bytes too many"), std::string::npos);
}

TEST(Npy, CutAtEveryByte) {
  for (const std::string& good : {npy_of<double>("<f8", "(2, 3)", {1, 2, 3, 4, 5, 6}),
                                  npy_of<std::uint16_t>(">f2", "(2, 3)", {1, 2, 3, 4, 5, 6})}) {
    for (std::size_t size = 0; size < good.size(); ++size) refused(good.substr(0, size));
  }
}

TEST(Npy, MemoryLimit) {
  Context context(1);
  context.memory_limit = 1000;
  const std::string bytes = npy_of<double>("<f8", "(200, 1)", std::vector<double>(200, 1.0));
  const auto stream = open_memory(bytes, "x.npy");
  error_of(ErrorCode::resources, [&] { read_npy_matrix(*stream, false, false, context); });
}

Labels labels_of(const std::string& bytes, Index rows) {
  Context context(1);
  const auto stream = open_memory(bytes, "y.npy");
  return read_npy_labels(*stream, rows, context);
}

TEST(Npy, Labels) {
  EXPECT_EQ(labels_of(npy_of<std::int64_t>("<i8", "(4,)", {10, -1, 2, 10}), 4).classes,
            (std::vector<int>{1, -1, 0, 1}));
  EXPECT_EQ(labels_of(npy_of<double>("<f8", "(3, 1)", {0.5, 2, 0.5}), 3).names, (std::vector<std::string>{"0.5", "2"}));
  EXPECT_EQ(labels_of(npy_bytes(npy_dict("|S2", "(3,)"), std::string("b\0aa\0\0", 6)), 3).classes,
            (std::vector<int>{1, 0, -1}));
  EXPECT_EQ(labels_of(npy_of<std::uint32_t>("<U1", "(2,)", {0xE9, 0x1F600}), 2).names,
            (std::vector<std::string>{"\xC3\xA9", "\xF0\x9F\x98\x80"}));
  EXPECT_NE(error_of(ErrorCode::bad_data,
                     [] {
                       labels_of(npy_of<double>("<f8", "(2,)", {1, NAN}), 2);
                     })
                .find("label 1"),
            std::string::npos);
  const std::string message = error_of(ErrorCode::bad_data, [] {
    labels_of(npy_of<double>("<f8", "(2,)", {1, 2}), 3);
  });
  EXPECT_EQ(message, "y.npy: the array has 2 labels for 3 rows");
}

}  // namespace
}  // namespace tamis
