#include "tamis/data/stores/temporary_rows.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tamis/base/error.h"
#include "tamis/data/passes/passes.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

std::vector<float> read(const RowReader& rows, Index first, Index count) {
  std::vector<float> out(static_cast<std::size_t>(count * rows.cols()));
  EXPECT_EQ(rows.shape().bytes_of(first, count), out.size() * sizeof(float));
  rows.read(first, count, reinterpret_cast<std::byte*>(out.data()));
  return out;
}

// Rows in panels of 1, 4 and 2 columns, in pieces of any number of rows, are the rows.
void expect_same(const TableSize& a, const TableSize& b) {
  EXPECT_EQ(std::tie(a.rows, a.cols, a.entries, a.sparse), std::tie(b.rows, b.cols, b.entries, b.sparse));
  EXPECT_EQ(std::tie(a.dtype, a.in_memory), std::tie(b.dtype, b.in_memory));
  EXPECT_EQ(std::tie(a.table_bytes, a.resident_bytes), std::tie(b.table_bytes, b.resident_bytes));
}

TEST(TemporaryRows, PanelsOfColumnsAreRows) {
  const Matrix whole = support::whole_numbers(37, 7, 100, 1);
  TemporaryRows written(7, DType::f32);
  for (const auto& [column, columns] : {std::pair<Index, Index>{0, 1}, {1, 4}, {5, 2}}) {
    for (Index first = 0; first < 37; first += 10) {
      const Index count = std::min<Index>(10, 37 - first);
      Matrix piece(count, columns);
      for (Index i = 0; i < count; ++i) {
        for (Index j = 0; j < columns; ++j) piece(i, j) = whole(first + i, column + j);
      }
      const Source source = first % 20 == 0 ? support::dense<float>(piece) : support::fortran<float>(piece);
      written.add(source.store().block(0).dense, column);
    }
  }
  const auto rows = written.finish();
  ASSERT_EQ(rows->rows(), 37);
  for (const auto& [first, count] : {std::pair<Index, Index>{0, 37}, {36, 1}, {5, 20}}) {
    const std::vector<float> got = read(*rows, first, count);
    for (std::size_t k = 0; k < got.size(); ++k) {
      const auto at = static_cast<Index>(k);
      EXPECT_EQ(got[k], static_cast<float>(whole(first + at / 7, at % 7))) << first << " " << k;
    }
  }
}

// Columns are turned into rows a quarter of a million numbers at a time.
TEST(TemporaryRows, LargeColumnsAreRows) {
  const Matrix x = support::random_matrix(90000, 7, 3);
  const Source here = support::fortran(x, x.rows());
  Context context(1);
  const Matrix found = gather(support::left_on_disk(here), context);
  ASSERT_EQ(found.size(), x.size());
  EXPECT_TRUE(std::equal(x.data(), x.data() + x.size(), found.data()));
}

TEST(TemporaryRows, PanelsThatAreNoTableAreRefused) {
  const Source two = support::dense<float>(support::whole_numbers(4, 2, 100, 1));
  const DenseView view = two.store().block(0).dense;
  TemporaryRows gap(5, DType::f32), uneven(4, DType::f32), narrow(3, DType::f32), other(2, DType::f64);
  gap.add(view), gap.add(view, 3);
  EXPECT_THROW(gap.finish(), Error);
  uneven.add(view), uneven.add(view), uneven.add(view, 2);
  EXPECT_THROW(uneven.finish(), Error);
  narrow.add(view);
  EXPECT_THROW(narrow.finish(), Error);
  EXPECT_THROW(other.add(view), Error);
}

// Rows without entries, and blocks without any, included.
TEST(TemporaryRows, SparseRowsComeBack) {
  Matrix whole = support::thinned(support::whole_numbers(50, 9, 100, 2), 0.2, 3);
  for (Index i = 16; i < 34; ++i) std::fill_n(whole.row(i), 9, 0.0);
  const Source here = support::sparse<double>(whole, 8), there = support::left_on_disk(here);
  EXPECT_TRUE(there.sparse());
  EXPECT_FALSE(there.store().in_memory());
  EXPECT_EQ(there.store().nonzeros(), here.store().nonzeros());
  for (const auto& [first, count] : {std::pair<Index, Index>{0, 8}, {16, 8}, {48, 2}, {21, 1}, {3, 1}, {34, 1}}) {
    const Block a = here.store().some_rows(first, count), b = there.store().some_rows(first, count);
    ASSERT_EQ(a.csr.nonzeros(), b.csr.nonzeros()) << first;
    for (Index k = 0; k < a.csr.nonzeros(); ++k) {
      const Index p = a.csr.offsets[0] + k, q = b.csr.offsets[0] + k;
      EXPECT_EQ(a.csr.columns[p], b.csr.columns[q]) << first << " " << k;
      EXPECT_EQ(static_cast<const double*>(a.csr.values)[p], static_cast<const double*>(b.csr.values)[q]);
    }
  }
}

// What a forecast is told of rows that are yet to come is what holds when they are there.
TEST(TemporaryRows, ShapesTellTheSizesOfWhatComes) {
  const Context context(2);
  for (const Index rows : {50, 9000, 90000}) {  // all of it kept, or a ring of blocks and one of pieces
    const Matrix whole = support::thinned(support::whole_numbers(rows, 9, 100, 2), 0.2, 3);
    TemporarySparseRows sparse(9, DType::f64);
    TemporaryRows dense(9, DType::f64);
    const Source here = support::sparse<double>(whole, rows);
    sparse.add(here.store().block(0).csr);
    dense.add({whole.data(), DType::f64, rows, 9, 9, 1});
    RowShape shape{rows, 9, DType::f64, {0}};
    for (Index i = 0; i < rows; ++i) {
      shape.offsets.push_back(shape.offsets.back() + here.store().some_rows(i, 1).csr.nonzeros());
    }
    expect_same(size_on_disk(shape, context), on_disk(sparse.finish(), context).size());
    expect_same(size_on_disk({rows, 9, DType::f64, {}}, context), on_disk(dense.finish(), context).size());
    EXPECT_EQ(size_on_disk(shape, context).table_bytes, here.store().table_bytes());
  }
}

TEST(TemporaryRows, AFolderThatCannotBeWrittenIsNamed) {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  ::setenv("TMPDIR", "/no/such/folder", 1);
  try {
    TemporaryFile();
    ADD_FAILURE() << "made a file in a folder that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_NE(std::string(error.what()).find("/no/such/folder"), std::string::npos);
  }
  before == nullptr ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", kept.c_str(), 1);
}

}  // namespace
}  // namespace tamis
