#include "tamis/select/guided/guided.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/data/passes/sample.h"
#include "tamis/select/copies.h"
#include "tamis/select/direct.h"
#include "tamis/select/guided/alignment.h"
#include "tamis/select/guided/evidence.h"

namespace tamis {

namespace {

// The rows that are looked at, and of their columns those that vary.
struct GuidedTable {
  Source rows;
  std::vector<Index> kept;
  Centered z;
  std::vector<double> scatter;
  Copies copies;
};

// A column counts where it takes values that differ by more than rounding.
std::vector<Index> columns_that_vary(const ColumnMoments& moments) {
  std::vector<Index> out;
  for (std::size_t j = 0; j < moments.mean.size(); ++j) {
    const double largest = std::max(std::abs(moments.min[j]), std::abs(moments.max[j]));
    const bool differs = moments.max[j] / 2 - moments.min[j] / 2 > 32 * kUlp * largest;
    if (moments.varying[j] && differs && moments.scatter[j] > 0) out.push_back(static_cast<Index>(j));
  }
  return out;
}

// Numbers far from 1 are brought near it by a power of two, so that no square of a row overflows.
Source near_one(const Source& source, const ColumnMoments& moments) {
  double largest = 0;
  for (std::size_t j = 0; j < moments.min.size(); ++j) {
    largest = std::max({largest, std::abs(moments.min[j]), std::abs(moments.max[j])});
  }
  if (largest == 0 || (largest < 0x1p100 && largest > 0x1p-100)) return source;
  const double factor = std::ldexp(1.0, -std::clamp(std::ilogb(largest), -1000, 1000));
  return source.with_column_scale(std::vector<double>(moments.min.size(), factor));
}

GuidedTable guided_table(const Source& sampled, Context& context) {
  const Source rows = near_one(sampled, column_moments(sampled, context));
  std::vector<Index> kept = columns_that_vary(column_moments(rows, context));
  if (kept.empty()) throw NoVariation(message("no variation: all ", rows.cols(), " columns are constant"));
  Source varying = rows.with_columns(kept);
  ColumnMoments moments = column_moments(varying, context);
  Centered z(varying, moments);
  Copies copies = find_copies(varying, moments, context);
  return {std::move(varying), std::move(kept), std::move(z), std::move(moments.scatter), std::move(copies)};
}

std::vector<Index> positions_among(const std::vector<Index>& kept, const std::vector<Index>& columns) {
  std::vector<Index> out;
  for (const Index j : columns) {
    const auto found = std::lower_bound(kept.begin(), kept.end(), j);
    if (found != kept.end() && *found == j) out.push_back(found - kept.begin());
  }
  return out;
}

// Of exact copies the lower index comes first, however their numbers were rounded; the first `fixed` columns stay.
void put_copies_in_order(const Copies& copies, std::size_t fixed, std::vector<Index>& order) {
  if (!copies.any()) return;
  std::vector<std::vector<Index>> members(copies.groups());
  for (std::size_t k = fixed; k < order.size(); ++k) members[copies.group[order[k]]].push_back(order[k]);
  for (auto& group : members) std::sort(group.rbegin(), group.rend());
  for (std::size_t k = fixed; k < order.size(); ++k) {
    auto& group = members[copies.group[order[k]]];
    order[k] = group.back();
    group.pop_back();
  }
}

// Groups of the columns that vary: the path, and the others by falling share.
std::vector<Index> order_of_groups(const std::vector<Index>& path, std::size_t forced, const std::vector<double>& share,
                                   const ColumnGroups& groups, const Copies& copies) {
  std::vector<char> placed(share.size());
  std::vector<Index> order = path, rest;
  for (const Index g : path) placed[g] = 1;
  for (std::size_t g = 0; g < share.size(); ++g) {
    if (!placed[g]) rest.push_back(static_cast<Index>(g));
  }
  std::stable_sort(rest.begin(), rest.end(), [&](Index a, Index b) { return share[a] > share[b]; });
  order.insert(order.end(), rest.begin(), rest.end());
  if (!groups.any()) put_copies_in_order(copies, forced, order);
  return order;
}

std::vector<double> spread_over(const std::vector<double>& values, const std::vector<Index>& kept, Index d,
                                double elsewhere) {
  std::vector<double> out(d, elsewhere);
  for (std::size_t i = 0; i < kept.size(); ++i) out[kept[i]] = values[i];
  return out;
}

void check_guided(const Source& source, const GuidedOptions& options) {
  require_valid(options, "guided");
  const Index n = source.rows();
  require(n >= 2, ErrorCode::bad_data, n, " row", n == 1 ? "" : "s", ", need at least 2");
  require(source.cols() >= 1, ErrorCode::bad_data, "0 features, need at least 1");
  const Index c = options.guide.clusters.value_or(1);
  require(c <= n, ErrorCode::usage, MethodName{"guided"}, ": ", OptionName{"clusters"}, " = ", c, ", need 1..n = ", n);
}

// The rows of step 1, scaled as the source is.
Source rows_to_look_at(const Source& source, const GuidedOptions& options, Context& context) {
  Source rows = options.drawn.rows() > 0 ? options.drawn : draw_sample(source, options, context);
  column_moments(source, context);  // every number is looked at, on the way or now
  if (rows.rows() == 0) return source;
  if (options.drawn.rows() == 0) return rows;
  if (!source.column_scale().empty()) rows = rows.with_column_scale(source.column_scale());
  if (source.row_scale().empty()) return rows;
  std::vector<double> scale;
  for (const Index i : draw_rows(source.rows(), rows.rows(), context.seed)) {
    scale.push_back(source.row_scale()[i]);
  }
  return rows.with_row_scale(scale);
}

std::vector<char> above_chance(const std::vector<double>& shares, const Guidance& guidance) {
  std::vector<char> out;
  for (const double share : shares) out.push_back(share > guidance.chance + kGate * guidance.deviation);
  return out;
}

// Of each group: the smallest p-value of its columns, times their number.
std::vector<double> group_evidence(const ColumnGroups& groups, const std::vector<double>& evidence) {
  std::vector<double> out(groups.count(), 1.0);
  for (Index g = 0; g < groups.count(); ++g) {
    const auto members = groups.members(g);
    for (const Index j : members) out[g] = std::min(out[g], static_cast<double>(members.size()) * evidence[j]);
  }
  return out;
}

// The table that is looked at, its guide, and what it says of every column.
struct Judged {
  GuidedTable table;
  Guide guide;
  Guidance guidance;
  ColumnMerits merits;
  ColumnGroups groups;         // of the columns that vary
  std::vector<double> shares;  // of these groups
  std::vector<char> half;      // of these columns, and the graphs of both halves: for evidence
  std::vector<GuideGraphs> other;
};

// Which groups of columns go with the groups of rows: by evidence, or by share alone.
std::vector<char> passing_groups(Judged& judged, const GuidedOptions& options, Context& context) {
  Guidance& guidance = judged.guidance;
  if (options.evidence) {
    guidance.evidence = column_evidence(judged.table.rows, judged.half, judged.other, options.guide, context);
    judged.other.clear();
  }
  std::vector<char> passed = options.evidence
                                 ? discoveries(group_evidence(judged.groups, guidance.evidence), kDiscoveryRate)
                                 : above_chance(judged.shares, guidance);
  guidance.passed = std::count(passed.begin(), passed.end(), char{1});
  return passed;
}

// sum_j x_j'Px_j / sum_j x_j'x_j
std::vector<double> group_shares(const ColumnGroups& groups, const std::vector<double>& guided,
                                 const std::vector<double>& scatter) {
  std::vector<double> out = sums_of_groups(groups, guided);
  const std::vector<double> all = sums_of_groups(groups, scatter);
  for (std::size_t g = 0; g < out.size(); ++g) out[g] /= all[g];
  return out;
}

Judged judge_columns(const Source& rows, const GuidedOptions& options, Context& context) {
  GuidedTable table = guided_table(rows, context);
  std::vector<char> half = options.evidence ? column_halves(table.rows, context) : std::vector<char>();
  std::vector<GuideGraphs> graphs;
  Guide guide = [&] {
    const Stage stage(context, "groups of rows");
    graphs = guide_graphs(table.rows, half, options.guide, context);
    return make_guide(graphs.front(), options.guide, context);
  }();
  graphs.erase(graphs.begin());
  const Chance noise = chance(guide);
  const std::vector<double> guided = guided_scatter(guide, table.z, context);
  Guidance guidance;
  ColumnMerits merits{table.scatter, {}};
  for (std::size_t j = 0; j < guided.size(); ++j) {
    guidance.share.push_back(guided[j] / table.scatter[j]);
    merits.excess.push_back(guided[j] - noise.mean * table.scatter[j]);
  }
  guidance.chance = noise.mean;
  guidance.deviation = noise.deviation;
  guidance.rows = rows.rows();
  guidance.graph_weights = guide.graph_weights;
  guidance.modularity = guide.modularity;
  guidance.parts = guide.parts;
  guidance.looked_at = rows;
  guidance.groups = guide.partitions[best_partition(guide)].labels;
  ColumnGroups groups = groups_or_columns(options.groups, rows.cols()).among(table.kept);
  std::vector<double> shares = group_shares(groups, guided, table.scatter);
  return {std::move(table),  std::move(guide),  std::move(guidance), std::move(merits),
          std::move(groups), std::move(shares), std::move(half),     std::move(graphs)};
}

// What is known of the columns that vary, for all of them.
void spread_guidance(const std::vector<Index>& kept, Index d, Guidance& guidance) {
  guidance.share = spread_over(guidance.share, kept, d, 0.0);
  if (!guidance.evidence.empty()) guidance.evidence = spread_over(guidance.evidence, kept, d, 1.0);
}

// How many columns the data suggest, and why.
void suggest_count(Index varying, Guidance& guidance) {
  guidance.suggested = columns_worth_taking(guidance.alignment, kNarrow);
  if (guidance.passed == 0) {
    guidance.suggested = varying;
    guidance.outcome = Outcome::no_structure;
  } else if (varying <= kNarrow) {
    guidance.suggested = varying;
    guidance.outcome = Outcome::narrow;
  }
}

}  // namespace

Source draw_sample(const Source& source, const GuidedOptions& options, Context& context) {
  const Index n = source.rows(), m = rows_looked_at(options, n);
  if (source.store().in_memory() && m == n) return {};
  return take_rows(source, draw_rows(n, m, context.seed), context);
}

Options describe(GuidedOptions& o) {
  return {
      {.name = "clusters",
       .python_name = "n_clusters",
       .value = &o.guide.clusters,
       .range = at_least(1),
       .help = "number of clusters c, if known",
       .unset_text = "several scales"},
      neighbors_option(o.guide.neighbors),
      {.name = "runs",
       .python_name = "n_runs",
       .value = &o.guide.runs,
       .range = {1, 1024},
       .help = "k-means runs per scale"},
      {.name = "scales",
       .value = &o.guide.scales,
       .range = at_least(2),
       .help = "numbers of clusters that the guide averages over"},
      {.name = "sample",
       .python_name = "sample_size",
       .value = &o.sample,
       .range = at_least(2),
       .help = "maximum number of rows to sample, drawn by the seed"},
      {.name = "evidence",
       .value = &o.evidence,
       .help = "admit columns by p-value; no: by share only, twice as fast",
       .late = true},
  };
}

Selection guided(const Source& source, const GuidedOptions& options, Context& context) {
  const Stopwatch watch(context);
  const Index passes_before = context.passes();
  check_guided(source, options);
  const GuidedPlan plan(shape_of(source), options, context.threads());
  context.phase("sample of rows");
  const Source rows = rows_to_look_at(source, options, context);
  const Index passes = context.passes() - passes_before;
  const UncountedPasses uncounted(context);
  Judged judged = judge_columns(rows, options, context);
  const std::vector<Index>& kept = judged.table.kept;
  Guidance& guidance = judged.guidance;
  std::vector<char> may_enter = passing_groups(judged, options, context);
  // Where a number is asked for and nothing was found, groups enter by share.
  if (guidance.passed == 0 && options.features) may_enter = above_chance(judged.shares, guidance);
  context.phase("order of the columns");
  const std::vector<Index> forced = judged.groups.in_order(positions_among(kept, options.forced));
  AlignedPath path = aligned_path(judged.table.z, judged.merits, judged.groups, forced, may_enter, context);

  Selection out;
  const Index d = source.cols();
  const ColumnGroups all = groups_or_columns(options.groups, d);
  const auto order = order_of_groups(path.groups, forced.size(), judged.shares, judged.groups, judged.table.copies);
  order_groups(all, order_among_all(order, judged.groups, all, kept), order.size(), out);
  guidance.alignment = std::move(path.alignment);
  suggest_count(judged.groups.count(), guidance);
  spread_guidance(kept, d, guidance);
  if (rows.rows() == source.rows()) out.clusters = guidance.groups;  // else those of the other rows are not known
  out.report.path = plan.path;
  const auto shown = static_cast<double>(judged.guide.partitions[best_partition(judged.guide)].sizes.size());
  out.report.resolved.emplace_back("clusters_shown", shown);
  out.guidance = std::move(guidance);
  watch.write(out.report);
  out.report.passes = passes;
  return out;
}

Guidance guide_along(const Source& source, const std::vector<Index>& order, const GuidedOptions& options,
                     Context& context) {
  check_guided(source, options);
  const Source rows = rows_to_look_at(source, options, context);
  const UncountedPasses uncounted(context);
  Judged judged = judge_columns(rows, options, context);
  const std::vector<Index>& kept = judged.table.kept;
  Guidance& guidance = judged.guidance;
  passing_groups(judged, options, context);
  const std::vector<Index> groups = judged.groups.in_order(positions_among(kept, order));
  guidance.alignment = alignment_along(judged.table.z, judged.merits, judged.groups, groups, context).alignment;
  suggest_count(judged.groups.count(), guidance);
  spread_guidance(kept, source.cols(), guidance);
  return guidance;
}

Method guided_method() {
  return {
      .name = "guided",
      .python_name = "GuidedUFCM",
      .summary = "UFCM's margin with clusters from graphs of rows; chooses the number of columns itself",
      .formula =
          "maximize sum_{j in S} x_j'(P - t I)x_j / ||X_S X_S'||_F greedily over columns with evidence; P = the "
          "mean of U(U'U)^-1U' over clusterings of nearest-neighbor graphs; score_j = (d - rank_j + 1) / d",
      .reference = "the margin: Wang, Nie, Chang, Yao, Li & Sheng, ECML PKDD 2015; guide, evidence and order: Tamis",
      .bind = bind<GuidedOptions, GuidedPlan, guided>,
      .is_order = true,
      .one_pass = true,
      .remote = true,
      .reasons = {.text = "Share: the fraction of a column's variance that lies between the groups of rows. p: the "
                          "probability that a noise column has a share this large, judged by groups found in other "
                          "columns. The order avoids redundancy, so a column with a large share may come late."},
  };
}

}  // namespace tamis
