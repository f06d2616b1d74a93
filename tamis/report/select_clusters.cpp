#include <algorithm>
#include <cmath>

#include "tamis/base/text/spelling.h"
#include "tamis/report/charts/charts.h"
#include "tamis/report/select_view.h"

namespace tamis {

namespace {

using page::TableCell;
using enum page::Column::Kind;

constexpr std::size_t kShownClusters = 60;

constexpr std::size_t kMapFeatures = 40;     // rows of the heat map
constexpr std::size_t kTableFeatures = 200;  // rows of the table of means
constexpr std::size_t kHalfClusters = 12;    // drawn in half the width of the page
constexpr double kFullColor = 3.0;           // deviations from the mean
constexpr std::size_t kTableClusters = 20;

std::vector<std::string> cluster_names(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < std::min(kShownClusters, count); ++k) names.push_back(std::to_string(k));
  return names;
}

page::Figure size_figure(const ClusterProfile& profile) {
  const std::size_t count = profile.sizes.size();
  const auto [least, most] = std::ranges::minmax(profile.sizes);
  page::BarChart chart;
  chart.category_title = "cluster", chart.value_title = "rows";
  chart.categories = cluster_names(count);
  chart.series = {{"rows", {}, false}};
  for (std::size_t k = 0; k < chart.categories.size(); ++k) {
    chart.series[0].bars.push_back({static_cast<double>(profile.sizes[k])});
  }
  page::Figure figure;
  figure.title = "Cluster sizes";
  figure.caption =
      concat("Rows in each of the ", count, " clusters",
             chart.categories.size() < count ? concat("; the first ", chart.categories.size(), " are shown.")
                                             : std::string("."));
  figure.alt = concat("Bar chart of the sizes of ", count, " clusters, from ", least, " to ", most, " rows.");
  figure.spec = page::bar_chart(chart);
  figure.half = true;
  return figure;
}

// How the points of a cluster differ from those of another one of the same color.
std::string shape_name(std::size_t cluster) {
  constexpr const char* kNames[] = {"", " (squares)", " (triangles)", " (diamonds)", " (crosses)"};
  return kNames[cluster / page::kPageColors % std::size(kNames)];
}

page::Figure scatter_figure(const ClusterProfile& profile) {
  page::ScatterChart chart;
  chart.x_title = "first component", chart.y_title = "second component";
  chart.series = cluster_names(profile.sizes.size());
  for (std::size_t k = page::kPageColors; k < chart.series.size(); ++k) chart.series[k] += shape_name(k);
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    const auto cluster = static_cast<std::size_t>(profile.row_cluster[i]);
    if (cluster >= chart.series.size()) continue;
    const auto row = static_cast<Index>(i);
    chart.points.push_back({profile.map(row, 0), profile.map(row, 1), cluster, profile.rows[i]});
  }
  page::Figure figure;
  figure.title = "Rows by cluster";
  figure.caption = concat("The first two principal components of ",
                          profile.by_components ? "the projected rows XW" : "the standardized selected features",
                          ", with ", std::lround(100.0 * profile.explained), " % of their variance; ",
                          profile.rows.size(), " of ", profile.known, " rows. Click a cluster to hide or show it.");
  figure.alt = concat("Scatter plot of ", profile.rows.size(), " rows in two dimensions, colored by ",
                      profile.sizes.size(), " clusters.");
  figure.spec = page::scatter_chart(chart);
  return figure;
}

page::Figure means_figure(const SelectView& view, const ClusterProfile& profile) {
  page::HeatMap map;
  page::HeatPanel panel;
  map.columns = cluster_names(profile.sizes.size());
  for (std::size_t f = 0; f < profile.features.size() && map.rows.size() < kMapFeatures; ++f) {
    if (!view.chosen[at(profile.features[f])]) continue;
    map.rows.push_back(view.name(profile.features[f]));
    for (std::size_t k = 0; k < map.columns.size(); ++k) {
      panel.values.push_back(profile.standardized(f, static_cast<Index>(k)));
    }
  }
  const std::size_t shown = map.rows.size();
  map.panels = {panel};
  map.x_title = "cluster", map.value_title = "deviations", map.y_title = "feature";
  double most = 0.0;
  for (const double value : panel.values) most = std::fmax(most, std::abs(value));
  map.high = std::clamp(most, 0.5, kFullColor), map.low = -map.high;
  map.diverging = map.picks = true;
  page::Figure figure;
  figure.title = "Means by cluster";
  figure.half = map.columns.size() <= kHalfClusters;
  figure.caption =
      concat("The mean of each ",
             shown < view.result.selected.size() ? concat("of the first ", shown, " features") : "selected feature",
             " in each cluster, in standard deviations from the mean of all rows. Click a row for its distribution.");
  figure.alt = concat("Heat map of the standardized means of ", shown, " features in ", map.columns.size(),
                      " clusters. The table of means below has the numbers.");
  figure.spec = page::heat_map(map);
  return figure;
}

page::Figure spread_figure(const SelectView& view, const ClusterProfile& profile) {
  page::SpreadChart chart;
  chart.category_title = "cluster";
  chart.categories = cluster_names(profile.sizes.size());
  for (std::size_t f = 0; f < profile.spread_of.size(); ++f) {
    chart.rows.push_back(view.name(profile.spread_of[f]));
    auto& spreads = chart.spreads.emplace_back();
    for (std::size_t k = 0; k < chart.categories.size(); ++k) {
      const Quantiles& five = profile.quantiles[f][k];
      spreads.push_back({five[0], five[1], five[2], five[3], five[4]});
    }
  }
  page::Figure figure;
  figure.title = "Distribution by cluster";
  figure.half = chart.categories.size() <= kHalfClusters;
  figure.caption = concat("Bars: the middle half of the values, with the median; lines: from 5 % to 95 %. ",
                          profile.rows.size(), " rows.");
  figure.alt = concat("Box plots of one feature by cluster; a list chooses among ", chart.rows.size(), " features.");
  figure.spec = page::spread_chart(chart);
  return figure;
}

page::Table means_table(const SelectView& view, const ClusterProfile& profile) {
  page::Table table;
  table.title = "Table of means by cluster";
  table.folded = table.wide = true;
  table.columns = {{"rank", number}, {"name"}, {"all rows", significant, 4}};
  const std::size_t clusters = std::min(kTableClusters, profile.sizes.size());
  for (std::size_t k = 0; k < clusters; ++k) table.columns.push_back({concat("cluster ", k), significant, 4});
  for (std::size_t f = 0; f < profile.features.size() && table.rows.size() < kTableFeatures; ++f) {
    if (!view.chosen[at(profile.features[f])]) continue;
    std::vector<TableCell> row = {static_cast<Index>(f + 1), view.name_of_row(profile.features[f]), profile.mean[f]};
    for (std::size_t k = 0; k < clusters; ++k) {
      row.emplace_back(profile.means(static_cast<Index>(f), static_cast<Index>(k)));
    }
    table.rows.push_back(std::move(row));
  }
  table.caption = concat("Of the ", table.rows.size() < view.result.selected.size() ? "first " : "", table.rows.size(),
                         " selected features, in the units of the table.");
  return table;
}

page::Figure objective_figure(const SelectView& view) {
  const Report& report = view.selection.report;
  page::LineChart chart;
  chart.x_title = "iteration";
  chart.own_scales = true, chart.whole_x = true;
  const auto add = [&](const std::string& curve_name, const std::vector<double>& values) {
    page::Series series{"value", {}, false};
    for (std::size_t i = 0; i < values.size(); ++i) series.points.push_back({static_cast<double>(i + 1), values[i]});
    chart.panels.push_back({curve_name, {series}});
  };
  add("objective", report.objective);
  for (const auto& [term, values] : report.terms) add(term, values);
  page::Figure figure;
  figure.title = "Objective by iteration";
  figure.caption = concat(report.status == Status::converged ? "Converged" : "Stopped", " after ",
                          counted(report.iterations, "iteration"),
                          report.terms.empty() ? "." : ". The other panels show its terms.");
  figure.alt = concat("Line chart of the objective over ", report.objective.size(), " iterations, from ",
                      short_number(report.objective.front()), " to ", short_number(report.objective.back()), ".");
  figure.spec = page::line_chart(chart);
  figure.half = report.terms.empty();
  return figure;
}

}  // namespace

page::Section clusters_section(const SelectView& view) {
  const ClusterProfile& profile = *view.profile;
  page::Section section{"Clusters", {}};
  if (profile.known < view.record.table.source.rows()) {
    section.blocks.push_back(page::Note{concat("The clusters of ", profile.known, " sampled rows; those of the other ",
                                               view.record.table.source.rows() - profile.known, " are not known.")});
  }
  const auto& guidance = view.selection.guidance;
  if (guidance && guidance->outcome == Outcome::no_structure) {
    section.blocks.push_back(page::Note{
        "No structure was found: k-means divides any table into clusters, and these are no better than those of noise.",
        true});
  }
  section.blocks.push_back(scatter_figure(profile));
  section.blocks.push_back(means_figure(view, profile));
  section.blocks.push_back(spread_figure(view, profile));
  section.blocks.push_back(means_table(view, profile));
  section.blocks.push_back(size_figure(profile));
  return section;
}

page::Section objective_section(const SelectView& view) { return {"Objective", {objective_figure(view)}}; }

}  // namespace tamis
