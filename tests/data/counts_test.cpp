#include "tamis/data/counts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/data/read_support.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

Table table_of(Source source) {
  Table table;
  table.source = std::move(source);
  table.path = "counts";
  return table;
}

Matrix counts() {
  Matrix x = support::thinned(support::whole_numbers(60, 9, 40, 1), 0.6, 2);
  for (Index j = 0; j < x.cols(); ++j) x(17, j) = 0;
  return x;
}

// log(1 + 10^4 x_ij / sum_j x_ij); a row of zeros stays.
TEST(Counts, AreLogarithmsOfSharesOfTheirRow) {
  const Matrix x = counts();
  Context context(2);
  for (const auto& layout : support::layouts()) {
    for (const Index block_rows : {Index{7}, kBlockRows}) {
      Table table = table_of(layout.make(x, block_rows));
      if (!table.source.store().in_memory()) {
        support::expect_error(ErrorCode::resources, {"counts", "on disk"}, [&] { normalize_counts(table, context); });
        continue;
      }
      normalize_counts(table, context);
      const Rows found = values(table.source), read = values(*table.as_read);
      EXPECT_EQ(table.source.sparse(), table.as_read->sparse()) << layout.name;
      for (Index i = 0; i < x.rows(); ++i) {
        double sum = 0;
        for (Index j = 0; j < x.cols(); ++j) sum += x(i, j);
        for (Index j = 0; j < x.cols(); ++j) {
          EXPECT_DOUBLE_EQ(found[i][j], sum > 0 ? std::log1p(x(i, j) / sum * 1e4) : 0.0) << layout.name;
          EXPECT_EQ(read[i][j], x(i, j)) << layout.name;
        }
      }
    }
  }
}

TEST(Counts, WhatIsNoCountIsRefusedByItsPlace) {
  Context context(2);
  for (const double bad :
       {-1.0, 2.5, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Matrix x = counts();
    x(33, 4) = bad;
    for (const Source& source : {support::dense(x, 7), support::sparse(x, 7), support::fortran(x)}) {
      Table table = table_of(source);
      support::expect_error(ErrorCode::bad_data, {"row 33, column 4", "counts"},
                            [&] { normalize_counts(table, context); });
      EXPECT_FALSE(table.as_read);
      table.names = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
      support::expect_error(ErrorCode::bad_data, {"row 33, column e"}, [&] { normalize_counts(table, context); });
    }
  }
}

TEST(Counts, AskForTheMemoryOfASecondTable) {
  const Matrix x = support::whole_numbers(2000, 9, 40, 3);
  for (const Source& source : {support::dense(x), support::sparse(x)}) {
    Context context(1);
    context.memory_limit = 200000;
    Table table = table_of(source);
    support::expect_error(ErrorCode::resources, {"counts"}, [&] { normalize_counts(table, context); });
  }
}

}  // namespace
}  // namespace tamis
