#include <algorithm>
#include <cmath>

#include "tamis/report/charts.h"
#include "tamis/report/select_view.h"

namespace tamis {

namespace {

using enum page::Column::Kind;

constexpr std::size_t kHeatFeatures = 50;
constexpr std::size_t kGroupFeatures = 60;  // of the picture of redundancy groups
constexpr std::size_t kShownGroups = 500;
constexpr std::size_t kShownMembers = 20;

std::string groups_text(const Redundancy& found) {
  return concat(
      "A group is led by its best column, and has every column whose absolute correlation with it is at least ",
      short_number(found.threshold), ". ",
      found.groups.empty() ? "There is none." : concat("There are ", found.groups.size(), "."),
      found.rows > 0 && !found.groups.empty() ? concat(" They were found in ", found.rows, " rows.") : "");
}

// The columns of the largest groups, beside each other.
page::Figure groups_figure(const SelectView& view, const Redundancy& found) {
  std::vector<const std::vector<Index>*> by_size;
  for (const auto& group : found.groups) by_size.push_back(&group);
  std::ranges::stable_sort(by_size, [](const auto* a, const auto* b) { return a->size() > b->size(); });
  std::vector<Index> members;
  std::size_t shown = 0;
  for (const auto* group : by_size) {
    if (members.size() + 2 > kGroupFeatures) break;
    const std::size_t fits = std::min(group->size(), kGroupFeatures - members.size());
    members.insert(members.end(), group->begin(), group->begin() + static_cast<Index>(fits));
    ++shown;
  }
  const Matrix r = view.correlations_of(members);
  page::HeatMap map;
  page::HeatPanel panel;
  for (std::size_t a = 0; a < members.size(); ++a) {
    map.rows.push_back(view.name(members[a]));
    for (std::size_t b = 0; b < members.size(); ++b) {
      panel.values.push_back(std::abs(r(static_cast<Index>(a), static_cast<Index>(b))));
    }
  }
  map.columns = map.rows;
  map.panels = {panel};
  map.value_title = "|r|", map.low = 0.0, map.high = 1.0;
  page::Figure figure;
  figure.title = "Redundancy groups";
  figure.caption = concat("Absolute correlations of ", members.size(), " columns of the ", shown, " largest of ",
                          found.groups.size(), " groups, group by group: each group is a dark block on the diagonal.");
  figure.alt = concat("Heat map of the absolute correlations between ", members.size(), " columns of ", shown,
                      " redundancy groups, in blocks.");
  figure.spec = page::heat_map(map);
  return figure;
}

page::Table groups_table(const SelectView& view, const Redundancy& found) {
  page::Table table;
  table.title = "Groups";
  table.columns = {{"group", number}, {"led by"}, {"columns", number}, {"selected", number}, {"the others"}};
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
    if (representative < 0 || ++count > kShownFeatures) continue;
    table.rows.push_back({static_cast<Index>(rank + 1), view.name_of_row(j), view.name_of_row(representative),
                          found.correlation[at(j)], found.r2[at(j)]});
  }
  table.caption =
      "R\u00b2: how well the selected columns together explain this one. The one with the largest coefficient "
      "stands for it; r is its correlation with it.";
  if (count > table.rows.size()) {
    table.caption += concat(" The first ", table.rows.size(), " of ", count, "; ranking.csv has all of them.");
  }
  return table;
}

}  // namespace

page::Section redundancy_section(const SelectView& view) {
  const std::size_t shown = std::min(kHeatFeatures, view.top.size());
  page::HeatMap map;
  page::HeatPanel panel;
  double sum = 0.0;
  for (std::size_t a = 0; a < shown; ++a) {
    map.rows.push_back(view.name(view.top[a]));
    for (std::size_t b = 0; b < shown; ++b) {
      panel.values.push_back(std::abs(view.correlation(static_cast<Index>(a), static_cast<Index>(b))));
      if (b < a) sum += panel.values.back();
    }
  }
  map.columns = map.rows;
  map.panels = {panel};
  map.value_title = "|r|", map.low = 0.0, map.high = 1.0;
  const double mean = sum / (0.5 * static_cast<double>(shown * (shown - 1)));
  page::Figure figure;
  figure.title = concat("Absolute correlation of the best ", shown, " features");
  figure.caption = concat("In order of rank. A dark cell off the diagonal marks two redundant features. The mean is ",
                          short_number(mean, 3), ".");
  figure.alt = concat("Heat map of the absolute correlations between the best ", shown, " features, with mean ",
                      short_number(mean, 3), ".");
  figure.spec = page::heat_map(map);
  return {"Redundancy", {figure}};
}

page::Section groups_section(const SelectView& view) {
  const Redundancy& found = *view.result.redundancy;
  page::Section section{"Redundancy groups", {page::Text{groups_text(found)}}};
  if (!found.note.empty()) section.blocks.push_back(page::Note{found.note});
  if (!found.groups.empty()) section.blocks.push_back(groups_figure(view, found));
  if (!found.groups.empty()) section.blocks.push_back(groups_table(view, found));
  if (!found.r2.empty()) section.blocks.push_back(represented_table(view, found));
  return section;
}

}  // namespace tamis
