// Nearest rows in three views and two halves of the columns, against one search for each.
#include "tamis/graph/views.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

constexpr Index kCount = 5;

Matrix columns_of(const Matrix& x, const std::vector<char>& half, int which) {
  std::vector<Index> kept;
  for (Index j = 0; j < x.cols(); ++j) {
    if (which < 0 || half[static_cast<std::size_t>(j)] == which) kept.push_back(j);
  }
  Matrix out(x.rows(), static_cast<Index>(kept.size()));
  for (Index i = 0; i < x.rows(); ++i) {
    for (std::size_t k = 0; k < kept.size(); ++k) out(i, static_cast<Index>(k)) = x(i, kept[k]);
  }
  return out;
}

// Columns of deviation 1, or rows of length 1.
Matrix seen(Matrix x, int view) {
  if (view == 1) {
    for (Index j = 0; j < x.cols(); ++j) {
      double mean = 0, square = 0;
      for (Index i = 0; i < x.rows(); ++i) mean += x(i, j) / static_cast<double>(x.rows());
      for (Index i = 0; i < x.rows(); ++i) square += (x(i, j) - mean) * (x(i, j) - mean);
      const double deviation = std::sqrt(square / static_cast<double>(x.rows()));
      for (Index i = 0; i < x.rows(); ++i) x(i, j) = (x(i, j) - mean) / deviation;
    }
  }
  for (Index i = 0; i < x.rows() && view == 2; ++i) {
    double square = 0;
    for (Index j = 0; j < x.cols(); ++j) square += x(i, j) * x(i, j);
    for (Index j = 0; j < x.cols() && square > 0; ++j) x(i, j) /= std::sqrt(square);
  }
  return x;
}

std::vector<std::int32_t> by_index(Neighbors found) {
  for (auto row = found.index.begin(); row != found.index.end(); row += found.count) std::sort(row, row + found.count);
  return found.index;
}

void expect_nearest_in_views(const Matrix& x, const std::vector<char>& half, const std::string& what) {
  Context context(2);
  const auto found = nearest_in_views(support::dense(x), half, kCount, context);
  ASSERT_TRUE(found.has_value()) << what;
  ASSERT_EQ(found->size(), half.empty() ? 1 : 3);
  for (std::size_t part = 0; part < found->size(); ++part) {
    for (int view = 0; view < 3; ++view) {
      const Matrix rows = seen(columns_of(x, half, static_cast<int>(part) - 1), view);
      const Neighbors wanted = nearest_neighbors(support::dense(rows), {.count = kCount}, context);
      const Neighbors& own = (*found)[part][static_cast<std::size_t>(view)];
      EXPECT_EQ(own.index, by_index(wanted)) << what << ", part " << part << ", view " << view;
    }
  }
}

std::vector<char> alternating(Index cols) {
  std::vector<char> half;
  for (Index j = 0; j < cols; ++j) half.push_back(static_cast<char>(j * 7 % 3 == 0));
  return half;
}

TEST(Views, AreThoseOfSearchesOfTheirOwn) {
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{20, 6}, {190, 9}, {211, 30}, {700, 40}}) {
    const Matrix x = support::mixture(n, d, 3, d / 2, 2.0, 1);
    expect_nearest_in_views(x, {}, concat(n, " x ", d));
    expect_nearest_in_views(x, alternating(d), concat(n, " x ", d, ", halves"));
    Matrix moved = x;
    for (Index i = 0; i < x.size(); ++i) moved.data()[i] += 3;
    expect_nearest_in_views(moved, alternating(d), "with an offset");
    for (Index i = 0; i < x.size(); ++i) moved.data()[i] *= 1e-30;
    expect_nearest_in_views(moved, alternating(d), "small");
  }
}

TEST(Views, CopiesAndRowsOfZerosAreNeighborsByIndex) {
  Matrix x = support::random_matrix(300, 12, 2);
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) x(i, j) = i % 10 == 0 ? 0.0 : x(i % 97, j);
  }
  expect_nearest_in_views(x, alternating(12), "copies");
  const Matrix coarse = support::whole_numbers(400, 6, 3, 3);
  Context context(2);
  const auto found = nearest_in_views(support::dense(coarse), {}, kCount, context);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ((*found)[0][0].index, by_index(nearest_neighbors(support::dense(coarse), {.count = kCount}, context)));
}

TEST(Views, AreNotSharedWhereProductsSayTooLittle) {
  Context context(1);
  Matrix x = support::random_matrix(50, 8, 4);
  EXPECT_FALSE(nearest_in_views(support::sparse(x), {}, kCount, context).has_value());
  for (Index i = 0; i < x.rows(); ++i) x(i, 3) += 1e4;
  EXPECT_FALSE(nearest_in_views(support::dense(x), {}, kCount, context).has_value());
}

}  // namespace
}  // namespace tamis
