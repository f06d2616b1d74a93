#include <algorithm>

#include "tamis/report/charts.h"
#include "tamis/report/select_view.h"

namespace tamis {

namespace {

constexpr std::size_t kShownClusters = 60;

page::Figure cluster_figure(const SelectView& view) {
  std::vector<double> sizes;
  for (const int cluster : view.selection.clusters) {
    if (cluster >= static_cast<int>(sizes.size())) sizes.resize(static_cast<std::size_t>(cluster) + 1, 0.0);
    if (cluster >= 0) sizes[cluster] += 1.0;
  }
  const std::size_t count = sizes.size(), shown = std::min(kShownClusters, count);
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  page::Figure figure;
  figure.title = "Cluster sizes";
  figure.caption = concat("Rows in each of the ", count, " clusters",
                          shown < count ? concat("; the first ", shown, " are shown.") : std::string("."));
  if (count > 0) {
    figure.alt = concat("Bar chart of the sizes of ", count, " clusters, from ", *least, " to ", *most, " rows.");
  }
  page::BarChart chart;
  chart.category_title = "cluster", chart.value_title = "rows";
  chart.series = {{"rows", {}, false}};
  for (std::size_t k = 0; k < shown; ++k) {
    chart.categories.push_back(std::to_string(k));
    chart.series[0].bars.push_back({sizes[k]});
  }
  figure.spec = page::bar_chart(chart);
  figure.half = !view.selection.report.objective.empty() && view.selection.report.terms.empty();
  return figure;
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
  figure.caption =
      concat(name_of(report.status) == std::string("converged") ? "Converged" : "Stopped", " after ", report.iterations,
             " iterations", report.terms.empty() ? "." : ". The other panels show its terms.");
  figure.alt = concat("Line chart of the objective over ", report.objective.size(), " iterations, from ",
                      short_number(report.objective.front()), " to ", short_number(report.objective.back()), ".");
  figure.spec = page::line_chart(chart);
  figure.half = report.terms.empty() && !view.selection.clusters.empty();
  return figure;
}

}  // namespace

page::Section method_section(const SelectView& view) {
  page::Section section{"Clusters and objective", {}};
  if (!view.selection.clusters.empty()) section.blocks.push_back(cluster_figure(view));
  if (!view.selection.report.objective.empty()) section.blocks.push_back(objective_figure(view));
  return section;
}

}  // namespace tamis
