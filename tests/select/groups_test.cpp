// Groups of columns that are chosen as one: the definitions of ufcm, css and guided by brute force, and what every
// method owes with groups.
#include "tamis/select/groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tamis/linalg/dense.h"
#include "tamis/run/select.h"
#include "tamis/select/css/css.h"
#include "tamis/select/guided/alignment.h"
#include "tamis/select/ufcm/ufcm.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"
#include "tests/support/ufcm_twin.h"
#include "tests/support/workers.h"

namespace tamis {
namespace {

using Indices = std::vector<Index>;

TEST(ColumnGroups, AreNumberedByTheirFirstColumns) {
  const ColumnGroups groups({7, 3, 7, 9, 3});
  EXPECT_EQ(groups.of(), (Indices{0, 1, 0, 2, 1}));
  EXPECT_EQ(Indices(groups.members(1).begin(), groups.members(1).end()), (Indices{1, 4}));
  EXPECT_TRUE(groups.any());
  EXPECT_EQ(groups.pairs(), 9);
  EXPECT_EQ(groups.among({1, 3, 4}).of(), (Indices{0, 1, 0}));
  EXPECT_EQ(groups.in_order({4, 0, 1}), (Indices{1, 0}));
  EXPECT_EQ(groups.expand({2, 0}), (Indices{3, 0, 2}));
  EXPECT_FALSE(ColumnGroups({4, 2, 1}).any());
  EXPECT_FALSE(ColumnGroups().given());
}

TEST(ColumnGroups, MeanSquaresAreMeasuredFromAColumnWithoutVariation) {
  Selection found;
  found.scores = {3, 4, 1, 5};
  rank_groups_by_mean_square(ColumnGroups({0, 0, 1, 2}), found);
  EXPECT_NEAR(found.scores[0], std::sqrt(12.5), 1e-15);
  EXPECT_EQ(found.ranking, (Indices{3, 0, 1, 2}));
  found.scores = {-1, 0.5, 0, -0.5};
  found.flat = -1;
  rank_groups_by_mean_square(ColumnGroups({0, 0, 1, 2}), found);
  EXPECT_NEAR(found.scores[0], -1 + std::sqrt(1.5 * 1.5 / 2), 1e-15);
  EXPECT_EQ(found.scores[2], 0.0);
  EXPECT_EQ(found.ranking, (Indices{0, 1, 2, 3}));
}

// --- UFCM ------------------------------------------------------------------------------------------------------------

TEST(UfcmGroups, TheObjectiveHasTheNormsOfGroupsAndNeverFalls) {
  const Matrix x = support::mixture(70, 12, 3, 5, 3, 31);
  const ColumnGroups groups({0, 0, 0, 1, 2, 2, 3, 4, 5, 5, 5, 5});
  for (const double alpha : {0.3, 1.0}) {
    for (const double p : {0.5, 1.0}) {
      UfcmOptions options;
      options.clusters = 3, options.alpha = alpha, options.p = p, options.groups = groups;
      Context context(2);
      const Selection found = ufcm(support::dense(x), options, context);
      const Matrix& w = found.components;
      std::vector<double> squares(6);
      for (Index j = 0; j < 12; ++j) {
        for (Index t = 0; t < w.cols(); ++t) squares[static_cast<std::size_t>(groups.of(j))] += w(j, t) * w(j, t);
      }
      double sparsity = 0;
      for (const double square : squares) sparsity += std::pow(square + support::kEps, p / 2);
      for (Index j = 0; j < 12; ++j) {
        const double square = squares[static_cast<std::size_t>(groups.of(j))];
        EXPECT_NEAR(found.scores[static_cast<std::size_t>(j)], std::sqrt(square), 1e-12);
      }
      const support::UfcmTerms terms = support::ufcm_terms(x, w, found.clusters, p);
      double beta = 0;
      for (const Fact& fact : found.report.resolved) beta = fact.first == "beta" ? fact.second : beta;
      const double wanted = terms.scatter - alpha * terms.within - beta * sparsity;
      const auto& objective = found.report.objective;
      EXPECT_NEAR(objective.back(), wanted, 1e-9 * terms.magnitude(alpha, beta));
      EXPECT_NEAR(found.report.terms[2].second.back(), sparsity, 1e-9 * sparsity);
      for (std::size_t t = 1; t < objective.size(); ++t) EXPECT_GE(objective[t], objective[t - 1] - 1e-9 * wanted);
    }
  }
}

TEST(UfcmGroups, ExactTakesWholeGroups) {
  const Matrix x = support::mixture(70, 12, 3, 5, 3, 32);
  for (const double alpha : {0.3, 1.0}) {
    UfcmOptions options;
    options.clusters = 3, options.alpha = alpha, options.exact = true, options.features = 2;
    options.groups = ColumnGroups({0, 0, 0, 1, 2, 2, 3, 4, 5, 5, 5, 5});
    Context context(2);
    const Selection found = ufcm(support::dense(x), options, context);
    std::vector<char> used(6);
    for (Index j = 0; j < 12; ++j) {
      for (Index t = 0; t < found.components.cols(); ++t) {
        if (found.components(j, t) != 0) used[static_cast<std::size_t>(options.groups.of(j))] = 1;
      }
    }
    EXPECT_EQ(std::count(used.begin(), used.end(), 1), 2);
    const auto& objective = found.report.objective;
    for (std::size_t t = 1; t < objective.size(); ++t) EXPECT_GE(objective[t], objective[t - 1] * (1 - 1e-9));
  }
}

// --- css -------------------------------------------------------------------------------------------------------------

// ||X_S X_S^+ X||^2 by the eigenvectors of X_S'X_S; columns centered and of unit deviation.
double explained_by(const Matrix& gram, const Indices& columns) {
  const auto k = static_cast<Index>(columns.size());
  Matrix own(k, k), with(k, gram.cols());
  for (Index a = 0; a < k; ++a) {
    for (Index b = 0; b < k; ++b)
      own(a, b) = gram(columns[static_cast<std::size_t>(a)], columns[static_cast<std::size_t>(b)]);
    for (Index j = 0; j < gram.cols(); ++j) with(a, j) = gram(columns[static_cast<std::size_t>(a)], j);
  }
  const EigenPairs pairs = symmetric_eigen(own);
  const Matrix turned = product_transposed_left(pairs.vectors, with);
  double sum = 0;
  for (Index t = 0; t < k; ++t) {
    if (pairs.values[static_cast<std::size_t>(t)] < 1e-8 * pairs.values[0]) continue;
    for (Index j = 0; j < gram.cols(); ++j)
      sum += turned(t, j) * turned(t, j) / pairs.values[static_cast<std::size_t>(t)];
  }
  return sum;
}

Matrix standardized_gram(const Matrix& x) {
  Matrix z = x;
  for (Index j = 0; j < x.cols(); ++j) {
    double mean = 0, square = 0;
    for (Index i = 0; i < x.rows(); ++i) mean += x(i, j) / static_cast<double>(x.rows());
    for (Index i = 0; i < x.rows(); ++i) square += (x(i, j) - mean) * (x(i, j) - mean);
    for (Index i = 0; i < x.rows(); ++i) z(i, j) = (x(i, j) - mean) / std::sqrt(square);
  }
  return product_transposed_left(z, z);
}

// The indicators of a variable with four values, noise, and columns that follow the variable.
Matrix with_indicators(Index n, Index noise, std::uint64_t seed) {
  Matrix x = support::random_matrix(n, 4 + noise, seed);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < 4; ++j) x(i, j) = i % 4 == j ? 1 : 0;
    x(i, 4) = static_cast<double>(i % 4) + 0.3 * x(i, 4);
  }
  return x;
}

TEST(CssGroups, EachStepTakesTheGroupThatExplainsMost) {
  for (const auto& [n, noise] : {std::pair<Index, Index>{60, 10}, {12, 20}}) {
    const Matrix x = with_indicators(n, noise, 3);
    Indices numbers{0, 0, 0, 0};
    for (Index j = 4; j < x.cols(); ++j) numbers.push_back(j % 7 == 0 ? 1000 : j / 2);
    const ColumnGroups groups(numbers);
    const Matrix gram = standardized_gram(x);
    for (const Source& source : {support::dense(x), support::sparse(x)}) {
      CssOptions options;
      options.groups = groups, options.length = 4;
      Context context(2);
      const Selection found = css(source, options, context);
      const Indices order = groups.in_order(found.ranking);
      Indices columns;
      for (std::size_t step = 0; step < 4; ++step) {
        double best = 0;
        for (Index g = 0; g < groups.count(); ++g) {
          Indices more = columns;
          if (std::find(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(step), g) !=
              order.begin() + static_cast<std::ptrdiff_t>(step))
            continue;
          more.insert(more.end(), groups.members(g).begin(), groups.members(g).end());
          best = std::max(best, explained_by(gram, more));
        }
        const std::span<const Index> taken = groups.members(order[step]);
        columns.insert(columns.end(), taken.begin(), taken.end());
        EXPECT_NEAR(explained_by(gram, columns), best, 1e-8 * best) << "step " << step;
        EXPECT_NEAR(found.report.terms[0].second[step], best / static_cast<double>(x.cols()), 1e-7);
      }
    }
  }
}

// --- guided ----------------------------------------------------------------------------------------------------------

TEST(GuidedGroups, EachStepTakesTheGroupWithTheLargestAlignment) {
  for (const Index d : {Index{14}, Index{1200}}) {
    const Matrix x = support::random_matrix(30, d, 5);
    const Source source = support::dense(x);
    Context context(2);
    const ColumnMoments moments = column_moments(source, context);
    const Centered z(source, moments);
    const Matrix products = gram(z, context), noise = support::random_matrix(d, 1, 6);
    ColumnMerits merits{moments.scatter, {}};
    Indices numbers;
    for (Index j = 0; j < d; ++j) {
      merits.excess.push_back(moments.scatter[static_cast<std::size_t>(j)] * (0.5 + 0.1 * noise(j, 0)));
      numbers.push_back(j % 5 == 0 ? -1 - j : j / 3);
    }
    const ColumnGroups groups(numbers);
    std::vector<char> enter(static_cast<std::size_t>(groups.count()), 1);
    const AlignedPath path = aligned_path(z, merits, groups, {1}, enter, context);
    EXPECT_EQ(path.groups.front(), 1);
    const auto value = [&](const Indices& chosen) {
      double excess = 0, norm = 0;
      for (const Index i : chosen) {
        excess += merits.excess[static_cast<std::size_t>(i)];
        for (const Index j : chosen) norm += products(i, j) * products(i, j);
      }
      return excess / std::sqrt(norm);
    };
    Indices columns(groups.members(1).begin(), groups.members(1).end());
    for (std::size_t step = 1; step < 4; ++step) {
      double best = -1e300;
      for (Index g = 0; g < groups.count(); ++g) {
        if (std::find(path.groups.begin(), path.groups.begin() + static_cast<std::ptrdiff_t>(step), g) !=
            path.groups.begin() + static_cast<std::ptrdiff_t>(step))
          continue;
        Indices more = columns;
        more.insert(more.end(), groups.members(g).begin(), groups.members(g).end());
        best = std::max(best, value(more));
      }
      const std::span<const Index> taken = groups.members(path.groups[step]);
      columns.insert(columns.end(), taken.begin(), taken.end());
      EXPECT_NEAR(value(columns), best, 1e-9 * std::abs(best));
      EXPECT_NEAR(path.alignment[step], best, 1e-9 * std::abs(best));
    }
  }
}

// --- Every method ----------------------------------------------------------------------------------------------------

class GroupsOf : public testing::TestWithParam<std::string> {
 protected:
  SelectResult run(const Source& source, const Indices& numbers, Index k, const Indices& include = {}) const {
    const Method& method = find_method(GetParam());
    const auto bound = method.bind();
    const Options options = bound->options();
    if (const Option* clusters = find_option(options, "clusters")) set_from_text(*clusters, method.name, "4");
    SelectRequest request;
    request.features.count = k;
    request.include = include;
    if (!numbers.empty()) {
      request.groups.groups = ColumnGroups(numbers);
      request.groups.names.assign(static_cast<std::size_t>(request.groups.groups.count()), "g");
    }
    Context context(2);
    return select_features(source, method, *bound, request, context);
  }

  const Matrix x = with_indicators(61, 9, 8);
  const Indices groups{0, 0, 0, 0, 1, 2, 2, 3, 4, 5, 6, 6, 7};
};

TEST_P(GroupsOf, GroupsOfOneColumnChangeNothing) {
  const SelectResult wanted = run(support::dense(x), {}, 3);
  const SelectResult found = run(support::dense(x), {5, 1, 4, 12, 10, 0, 2, 3, 6, 7, 8, 9, 11}, 3);
  EXPECT_TRUE(support::same_bits(found.scores, wanted.scores));
  EXPECT_EQ(found.ranking, wanted.ranking);
  EXPECT_EQ(found.selected, wanted.selected);
}

TEST_P(GroupsOf, AreSelectedAsAWholeWhateverTheyAreCalled) {
  const SelectResult found = run(support::dense(x), groups, 3);
  EXPECT_EQ(found.groups.size(), 3u);
  const ColumnGroups all(groups);
  EXPECT_EQ(found.selected, all.expand(found.groups));
  for (Index g = 0; g < all.count(); ++g) {
    for (const Index j : all.members(g)) {
      EXPECT_EQ(found.scores[static_cast<std::size_t>(j)], found.scores[static_cast<std::size_t>(all.members(g)[0])]);
    }
  }
  Indices renamed;
  for (const Index g : groups) renamed.push_back(100 - 7 * g);
  const SelectResult again = run(support::dense(x), renamed, 3);
  EXPECT_TRUE(support::same_bits(found.scores, again.scores));
  EXPECT_EQ(found.selected, again.selected);
}

TEST_P(GroupsOf, PermutingColumnsPermutesScores) {
  const Indices order = support::shuffled(x.cols(), 6);
  Indices numbers;
  for (const Index j : order) numbers.push_back(groups[static_cast<std::size_t>(j)]);
  const SelectResult a = run(support::dense(x), groups, 3);
  const SelectResult b = run(support::dense(support::columns_of(x, order)), numbers, 3);
  std::vector<double> moved;
  for (const Index j : order) moved.push_back(a.scores[static_cast<std::size_t>(j)]);
  EXPECT_LE(support::largest_difference(moved, b.scores),
            (GetParam() == "rufs" ? 1e-6 : 1e-8) * support::largest(a.scores));
}

TEST_P(GroupsOf, MemoryDiskAndWorkersAgree) {
  const SelectResult wanted = run(support::dense(x, 7), groups, 3);
  const SelectResult on_disk = run(support::left_on_disk(support::dense(x, 7)), groups, 3);
  EXPECT_TRUE(support::same_bits(on_disk.scores, wanted.scores));
  if (!find_method(GetParam()).remote) return;
  support::Workers workers(x, support::MakeSource(support::dense<double>), 7, 1);
  const SelectResult remote = run(support::remote_source(workers, x, 7), groups, 3);
  EXPECT_TRUE(support::same_bits(remote.scores, wanted.scores));
  EXPECT_EQ(remote.selected, wanted.selected);
}

TEST_P(GroupsOf, ConstantColumnsAndOneGroupOfAll) {
  Matrix flat = x;
  for (Index i = 0; i < x.rows(); ++i) flat(i, 1) = 2, flat(i, 7) = 5;
  const SelectResult found = run(support::dense(flat), groups, 8);
  EXPECT_TRUE(support::all_finite(found.scores));
  EXPECT_EQ(found.scores[7],
            *std::min_element(found.scores.begin(), found.scores.end()));  // a group that does not vary
  EXPECT_TRUE(found.selected.back() == 7 || found.scores[found.selected.back()] == found.scores[7]);
  EXPECT_EQ(found.scores[0], found.scores[1]);
  const SelectResult one = run(support::dense(flat), Indices(13, 4), 1);
  EXPECT_EQ(one.selected.size(), 13u);
  support::expect_error(ErrorCode::usage, {"features = 9", "1..8", "groups"},
                        [&] { run(support::dense(x), groups, 9); });
}

TEST_P(GroupsOf, IncludesTheWholeGroup) {
  const SelectResult found = run(support::dense(x), groups, 2, {10});
  EXPECT_NE(std::find(found.selected.begin(), found.selected.end(), 11), found.selected.end());
  EXPECT_EQ(found.groups.size(), 2u);
}

std::vector<std::string> all_methods() {
  std::vector<std::string> out;
  for (const Method& method : methods()) out.push_back(method.name);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Methods, GroupsOf, testing::ValuesIn(all_methods()),
                         [](const auto& method) { return method.param; });

// spec at its defaults is lapscore less 1, so the groups come in the same order.
TEST(Groups, AnAdditiveConstantChangesNothing) {
  const Indices numbers{0, 0, 0, 1, 1, 2, 3, 3, 3, 3, 4, 5};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Matrix x = product(support::random_matrix(60, 4, 400 + seed), support::random_matrix(4, 12, 500 + seed));
    const Matrix noise = support::random_matrix(60, 12, 600 + seed);
    for (Index i = 0; i < x.size(); ++i) x.data()[i] += 0.5 * noise.data()[i];
    std::vector<SelectResult> found;
    for (const std::string name : {"lapscore", "spec"}) {
      const auto bound = find_method(name).bind();
      SelectRequest request;
      request.features.count = 3;
      request.groups = {ColumnGroups(numbers), std::vector<std::string>(6, "g")};
      Context context(2);
      found.push_back(select_features(support::dense(x), find_method(name), *bound, request, context));
    }
    EXPECT_EQ(found[0].ranking, found[1].ranking) << seed;
    for (std::size_t j = 0; j < 12; ++j) EXPECT_NEAR(found[0].scores[j] - 1, found[1].scores[j], 1e-12);
  }
}

// One-hot columns of a variable that the rows follow: too weak alone for these methods, first together.
TEST(Groups, IndicatorsOfAPlantedVariableComeTogether) {
  const Matrix x = with_indicators(200, 12, 9);
  Indices numbers{0, 0, 0, 0};
  for (Index j = 4; j < x.cols(); ++j) numbers.push_back(j);
  for (const std::string name : {"guided", "css", "ufcm"}) {
    const auto bound = find_method(name).bind();
    const Options options = bound->options();
    if (const Option* clusters = find_option(options, "clusters")) set_from_text(*clusters, name, "4");
    SelectRequest request;
    request.features.count = 2;
    request.scale = Scaling::standard;
    request.groups = {ColumnGroups(numbers), std::vector<std::string>(13, "g")};
    Context context(2);
    const SelectResult found = select_features(support::dense(x), find_method(name), *bound, request, context);
    for (Index j = 0; j < 4; ++j) {
      EXPECT_NE(std::find(found.selected.begin(), found.selected.end(), j), found.selected.end()) << name;
    }
  }
}

}  // namespace
}  // namespace tamis
