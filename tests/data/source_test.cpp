#include "tamis/data/source.h"

#include <gtest/gtest.h>

#include "tamis/data/passes/passes.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

TEST(Store, BlocksCoverTheRowsInOrder) {
  const Matrix x = support::whole_numbers(23, 4, 50, 1);
  for (const auto& layout : support::layouts()) {
    for (const Index block_rows : {1, 7, 23, 24, 2048}) {
      const Source source = layout.make(x, block_rows);
      const Store& store = source.store();
      EXPECT_EQ(store.rows(), 23);
      EXPECT_EQ(store.cols(), 4);
      EXPECT_EQ(store.block_count(), (23 + block_rows - 1) / block_rows);
      Index next = 0;
      for (Index b = 0; b < store.block_count(); ++b) {
        const Block block = store.block(b);
        EXPECT_EQ(block.first, next);
        EXPECT_EQ(block.sparse, store.sparse());
        EXPECT_EQ(block.rows, block.sparse ? block.csr.rows : block.dense.rows);
        EXPECT_LE(block.rows, block_rows);
        next += block.rows;
      }
      EXPECT_EQ(next, 23) << layout.name;
    }
  }
}

TEST(Store, CountsStoredEntries) {
  const Matrix x = support::thinned(support::random_matrix(30, 6, 2), 0.3, 3);
  Index stored = 0;
  for (Index i = 0; i < x.size(); ++i) stored += x.data()[i] != 0;
  EXPECT_EQ(support::sparse(x).store().nonzeros(), stored);
  EXPECT_EQ(support::dense(x).store().nonzeros(), 180);
}

TEST(Store, OwnerLivesAsLongAsTheStore) {
  auto owner = std::make_shared<std::vector<double>>(6, 1.0);
  const std::weak_ptr<std::vector<double>> watch = owner;
  {
    const Source source(make_dense_store({owner->data(), DType::f64, 2, 3, 3, 1}, owner));
    owner.reset();
    const Source copy = source.with_columns({1});
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

struct Csr {
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> columns;
  Index rows, cols;
};

void expect_refused(const Csr& csr, const std::vector<std::string>& pieces) {
  const std::vector<double> values(csr.columns.size() + 1, 1.0);
  support::expect_error(ErrorCode::bad_data, pieces, [&] {
    make_sparse_store({csr.rows, csr.cols, csr.offsets.data(), csr.columns.data(), values.data(), DType::f64});
  });
}

TEST(SparseStore, RefusesBrokenStructure) {
  expect_refused({{0, 1, 3}, {0, 2, 3}, 2, 3}, {"row 1", "column 3"});          // out of range
  expect_refused({{0, 1, 3}, {0, 2, 1}, 2, 3}, {"row 1", "column 1 after 2"});  // falls
  expect_refused({{0, 1, 3}, {0, 2, 2}, 2, 3}, {"row 1", "column 2 after 2"});  // twice
  expect_refused({{0, 1, 3}, {-1, 1, 2}, 2, 3}, {"row 0", "column -1"});        // negative
  expect_refused({{0, 2, 1}, {0, 1}, 2, 3}, {"row 1"});                         // offsets fall
}

TEST(SparseStore, TakesEmptyRowsAndAnyFirstOffset) {
  const std::vector<std::int64_t> offsets = {2, 2, 4, 4};
  const std::vector<std::int32_t> columns = {9, 9, 0, 2};
  const std::vector<double> values = {-1, -1, 5, 6};
  const Source source(make_sparse_store({3, 3, offsets.data(), columns.data(), values.data(), DType::f64}));
  Context context(1);
  const Matrix x = gather(source, context);
  const std::vector<double> wanted = {0, 0, 0, 5, 0, 6, 0, 0, 0};
  EXPECT_EQ(std::vector<double>(x.data(), x.data() + 9), wanted);
  EXPECT_EQ(source.store().nonzeros(), 2);
}

TEST(SparseStore, TakesOnlyFloats) {
  const std::vector<std::int64_t> offsets = {0, 1};
  const std::vector<std::int32_t> columns = {0};
  const std::vector<std::int32_t> values = {1};
  support::expect_error(ErrorCode::usage, {"int32", "float32 or float64"}, [&] {
    make_sparse_store({1, 1, offsets.data(), columns.data(), values.data(), DType::i32});
  });
}

TEST(Store, RefusesImpossibleShapes) {
  const double value = 0;
  support::expect_error(ErrorCode::usage, {"(-1, 1)"}, [&] { make_dense_store({&value, DType::f64, -1, 1, 1, 1}); });
  support::expect_error(ErrorCode::usage, {"block of 0"}, [&] {
    make_dense_store({&value, DType::f64, 1, 1, 1, 1}, nullptr, 0);
  });
}

TEST(Source, ChoicesOfColumnsCompose) {
  const Matrix x = support::whole_numbers(5, 8, 50, 4);
  Context context(1);
  for (const auto& layout : support::layouts()) {
    const Source source = layout.make(x, 2);
    EXPECT_TRUE(source.all_columns());
    const Source some = source.with_columns({1, 3, 4, 7}), fewer = some.with_columns({0, 2});
    EXPECT_FALSE(some.all_columns());
    EXPECT_EQ(fewer.columns(), (std::vector<Index>{1, 4}));
    EXPECT_TRUE(support::same_bits(gather(fewer, context), support::columns_of(x, {1, 4}))) << layout.name;
  }
}

TEST(Source, ScalesComposeAndFollowTheColumns) {
  const Matrix x = support::whole_numbers(3, 3, 50, 5);
  Context context(1);
  for (const auto& layout : support::layouts()) {
    const Source source = layout.make(x, 2)
                              .with_column_scale({1, 2, 4})
                              .with_row_scale({1, 8, 16})
                              .with_columns({0, 2})
                              .with_column_scale({0.5, 0.25})
                              .with_row_scale({1, 1, 2});
    const Matrix y = gather(source, context);
    const double row[] = {1, 8, 32}, col[] = {0.5, 1.0};
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 2; ++j) EXPECT_EQ(y(i, j), x(i, 2 * j) * row[i] * col[j]) << layout.name;
    }
  }
}

TEST(Source, RefusesBadChoices) {
  const Source source = support::dense(support::whole_numbers(3, 4, 50, 6));
  for (const std::vector<Index>& bad : {std::vector<Index>{1, 1}, {2, 1}, {-1}, {4}}) {
    support::expect_error(ErrorCode::usage, {"columns", "increasing positions below 4"},
                          [&] { source.with_columns(bad); });
  }
  support::expect_error(ErrorCode::usage, {"column scale: 3", "need 4"}, [&] { source.with_column_scale({1, 1, 1}); });
  support::expect_error(ErrorCode::usage, {"row scale: 4", "need 3"}, [&] { source.with_row_scale({1, 1, 1, 1}); });
}

}  // namespace
}  // namespace tamis
