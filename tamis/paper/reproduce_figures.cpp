#include <algorithm>
#include <cmath>
#include <utility>

#include "tamis/base/message.h"
#include "tamis/paper/reproduce_view.h"

namespace tamis {

namespace reproduced {

namespace {

constexpr double kLeastSpan = 0.05;  // smallest range of ACC covered by the colors of one set

page::Point point_of(double x, const MeanSd& value) {
  return {x, value.mean, value.mean - value.sd, value.mean + value.sd};
}

}  // namespace

std::vector<page::Block> ReproducePage::figures() const {
  std::vector<page::Block> blocks = {figure1(), figure2()};
  if (auto figure =
          heat_figure("Figure 3: ACC by alpha and p", "alpha", concat("beta = ", kFigure3Beta), &Figures::alpha_p)) {
    blocks.push_back(std::move(*figure));
  }
  if (auto figure =
          heat_figure("Figure 4: ACC by beta and p", "beta", concat("alpha = ", kFigure4Alpha), &Figures::beta_p)) {
    blocks.push_back(std::move(*figure));
  }
  return blocks;
}

page::Figure ReproducePage::figure1() const {
  page::LineChart chart;
  chart.x_title = "% of the features", chart.y_title = "ACC";
  chart.percent = chart.own_scales = true;
  for (const auto& one : figures_) chart.panels.push_back({title_of(one.set), size_curves(one)});
  page::Figure figure;
  figure.title = "Figure 1: ACC by number of features";
  figure.caption = concat(
      "Best of the grid: the best setting at each size, chosen with the true classes. Bands: one standard deviation "
      "over the starts; for random, the minimum to the maximum of ",
      protocol_.subsets, " subsets. Click a name to hide or show its line.");
  figure.alt = concat("Line charts of the accuracy of ufcm by share of features on ", figures_.size(),
                      " data sets: best of the grid and defaults, with a band of random subsets and all features.");
  figure.spec = page::line_chart(chart);
  return figure;
}

std::vector<page::Series> ReproducePage::size_curves(const Figures& one) const {
  page::Series best{"best of the grid", {}, false}, free{"defaults", {}, false}, random{"random", {}, true},
      all{"all features", {}, true};
  const double count = static_cast<double>(set_of(one.set).source.cols());
  for (const auto& point : one.sizes) {
    const double share = std::round(1000.0 * static_cast<double>(point.features) / count) / 10.0;
    if (point.best) best.points.push_back(point_of(share, point.best->value));
    if (point.label_free) free.points.push_back(point_of(share, point.label_free->value));
    if (point.random) {
      random.points.push_back({share, point.random->value.mean, point.random->min, point.random->max});
    }
  }
  const auto& longest = best.points.empty() ? free.points : best.points;
  if (one.all && !longest.empty()) all.points = level(longest.front().x, longest.back().x, *one.all);
  return {best, free, random, all};
}

std::vector<page::Point> ReproducePage::level(double from, double to, const Measured& value) {
  return {{from, value.value.mean}, {to, value.value.mean}};
}

page::Figure ReproducePage::figure2() const {
  page::LineChart chart;
  chart.x_title = "beta", chart.y_title = "ACC";
  chart.x_names = protocol_.figure2;
  chart.percent = chart.own_scales = true;
  for (const auto& one : figures_) {
    page::Series best{"best size", {}, false}, chosen{chosen_share(), {}, false}, all{"all features", {}, true};
    for (const auto& point : one.beta) {
      const auto found = std::find(protocol_.figure2.begin(), protocol_.figure2.end(), point.settings.at("beta"));
      const auto x = static_cast<double>(found - protocol_.figure2.begin());
      if (point.best) best.points.push_back(point_of(x, point.best->value));
      if (point.chosen) chosen.points.push_back(point_of(x, point.chosen->value));
    }
    if (one.all) all.points = level(0.0, static_cast<double>(protocol_.figure2.size() - 1), *one.all);
    chart.panels.push_back({title_of(one.set), {best, chosen, all}});
  }
  page::Figure figure;
  figure.title = "Figure 2: ACC by beta";
  figure.caption = concat(
      "ufcm at alpha = p = 1. The paper does not state the number of features: here at the best "
      "size, chosen with the true classes, and at ",
      chosen_share(), " of them. Bands: one standard deviation.");
  figure.alt = concat("Line charts of the accuracy of ufcm by beta on ", figures_.size(),
                      " data sets, at the best size and at ", chosen_share(), " of the features, with all features.");
  figure.spec = page::line_chart(chart);
  return figure;
}

const std::vector<std::string>& ReproducePage::tried(const std::string& option) const {
  static const std::vector<std::string> none;
  for (const auto& axis : protocol_.axes) {
    if (axis.method == kOurs && axis.option == option) return axis.values;
  }
  return none;
}

std::optional<page::Figure> ReproducePage::heat_figure(const std::string& title, const std::string& option,
                                                       const std::string& fixed,
                                                       std::vector<FigurePoint> Figures::*points) const {
  page::HeatMap map;
  map.x_title = option, map.y_title = "p", map.value_title = "ACC";
  map.columns = tried(option), map.rows = tried("p");
  map.percent = map.numbers = map.own_scales = true;
  map.least_span = kLeastSpan;
  bool some = false;
  for (const auto& one : figures_) {
    page::HeatPanel panel{title_of(one.set), std::vector<double>(map.rows.size() * map.columns.size(), page::kNone)};
    for (const auto& point : one.*points) {
      const auto row = std::find(map.rows.begin(), map.rows.end(), point.settings.at("p")) - map.rows.begin();
      const auto column =
          std::find(map.columns.begin(), map.columns.end(), point.settings.at(option)) - map.columns.begin();
      const auto at = static_cast<std::size_t>(row) * map.columns.size() + static_cast<std::size_t>(column);
      if (point.best) panel.values[at] = point.best->value.mean, some = true;
    }
    map.panels.push_back(std::move(panel));
  }
  if (!some) return std::nullopt;
  page::Figure figure;
  figure.title = title;
  figure.caption = concat(
      "ufcm at ", fixed, " and the best size, chosen with the true classes; report.json also has ", chosen_share(),
      " of the features. The colors of a set range from its minimum to its maximum, and cover at least five "
      "points.");
  figure.alt = concat("Heat maps of the accuracy of ufcm by ", option, " and p at ", fixed, ", one for each of ",
                      figures_.size(), " data sets, with the numbers in the cells.");
  figure.spec = page::heat_map(map);
  return figure;
}

// --- Convergence -----------------------------------------------------------------------------------------------------

page::Section ReproducePage::convergence() const {
  page::LineChart chart;
  chart.x_title = "iteration";
  chart.own_scales = chart.whole_x = true;
  chart.markers = {{static_cast<double>(kPaperIterations), concat("paper: ", kPaperIterations), true}};
  page::Table table;
  table.title = "Iterations to convergence";
  table.caption = concat(
      "First the runs above; then all runs of ufcm on the set: how many, how many of them monotone, "
      "and the median and maximum number of iterations. The paper says: usually within ",
      kPaperIterations, ".");
  table.columns = {{"data"},
                   {"iterations", number},
                   {"status"},
                   {"monotone"},
                   {"runs", number},
                   {"monotone", number},
                   {"median", number, 1},
                   {"maximum", number},
                   {concat("within ", kPaperIterations), number}};
  std::size_t monotone = 0;
  for (const auto& one : figures_) {
    if (!one.convergence) continue;
    const auto& objective = one.convergence->cell->objective;
    page::Series series{"objective", {}, false};
    for (std::size_t i = 0; i < objective.size(); ++i) {
      series.points.push_back({static_cast<double>(i + 1), objective[i]});
    }
    chart.panels.push_back({title_of(one.set), {series}});
    table.rows.push_back(convergence_row(one));
    monotone += one.convergence->monotone ? 1 : 0;
  }
  if (chart.panels.empty()) return {"Convergence", {page::Note{"No run of Figure 5 finished.", true}}};
  const std::string verdict = concat("The objective never falls on ", monotone, " of ", table.rows.size(), " sets.");
  page::Figure figure;
  figure.title = "Figure 5: objective by iteration";
  figure.caption = concat("ufcm at alpha = beta = p = 1. ", verdict);
  figure.alt = concat("Line charts of the objective by iteration on ", chart.panels.size(), " data sets. ", verdict);
  figure.spec = page::line_chart(chart);
  return {"Convergence", {figure, table}};
}

std::vector<TableCell> ReproducePage::convergence_row(const Figures& one) const {
  const tamis::Cell& cell = *one.convergence->cell;
  std::vector<double> iterations;
  Index monotone = 0, within = 0;
  for (const auto& other : result_.cells) {
    if (other.failure || other.plan.key.set != one.set || other.plan.key.method != kOurs) continue;
    iterations.push_back(static_cast<double>(other.iterations));
    monotone += never_falls(other.objective) ? 1 : 0;
    within += other.iterations <= kPaperIterations ? 1 : 0;
  }
  return {title_of(one.set),
          cell.iterations,
          name_of(cell.status),
          one.convergence->monotone ? "yes" : "no",
          static_cast<Index>(iterations.size()),
          monotone,
          median(iterations),
          *std::max_element(iterations.begin(), iterations.end()),
          within};
}

}  // namespace reproduced

}  // namespace tamis
