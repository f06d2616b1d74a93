#include "tamis/run/representatives.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "tamis/linalg/dense.h"
#include "tamis/linalg/orthogonal.h"
#include "tamis/run/select.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

// 1 - what is left of column j after its projection onto the columns.
double r2_of(const Matrix& z, Index j, const std::vector<Index>& columns) {
  const Matrix q = orthonormalized(support::columns_of(z, columns)), t = product_transposed_left(q, z);
  double explained = 0, whole = 0;
  for (Index i = 0; i < t.rows(); ++i) explained += t(i, j) * t(i, j);
  for (Index i = 0; i < z.rows(); ++i) whole += z(i, j) * z(i, j);
  return explained / whole;
}

Redundancy found_in(const Source& source, const std::vector<Index>& selected, double threshold = kRedundant) {
  std::vector<Index> ranking = selected;
  for (Index j = 0; j < source.cols(); ++j) {
    if (std::find(selected.begin(), selected.end(), j) == selected.end()) ranking.push_back(j);
  }
  Context context(2);
  return find_redundancy(source, ranking, selected, threshold, context);
}

TEST(Redundancy, R2IsThatOfARegression) {
  const Matrix x = support::mixture(70, 12, 3, 6, 4, 1), z = support::centered_columns(x);
  const std::vector<Index> selected = {9, 2, 5};
  for (const Source& source : {support::dense(x), support::sparse(x), support::dense(x, 7)}) {
    const Redundancy found = found_in(source, selected);
    ASSERT_EQ(found.r2.size(), 12u);
    for (Index j = 0; j < 12; ++j) {
      const bool is_selected = std::find(selected.begin(), selected.end(), j) != selected.end();
      EXPECT_NEAR(found.r2[j], r2_of(z, j, selected), 1e-9);
      EXPECT_EQ(found.representative[j] < 0, is_selected);
      EXPECT_EQ(std::isnan(found.correlation[j]), is_selected);
    }
    EXPECT_TRUE(found.note.empty()) << found.note;
  }
}

// x_3 = 2 x_0 + 0.5 x_1 in units of deviation: the first has the larger coefficient.
TEST(Redundancy, TheLargestCoefficientStandsForAColumn) {
  Matrix x = support::random_matrix(200, 5, 3);
  for (Index i = 0; i < x.rows(); ++i) {
    x(i, 3) = 2 * x(i, 0) + 0.5 * x(i, 1);
    x(i, 4) = 1e6 - 300 * x(i, 1) + 0.01 * x(i, 0);
  }
  const Redundancy found = found_in(support::dense(x), {2, 1, 0});
  EXPECT_EQ(found.representative, (std::vector<Index>{-1, -1, -1, 0, 1}));
  EXPECT_NEAR(found.r2[3], 1, 1e-9);
  EXPECT_LT(found.correlation[4], -0.99);
}

TEST(Redundancy, CopiesAmongTheSelectedOnesDoNoHarm) {
  Matrix x = support::mixture(60, 8, 3, 4, 4, 5);
  for (Index i = 0; i < x.rows(); ++i) x(i, 6) = 5 * x(i, 1), x(i, 7) = 0.25, x(i, 3) = x(i, 1) + 1e-3 * x(i, 0);
  const Redundancy found = found_in(support::dense(x), {6, 1, 7, 2});
  const Matrix z = support::centered_columns(x);
  for (const Index j : {0, 3, 4, 5}) EXPECT_NEAR(found.r2[j], r2_of(z, j, {1, 2}), 1e-9);
  EXPECT_EQ(found.representative[3], 6);  // the better of the copies
  EXPECT_EQ(found.r2[7], 1);
}

// In other units a copy's correlation is 1 but for rounding.
TEST(Redundancy, CopiesInOtherUnitsAreOneGroupInTheOrderOfTheTable) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Matrix x = support::random_matrix(97, 6, 40 + seed);
    for (Index i = 0; i < x.rows(); ++i) x(i, 1) = 3 * x(i, 4) + 1, x(i, 3) = -x(i, 4) / 7, x(i, 5) = 0.1 * x(i, 4) - 9;
    for (const double threshold : {0.8, 1.0}) {
      const Redundancy found = found_in(support::dense(x), {4, 0}, threshold);
      EXPECT_EQ(found.groups, (std::vector<std::vector<Index>>{{4, 1, 3, 5}})) << seed;
    }
  }
}

TEST(Redundancy, UnitsFarApart) {
  const Matrix x = support::mixture(60, 8, 3, 4, 4, 7);
  Matrix far = x;
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < 8; ++j) far(i, j) *= std::pow(10.0, -150 + 42 * static_cast<double>(j));
  }
  const Redundancy wanted = found_in(support::dense(x), {3, 6}), found = found_in(support::dense(far), {3, 6});
  for (Index j = 0; j < 8; ++j) EXPECT_NEAR(found.r2[j], wanted.r2[j], 1e-9);
  EXPECT_EQ(found.representative, wanted.representative);
  EXPECT_EQ(found.groups, wanted.groups);
}

// Equal in the sampled rows, and nowhere else: a selected column is compared in all rows.
TEST(Redundancy, NoSampleDecidesForASelectedColumn) {
  constexpr Index kRows = 12000;
  Matrix x = support::random_matrix(kRows, 4, 3);
  for (const Index i : sample_rows(kRows, 2048, 0)) x(i, 1) = x(i, 0);
  const Redundancy found = found_in(support::dense(x), {0});
  EXPECT_EQ(found.rows, 2048);
  EXPECT_TRUE(found.groups.empty());
  EXPECT_LT(found.correlation[1], 0.3);
}

// 50 columns with three noisy copies each, in any order.
struct Families {
  static constexpr Index kCount = 50, kEach = 4, kRows = 600;
  std::vector<Index> order = support::shuffled(kCount * kEach, 33);
  Matrix x{kRows, kCount* kEach};

  Families() {
    const Matrix base = support::random_matrix(kRows, kCount, 31), noise = support::random_matrix(kRows, x.cols(), 32);
    const double size = std::sqrt(1 / (0.95 * 0.95) - 1);
    for (Index i = 0; i < kRows; ++i) {
      for (Index j = 0; j < x.cols(); ++j) {
        const Index from = order[static_cast<std::size_t>(j)];
        x(i, j) = base(i, family(j)) + (from % kEach == 0 ? 0 : size * noise(i, from));
      }
    }
  }
  Index family(Index j) const { return order[static_cast<std::size_t>(j)] / kEach; }
};

TEST(Redundancy, EveryMethodNamesTheFamilies) {
  const Families families;
  for (const Method& method : methods()) {
    SelectRequest request;
    request.features.count = Families::kCount;
    request.redundancy = kRedundant;
    Context context(2);
    auto bound = method.bind();
    const Options options = bound->options();
    for (const auto& [name, value] : {std::pair{"iterations", "3"}, {"restarts", "1"}, {"runs", "1"}}) {
      if (const Option* option = find_option(options, name)) set_from_text(*option, method.name, value);
    }
    const SelectResult result = select_features(support::dense(families.x), method, *bound, request, context);
    ASSERT_TRUE(result.redundancy.has_value());
    const auto& groups = result.redundancy->groups;
    EXPECT_EQ(groups.size(), 50u) << method.name;
    for (const auto& group : groups) {
      EXPECT_EQ(group.size(), 4u) << method.name;
      for (const Index j : group) EXPECT_EQ(families.family(j), families.family(group.front())) << method.name;
    }
    std::set<Index> selected(result.selected.begin(), result.selected.end()), known;
    for (const Index j : selected) known.insert(families.family(j));
    for (Index j = 0; j < families.x.cols(); ++j) {
      const Index representative = result.redundancy->representative[j];
      EXPECT_EQ(representative < 0, selected.contains(j));
      if (representative < 0 || !known.contains(families.family(j))) continue;
      EXPECT_EQ(families.family(representative), families.family(j)) << method.name;
      EXPECT_GT(result.redundancy->r2[j], 0.75);
    }
    if (method.name == "css") {
      EXPECT_EQ(known.size(), 50u);
    }
  }
}

TEST(Redundancy, ThresholdAndExcludedColumns) {
  const Families families;
  SelectRequest request;
  request.features.count = 10;
  request.redundancy = 0.99;
  request.exclude = {0, 5, 199};
  Context context(2);
  const Method& method = find_method("maxvar");
  const auto bound = method.bind();
  const SelectResult result = select_features(support::dense(families.x), method, *bound, request, context);
  EXPECT_TRUE(result.redundancy->groups.empty());
  EXPECT_EQ(result.redundancy->r2.size(), 200u);
  for (const Index j : request.exclude) {
    EXPECT_TRUE(std::isnan(result.redundancy->r2[j]));
    EXPECT_EQ(result.redundancy->representative[j], -1);
  }
  for (const Index j : result.selected) EXPECT_EQ(result.redundancy->r2[j], 1);
  request.redundancy = 0;
  support::expect_error(ErrorCode::usage, {"redundancy"},
                        [&] { select_features(support::dense(families.x), method, *bound, request, context); });
}

TEST(Redundancy, LargeShapesAreLeftOutByRule) {
  const auto work = [](Index n, Index d, Index k) {
    return RedundancyWork({n, d, static_cast<double>(n) * static_cast<double>(d), false, 1}, k);
  };
  EXPECT_TRUE(work(60000, 784, 50).r2 && work(60000, 784, 50).all_groups);
  EXPECT_FALSE(work(60000, 784, 784).r2);     // nothing is left out
  EXPECT_FALSE(work(100, 5000, 99).r2);       // as many columns as rows explain anything
  EXPECT_FALSE(work(1000000, 2000, 200).r2);  // n d k
  EXPECT_FALSE(work(3000, 200000, 100).r2);   // d k
  EXPECT_FALSE(work(3000, 20000, 50).all_groups);
  const Source wide = support::dense(support::mixture(40, 8000, 3, 6, 4, 9));
  EXPECT_TRUE(found_in(wide, {1, 2, 3}).note.empty());
  std::vector<Index> many(60);
  std::iota(many.begin(), many.end(), 0);
  EXPECT_NE(found_in(wide, many).note.find("60 selected columns explain any column of 40 rows"), std::string::npos);
}

}  // namespace
}  // namespace tamis
