#include <algorithm>
#include <cmath>
#include <string>

#include "tamis/base/error.h"
#include "tamis/report/charts/charts.h"
#include "tamis/report/charts/spec.h"

namespace tamis::page {

using namespace charts;

namespace {

bool has_whiskers(const BarChart& chart) {
  for (const auto& series : chart.series) {
    for (const auto& bar : series.bars) {
      if (std::isfinite(bar.low) && std::isfinite(bar.high)) return true;
    }
  }
  return false;
}

void write_bars(Spec& spec, const BarChart& chart) {
  spec.object("data").array("values");
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const auto& bars = chart.series[s].bars;
    for (std::size_t i = 0; i < bars.size(); ++i) {
      if (!std::isfinite(bars[i].value)) continue;
      spec.begin_object().member("i", i).member("s", s).member("y", rounded(bars[i].value));
      if (std::isfinite(bars[i].low)) spec.member("l", bound_of(bars[i].low, chart.percent));
      if (std::isfinite(bars[i].high)) spec.member("h", bound_of(bars[i].high, chart.percent));
      spec.end_object();
    }
  }
  spec.end_array().end_object();
}

void write_bar_channels(Spec& spec, const BarChart& chart, const char* field) {
  spec.object(chart.horizontal ? "y" : "x").set("field", "i").set("type", "ordinal").titled(chart.category_title);
  spec.object("scale").set("domain", positions(chart.categories.size())).end();
  std::size_t letters = 0, longest = 0;
  for (const auto& one : chart.categories) {
    letters += std::min<std::size_t>(one.size(), 20) + 2, longest = std::max(longest, one.size());
  }
  const bool numbers = longest <= 3;  // of clusters: some of them are enough
  const bool crowded = !chart.horizontal && !numbers && letters > 70;
  spec.object("axis").set("labelExpr", "categories[datum.value]").set("labelAngle", crowded ? -40 : 0);
  if (numbers) spec.set("labelOverlap", "greedy").set("labelSeparation", 3);
  spec.end().end();
  spec.object(chart.horizontal ? "x" : "y").set("field", field).set("type", "quantitative").titled(chart.value_title);
  spec.object("axis").set("format", axis_format(chart.percent, 0.0)).end().end();
  if (chart.series.size() > 1) {
    spec.object(chart.horizontal ? "yOffset" : "xOffset").set("field", "s").set("type", "ordinal");
    spec.object("scale").set("domain", positions(chart.series.size())).end().end();
  }
}

void write_bar_layers(Spec& spec, const BarChart& chart) {
  const std::string value = format_of(chart.percent);
  spec.array("layer").begin_object().member("mark", "bar").key("encoding").begin_object();
  write_bar_channels(spec, chart, "y");
  write_series_channels(spec, chart.series, false);
  spec.array("tooltip");
  spec.tooltip("category", chart.category_title);
  if (chart.series.size() > 1) spec.tooltip("name", "series");
  spec.tooltip("y", chart.value_title, value);
  if (has_whiskers(chart)) spec.tooltip("band", "band");
  spec.end_array();
  spec.end().end();
  if (has_whiskers(chart)) {
    spec.begin_object().key("mark").begin_object().member("type", "rule").member("style", "whisker").end_object();
    spec.key("encoding").begin_object();
    write_bar_channels(spec, chart, "l");
    spec.object(chart.horizontal ? "x2" : "y2").set("field", "h").end();
    spec.end().end();
  }
  spec.end_array();
}

}  // namespace

std::string bar_chart(const BarChart& chart) {
  require(!chart.series.empty(), ErrorCode::internal, "bar chart: no series, need 1");
  Spec spec;
  spec.begin_object();
  spec.object("usermeta");
  const std::size_t bars = chart.categories.size() * chart.series.size();
  chart.horizontal ? spec.set("height", 40 + 22 * bars) : spec.set("widest", 80 + 70 * bars);
  write_series(spec, chart.series, true);
  spec.end().array("params");
  write_off(spec);
  spec.names("names", names_of(chart.series));
  spec.names("categories", chart.categories);
  spec.end_array();
  write_bars(spec, chart);
  spec.array("transform");
  write_off_filter(spec);
  spec.lookup("names", "s", "name");
  spec.lookup("categories", "i", "category");
  if (has_whiskers(chart)) spec.band(format_of(chart.percent));
  spec.end_array();
  write_bar_layers(spec, chart);
  return spec.end().text();
}

}  // namespace tamis::page
