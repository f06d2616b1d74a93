#include "tamis/eval/stability.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "tamis/base/error.h"
#include "tamis/base/random.h"
#include "tests/support/seeds.h"

namespace tamis {
namespace {

using Sets = std::vector<std::vector<Index>>;

std::vector<Index> first_columns(Index d) {
  std::vector<Index> out(static_cast<std::size_t>(d));
  std::iota(out.begin(), out.end(), Index{0});
  return out;
}

// Runs that select these columns; how they rank does not matter.
std::vector<Choice> runs_with(const Sets& sets, Index d) {
  std::vector<Choice> runs;
  for (const auto& set : sets) runs.push_back(choice_of(first_columns(d), set));
  return runs;
}

// `k` random columns of d.
std::vector<Index> random_set(Index d, Index k, const Random& random, std::uint64_t run) {
  std::vector<Index> columns = first_columns(d);
  const auto at = [&](Index f) {
    return random.bits(run * static_cast<std::uint64_t>(d) + static_cast<std::uint64_t>(f));
  };
  std::ranges::sort(columns, {}, at);
  columns.resize(static_cast<std::size_t>(k));
  return columns;
}

// With equal k the index is the mean over all pairs of runs of Kuncheva's (|A and B| - k^2/d) / (k - k^2/d).
double mean_of_pairs(const Sets& sets, Index d) {
  double sum = 0;
  int pairs = 0;
  for (std::size_t a = 0; a < sets.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      double both = 0;
      for (const Index f : sets[a]) both += static_cast<double>(std::ranges::count(sets[b], f));
      const auto k = static_cast<double>(sets[a].size());
      const double chance = k * k / static_cast<double>(d);
      sum += (both - chance) / (k - chance);
      ++pairs;
    }
  }
  return sum / pairs;
}

TEST(Stability, WorkedByHand) {
  // p = (1, 2/3, 1/3, 0), k = 2: s^2 = (0, 1/3, 1/3, 0), index = 1 - (1/6) / (1/4) = 1/3.
  const auto runs = runs_with({{0, 1}, {0, 1}, {0, 2}}, 4);
  const Stability found = stability_of(runs);
  EXPECT_EQ(found.runs, 3);
  EXPECT_EQ(found.frequency, (std::vector<double>{1.0, 2.0 / 3, 1.0 / 3, 0.0}));
  EXPECT_EQ(found.counts, (std::vector<Index>{2, 2, 2}));
  ASSERT_TRUE(found.index);
  EXPECT_NEAR(found.index->value, 1.0 / 3, 1e-15);
  // phi_i = 4 ((1/4) sum_f z_if p_f - 1/4 + (1/6)(1/2)): (1/4)(5/3) twice and (1/4)(4/3) once, so phi = a, a, a - 1/3;
  // sum of squared deviations 2/27, variance 4/9 * 2/27.
  EXPECT_NEAR(found.index->variance, 8.0 / 243, 1e-15);
  EXPECT_NEAR(found.index->low, 1.0 / 3 - 1.959963984540054 * std::sqrt(8.0 / 243), 1e-12);
  EXPECT_NEAR(found.index->high, 1.0 / 3 + 1.959963984540054 * std::sqrt(8.0 / 243), 1e-12);
  EXPECT_FALSE(found.same);
}

TEST(Stability, IsOneWhereAllRunsSelectTheSame) {
  for (const std::size_t runs : {2U, 5U, 40U}) {
    const Stability found = stability_of(runs_with(Sets(runs, {3, 1, 4}), 7));
    ASSERT_TRUE(found.index);
    EXPECT_DOUBLE_EQ(found.index->value, 1.0);
    EXPECT_NEAR(found.index->variance, 0.0, 1e-30);
    EXPECT_DOUBLE_EQ(found.index->low, 1.0);
    EXPECT_DOUBLE_EQ(found.index->high, 1.0);
    EXPECT_TRUE(found.same);
  }
}

TEST(Stability, IsTheMeanOverPairsOfRuns) {
  const Random random = support::seeded(1, 0);
  for (const Index d : {5, 30}) {
    for (Index k = 1; k < d; k += 3) {
      Sets sets;
      for (std::uint64_t run = 0; run < 7; ++run) sets.push_back(random_set(d, k, random, run));
      EXPECT_NEAR(stability_of(runs_with(sets, d)).index->value, mean_of_pairs(sets, d), 1e-12) << d << " " << k;
    }
  }
}

TEST(Stability, IsNearZeroForRandomSetsOfAnySize) {
  const Random random = support::seeded(2, 0);
  constexpr Index kColumns = 200;
  for (const Index k : {1, 10, 50, 100, 190}) {
    Sets sets;
    for (std::uint64_t run = 0; run < 200; ++run) sets.push_back(random_set(kColumns, k, random, run));
    EXPECT_NEAR(stability_of(runs_with(sets, kColumns)).index->value, 0.0, 0.02) << k;
  }
  Sets mixed;
  for (std::uint64_t run = 0; run < 200; ++run) {
    mixed.push_back(random_set(kColumns, 1 + static_cast<Index>(run % 150), random, run));
  }
  EXPECT_NEAR(stability_of(runs_with(mixed, kColumns)).index->value, 0.0, 0.02);
}

// The 95 % interval covers the true index of runs that keep each column by a known probability.
TEST(Stability, IntervalCoversTheTrueIndex) {
  const Random random = support::seeded(3, 0);
  constexpr Index kColumns = 40;
  constexpr int kRuns = 50, kTrials = 400;
  const auto probability = [](Index f) { return f < 10 ? 0.9 : f < 20 ? 0.4 : 0.05; };
  double share = 0, spread = 0;
  for (Index f = 0; f < kColumns; ++f) {
    share += probability(f) / kColumns;
    spread += probability(f) * (1 - probability(f)) / kColumns;
  }
  const double truth = 1 - spread / (share * (1 - share));
  int covered = 0;
  std::uint64_t counter = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    Sets sets(kRuns);
    for (auto& set : sets) {
      for (Index f = 0; f < kColumns; ++f) {
        if (random.uniform(counter++) < probability(f)) set.push_back(f);
      }
    }
    const auto index = stability_of(runs_with(sets, kColumns)).index;
    covered += index->low <= truth && truth <= index->high;
  }
  EXPECT_GT(covered, kTrials * 90 / 100);
  EXPECT_LE(covered, kTrials);
}

TEST(Stability, HasNoIndexWhereThereIsNothingToChoose) {
  EXPECT_FALSE(stability_of(runs_with({{0, 1, 2}, {0, 1, 2}}, 3)).index);
  EXPECT_FALSE(stability_of(runs_with({{}, {}}, 3)).index);
  EXPECT_FALSE(stability_of(runs_with({{0}, {0}}, 1)).index);
}

TEST(Stability, LeavesForcedColumnsOutOfTheIndex) {
  const Sets sets = {{0, 1, 2}, {0, 1, 3}, {0, 1, 4}}, without = {{0}, {1}, {2}};
  const Stability found = stability_of(runs_with(sets, 5), {1, 1, 0, 0, 0});
  EXPECT_NEAR(found.index->value, stability_of(runs_with(without, 3)).index->value, 1e-15);
  EXPECT_EQ(found.frequency[0], 1.0);
  EXPECT_FALSE(stability_of(runs_with({{0, 1}, {0, 1}}, 3), {1, 1, 0}).index);
}

TEST(Stability, RanksOfFewRunsGoFromTheLowestToTheHighest) {
  const std::vector<Choice> runs = {choice_of({0, 1, 2}, {0}), choice_of({1, 0, 2}, {1}), choice_of({2, 0, 1}, {2})};
  const Stability found = stability_of(runs);
  EXPECT_EQ(found.rank_low, (std::vector<Index>{1, 1, 1}));
  EXPECT_EQ(found.rank_high, (std::vector<Index>{2, 3, 3}));
  EXPECT_EQ(found.mean_rank, (std::vector<double>{5.0 / 3, 2.0, 7.0 / 3}));
  EXPECT_EQ(found.consensus, (std::vector<Index>{0, 1, 2}));
}

TEST(Stability, RanksOfManyRunsLeaveOutATwentiethAtEitherEnd) {
  std::vector<Choice> runs;
  for (Index run = 0; run < 40; ++run) {  // column 0 has ranks 1 .. 40
    std::vector<Index> ranking = first_columns(40);
    std::rotate(ranking.begin(), ranking.begin() + 1, ranking.begin() + 1 + run);
    runs.push_back(choice_of(ranking, {0}));
  }
  const Stability found = stability_of(runs);
  EXPECT_EQ(found.rank_low[0], 3);
  EXPECT_EQ(found.rank_high[0], 38);
  runs.resize(19);
  EXPECT_EQ(stability_of(runs).rank_low[0], 1);
  EXPECT_EQ(stability_of(runs).rank_high[0], 19);
}

TEST(Stability, ConsensusBreaksTiesByPosition) {
  const std::vector<Choice> runs = {choice_of({2, 1, 0}, {2}), choice_of({0, 1, 2}, {0})};
  EXPECT_EQ(stability_of(runs).consensus, (std::vector<Index>{0, 1, 2}));
}

TEST(Stability, DoesNotDependOnTheOrderOfRunsAndColumns) {
  const Random random = support::seeded(4, 0);
  Sets sets;
  for (std::uint64_t run = 0; run < 6; ++run)
    sets.push_back(random_set(9, 2 + static_cast<Index>(run % 3), random, run));
  const auto index = stability_of(runs_with(sets, 9)).index;
  std::ranges::reverse(sets);
  for (auto& set : sets) {
    for (Index& f : set) f = 8 - f;
  }
  const auto other = stability_of(runs_with(sets, 9)).index;
  EXPECT_NEAR(index->value, other->value, 1e-14);
  EXPECT_NEAR(index->variance, other->variance, 1e-14);
}

TEST(Stability, NeedsTwoRunsOverTheSameColumns) {
  EXPECT_THROW(stability_of({}), Error);
  EXPECT_THROW(stability_of(runs_with({{0}}, 3)), Error);
  EXPECT_THROW(stability_of({choice_of({0, 1}, {0}), choice_of({0, 1, 2}, {0})}), Error);
}

}  // namespace
}  // namespace tamis
