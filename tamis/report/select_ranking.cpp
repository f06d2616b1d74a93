#include <algorithm>
#include <cmath>

#include "tamis/report/charts/charts.h"
#include "tamis/report/document.h"
#include "tamis/report/select_view.h"
#include "tamis/run/stability/repeats.h"

namespace tamis {

namespace {

using page::TableCell;
using enum page::Column::Kind;

// Always signed, with a typographic minus.
std::string signed_number(double value) { return (value < 0.0 ? "\u2212" : "+") + short_number(std::abs(value), 3); }

page::Figure explained_figure(const SelectView& view, const std::vector<double>& explained) {
  page::LineChart chart;
  chart.x_title = view.counted(), chart.y_title = "explained variance";
  chart.log_x = explained.size() > kLogCurve;
  chart.dots = explained.size() <= 60;
  chart.from_zero = chart.percent = true;
  chart.whole_x = !chart.log_x;
  chart.panels = {{"", {{"explained", curve(explained, chart.log_x), false}}}};
  page::Figure figure;
  figure.title = "Explained variance";
  figure.caption = "Share of the variance of all columns that the first columns explain.";
  figure.alt = concat("Line chart of the share of the variance that the first columns explain, from ",
                      short_number(explained.front(), 3), " for one to ", short_number(explained.back(), 3), " for ",
                      explained.size(), ".");
  figure.spec = page::line_chart(chart);
  return figure;
}

const std::vector<double>* trace_of(const SelectView& view, const std::string& of) {
  for (const auto& [term, values] : view.selection.report.terms) {
    if (term == of) return &values;
  }
  return nullptr;
}

std::pair<Index, Index> farthest(const SelectView& view, Index column) {
  const Matrix& g = view.selection.centers;
  Index high = 0, low = 0;
  for (Index k = 1; k < g.rows(); ++k) {
    if (g(k, column) > g(high, column)) high = k;
    if (g(k, column) < g(low, column)) low = k;
  }
  return {high, low};
}

// A feature's strongest component, and the clusters it separates.
std::string weight_reason(const SelectView& view, Index j) {
  const Index i = view.place[at(j)];
  const Matrix& w = view.selection.components;
  Index strongest = 0;
  for (Index k = 1; k < w.cols(); ++k) {
    if (std::abs(w(i, k)) > std::abs(w(i, strongest))) strongest = k;
  }
  const double weight = w(i, strongest);
  if (weight == 0.0) return "no weight in any component";
  const Reasons& reasons = view.record.method.reasons;
  const std::string head = concat(reasons.column, " ", strongest, " (", signed_number(weight), ")");
  if (view.selection.centers.rows() < 2) return head;
  const bool embedded = reasons.centers_by_column;
  const auto [high, low] = farthest(view, embedded ? strongest : i);
  return head +
         (embedded ? concat(": clusters ", high, " and ", low) : concat(": highest in ", high, ", lowest in ", low));
}

// Whether means of clusters say why a feature was selected: not where the clusters are those of noise.
bool explains(const SelectView& view) { return view.profile && view.has_structure(); }

bool has_groups(const SelectView& view) { return view.result.redundancy && !view.result.redundancy->groups.empty(); }

std::string reason_text(const SelectView& view) {
  std::string out = explains(view)
                        ? "Why: the clusters in which the mean of the feature is highest and lowest; the bars are "
                          "its means in all of them, from the smallest to the largest."
                        : view.record.method.reasons.text;
  if (out.empty()) {
    out = concat(view.record.method.name,
                 " scores each feature on its own, so the score is the only reason: ", view.record.method.formula, ".");
  }
  if (const auto& stability = view.result.stability) {
    out += concat(" Stable: how many of ", stability->runs, stability->resampled ? " half samples" : " seeds",
                  " select the feature; ranks: its ranks there.");
  }
  if (has_groups(view)) out += " Redundancy group: features with the same number repeat each other (see Redundancy).";
  if (view.record.request.groups.groups.given()) out += " Group: features of one group were selected together.";
  if (view.top.size() < 2) return out;
  return out + concat(" Most alike: among the best ", view.top.size(),
                      ", the feature with the largest absolute correlation r; it is the most redundant with this one.");
}

constexpr std::size_t kSaidWhy = 500;  // features, and those that are selected
constexpr std::size_t kStripClusters = 30;

std::string shown_strip(const ClusterProfile& profile, std::size_t feature) {
  return strip_of(profile, feature).substr(0, kStripClusters);
}

// The weights behind the ranking, for those who know the method.
page::Table weights_table(const SelectView& view) {
  constexpr std::size_t kShownWeights = 500;
  page::Table table;
  table.title = "Weights";
  table.folded = true;
  table.caption = view.record.method.reasons.text;
  table.columns = {{"rank", number}, {"name"}, {"largest weight"}};
  for (std::size_t rank = 0; rank < std::min(kShownWeights, view.result.ranking.size()); ++rank) {
    const Index j = view.result.ranking[rank];
    table.rows.push_back({static_cast<Index>(rank + 1), view.name_of_row(j), weight_reason(view, j)});
  }
  if (table.rows.size() < view.result.ranking.size()) {
    table.caption += concat(" The first ", table.rows.size(), " of ", view.result.ranking.size(), ".");
  }
  return table;
}

void add_stability(const RepeatedRuns& found, Index j, std::vector<TableCell>& row) {
  const Index low = found.rank_low[at(j)], high = found.rank_high[at(j)];
  row.emplace_back(found.frequency[at(j)]);
  row.emplace_back(low == high ? std::to_string(low) : concat(low, "\u2013", high));
}

void add_partner(const SelectView& view, std::vector<TableCell>& row, std::size_t rank) {
  if (rank >= view.top.size()) {
    row.insert(row.end(), {TableCell(), TableCell()});
    return;
  }
  const auto me = static_cast<Index>(rank);
  Index best = me == 0 ? 1 : 0;
  for (Index other = 0; other < view.correlation.cols(); ++other) {
    if (other != me && std::abs(view.correlation(me, other)) > std::abs(view.correlation(me, best))) best = other;
  }
  row.push_back(view.name_of_row(view.top[at(best)]));
  row.emplace_back(view.correlation(me, best));
}

}  // namespace

page::Section scores_section(const SelectView& view) {
  page::Section section{"Scores", {}};
  add_warnings(view, section);
  std::vector<double> falling;
  for (const Index j : view.result.ranking) falling.push_back(view.result.scores[at(j)]);
  const Index bend = page::knee(falling);
  page::LineChart chart;
  chart.x_title = "rank", chart.y_title = "score";
  chart.log_x = falling.size() > kLogCurve;
  chart.dots = falling.size() <= 60;
  chart.from_zero = falling.back() >= 0.0;
  chart.whole_x = !chart.log_x;
  chart.panels = {{"", {{"score", curve(falling, chart.log_x), false}}}};
  if (bend > 0) chart.markers.push_back({static_cast<double>(bend + 1), concat("knee at ", bend + 1)});
  if (view.result.selected.size() < falling.size()) {
    chart.markers.push_back(
        {static_cast<double>(view.result.selected.size()), concat("selected: ", view.result.selected.size())});
  }
  page::Figure figure;
  figure.title = "Scores by rank";
  figure.caption = bend > 0 ? concat("Higher is better. The knee is at rank ", bend + 1,
                                     ", where the scores are farthest below the line from the first to the last.")
                            : std::string("Higher is better. The scores have no knee.");
  figure.alt = concat("Line chart of the scores of ", falling.size(), " features by rank, decreasing from ",
                      short_number(falling.front(), 3), " to ", short_number(falling.back(), 3), ". ",
                      bend > 0 ? concat("Knee at rank ", bend + 1, ".") : std::string("No knee."));
  figure.spec = page::line_chart(chart);
  section.blocks.push_back(figure);
  return section;
}

page::Section ranking_section(const SelectView& view) {
  page::Section section{"Ranking", {page::Text{reason_text(view)}}};
  if (view.is_order() && !view.selection.guidance) add_warnings(view, section);
  if (const auto* explained = trace_of(view, "explained"); explained != nullptr && explained->size() > 1) {
    section.blocks.push_back(explained_figure(view, *explained));
  }
  page::Table table;
  table.title = "Features, best first";
  const bool some = view.result.selected.size() < view.result.ranking.size();
  const bool profiled = explains(view);
  const bool why = profiled || !view.selection.components.empty();
  table.columns = {{"rank", number}, {"feature", number}, {"name"}};
  if (!view.is_order()) table.columns.push_back({"score", significant, 5});
  const auto& guidance = view.selection.guidance;
  const bool judged = guidance && !guidance->evidence.empty();
  if (guidance) table.columns.push_back({"share", percent, 1});
  if (judged) table.columns.push_back({"p", probability, 2});
  if (some) table.columns.push_back({"selected"});
  if (view.result.stability) table.columns.insert(table.columns.end(), {{"stable", percent, 0}, {"ranks"}});
  if (why) table.columns.push_back({"why"});
  if (profiled) table.columns.push_back({"by cluster", strip});
  const bool repeated = has_groups(view);
  const std::vector<Index> group = group_numbers(view.result);
  const FeatureGroups& given = view.record.request.groups;
  if (given.groups.given()) table.columns.push_back({"group"});
  if (repeated) table.columns.push_back({"redundancy group", number});
  if (view.top.size() > 1) table.columns.insert(table.columns.end(), {{"most alike"}, {"r", number, 2}});
  const std::size_t shown = std::min(kShownFeatures, view.result.ranking.size());
  for (std::size_t rank = 0; rank < shown; ++rank) {
    const Index j = view.result.ranking[rank];
    std::vector<TableCell> row = {static_cast<Index>(rank + 1), j, view.name_of_row(j)};
    if (!view.is_order()) row.emplace_back(view.result.scores[at(j)]);
    if (guidance) row.emplace_back(guidance->share[at(view.place[at(j)])]);
    if (judged) row.emplace_back(guidance->evidence[at(view.place[at(j)])]);
    if (some) row.emplace_back(view.chosen[at(j)] ? "yes" : "");
    if (view.result.stability) add_stability(*view.result.stability, j, row);
    const bool said = rank < kSaidWhy || view.chosen[at(j)] != 0;
    if (why) row.emplace_back(!said ? "" : profiled ? difference_text(*view.profile, rank) : weight_reason(view, j));
    if (profiled) row.emplace_back(said ? shown_strip(*view.profile, rank) : "");
    if (given.groups.given()) row.push_back(page::name_cell(given.names[at(given.groups.of(j))]));
    if (repeated) row.push_back(group[at(j)] > 0 ? TableCell(group[at(j)]) : TableCell());
    if (view.top.size() > 1) add_partner(view, row, rank);
    table.rows.push_back(std::move(row));
  }
  if (shown < view.result.ranking.size()) {
    table.caption = concat("The best ", shown, " of ", view.result.ranking.size(), "; ranking.csv has all of them.");
  }
  section.blocks.push_back(std::move(table));
  if (profiled && !view.selection.components.empty()) section.blocks.push_back(weights_table(view));
  return section;
}

}  // namespace tamis
