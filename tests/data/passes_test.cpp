// The passes of passes.h against naive twins in long double.
#include "tamis/data/passes/passes.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

using support::LongMatrix;

// A source, and the table it stands for.
struct Case {
  std::string name;
  Source source;
  Matrix x;
};

std::vector<double> factors(Index count) {
  std::vector<double> out;
  for (Index i = 0; i < count; ++i) out.push_back(static_cast<double>(1 + i % 5) * (i % 3 == 1 ? -0.5 : 0.25));
  return out;
}

Matrix scaled(const Matrix& x, const std::vector<double>& rows, const std::vector<double>& cols) {
  Matrix out = x;
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) {
      out(i, j) *= (rows.empty() ? 1 : rows[static_cast<std::size_t>(i)]) *
                   (cols.empty() ? 1 : cols[static_cast<std::size_t>(j)]);
    }
  }
  return out;
}

// Whole numbers below 100, about a half of them 0; seen whole, through a choice of columns, and scaled.
std::vector<Case> cases(Index n, Index d, const std::vector<Index>& block_sizes) {
  Matrix x = support::thinned(support::whole_numbers(n, d, 100, 1), 0.5, 2);
  for (Index i = 0; i < n && d > 3; ++i) x(i, 3) = 1 + static_cast<double>(i % 7);  // stored in every row
  std::vector<Index> some;
  for (Index j = 0; j < d; ++j) {
    if (j % 4 != 1) some.push_back(j);
  }
  const Matrix few = support::columns_of(x, some);
  const auto rows = factors(n), cols = factors(few.cols());
  std::vector<Case> out;
  for (const auto& layout : support::layouts()) {
    for (const Index block_rows : block_sizes) {
      const Source source = layout.make(x, block_rows);
      const std::string name = layout.name + " / " + std::to_string(block_rows);
      out.push_back({name, source, x});
      out.push_back({name + " some columns", source.with_columns(some), few});
      out.push_back({name + " column scale", source.with_columns(some).with_column_scale(cols), scaled(few, {}, cols)});
      out.push_back({name + " row scale", source.with_row_scale(rows), scaled(x, rows, {})});
      out.push_back({name + " both scales", source.with_columns(some).with_column_scale(cols).with_row_scale(rows),
                     scaled(few, rows, cols)});
    }
  }
  return out;
}

Centered centered_of(const Source& source, Context& context) {
  return Centered(source, column_moments(source, context));
}

// What rounding may do to a sum of `count` products.
double rounding(const LongMatrix& a, const LongMatrix& b, Index count, double ulp) {
  return 8.0 * static_cast<double>(count) * ulp * support::largest(a) * support::largest(b);
}

const std::vector<std::pair<Index, Index>> kShapes = {{40, 9}, {9, 40}, {1, 5}, {130, 3}};

template <class Check>
void for_each_case(Check check) {
  for (const auto& [n, d] : kShapes) {
    for (const Case& c : cases(n, d, {1, 7, n, kBlockRows})) check(c);
  }
}

TEST(Multiply, MatchesTheTwin) {
  Context context(2);
  for_each_case([&](const Case& c) {
    const Centered z = centered_of(c.source, context);
    const LongMatrix twin = support::centered(c.x);
    for (const Index m : {1, 3, 8}) {
      const Matrix v = support::random_matrix(c.x.cols(), m, 3);
      const LongMatrix wanted = support::times(twin, support::widened(v));
      const double scale = std::max(support::largest(c.x), 1.0);
      LongMatrix size(1, 1, scale);
      const LongMatrix wide = support::widened(v);
      ASSERT_LE(support::largest_difference(multiply(z, v, context), wanted),
                rounding(size, wide, c.x.cols() + 4, support::kUlp))
          << c.name;
    }
  });
}

TEST(MultiplyTransposed, MatchesTheTwin) {
  Context context(2);
  for_each_case([&](const Case& c) {
    const Centered z = centered_of(c.source, context);
    const LongMatrix twin = support::transposed(support::centered(c.x));
    for (const Index m : {1, 5}) {
      const Matrix t = support::random_matrix(c.x.rows(), m, 4);
      const LongMatrix wanted = support::times(twin, support::widened(t));
      const LongMatrix size(1, 1, std::max(support::largest(c.x), 1.0));
      ASSERT_LE(support::largest_difference(multiply_transposed(z, t, context), wanted),
                rounding(size, support::widened(t), c.x.rows() + 4, support::kUlp))
          << c.name;
    }
  });
}

TEST(Gram, MatchesTheTwinOnBothSides) {
  Context context(2);
  for_each_case([&](const Case& c) {
    const Centered z = centered_of(c.source, context);
    const LongMatrix twin = support::centered(c.x);
    const LongMatrix size(1, 1, std::max(support::largest(c.x), 1.0));
    const Matrix columns = gram(z, context), rows = gram_of_rows(z, context);
    ASSERT_LE(support::largest_difference(columns, support::times(support::transposed(twin), twin)),
              rounding(size, size, c.x.rows() + 4, support::kUlp))
        << c.name;
    ASSERT_LE(support::largest_difference(rows, support::times(twin, support::transposed(twin))),
              rounding(size, size, c.x.cols() + 4, support::kUlp))
        << c.name;
    ASSERT_TRUE(support::same_bits(columns, support::transposed(columns))) << c.name;
    ASSERT_TRUE(support::same_bits(rows, support::transposed(rows))) << c.name;
  });
}

TEST(Gram, OfSomeColumnsIsAPartOfTheWhole) {
  Context context(2);
  const auto check = [&](const Source& source, const std::string& name) {
    const Centered z = centered_of(source, context);
    std::vector<Index> columns;
    for (Index j = 0; j < z.cols(); j += j % 3 + 1) columns.push_back(j);
    const Matrix found = gram_with(z, columns, context), whole = gram(z, context);
    ASSERT_EQ(found.rows(), z.cols());
    double size = 1e-300;
    for (Index j = 0; j < z.cols(); ++j) size = std::max(size, whole(j, j));
    for (Index j = 0; j < z.cols(); ++j) {
      for (std::size_t k = 0; k < columns.size(); ++k) {
        ASSERT_NEAR(found(j, static_cast<Index>(k)), whole(j, columns[k]), 1e-13 * size) << name;
      }
    }
  };
  for_each_case([&](const Case& c) { check(c.source, c.name); });
  const Matrix wide = support::thinned(support::random_matrix(300, 200, 5), 0.1, 6);
  check(support::dense(wide), "wide");
  check(support::sparse(wide), "wide, sparse");
}

// Past one tile and some panels of columns, and past one piece and one panel of rows.
TEST(Passes, WideAndTallTablesCrossTilesAndPanels) {
  Context context(2);
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{12, 2100}, {700, 30}}) {
    const Matrix x = support::thinned(support::random_matrix(n, d, 5), 0.5, 6);
    const LongMatrix twin = support::centered(x);
    const Matrix v = support::random_matrix(d, 3, 7), t = support::random_matrix(n, 3, 8);
    const LongMatrix zv = support::times(twin, support::widened(v));
    const LongMatrix zt = support::times(support::transposed(twin), support::widened(t));
    const LongMatrix columns = support::times(support::transposed(twin), twin);
    const LongMatrix rows = support::times(twin, support::transposed(twin));
    const LongMatrix zzv = support::times(support::transposed(twin), zv);
    const double tolerance = 1e-11;
    for (const Source& source :
         {support::dense(x), support::dense(x, 7), support::fortran(x), support::sparse(x), support::sparse(x, 300)}) {
      const Centered z = centered_of(source, context);
      EXPECT_LE(support::largest_difference(multiply(z, v, context), zv), tolerance);
      EXPECT_LE(support::largest_difference(multiply_transposed(z, t, context), zt), tolerance);
      EXPECT_LE(support::largest_difference(scatter_product(z, v, context), zzv), 10 * tolerance);
      EXPECT_LE(support::largest_difference(gram(z, context), columns), tolerance);
      EXPECT_LE(support::largest_difference(gram_of_rows(z, context), rows), tolerance);
    }
  }
}

TEST(Gram, AcrossPanels) {
  Context context(2);
  const Matrix x = support::random_matrix(20, 1100, 9);
  const LongMatrix twin = support::centered(x);
  const Matrix found = gram(centered_of(support::dense(x, 7), context), context);
  ASSERT_TRUE(support::same_bits(found, support::transposed(found)));
  for (const Index i : {0, 511, 512, 513, 1023, 1024, 1099}) {
    for (Index j = 0; j < 1100; ++j) {
      long double wanted = 0;
      for (Index r = 0; r < 20; ++r) wanted += twin(r, i) * twin(r, j);
      ASSERT_NEAR(found(i, j), static_cast<double>(wanted), 1e-13);
    }
  }
}

TEST(MoveRows, FromNoneIsTheSumsOfClusters) {
  Context context(2);
  for_each_case([&](const Case& c) {
    const Centered z = centered_of(c.source, context);
    const LongMatrix twin = support::centered(c.x);
    const Index n = c.x.rows(), clusters = 3;
    std::vector<int> before(static_cast<std::size_t>(n), -1), after(before);
    for (Index i = 0; i < n; ++i) after[static_cast<std::size_t>(i)] = static_cast<int>(i * 7 % 4) - 1;  // -1 too
    Matrix sums(clusters, c.x.cols());
    move_rows(z, before, after, sums, context);
    const auto sums_of = [&](const std::vector<int>& labels) {
      LongMatrix wanted(clusters, c.x.cols());
      for (Index i = 0; i < n; ++i) {
        const int k = labels[static_cast<std::size_t>(i)];
        for (Index j = 0; k >= 0 && j < c.x.cols(); ++j) wanted(k, j) += twin(i, j);
      }
      return wanted;
    };
    const double tolerance = 8.0 * static_cast<double>(n + 4) * support::kUlp * std::max(support::largest(c.x), 1.0);
    ASSERT_LE(support::largest_difference(sums, sums_of(after)), tolerance) << c.name;
    // On to other clusters, some rows staying.
    std::vector<int> later = after;
    for (Index i = 0; i < n; i += 3) later[static_cast<std::size_t>(i)] = static_cast<int>((i / 3 + 1) % 4) - 1;
    move_rows(z, after, later, sums, context);
    ASSERT_LE(support::largest_difference(sums, sums_of(later)), 3 * tolerance) << c.name;
    // Nothing moves: nothing changes, to the bit.
    const Matrix kept = sums;
    move_rows(z, later, later, sums, context);
    ASSERT_TRUE(support::same_bits(sums, kept)) << c.name;
  });
}

TEST(MoveRows, WideTables) {
  Context context(2);
  const Matrix x = support::thinned(support::random_matrix(30, 2500, 10), 0.5, 11);
  const LongMatrix twin = support::centered(x);
  for (const Source& source : {support::dense(x, 7), support::sparse(x, 7)}) {
    Matrix sums(2, 2500);
    std::vector<int> none(30, -1), labels(30);
    for (std::size_t i = 0; i < 30; ++i) labels[i] = i % 3 == 0;
    move_rows(centered_of(source, context), none, labels, sums, context);
    for (Index j = 0; j < 2500; ++j) {
      long double one = 0;
      for (Index i = 0; i < 30; i += 3) one += twin(i, j);
      ASSERT_NEAR(sums(1, j), static_cast<double>(one), 1e-13);
      ASSERT_NEAR(sums(0, j), static_cast<double>(-one), 1e-13);
    }
  }
}

TEST(Gather, CopiesWhatTheSourceShows) {
  Context context(2);
  for_each_case([&](const Case& c) {
    ASSERT_LE(support::largest_difference(gather(c.source, context), c.x), 1e-13 * std::max(1.0, support::largest(c.x)))
        << c.name;
    std::vector<Index> rows;
    for (Index i = 0; i < c.x.rows(); ++i) {
      if (i % 3 != 1) rows.push_back(i);
    }
    const Matrix found = gather_rows(c.source, rows, context);
    ASSERT_EQ(found.rows(), static_cast<Index>(rows.size()));
    for (Index i = 0; i < found.rows(); ++i) {
      for (Index j = 0; j < found.cols(); ++j) {
        ASSERT_NEAR(found(i, j), c.x(rows[static_cast<std::size_t>(i)], j),
                    1e-13 * std::max(1.0, support::largest(c.x)))
            << c.name;
      }
    }
    ASSERT_EQ(gather_rows(c.source, {}, context).rows(), 0);
  });
}

TEST(RowSquaredNorms, MatchTheTwin) {
  Context context(2);
  for_each_case([&](const Case& c) {
    const std::vector<double> found = row_squared_norms(c.source, context);
    for (Index i = 0; i < c.x.rows(); ++i) {
      long double wanted = 0;
      for (Index j = 0; j < c.x.cols(); ++j) wanted += static_cast<long double>(c.x(i, j)) * c.x(i, j);
      ASSERT_NEAR(found[static_cast<std::size_t>(i)], static_cast<double>(wanted),
                  1e-13 * static_cast<double>(wanted) + 1e-300)
          << c.name;
    }
  });
}

// --- Offsets -----------------------------------------------------------------------------------------------------

TEST(Offset, GramAndProductsKeepTheirDigitsAt1e8) {
  Matrix x = support::random_matrix(500, 6, 12);
  for (Index i = 0; i < x.size(); ++i) x.data()[i] += 1e8;
  const LongMatrix twin = support::centered(x);
  const LongMatrix wanted = support::times(support::transposed(twin), twin);
  const Matrix v = support::random_matrix(6, 2, 13), t = support::random_matrix(500, 2, 14);
  // Z V is off by the rounding of the mean, 1e8 ulp / 2: the error of Z'Z by the square of that, and of Z'T by
  // that times the sum of T.
  const LongMatrix zv = support::times(twin, support::widened(v));
  Context context(2);
  for (const Index block_rows : {Index{1}, Index{7}, kBlockRows}) {
    const Source dense = support::dense(x, block_rows), sparse = support::sparse(x, block_rows);
    const Centered z = centered_of(dense, context);
    const Matrix found = gram(z, context);
    for (Index j = 0; j < 6; ++j) {
      EXPECT_NEAR(found(j, j) / static_cast<double>(wanted(j, j)), 1.0, 1e-12);
      for (Index k = 0; k < 6; ++k) {
        EXPECT_NEAR(found(j, k), static_cast<double>(wanted(j, k)),
                    1e-12 * std::sqrt(static_cast<double>(wanted(j, j) * wanted(k, k))));
      }
    }
    for (const Source& source : {dense, sparse}) {
      const Centered c = centered_of(source, context);
      EXPECT_LE(support::largest_difference(multiply(c, v, context), zv), 1e-6);
      const Matrix s = multiply_transposed(c, support::narrowed(twin), context);
      for (Index j = 0; j < 6; ++j) {
        for (Index k = 0; k < 6; ++k) {
          EXPECT_NEAR(s(j, k), static_cast<double>(wanted(j, k)), 1e-11 * static_cast<double>(wanted(0, 0)))
              << (source.sparse() ? "sparse" : "dense");
        }
      }
    }
  }
}

// A sparse table with one column that stores every row at a large offset beside thin ones.
TEST(Offset, AFullColumnOfASparseTable) {
  Matrix x = support::thinned(support::random_matrix(400, 5, 15), 0.1, 16);
  const Matrix noise = support::random_matrix(400, 1, 17);
  for (Index i = 0; i < 400; ++i) x(i, 2) = 1e8 + noise(i, 0);
  Context context(2);
  const Centered sparse = centered_of(support::sparse(x, 7), context),
                 dense = centered_of(support::dense(x, 7), context);
  const Matrix v = support::random_matrix(5, 3, 18), t = support::random_matrix(400, 3, 19);
  // The means may differ by a unit in the last place of 1e8, 1.5e-8; without the shift the error would be 1e8 n ulp.
  EXPECT_LE(support::largest_difference(multiply(sparse, v, context), multiply(dense, v, context)), 1e-7);
  EXPECT_LE(
      support::largest_difference(multiply_transposed(sparse, t, context), multiply_transposed(dense, t, context)),
      1e-6);
  // Seen through row scales it stays exact.
  std::vector<double> rows(400);
  for (std::size_t i = 0; i < 400; ++i) rows[i] = i % 2 ? 1.0 : 0.5;
  const Centered a = centered_of(support::sparse(x, 7).with_row_scale(rows), context);
  const Centered b = centered_of(support::dense(x, 7).with_row_scale(rows), context);
  EXPECT_LE(support::largest_difference(multiply(a, v, context), multiply(b, v, context)), 1e-6);
}

TEST(Units, ExtremeTablesAreCentredInTheirUnit) {
  for (const double size : {1e300, 1e-300, 1e30, 1e-30}) {
    const Matrix ordinary = support::thinned(support::random_matrix(60, 4, 20), 0.7, 21);
    Matrix x = ordinary;
    for (Index i = 0; i < x.size(); ++i) x.data()[i] *= size;
    const Matrix v = support::random_matrix(4, 2, 22);
    const LongMatrix wanted = support::times(support::centered(ordinary), support::widened(v));
    Context context(2);
    for (const Source& source : {support::dense(x, 7), support::sparse(x, 7)}) {
      const ColumnMoments moments = column_moments(source, context);
      const Matrix found = multiply(Centered(source, moments), v, context);
      for (Index i = 0; i < found.size(); ++i) {
        const double natural = found.data()[i] * (moments.unit / size);
        ASSERT_NEAR(natural, static_cast<double>(wanted.data()[i]), 1e-12)
            << size << (source.sparse() ? " sparse" : " dense");
      }
    }
  }
}

// --- The same bits -----------------------------------------------------------------------------------------------

TEST(Passes, SameBitsAtAnyNumberOfThreads) {
  const Matrix x = support::thinned(support::random_matrix(530, 40, 23), 0.5, 24);
  const Matrix v = support::random_matrix(40, 5, 25), t = support::random_matrix(530, 5, 26);
  std::vector<int> none(530, -1), labels(530);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int>(i * 31 % 4);
  for (const Source& source : {support::dense(x, 7), support::dense<float>(x), support::fortran(x, 64),
                               support::sparse(x, 7), support::sparse<float>(x)}) {
    const auto results = [&](int threads) {
      Context context(threads);
      const Centered z = centered_of(source, context);
      std::vector<Matrix> out = {multiply(z, v, context), multiply_transposed(z, t, context), gather(source, context)};
      Matrix sums(4, 40);
      move_rows(z, none, labels, sums, context);
      out.push_back(sums);
      out.push_back(scatter_product(z, v, context));
      out.push_back(gram(z, context));
      out.push_back(gram_of_rows(z, context));
      return out;
    };
    const auto wanted = results(1);
    for (const int threads : {2, 3, 5}) {
      const auto found = results(threads);
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        EXPECT_TRUE(support::same_bits(found[k], wanted[k]))
            << "pass " << k << ", threads " << threads << (source.sparse() ? " sparse" : "");
      }
    }
  }
}

TEST(Passes, TwinsOfOtherTypesHaveTheSameBits) {
  const Matrix x = support::whole_numbers(100, 50, 100, 27);
  Context context(2);
  // Long runs of columns are read in place, short ones are not; several blocks are swept at once.
  std::vector<Index> all(50), gap, every_other;
  std::iota(all.begin(), all.end(), Index{0});
  for (const Index j : all) {
    if (j != 20) gap.push_back(j);
    if (j % 2 == 0) every_other.push_back(j);
  }
  for (const auto& keep : {all, gap, every_other}) {
    const auto d = static_cast<Index>(keep.size());
    const Matrix v = support::random_matrix(d, 3, 28), t = support::random_matrix(100, 3, 29);
    const auto products = [&](const Source& source) {
      const Centered z = centered_of(source.with_columns(keep), context);
      EXPECT_TRUE(z.defers_center());
      return std::vector<Matrix>{multiply(z, v, context), multiply_transposed(z, t, context),
                                 scatter_product(z, v, context), gram(z, context)};
    };
    for (const Index block_rows : {kBlockRows, Index{30}}) {
      const auto wanted = products(support::dense(x, block_rows));
      for (const auto& layout : support::layouts()) {
        const Source source = layout.make(x, block_rows);
        if (source.sparse()) continue;
        const auto found = products(source);
        for (std::size_t k = 0; k < wanted.size(); ++k) {
          EXPECT_TRUE(support::same_bits(found[k], wanted[k]))
              << layout.name << ", pass " << k << ", " << d << " columns";
        }
      }
    }
  }
}

TEST(Passes, ColumnsLeftOutMayHoldAnything) {
  Matrix x = support::random_matrix(100, 50, 31);
  for (Index i = 0; i < 100; ++i) x(i, 20) = std::numeric_limits<double>::quiet_NaN();
  std::vector<Index> keep;
  for (Index j = 0; j < 50; ++j) {
    if (j != 20) keep.push_back(j);
  }
  Context context(1);
  const Centered z = centered_of(support::dense(x, 30).with_columns(keep), context);
  ASSERT_TRUE(z.defers_center());
  const Matrix v = support::random_matrix(49, 3, 32);
  for (const Matrix& found : {multiply(z, v, context), scatter_product(z, v, context)}) {
    EXPECT_TRUE(
        std::all_of(found.data(), found.data() + found.size(), [](double value) { return std::isfinite(value); }));
  }
}

// A center far from 0 must be taken off before the product, not after it.
TEST(Passes, OnlyCentresNearTheirColumnsAreFolded) {
  Matrix x = support::random_matrix(200, 20, 33);
  Context context(1);
  EXPECT_TRUE(centered_of(support::dense(x), context).defers_center());
  for (Index i = 0; i < 200; ++i) x(i, 7) += 1e4;
  EXPECT_FALSE(centered_of(support::dense(x), context).defers_center());
}

TEST(Passes, CancellationStopsThem) {
  const Matrix x = support::random_matrix(100, 5, 30);
  for (const int threads : {1, 3}) {
    Context context(threads);
    const Centered z = centered_of(support::dense(x, 7), context);
    context.is_cancelled = [] { return true; };
    support::expect_error(ErrorCode::interrupted, {}, [&] { column_moments(support::dense(x, 7), context); });
    support::expect_error(ErrorCode::interrupted, {}, [&] { multiply(z, support::random_matrix(5, 1, 1), context); });
    support::expect_error(ErrorCode::interrupted, {},
                          [&] { multiply_transposed(z, support::random_matrix(100, 1, 1), context); });
    support::expect_error(ErrorCode::interrupted, {}, [&] { gram(z, context); });
  }
}

}  // namespace
}  // namespace tamis
