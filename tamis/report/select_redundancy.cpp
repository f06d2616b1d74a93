#include <algorithm>
#include <cmath>

#include "tamis/report/charts/charts.h"
#include "tamis/report/select_view.h"
#include "tamis/report/verdict.h"

namespace tamis {

namespace {

using enum page::Column::Kind;

constexpr std::size_t kBestFeatures = 40;
constexpr std::size_t kGroupFeatures = 60;  // with the others of their groups
constexpr std::size_t kShownGroups = 500;
constexpr std::size_t kShownRepresented = 500;
constexpr std::size_t kShownMembers = 20;

std::string groups_text(const SelectView& view, const Redundancy& found) {
  std::string out =
      concat("A redundancy group is a column, its leader, and every column in no earlier group whose absolute ",
             "correlation with it is at least ", short_number(found.threshold), ". ");
  if (found.groups.empty()) return out + "There are no such groups.";
  out += found.groups.size() == 1 ? "There is one." : concat("There are ", found.groups.size(), ".");
  const Index rows = view.record.table.source.rows();
  if (found.rows == 0 || found.rows >= rows) return out;
  return out + concat(found.r2.empty() ? " The correlations are" : " Without a selected leader, the correlations are",
                      " those in a sample of ", found.rows, " of the ", rows, " rows.");
}

// How much of an unrelated column k selected ones explain by chance, where that is worth a word.
std::string chance_text(const SelectView& view) {
  constexpr double kWorthAWord = 0.1;
  const double rows = static_cast<double>(view.record.table.source.rows());
  const double chance = static_cast<double>(view.result.selected.size()) / std::fmax(rows - 1.0, 1.0);
  if (chance < kWorthAWord) return {};
  return concat(" With ", view.result.selected.size(), " columns selected and ", view.record.table.source.rows(),
                " rows, an unrelated column has an R\u00b2 of about ", short_number(std::fmin(chance, 1.0), 2), ".");
}

// The best features and others of their groups, group by group, then those in no group.
struct InGroups {
  std::vector<Index> features;
  std::vector<std::pair<std::size_t, std::size_t>> blocks;  // first and last position of each group
};

InGroups in_groups(const SelectView& view, const Redundancy& found) {
  const std::size_t best = std::min(kBestFeatures, view.top.size());
  std::vector<char> wanted(view.result.scores.size(), 0), grouped = wanted;
  for (std::size_t i = 0; i < best; ++i) wanted[at(view.top[i])] = 1;
  std::size_t room = kGroupFeatures - best;
  InGroups out;
  for (const auto& group : found.groups) {
    const std::size_t first = out.features.size();
    const bool shown = std::ranges::any_of(group, [&](Index j) { return wanted[at(j)] != 0; });
    for (const Index j : group) {
      if (!shown || (!wanted[at(j)] && room == 0)) continue;
      if (!wanted[at(j)]) --room;
      grouped[at(j)] = 1;
      out.features.push_back(j);
    }
    if (out.features.size() > first + 1) out.blocks.emplace_back(first, out.features.size() - 1);
  }
  for (std::size_t i = 0; i < best; ++i) {
    if (!grouped[at(view.top[i])]) out.features.push_back(view.top[i]);
  }
  return out;
}

double mean_off_diagonal(const Matrix& r) {
  double sum = 0.0;
  for (Index a = 0; a < r.rows(); ++a) {
    for (Index b = 0; b < a; ++b) sum += std::abs(r(a, b));
  }
  const auto n = static_cast<double>(r.rows());
  return r.rows() > 1 ? sum / (0.5 * n * (n - 1.0)) : 0.0;
}

page::Figure correlation_figure(const SelectView& view) {
  InGroups shown;
  if (view.result.redundancy) {
    shown = in_groups(view, *view.result.redundancy);
  } else {
    shown.features.assign(view.top.begin(),
                          view.top.begin() + static_cast<Index>(std::min(kBestFeatures, view.top.size())));
  }
  const Matrix r = view.correlations_of(shown.features);
  page::HeatMap map;
  page::HeatPanel panel;
  for (const Index j : shown.features) map.rows.push_back(view.name(j));
  for (Index at_cell = 0; at_cell < r.size(); ++at_cell) panel.values.push_back(std::abs(r.data()[at_cell]));
  map.columns = map.rows;
  map.panels = {panel};
  map.blocks = shown.blocks;
  map.value_title = "|r|", map.low = 0.0, map.high = 1.0;
  const std::string mean = short_number(mean_off_diagonal(r), 3);
  page::Figure figure;
  figure.title = concat("Absolute correlation of ", shown.features.size(), " features");
  figure.caption =
      concat("The best features",
             shown.blocks.empty() ? " in order of rank"
                                  : " with others of their groups, group by group (outlined), then those in no group",
             ". Two features are redundant where |r| is near 1 off the diagonal. The mean of |r| is ", mean, ".");
  figure.alt = concat("Heat map of the absolute correlations between ", shown.features.size(), " features, with mean ",
                      mean, " and ", shown.blocks.size(), " redundancy groups outlined.");
  figure.spec = page::heat_map(map);
  return figure;
}

page::Table groups_table(const SelectView& view, const Redundancy& found) {
  page::Table table;
  table.title = "Redundancy groups";
  table.columns = {{"redundancy group", number}, {"led by"}, {"columns", number}, {"selected", number}, {"the others"}};
  for (const auto& group : found.groups) {
    if (table.rows.size() == kShownGroups) break;
    Index selected = 0;
    std::string others;
    for (const Index j : group) selected += view.chosen[at(j)];
    for (std::size_t i = 1; i < std::min(group.size(), kShownMembers); ++i) {
      others += concat(i == 1 ? "" : ", ", view.name(group[i]));
    }
    if (group.size() > kShownMembers) others += ", ...";
    table.rows.push_back({static_cast<Index>(table.rows.size() + 1), view.name_of_row(group.front()),
                          static_cast<Index>(group.size()), selected, others});
  }
  if (table.rows.size() < found.groups.size()) {
    table.caption = concat("The first ", table.rows.size(), " of ", found.groups.size(), "; selection.json has all.");
  }
  return table;
}

page::Table represented_table(const SelectView& view, const Redundancy& found) {
  page::Table table;
  table.title = "Columns that were left out";
  table.columns = {{"rank", number}, {"name"}, {"stands for it"}, {"r", number, 2}, {"R\u00b2", number, 3}};
  std::size_t count = 0;
  for (std::size_t rank = 0; rank < view.result.ranking.size(); ++rank) {
    const Index j = view.result.ranking[rank], representative = found.representative[at(j)];
    if (representative < 0 || ++count > kShownRepresented) continue;
    table.rows.push_back({static_cast<Index>(rank + 1), view.name_of_row(j), view.name_of_row(representative),
                          found.correlation[at(j)], found.r2[at(j)]});
  }
  table.caption =
      "R\u00b2: how well the selected columns together explain this one. The one with the largest coefficient "
      "stands for it; r is the correlation of the two, which may be small where several columns share the work.";
  table.caption += chance_text(view);
  if (count > table.rows.size()) {
    table.caption += concat(" The first ", table.rows.size(), " of ", count, "; ranking.csv has all of them.");
  }
  return table;
}

}  // namespace

page::Section redundancy_section(const SelectView& view) {
  page::Section section{"Redundancy", {}};
  const auto& found = view.result.redundancy;
  if (found) section.blocks.push_back(page::Text{groups_text(view, *found)});
  if (found && !found->note.empty()) section.blocks.push_back(page::Note{sentence(found->note)});
  if (view.top.size() > 1) section.blocks.push_back(correlation_figure(view));
  if (found && !found->groups.empty()) section.blocks.push_back(groups_table(view, *found));
  if (found && !found->r2.empty()) section.blocks.push_back(represented_table(view, *found));
  return section;
}

}  // namespace tamis
