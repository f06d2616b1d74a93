#include "tamis/data/formats/matrix_market.h"

#include <cstdio>

#include "read_support.h"
#include "tests/support/seeds.h"

namespace tamis {
namespace {

Source parse(const std::string& text, bool transpose = false) {
  Context context(1);
  const auto bytes = open_memory(text, "x.mtx");
  return read_matrix_market(*bytes, transpose, context);
}

std::string refused(const std::string& text) {
  return error_of(ErrorCode::bad_data, [&] { parse(text); });
}

const std::string kReal = "%%MatrixMarket matrix coordinate real general\n";

TEST(MatrixMarket, Coordinates) {
  const Source source = parse(kReal + "% a comment\n\n2 3 4\n1 1 1.5\r\n2 3 -2e1\n 1\t3  4\n2 2 0\n");
  EXPECT_TRUE(source.sparse());
  EXPECT_EQ(source.store().nonzeros(), 3);  // the zero is dropped
  EXPECT_EQ(values(source), (Rows{{1.5, 0, 4}, {0, 0, -20}}));
  EXPECT_EQ(values(parse(kReal + "2 3 2\n1 1 1\n2 3 2", true)), (Rows{{1, 0}, {0, 0}, {0, 2}}));
}

// Entries as most files have them are taken from the buffer as they stand, others a line at a time: with two blanks, a
// sign or a long number among them nothing changes, wherever the buffer happens to end.
TEST(MatrixMarket, PlainAndOtherLinesReadTheSame) {
  constexpr Index kRows = 3000, kCols = 40;
  std::string plain = kReal + "3000 40 120000\n", other = plain;
  const Random random = support::seeded(3, 7);
  for (Index i = 0; i < kRows * kCols; ++i) {
    const std::string row = std::to_string(i / kCols + 1), col = std::to_string(i % kCols + 1);
    const double value = random.normal(static_cast<std::uint64_t>(i));
    char number[40];
    std::snprintf(number, sizeof number, i % 3 == 0 ? "%.17g" : i % 3 == 1 ? "%.3f" : "%.15e", value);
    plain += row + " " + col + "\t" + number + (i % 5 == 0 ? "\r\n" : "\n");
    const bool odd = i % 7 == 0;
    other += odd ? " " + row + "  " + col + " " + (value < 0 ? "" : "+") + number + " \n% a comment\n"
                 : row + " " + col + " " + number + "\n";
  }
  const Source a = parse(plain), b = parse(other);
  EXPECT_EQ(a.store().nonzeros(), b.store().nonzeros());
  EXPECT_EQ(values(a), values(b));
  EXPECT_EQ(values(parse(plain, true)), values(parse(other, true)));
}

TEST(MatrixMarket, AnyOrderAndDuplicates) {
  EXPECT_EQ(values(parse(kReal + "3 3 6\n3 1 1\n1 3 2\n1 1 3\n3 1 4\n1 3 -2\n2 2 9\n")),
            (Rows{{3, 0, 0}, {0, 9, 0}, {5, 0, 0}}));
  EXPECT_EQ(parse(kReal + "3 3 2\n1 3 2\n1 3 -2\n").store().nonzeros(), 0);
}

TEST(MatrixMarket, FieldsAndSymmetries) {
  EXPECT_EQ(values(parse("%%MatrixMarket MATRIX Coordinate Pattern General\n2 2 2\n1 2\n2 1\n")),
            (Rows{{0, 1}, {1, 0}}));
  EXPECT_EQ(values(parse("%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 5\n2 1 7\n")),
            (Rows{{5, 7}, {7, 0}}));
  EXPECT_EQ(values(parse("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 7\n")),
            (Rows{{0, -7}, {7, 0}}));
  EXPECT_EQ(values(parse("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 7\n", true)),
            (Rows{{0, 7}, {-7, 0}}));
}

TEST(MatrixMarket, Arrays) {
  const std::string array = "%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n";
  EXPECT_FALSE(parse(array).sparse());
  EXPECT_EQ(values(parse(array)), (Rows{{1, 3, 5}, {2, 4, 6}}));
  EXPECT_EQ(values(parse(array, true)), (Rows{{1, 2}, {3, 4}, {5, 6}}));
  EXPECT_EQ(values(parse("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n")), (Rows{{1, 2}, {2, 3}}));
}

TEST(MatrixMarket, Refuses) {
  EXPECT_EQ(refused(kReal + "2 2 1\n1 1 x\n"), "x.mtx: line 3: \"x\" is not a number");
  EXPECT_EQ(refused(kReal + "2 2 1\n1 1 nan\n"), "x.mtx: line 3: \"nan\" is not finite");
  EXPECT_EQ(refused(kReal + "2 2 1\n1 1 1e999\n"), "x.mtx: line 3: \"1e999\" is too large for a double");
  EXPECT_EQ(refused(kReal + "2 2 1\n3 1 1\n"), "x.mtx: line 3: position 3 1, need 1..2 and 1..2");
  EXPECT_EQ(refused(kReal + "2 2 3\n1 1 1\n1 2 1\n2 3 1\n"), "x.mtx: line 5: position 2 3, need 1..2 and 1..2");
  EXPECT_EQ(refused(kReal + "2 2 2\n1 1 1\n2 2 1 \n2 1 1\n"), "x.mtx: line 5: more than 2 entries");
  EXPECT_EQ(refused(kReal + "1 2 0\n"), "x.mtx: 1 row, need at least 2");
  EXPECT_EQ(refused(kReal + "0 2 0\n"), "x.mtx: 0 rows, need at least 2");
  EXPECT_EQ(refused(""), "x.mtx: empty file: 0 rows, need at least 2");
  for (const std::string body :
       {"2 2 1\n0 1 1\n", "2 2 2\n1 1 1\n", "2 2 1\n1 1 1\n2 2 1\n", "2 2 1\n1 1\n", "2 2 1\n1 1 1 1\n", "2 2\n",
        "2 2 -1\n", "-2 2 1\n1 1 1\n", "a b c\n", "2 2 1 1\n1 1 1\n", "", "1000000000000 2 1\n1 1 1\n",
        "2 1000000000 1\n1 1 1\n", "1000000000 2 1\n1 1 1\n", "2 2 9000000000000000000\n1 1 1\n",
        "2 2 99999999999999999999\n1 1 1\n"}) {
    refused(kReal + body);
  }
  EXPECT_EQ(refused("%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 1\n"),
            "x.mtx: line 1: field \"complex\", need real, integer or (with coordinate) pattern");
  EXPECT_EQ(refused("%%MatrixMarket matrix coordinate real hermitian\n2 2 1\n1 1 1\n"),
            "x.mtx: line 1: symmetry \"hermitian\", need general or symmetric");
  refused("%%MatrixMarket vector coordinate real general\n2 2 1\n1 1 1\n");
  refused("%%MatrixMarket matrix array pattern general\n2 2\n");
  refused("%%MatrixMarket matrix array real general\n4000000000 4000000000\n1\n");
  refused("%%MatrixMarket matrix array real general\n100000 100000\n1\n");
  refused("%%MatrixMarket matrix array real symmetric\n2 3\n1\n");
  refused("hello\n");
}

TEST(MatrixMarket, CutAtEveryByte) {
  const std::string text = kReal + "2 3 3\n1 1 1.5\n2 3 -2e1\n1 3 4\n";
  for (std::size_t size = 0; size + 3 < text.size(); ++size) refused(text.substr(0, size));
}

TEST(MatrixMarket, TenxFolder) {
  const Folder folder;
  Context context(1);
  folder.write("matrix.mtx", "%%MatrixMarket matrix coordinate integer general\n3 2 3\n1 1 5\n3 1 6\n2 2 7\n");
  folder.write("features.tsv", "ENSG1\tTP53\tGene Expression\nENSG2\tBRCA1\tx\nENSG3\n");
  folder.write("barcodes.tsv", "AAA-1\nCCC-1\n");
  const std::string path = folder.path("");
  Table table = read_table(path, {}, context);
  EXPECT_EQ(table.format, "10x");
  EXPECT_EQ(values(table.source), (Rows{{5, 0, 6}, {0, 7, 0}}));
  EXPECT_EQ(table.names, (std::vector<std::string>{"TP53", "BRCA1", "ENSG3"}));
  EXPECT_EQ(table.row_ids, (std::vector<std::string>{"AAA-1", "CCC-1"}));
  ReadOptions options;
  options.transpose = true;
  table = read_table(path, options, context);
  EXPECT_EQ(table.source.rows(), 3);
  EXPECT_EQ(table.names, (std::vector<std::string>{"AAA-1", "CCC-1"}));
  folder.write("barcodes.tsv", "AAA-1\n");
  EXPECT_NE(error_of(ErrorCode::bad_data, [&] { read_table(path, {}, context); }).find("1 lines, the matrix has 2"),
            std::string::npos);
}

}  // namespace
}  // namespace tamis
