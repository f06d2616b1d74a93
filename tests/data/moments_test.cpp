// column_moments, count_not_finite and Centered of passes.h.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tamis/data/passes/passes.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

struct Twin {
  std::vector<long double> mean, scatter, low, high;
};

Twin twin_of(const Matrix& x) {
  const auto d = static_cast<std::size_t>(x.cols());
  Twin out{std::vector<long double>(d), std::vector<long double>(d), std::vector<long double>(d, kInf),
           std::vector<long double>(d, -kInf)};
  for (Index j = 0; j < x.cols(); ++j) {
    const auto k = static_cast<std::size_t>(j);
    // The first row is taken off first: exact in long double.
    for (Index i = 0; i < x.rows(); ++i) {
      out.mean[k] += static_cast<long double>(x(i, j)) - x(0, j);
      out.low[k] = std::min<long double>(out.low[k], x(i, j));
      out.high[k] = std::max<long double>(out.high[k], x(i, j));
    }
    out.mean[k] /= static_cast<long double>(x.rows());
    for (Index i = 0; i < x.rows(); ++i) {
      const long double delta = (static_cast<long double>(x(i, j)) - x(0, j)) - out.mean[k];
      out.scatter[k] += delta * delta;
    }
    out.mean[k] += x(0, j);
  }
  return out;
}

void expect_moments(const ColumnMoments& found, const Matrix& x, double tolerance, const std::string& what) {
  const Twin wanted = twin_of(x);
  ASSERT_EQ(found.rows, x.rows());
  for (Index j = 0; j < x.cols(); ++j) {
    const auto k = static_cast<std::size_t>(j);
    const auto deviation = static_cast<double>(std::sqrt(wanted.scatter[k] / static_cast<long double>(x.rows())));
    const auto mean = static_cast<double>(wanted.mean[k]);
    EXPECT_NEAR(found.mean[k], mean, 4 * support::kUlp * std::abs(mean) + tolerance * deviation)
        << what << " column " << j;
    const long double scatter = static_cast<long double>(found.scatter[k]) * found.unit * found.unit;
    EXPECT_NEAR(static_cast<double>(scatter / std::max(wanted.scatter[k], 1e-4900L)), wanted.scatter[k] > 0 ? 1.0 : 0.0,
                tolerance)
        << what << " column " << j;
    EXPECT_EQ(found.varies(j), wanted.low[k] < wanted.high[k]) << what << " column " << j;
    EXPECT_NEAR(found.min[k], static_cast<double>(wanted.low[k]),
                4 * support::kUlp * std::abs(mean) + 1e-14 * deviation)
        << what;
    EXPECT_NEAR(found.max[k], static_cast<double>(wanted.high[k]),
                4 * support::kUlp * std::abs(mean) + 1e-14 * deviation)
        << what;
  }
}

TEST(ColumnMoments, EveryLayoutBlockSizeAndChoiceOfColumns) {
  Matrix x = support::whole_numbers(150, 9, 100, 1);
  for (Index i = 0; i < 150; ++i) {
    x(i, 2) = 3;                 // constant
    x(i, 5) = i == 140 ? 1 : 0;  // a single entry
    x(i, 6) = 0;                 // nothing stored
    if (i % 3) x(i, 7) = 0;
  }
  for (const auto& layout : support::layouts()) {
    for (const Index block_rows : {Index{1}, Index{7}, Index{150}, kBlockRows}) {
      Context context(2);
      const Source source = layout.make(x, block_rows);
      const std::string what = layout.name + " / " + std::to_string(block_rows);
      expect_moments(column_moments(source, context), x, 1e-13, what);
      const std::vector<Index> some = {0, 2, 3, 5, 8};
      const ColumnMoments few = column_moments(source.with_columns(some), context);
      expect_moments(few, support::columns_of(x, some), 1e-13, what + " some");
      EXPECT_EQ(few.unit, 1.0);
      EXPECT_EQ(few.scatter[1], 0.0);
      if (layout.name == "sparse f64" || layout.name == "sparse f32") {
        EXPECT_EQ(few.stored[3], 1);
        EXPECT_EQ(few.stored[1], 150);
      } else if (!source.sparse()) {
        EXPECT_EQ(few.stored, std::vector<Index>(5, 150));
      }
    }
  }
}

TEST(ColumnMoments, ScalesAreApplied) {
  const Matrix x = support::thinned(support::random_matrix(90, 5, 2), 0.6, 3);
  std::vector<double> rows, cols = {1, -2, 0.5, 3, 1e-3};
  for (Index i = 0; i < 90; ++i) rows.push_back(0.5 + 0.01 * static_cast<double>(i));
  Matrix scaled = x;
  for (Index i = 0; i < 90; ++i) {
    for (Index j = 0; j < 5; ++j) {
      scaled(i, j) = x(i, j) * rows[static_cast<std::size_t>(i)] * cols[static_cast<std::size_t>(j)];
    }
  }
  Context context(2);
  for (const Source& source : {support::dense(x, 7), support::fortran(x, 7), support::sparse(x, 7)}) {
    expect_moments(column_moments(source.with_column_scale(cols).with_row_scale(rows), context), scaled, 1e-13,
                   "scaled");
  }
}

TEST(ColumnMoments, SurviveAnOffsetOf1e8Deviations) {
  for (const double offset : {1e8, -1e8, 1e10}) {
    Matrix x = support::random_matrix(5000, 4, 4);
    for (Index i = 0; i < x.size(); ++i) x.data()[i] += offset;
    Context context(2);
    for (const Index block_rows : {Index{1}, Index{7}, kBlockRows}) {
      expect_moments(column_moments(support::dense(x, block_rows), context), x, 1e-12, "dense");
      // Every row stored: the sparse path meets the same offset.
      expect_moments(column_moments(support::sparse(x, block_rows), context), x, 1e-12, "sparse");
    }
  }
}

TEST(ColumnMoments, AConstantIsConstantHoweverItRounds) {
  Matrix x(100000, 3);
  for (Index i = 0; i < x.rows(); ++i) {
    x(i, 0) = 0.1;
    x(i, 1) = 1e300 / 3;
    x(i, 2) = static_cast<double>(i % 2);
  }
  Context context(2);
  for (const Source& source :
       {support::dense(x), support::dense(x, 7), support::fortran(x), support::sparse(x), support::sparse(x, 7)}) {
    const Source two = source.with_columns({0, 2});
    const ColumnMoments found = column_moments(two, context);
    EXPECT_FALSE(found.varies(0));
    EXPECT_EQ(found.scatter[0], 0.0);
    EXPECT_EQ(found.mean[0], 0.1);
    EXPECT_TRUE(found.varies(1));
    EXPECT_NEAR(found.scatter[1], 25000.0, 1e-9);
    const ColumnMoments all = column_moments(source, context);
    EXPECT_FALSE(all.varies(0));
    EXPECT_FALSE(all.varies(1));
    EXPECT_TRUE(all.varies(2));
    EXPECT_EQ(all.scatter[1], 0.0);
  }
}

TEST(ColumnMoments, AConstantColumnStaysConstantUnderScales) {
  Matrix x(1000, 2);
  for (Index i = 0; i < 1000; ++i) x(i, 0) = 0.1, x(i, 1) = static_cast<double>(i);
  Context context(1);
  for (const Source& source : {support::dense(x, 7), support::sparse(x, 7)}) {
    const ColumnMoments found = column_moments(source.with_column_scale({0.3, 0.7}), context);
    EXPECT_FALSE(found.varies(0));
    EXPECT_EQ(found.scatter[0], 0.0);
    // A factor of 0 leaves nothing to vary.
    EXPECT_FALSE(column_moments(source.with_column_scale({1, 0}), context).varies(1));
  }
}

TEST(ColumnMoments, HugeTinyAndMixedValues) {
  for (const double size :
       {1e300, 1e-300, 1e150, 1e-150, 1e100, 1e-100, 1e160, 1e-160, 3e-310}) {  // the last one denormal
    Matrix x = support::random_matrix(200, 3, 5);
    for (Index i = 0; i < x.size(); ++i) x.data()[i] *= size;
    Context context(2);
    for (const Source& source : {support::dense(x), support::dense(x, 7), support::sparse(x), support::sparse(x, 7)}) {
      const ColumnMoments found = column_moments(source, context);
      EXPECT_TRUE(support::all_finite(found.scatter)) << size;
      EXPECT_TRUE(support::all_finite(found.mean)) << size;
      if (size > 1e-305) expect_moments(found, x, 1e-12, "size " + std::to_string(std::log10(size)));
    }
  }
  Matrix x = support::random_matrix(200, 3, 6);
  for (Index i = 0; i < 200; ++i) x(i, 0) *= 1e150, x(i, 2) *= 1e-150;
  Context context(2);
  for (const Source& source : {support::dense(x), support::sparse(x, 7)}) {
    const ColumnMoments found = column_moments(source, context);
    EXPECT_TRUE(support::all_finite(found.scatter));
    for (Index j = 0; j < 3; ++j) EXPECT_TRUE(found.varies(j));
    EXPECT_GT(found.scatter[0], found.scatter[1]);
  }
}

// Zeros that are not stored count for the range: one huge entry among them must not overflow the scatter.
TEST(ColumnMoments, OneHugeEntryAmongZeros) {
  for (const double value : {1e200, -1e300, 1e-200}) {
    Matrix x(50, 2);
    x(20, 0) = value;
    Context context(1);
    for (const Source& source : {support::dense(x), support::sparse(x)}) {
      const ColumnMoments found = column_moments(source, context);
      EXPECT_TRUE(support::all_finite(found.scatter)) << value << (source.sparse() ? " sparse" : " dense");
      EXPECT_TRUE(found.varies(0));
      EXPECT_FALSE(found.varies(1));
      const long double wanted = static_cast<long double>(value) * value * (1 - 1.0L / 50);
      const long double scatter = static_cast<long double>(found.scatter[0]) * found.unit * found.unit;
      EXPECT_NEAR(static_cast<double>(scatter / wanted), 1.0, 1e-12)
          << value << (source.sparse() ? " sparse" : " dense");
    }
  }
}

// The whole range of double is wider than double: finite moments, or bad data; never NaN.
TEST(ColumnMoments, TheWholeRangeOfDouble) {
  Matrix x(4, 2);
  const double most = std::numeric_limits<double>::max();
  x(0, 0) = most, x(1, 0) = -most, x(2, 0) = most, x(3, 0) = -most;
  for (Index i = 0; i < 4; ++i) x(i, 1) = static_cast<double>(i);
  Context context(1);
  for (const Source& source : {support::dense(x), support::sparse(x)}) {
    try {
      const ColumnMoments found = column_moments(source, context);
      EXPECT_TRUE(support::all_finite(found.mean)) << (source.sparse() ? "sparse" : "dense");
      EXPECT_TRUE(support::all_finite(found.scatter)) << (source.sparse() ? "sparse" : "dense");
      EXPECT_TRUE(found.varies(0) && found.varies(1));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_data);
    }
  }
}

TEST(ColumnMoments, VarianceDividesByRowsMinusOne) {
  Matrix x(3, 1);
  x(0, 0) = 1, x(1, 0) = 2, x(2, 0) = 6;  // mean 3, scatter 4 + 1 + 9
  Context context(1);
  const ColumnMoments found = column_moments(support::dense(x), context);
  EXPECT_DOUBLE_EQ(found.mean[0], 3);
  EXPECT_DOUBLE_EQ(found.scatter[0], 14);
  EXPECT_DOUBLE_EQ(found.variance(0), 7);
  EXPECT_DOUBLE_EQ(found.min[0], 1);
  EXPECT_DOUBLE_EQ(found.max[0], 6);
}

TEST(ColumnMoments, VarianceOfTwoRows) {
  Matrix x(2, 1);
  x(1, 0) = 2;
  Context context(1);
  EXPECT_EQ(column_moments(support::dense(x), context).variance(0), 2.0);
}

TEST(ColumnMoments, OneRowHasNoScatter) {
  Context context(1);
  const ColumnMoments found = column_moments(support::dense(support::random_matrix(1, 4, 7)), context);
  for (Index j = 0; j < 4; ++j) {
    EXPECT_FALSE(found.varies(j));
    EXPECT_EQ(found.variance(j), 0.0);
  }
}

TEST(ColumnMoments, SameBitsAtAnyNumberOfThreads) {
  const Matrix x = support::thinned(support::random_matrix(300, 40, 8), 0.5, 9);
  for (const Source& source : {support::dense(x, 7), support::fortran(x, 1), support::sparse(x, 7)}) {
    Context one(1);
    const ColumnMoments wanted = column_moments(source, one);
    for (const int threads : {2, 3, 5}) {
      Context several(threads);
      const ColumnMoments found = column_moments(source, several);
      EXPECT_TRUE(support::same_bits(found.mean, wanted.mean));
      EXPECT_TRUE(support::same_bits(found.scatter, wanted.scatter));
    }
  }
}

TEST(ColumnMoments, IntegerAndFortranTwinsHaveTheSameBits) {
  const Matrix x = support::whole_numbers(333, 5, 100, 10);
  Context context(2);
  const ColumnMoments wanted = column_moments(support::dense(x), context);
  for (const auto& layout : support::layouts()) {
    const Source source = layout.make(x, kBlockRows);
    if (source.sparse()) continue;
    const ColumnMoments found = column_moments(source, context);
    EXPECT_TRUE(support::same_bits(found.mean, wanted.mean)) << layout.name;
    EXPECT_TRUE(support::same_bits(found.scatter, wanted.scatter)) << layout.name;
  }
}

// --- Values that are not finite ----------------------------------------------------------------------------------

TEST(NotFinite, TheFirstInRowOrderIsReported) {
  for (const int threads : {1, 2, 3, 5}) {
    for (const Index block_rows : {Index{1}, Index{7}, Index{64}, kBlockRows}) {
      for (const double value : {kNan, kInf, -kInf}) {
        Matrix x = support::random_matrix(130, 6, 11);
        x(100, 0) = kNan;
        x(41, 4) = value;
        x(41, 5) = kNan;
        x(42, 0) = kInf;
        Context context(threads);
        const std::string kind = std::isnan(value) ? "NaN" : value < 0 ? "-inf" : "inf";
        for (const Source& source : {support::dense(x, block_rows), support::fortran(x, block_rows)}) {
          support::expect_error(ErrorCode::bad_data, {"row 41, column 4", kind},
                                [&] { column_moments(source, context); });
        }
        support::expect_error(ErrorCode::bad_data, {"row 41, column 4", kind},
                              [&] { column_moments(support::sparse(x, block_rows), context); });
      }
    }
  }
}

TEST(NotFinite, InTheFirstRow) {
  Matrix x = support::random_matrix(20, 3, 12);
  x(0, 1) = kNan;
  x(0, 2) = kInf;
  Context context(2);
  for (const Source& source : {support::dense(x, 7), support::sparse(x, 7)}) {
    support::expect_error(ErrorCode::bad_data, {"row 0, column 1"}, [&] { column_moments(source, context); });
  }
}

TEST(NotFinite, InFloatTables) {
  Matrix x = support::random_matrix(20, 3, 13);
  x(13, 2) = kNan;
  Context context(2);
  support::expect_error(ErrorCode::bad_data, {"row 13, column 2"},
                        [&] { column_moments(support::dense<float>(x, 7), context); });
  support::expect_error(ErrorCode::bad_data, {"row 13, column 2"},
                        [&] { column_moments(support::sparse<float>(x, 7), context); });
}

TEST(NotFinite, ColumnsThatAreLeftOutMayHoldAnything) {
  Matrix x = support::random_matrix(20, 3, 14);
  x(3, 1) = kNan;
  x(5, 2) = kInf;
  Context context(2);
  for (const Source& source : {support::dense(x, 7), support::sparse(x, 7)}) {
    EXPECT_NO_THROW(column_moments(source.with_columns({0}), context));
    // The position is the store's.
    support::expect_error(ErrorCode::bad_data, {"row 5, column 2"}, [&] {
      column_moments(source.with_columns({0, 2}), context);
    });
  }
}

TEST(NotFinite, Counted) {
  Matrix x = support::random_matrix(100, 4, 15);
  for (const Index i : {3, 50, 99}) x(i, 1) = kNan;
  x(7, 3) = kInf;
  x(8, 3) = -kInf;
  for (const int threads : {1, 3}) {
    Context context(threads);
    for (const Index block_rows : {1, 7, 100}) {
      for (const Source& source :
           {support::dense(x, block_rows), support::fortran(x, block_rows), support::sparse(x, block_rows)}) {
        EXPECT_EQ(count_not_finite(source, context), (std::vector<Index>{0, 3, 0, 2}));
        EXPECT_EQ(count_not_finite(source.with_columns({1, 2}), context), (std::vector<Index>{3, 0}));
      }
    }
  }
}

}  // namespace
}  // namespace tamis
