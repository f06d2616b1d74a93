#include "tamis/eval/stability.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tamis/base/error.h"

namespace tamis {

namespace {

constexpr Index kRunsPerTail = 20;                     // one run in so many is left out at either end
constexpr double kNormalQuantile = 1.959963984540054;  // of 97.5 %

// What the index is made of: z without the forced columns.
struct FreeColumns {
  std::vector<std::size_t> columns;
  std::vector<double> frequency;  // p_f
  double mean_share = 0;          // k / d
};

FreeColumns free_columns(const std::vector<double>& frequency, const std::vector<char>& forced) {
  FreeColumns out;
  for (std::size_t f = 0; f < frequency.size(); ++f) {
    if (!forced.empty() && forced[f]) continue;
    out.columns.push_back(f);
    out.frequency.push_back(frequency[f]);
  }
  const double sum = std::accumulate(out.frequency.begin(), out.frequency.end(), 0.0);
  if (!out.columns.empty()) out.mean_share = sum / static_cast<double>(out.columns.size());
  return out;
}

// phi_i of theorem 7: how far run i pulls the index.
double influence(const Choice& run, const FreeColumns& free, double index, double chance) {
  const auto d = static_cast<double>(free.columns.size());
  double selected = 0, shared = 0;  // k_i, sum_f z_if p_f
  for (std::size_t f = 0; f < free.columns.size(); ++f) {
    if (!run.selected[free.columns[f]]) continue;
    selected += 1;
    shared += free.frequency[f];
  }
  const double share = selected / d, mean = free.mean_share;
  return (shared / d - share * mean + index / 2 * (2 * share * mean - share - mean + 1)) / chance;
}

// sum_i (x_i - mean)^2
double squared_deviations(const std::vector<double>& values) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum;
}

std::optional<StabilityIndex> index_of(const std::vector<Choice>& runs, const FreeColumns& free) {
  const double chance = free.mean_share * (1 - free.mean_share);
  const bool some = std::ranges::any_of(free.frequency, [](double p) { return p > 0; });
  const bool not_all = std::ranges::any_of(free.frequency, [](double p) { return p < 1; });
  if (!some || !not_all) return std::nullopt;
  const auto d = static_cast<double>(free.columns.size()), m = static_cast<double>(runs.size());
  double spread = 0;  // sum_f s_f^2
  for (const double p : free.frequency) spread += m / (m - 1) * p * (1 - p);
  StabilityIndex out;
  out.value = 1 - spread / d / chance;
  std::vector<double> influences;
  for (const Choice& run : runs) influences.push_back(influence(run, free, out.value, chance));
  out.variance = 4 / (m * m) * squared_deviations(influences);
  const double reach = kNormalQuantile * std::sqrt(out.variance);
  out.low = out.value - reach, out.high = std::min(1.0, out.value + reach);
  return out;
}

void add_ranks(const std::vector<Choice>& runs, Stability& out) {
  const std::size_t d = runs.front().rank.size();
  const std::size_t tail = runs.size() / kRunsPerTail;
  std::vector<Index> sums(d, 0);
  std::vector<std::int32_t> ranks(runs.size());
  for (std::size_t f = 0; f < d; ++f) {
    for (std::size_t i = 0; i < runs.size(); ++i) ranks[i] = runs[i].rank[f];
    std::ranges::sort(ranks);
    out.rank_low.push_back(ranks[tail]), out.rank_high.push_back(ranks[runs.size() - 1 - tail]);
    sums[f] = std::accumulate(ranks.begin(), ranks.end(), Index{0});
    out.mean_rank.push_back(static_cast<double>(sums[f]) / static_cast<double>(runs.size()));
  }
  out.consensus.resize(d);
  std::iota(out.consensus.begin(), out.consensus.end(), Index{0});
  std::ranges::stable_sort(out.consensus, {}, [&](Index f) { return sums[f]; });
}

}  // namespace

Choice choice_of(const std::vector<Index>& ranking, const std::vector<Index>& selected) {
  Choice out{std::vector<std::int32_t>(ranking.size()), std::vector<char>(ranking.size(), 0)};
  std::int32_t rank = 0;
  for (const Index f : ranking) out.rank[f] = ++rank;
  for (const Index f : selected) out.selected[f] = 1;
  return out;
}

Stability stability_of(const std::vector<Choice>& runs, const std::vector<char>& forced) {
  require(runs.size() >= 2, ErrorCode::usage, "stability: ", runs.size(), " runs, need at least 2");
  const std::size_t d = runs.front().rank.size();
  Stability out;
  out.runs = static_cast<Index>(runs.size());
  std::vector<Index> selected(d, 0);
  for (const Choice& run : runs) {
    require(run.rank.size() == d && run.selected.size() == d, ErrorCode::usage, "stability: a run over ",
            run.rank.size(), " columns, need ", d);
    for (std::size_t f = 0; f < d; ++f) selected[f] += run.selected[f];
    out.counts.push_back(std::count(run.selected.begin(), run.selected.end(), char{1}));
  }
  for (const Index count : selected)
    out.frequency.push_back(static_cast<double>(count) / static_cast<double>(out.runs));
  add_ranks(runs, out);
  out.index = index_of(runs, free_columns(out.frequency, forced));
  out.same = std::ranges::all_of(runs, [&](const Choice& run) { return run == runs.front(); });
  return out;
}

}  // namespace tamis
