// How much several runs agree: how often each column is selected, where it ranks, and one number for all of it.
//
// Nogueira, Sechidis & Brown, "On the Stability of Feature Selection Algorithms", JMLR 18 (2018): M runs select among d
// columns, run i selects k_i of them, z_if says whether column f is one; p_f is the mean of z_if over the runs and k
// the mean of k_i. Then
//
//   index = 1 - (1/d) sum_f s_f^2 / ((k/d) (1 - k/d)),   s_f^2 = M / (M - 1) p_f (1 - p_f)
//
// is 1 where all runs select the same columns and 0 on average where they select at random, whatever d and k. The
// numbers k_i may differ.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tamis/base/types.h"

namespace tamis {

// What one run made of d columns.
struct Choice {
  std::vector<std::int32_t> rank;  // of each column, 1 is best
  std::vector<char> selected;      // 1 where it is
  bool operator==(const Choice&) const = default;
};
// `ranking` has every column, best first.
Choice choice_of(const std::vector<Index>& ranking, const std::vector<Index>& selected);

struct StabilityIndex {
  double value = 0;
  double variance = 0;       // of the estimate, as runs are drawn: theorem 7 of the paper
  double low = 0, high = 0;  // 95 % interval, value -+ 1.96 sqrt(variance), not above 1
};

struct Stability {
  Index runs = 0;
  std::vector<double> frequency;  // of each column: in how many of the runs it is selected, as a fraction
  // Ranks of each column in the middle 90 % of the runs: floor(runs / 20) of them are left out at either end, so that
  // fewer than 20 runs give the lowest and the highest rank.
  std::vector<Index> rank_low, rank_high;
  std::vector<double> mean_rank;
  std::vector<Index> consensus;  // the columns by mean rank; ties go to the lower index
  std::vector<Index> counts;     // columns that each run selects
  // Over the columns that were not forced; none where there is nothing to choose: all or none of them are selected.
  std::optional<StabilityIndex> index;
  bool same = false;  // all runs rank and select alike
};

// Of at least two runs over the same d columns. `forced` marks the columns that every run had to select (empty: none).
Stability stability_of(const std::vector<Choice>& runs, const std::vector<char>& forced = {});

}  // namespace tamis
