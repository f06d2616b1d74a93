#include "tamis/report/charts.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "tamis/base/error.h"
#include "tamis/base/text/quote.h"
#include "tamis/report/json.h"

namespace tamis::page {

namespace {

constexpr std::size_t kLabel = 60;     // characters of a name
constexpr double kWidestHeat = 640.0;  // pixels
constexpr double kWidestCell = 34.0;   // pixels
constexpr std::size_t kDashes = 4;
const std::vector<int> kDash[kDashes] = {{1, 0}, {6, 3}, {2, 2}, {8, 2, 2, 2}};
const std::vector<int> kControlDash[kDashes] = {{4, 4}, {1, 3}, {10, 4}, {8, 3, 1, 3}};

// Six digits: visually identical, at a third of the bytes.
double rounded(double value) {
  if (!std::isfinite(value)) return value;
  const std::string digits = short_number(value);
  double back = value;
  std::from_chars(digits.data(), digits.data() + digits.size(), back);
  return back;
}

std::vector<Index> positions(std::size_t count) {
  std::vector<Index> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<Index>(i));
  return all;
}

// Members of objects in the order given: {"mark": "line"} and the like.
class Spec : public Json {
 public:
  Spec& object(std::string_view name) { return key(name).begin_object(), *this; }
  Spec& array(std::string_view name) { return key(name).begin_array(), *this; }
  Spec& end() { return end_object(), *this; }
  template <class Value>
  Spec& set(std::string_view name, const Value& one) {
    return member(name, one), *this;
  }

  // {"name": NAME, "value": [names]}: where labels are looked up.
  void names(const char* name, const std::vector<std::string>& values) {
    std::vector<std::string> shown;
    for (const auto& one : values) shown.push_back(printable(one, kLabel));
    begin_object().member("name", name).member("value", shown).end_object();
  }
  void titled(const std::string& title) { title.empty() ? key("title").null() : member("title", title); }
  // {"calculate": "LIST[datum.FIELD]", "as": AS}
  void lookup(const char* list, const char* field, const char* as) {
    begin_object().member("calculate", concat(list, "[datum.", field, "]")).member("as", as).end_object();
  }
  // "band": "LOW to HIGH" as text, since not every point has one.
  void band(const char* format) {
    const std::string spelled = concat("format(datum.l, '", format, "') + ' to ' + format(datum.h, '", format, "')");
    begin_object().member("calculate", "isValid(datum.l) && isValid(datum.h) ? " + spelled + " : 'none'");
    member("as", "band").end_object();
  }
  void tooltip(const char* field, const std::string& title, const std::string& format = "") {
    begin_object().member("field", field).member("title", title.empty() ? std::string("value") : title);
    if (!format.empty()) member("type", "quantitative").member("format", format);
    end_object();
  }
};

// A mean of shares is within 0 to 1, but mean plus or minus deviation may not be.
double bound_of(double value, bool percent) { return rounded(percent ? std::clamp(value, 0.0, 1.0) : value); }

const char* format_of(bool percent) { return percent ? ".1%" : ".5~g"; }

template <class Panels>
void begin_facets(Spec& spec, const Panels& panels, bool own_scales) {
  if (panels.size() < 2) return;
  spec.object("facet").set("field", "f").set("type", "ordinal").key("sort").null();
  spec.object("header").key("title").null();
  spec.set("labelExpr", "panels[datum.value]").end().end();
  if (own_scales) spec.object("resolve").object("scale").set("y", "independent").end().end();
  spec.object("spec");
}

template <class Panels>
void end_facets(Spec& spec, const Panels& panels) {
  if (panels.size() > 1) spec.end();
}

template <class Panels>
std::vector<std::string> names_of(const Panels& panels) {
  std::vector<std::string> names;
  for (const auto& one : panels) names.push_back(one.name);
  return names;
}

template <class SeriesList>
std::vector<std::vector<int>> dashes_of(const SeriesList& series) {
  std::vector<std::vector<int>> dashes;
  std::size_t next = 0, next_control = 0;
  for (const auto& one : series) {
    dashes.push_back(one.control ? kControlDash[next_control++ % kDashes] : kDash[next++ % kDashes]);
  }
  return dashes;
}

// What the page builds the legend from.
template <class SeriesList>
void write_series(Spec& spec, const SeriesList& series, bool bars) {
  const auto dashes = dashes_of(series);
  spec.array("series");
  for (std::size_t s = 0; s < series.size(); ++s) {
    spec.begin_object().member("name", printable(series[s].name, kLabel)).member("control", series[s].control);
    spec.member("dash", dashes[s]).member("bar", bars).end_object();
  }
  spec.end_array();
}

template <class SeriesList>
void write_series_channels(Spec& spec, const SeriesList& series, bool dashed) {
  const auto domain = positions(series.size());
  spec.object("color").set("field", "s").set("type", "nominal").key("legend").null();
  spec.object("scale").set("domain", domain).end().end();
  if (!dashed) return;
  spec.object("strokeDash").set("field", "s").set("type", "nominal").key("legend").null();
  spec.object("scale").set("domain", domain).set("range", dashes_of(series)).end().end();
}

// The signal set by the buttons of the legend, and the filter that uses it.
void write_off(Spec& spec) {
  spec.begin_object().member("name", "off").key("value").begin_array().end_array().end_object();
}
void write_off_filter(Spec& spec) { spec.begin_object().member("filter", "indexof(off, datum.s) < 0").end_object(); }

// 59,500 and 0.01; 1.5M only where space is short. Eight digits distinguish 44,596.05 from 44,596.1.
const char* axis_format(bool percent, double most) { return percent ? "~%" : most < 1e7 ? ",.8~g" : "~s"; }

// --- Lines ------------------------------------------------------------------------------------------------------

bool has_bands(const LineChart& chart) {
  for (const auto& panel : chart.panels) {
    for (const auto& series : panel.series) {
      for (const auto& point : series.points) {
        if (std::isfinite(point.low) && std::isfinite(point.high)) return true;
      }
    }
  }
  return false;
}

double largest(const LineChart& chart) {
  double most = 0.0;
  for (const auto& panel : chart.panels) {
    for (const auto& series : panel.series) {
      for (const auto& point : series.points) most = std::max(most, std::abs(point.y));
    }
  }
  return most;
}

void write_points(Spec& spec, const LineChart& chart) {
  spec.object("data").array("values");
  for (std::size_t f = 0; f < chart.panels.size(); ++f) {
    for (std::size_t s = 0; s < chart.panels[f].series.size(); ++s) {
      for (const auto& point : chart.panels[f].series[s].points) {
        if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
        spec.begin_object().member("x", rounded(point.x)).member("y", rounded(point.y)).member("s", s);
        if (chart.panels.size() > 1) spec.member("f", f);
        if (std::isfinite(point.low)) spec.member("l", bound_of(point.low, chart.percent));
        if (std::isfinite(point.high)) spec.member("h", bound_of(point.high, chart.percent));
        spec.end_object();
      }
    }
  }
  spec.end_array().end_object();
}

void write_x(Spec& spec, const LineChart& chart) {
  spec.object("x").set("field", "x").set("type", "quantitative").titled(chart.x_title);
  spec.object("scale").set("type", chart.log_x ? "log" : "linear").set("nice", false);
  if (!chart.log_x) spec.set("zero", false);
  spec.end();
  spec.object("axis");
  if (chart.x_names.empty()) {
    spec.set("format", "~s");
  } else {
    spec.set("values", positions(chart.x_names.size())).set("labelExpr", "places[datum.value]");
  }
  if (chart.whole_x) spec.set("tickMinStep", 1);
  spec.end().end();
}

void write_y(Spec& spec, const LineChart& chart, const char* field) {
  spec.object("y").set("field", field).set("type", "quantitative").titled(chart.y_title);
  spec.object("scale").set("type", chart.log_y ? "log" : "linear");
  if (!chart.log_y) spec.set("zero", chart.from_zero);
  spec.end().object("axis").set("format", axis_format(chart.percent, largest(chart))).end().end();
}

void write_line_tooltip(Spec& spec, const LineChart& chart) {
  const std::string value = format_of(chart.percent);
  spec.array("tooltip");
  if (chart.panels.size() > 1) spec.tooltip("panel", "data");
  if (chart.panels.front().series.size() > 1) spec.tooltip("name", "series");
  chart.x_names.empty() ? spec.tooltip("x", chart.x_title, ".6~g") : spec.tooltip("place", chart.x_title);
  spec.tooltip("y", chart.y_title, value);
  if (has_bands(chart)) spec.tooltip("band", "band");
  spec.end_array();
}

void write_band_layer(Spec& spec, const LineChart& chart) {
  spec.begin_object().key("mark").begin_object().member("type", "area").member("opacity", 0.14).end_object();
  spec.array("transform").begin_object().member("filter", "isValid(datum.l) && isValid(datum.h)").end_object();
  spec.end_array();
  spec.object("encoding");
  write_x(spec, chart);
  write_y(spec, chart, "l");
  spec.object("y2").set("field", "h").end();
  write_series_channels(spec, chart.panels.front().series, false);
  spec.end().end();
}

void write_line_layers(Spec& spec, const LineChart& chart) {
  spec.begin_object().key("mark").begin_object().member("type", "line").end_object().key("encoding").begin_object();
  write_x(spec, chart);
  write_y(spec, chart, "y");
  write_series_channels(spec, chart.panels.front().series, true);
  spec.end().end();
  // Invisible dots still respond to the pointer.
  spec.begin_object().key("mark").begin_object().member("type", "point").member("opacity", chart.dots ? 1 : 0);
  spec.member("size", chart.dots ? 36 : 90).end_object().key("encoding").begin_object();
  write_x(spec, chart);
  write_y(spec, chart, "y");
  write_series_channels(spec, chart.panels.front().series, false);
  write_line_tooltip(spec, chart);
  spec.end().end();
}

// Of the axis of x.
bool is_in_right_half(const LineChart& chart, double x) {
  double low = x, high = x;
  for (const Series& series : chart.panels.front().series) {
    for (const Point& point : series.points) low = std::min(low, point.x), high = std::max(high, point.x);
  }
  return chart.log_x && low > 0 ? x * x > low * high : x > (low + high) / 2;
}

void write_marker_layers(Spec& spec, const LineChart& chart) {
  for (std::size_t i = 0; i < chart.markers.size(); ++i) {
    const auto& marker = chart.markers[i];
    const auto begin = [&] {  // on one data row, not on every row of the chart
      spec.begin_object().key("data").begin_object().key("values").begin_array().begin_object().end_object();
      spec.end_array().end_object();
    };
    const auto position = [&] { spec.object("x").set("datum", rounded(marker.x)).end(); };
    begin();
    spec.key("mark").begin_object().member("type", "rule").member("strokeDash", std::vector<int>{3, 3});
    spec.end().object("encoding");
    position();
    spec.end().end();
    begin();
    const bool leftward = is_in_right_half(chart, marker.x);
    const double step = 8.0 + 16.0 * static_cast<double>(i);
    spec.key("mark").begin_object().member("type", "text").member("align", leftward ? "right" : "left");
    spec.member("dx", leftward ? -5 : 5).member("dy", marker.at_foot ? -step : step);
    spec.member("baseline", marker.at_foot ? "bottom" : "top").member("text", printable(marker.label, kLabel));
    spec.end_object();
    spec.object("encoding");
    position();
    spec.object("y");
    marker.at_foot ? spec.set("value", "height") : spec.set("value", 0);
    spec.end();
    spec.end().end();
  }
}

// --- Bars -------------------------------------------------------------------------------------------------------

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
  std::size_t letters = 0;
  for (const auto& one : chart.categories) letters += std::min<std::size_t>(one.size(), 20) + 2;
  const bool crowded = !chart.horizontal && letters > 70;
  spec.object("axis").set("labelExpr", "categories[datum.value]").set("labelAngle", crowded ? -40 : 0).end().end();
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

// --- Heat maps --------------------------------------------------------------------------------------------------

// Whether cells have "t", the depth of their color from 0 to 1.
bool has_depth(const HeatMap& map) { return map.numbers || map.own_scales; }

std::pair<double, double> color_range(const HeatMap& map, const std::vector<double>& panel) {
  if (!map.own_scales && std::isfinite(map.low) && std::isfinite(map.high)) return {map.low, map.high};
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const auto widen = [&](const std::vector<double>& values) {
    for (const double value : values) {
      if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
    }
  };
  if (map.own_scales) widen(panel);
  for (const auto& one : map.panels) {
    if (!map.own_scales) widen(one.values);
  }
  if (map.own_scales && high - low < map.least_span) {
    const double middle = 0.5 * (low + high);
    return {middle - 0.5 * map.least_span, middle + 0.5 * map.least_span};
  }
  return {low, high};
}

void write_cells(Spec& spec, const HeatMap& map) {
  spec.object("data").array("values");
  for (std::size_t f = 0; f < map.panels.size(); ++f) {
    const auto& values = map.panels[f].values;
    require(values.size() == map.rows.size() * map.columns.size(), ErrorCode::internal, "heat map: ", values.size(),
            " values, need ", map.rows.size(), " x ", map.columns.size());
    const auto [low, high] = color_range(map, values);
    for (std::size_t at = 0; at < values.size(); ++at) {
      if (!std::isfinite(values[at])) continue;
      spec.begin_object().member("x", at % map.columns.size()).member("y", at / map.columns.size());
      if (map.panels.size() > 1) spec.member("f", f);
      spec.member("v", rounded(values[at]));
      if (has_depth(map)) spec.member("t", high > low ? rounded((values[at] - low) / (high - low)) : 0.0);
      spec.end_object();
    }
  }
  spec.end_array().end_object();
}

void write_heat_axis(Spec& spec, const char* channel, const char* list, const std::string& title, std::size_t count) {
  spec.object(channel).set("field", channel).set("type", "ordinal").titled(title);
  spec.object("scale").set("domain", positions(count)).end();
  // Elided in the middle: the ends of names often tell them apart.
  const std::string label = concat(list, "[datum.value]");
  const std::string shorter = concat("slice(", label, ", 0, 10) + '\u2026' + slice(", label, ", -7)");
  spec.object("axis").set("labelExpr", concat("length(", label, ") > 18 ? ", shorter, " : ", label));
  spec.set("ticks", false).set("domain", false);
  spec.set("labelOverlap", "greedy");
  if (*channel == 'x') spec.set("labelAngle", count > 6 ? -90 : 0);
  spec.end().end();
}

void write_heat_color(Spec& spec, const HeatMap& map) {
  spec.object("color").set("field", map.own_scales ? "t" : "v").set("type", "quantitative");
  if (map.own_scales) {
    spec.object("scale").set("domain", std::vector<double>{0.0, 1.0}).end().key("legend").null();
    spec.end();
    return;
  }
  spec.titled(map.value_title);
  spec.object("scale");
  if (map.diverging) spec.set("domainMid", 0.0).set("clamp", true);
  if (std::isfinite(map.low) && std::isfinite(map.high)) spec.set("domain", std::vector<double>{map.low, map.high});
  spec.end().object("legend").set("format", map.percent ? "~%" : "~g").end().end();
}

void write_heat_channels(Spec& spec, const HeatMap& map) {
  write_heat_axis(spec, "x", "columns", map.x_title, map.columns.size());
  write_heat_axis(spec, "y", "rows", map.y_title, map.rows.size());
  spec.array("tooltip");
  if (map.panels.size() > 1) spec.tooltip("panel", "data");
  spec.tooltip("row", map.y_title.empty() ? "row" : map.y_title);
  spec.tooltip("column", map.x_title.empty() ? "column" : map.x_title);
  spec.tooltip("v", map.value_title, format_of(map.percent));
  spec.end_array();
}

void write_heat_layer(Spec& spec, const HeatMap& map) {
  spec.begin_object().member("mark", "rect").key("encoding").begin_object();
  write_heat_channels(spec, map);
  write_heat_color(spec, map);
  spec.end().end();
}

// Text colors on pale and on deep cells, and where deep begins: black and white then have a contrast of 4.5 : 1 with
// every color of the ramp. In dark mode the page sets its own.
void write_number_colors(Spec& spec) {
  spec.begin_object().member("name", "ink").member("value", "#000000").end_object();
  spec.begin_object().member("name", "paper").member("value", "#ffffff").end_object();
  spec.begin_object().member("name", "deep").member("value", 0.69).end_object();
}

void write_number_layer(Spec& spec, const HeatMap& map) {
  spec.begin_object().key("mark").begin_object().member("type", "text").member("fontSize", 11).end_object();
  spec.key("encoding").begin_object();
  write_heat_channels(spec, map);
  spec.object("text").set("field", "v").set("type", "quantitative").set("format", format_of(map.percent)).end();
  spec.object("color").object("condition").set("test", "datum.t > deep");
  spec.object("value").set("expr", "paper").end().end();
  spec.object("value").set("expr", "ink").end().end();
  spec.end().end();
}

// One edge of the blocks: `along` runs from the first to the last position, `across` stays at one of them.
void write_edge(Spec& spec, const HeatMap& map, const char* along, const char* across, bool last) {
  const std::string second = concat(along, "2");
  const auto place = [&](const char* channel, const char* field, int position, std::size_t count) {
    spec.object(channel).set("field", field).set("type", "ordinal").set("bandPosition", position);
    spec.object("scale").set("domain", positions(count)).end().end();
  };
  spec.begin_object().key("data").begin_object().key("values").begin_array();
  for (const auto& [from, to] : map.blocks) spec.begin_object().member("a", from).member("b", to).end_object();
  spec.end_array().end_object();
  spec.key("mark").begin_object().member("type", "rule").member("style", "whisker").end_object();
  spec.key("encoding").begin_object();
  place(along, "a", 0, map.rows.size());
  spec.object(second).set("field", "b").set("bandPosition", 1).end();
  place(across, last ? "b" : "a", last ? 1 : 0, map.rows.size());
  spec.end().end();
}

void write_blocks(Spec& spec, const HeatMap& map) {
  for (const bool last : {false, true}) {
    write_edge(spec, map, "x", "y", last);
    write_edge(spec, map, "y", "x", last);
  }
}

}  // namespace

std::string line_chart(const LineChart& chart) {
  require(!chart.panels.empty() && !chart.panels.front().series.empty(), ErrorCode::internal,
          "line chart: no series, need 1");
  const auto& series = chart.panels.front().series;
  Spec spec;
  spec.begin_object();
  spec.object("usermeta").set("panels", chart.panels.size());
  write_series(spec, series, false);
  spec.end().array("params");
  write_off(spec);
  spec.names("names", names_of(series));
  spec.names("panels", names_of(chart.panels));
  if (!chart.x_names.empty()) spec.names("places", chart.x_names);
  spec.end_array();
  write_points(spec, chart);
  spec.array("transform");
  write_off_filter(spec);
  spec.lookup("names", "s", "name");
  if (chart.panels.size() > 1) spec.lookup("panels", "f", "panel");
  if (!chart.x_names.empty()) spec.lookup("places", "x", "place");
  if (has_bands(chart)) spec.band(format_of(chart.percent));
  spec.end_array();
  begin_facets(spec, chart.panels, chart.own_scales);
  spec.array("layer");
  if (has_bands(chart)) write_band_layer(spec, chart);
  write_line_layers(spec, chart);
  write_marker_layers(spec, chart);
  spec.end_array();
  end_facets(spec, chart.panels);
  return spec.end().text();
}

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

std::string heat_map(const HeatMap& map) {
  require(!map.panels.empty() && !map.rows.empty() && !map.columns.empty(), ErrorCode::internal,
          "heat map: no cells, need at least 1");
  const auto rows = static_cast<double>(map.rows.size()), columns = static_cast<double>(map.columns.size());
  Spec spec;
  spec.begin_object();
  spec.object("usermeta").set("panels", map.panels.size()).set("aspect", rounded(rows / columns));
  if (map.picks) spec.set("picks", true).set("most", 22.0 * rows);
  spec.set("widest", std::min(kWidestHeat, kWidestCell * columns)).end().array("params");
  spec.names("rows", map.rows);
  spec.names("columns", map.columns);
  spec.names("panels", names_of(map.panels));
  if (map.numbers) write_number_colors(spec);
  spec.end_array();
  write_cells(spec, map);
  spec.array("transform");
  spec.lookup("rows", "y", "row");
  spec.lookup("columns", "x", "column");
  if (map.panels.size() > 1) spec.lookup("panels", "f", "panel");
  spec.end_array();
  begin_facets(spec, map.panels, false);
  spec.array("layer");
  write_heat_layer(spec, map);
  if (map.numbers) write_number_layer(spec, map);
  if (!map.blocks.empty()) write_blocks(spec, map);
  spec.end_array();
  end_facets(spec, map.panels);
  return spec.end().text();
}

// --- Points -----------------------------------------------------------------------------------------------------

namespace {

// Three digits: a point is as large as a hundredth of the picture.
double coarse(double value) {
  const std::string digits = short_number(value, 3);
  double back = value;
  std::from_chars(digits.data(), digits.data() + digits.size(), back);
  return back;
}

void write_coordinate(Spec& spec, const char* channel, const std::string& title) {
  spec.object(channel).set("field", channel).set("type", "quantitative").titled(title);
  spec.object("scale").set("zero", false).end().object("axis").set("grid", false).set("format", "~s").end().end();
}

// The series of a chart by its names alone.
std::vector<BarSeries> named_series(const std::vector<std::string>& names) {
  std::vector<BarSeries> out;
  for (const auto& name : names) out.push_back({name, {}, false});
  return out;
}

// Where the colors of the page begin again, so that no two series look the same.
void write_shapes(Spec& spec, std::size_t count) {
  static const std::vector<std::string> kShapes = {"circle", "square", "triangle-up", "diamond", "cross"};
  std::vector<std::string> range;
  for (std::size_t s = 0; s < count; ++s) range.push_back(kShapes[s / kPageColors % kShapes.size()]);
  spec.object("shape").set("field", "s").set("type", "nominal").key("legend").null();
  spec.object("scale").set("domain", positions(count)).set("range", range).end().end();
}

}  // namespace

std::string scatter_chart(const ScatterChart& chart) {
  const auto series = named_series(chart.series);
  Spec spec;
  spec.begin_object();
  spec.object("usermeta").set("height", 420).set("widest", 680);
  write_series(spec, series, true);
  spec.end().array("params");
  write_off(spec);
  spec.names("names", chart.series);
  spec.end_array();
  spec.object("data").array("values");
  for (const auto& point : chart.points) {
    if (!std::isfinite(point.x) || !std::isfinite(point.y)) continue;
    spec.begin_object().member("x", coarse(point.x)).member("y", coarse(point.y)).member("s", point.series);
    spec.member("r", point.row).end_object();
  }
  spec.end_array().end_object();
  spec.array("transform");
  write_off_filter(spec);
  spec.lookup("names", "s", "name");
  spec.end_array();
  spec.object("mark").set("type", "point").set("size", chart.points.size() > 1000 ? 14 : 30).set("opacity", 0.75).end();
  spec.object("encoding");
  write_coordinate(spec, "x", chart.x_title);
  write_coordinate(spec, "y", chart.y_title);
  write_series_channels(spec, series, false);
  write_shapes(spec, series.size());
  spec.array("tooltip");
  spec.tooltip("name", "cluster");
  spec.tooltip("r", "row");
  spec.end_array();
  return spec.end().end().text();
}

// --- Spreads ----------------------------------------------------------------------------------------------------

namespace {

void write_spreads(Spec& spec, const SpreadChart& chart) {
  spec.object("data").array("values");
  for (std::size_t f = 0; f < chart.spreads.size(); ++f) {
    for (std::size_t k = 0; k < chart.spreads[f].size(); ++k) {
      const Spread& one = chart.spreads[f][k];
      if (!std::isfinite(one.middle)) continue;
      spec.begin_object().member("f", f).member("i", k).member("a", rounded(one.low)).member("b", rounded(one.quarter));
      spec.member("m", rounded(one.middle)).member("d", rounded(one.three_quarters));
      spec.member("e", rounded(one.high)).end_object();
    }
  }
  spec.end_array().end_object();
}

// A mark from one quantile to another, by category.
void write_spread_layer(Spec& spec, const SpreadChart& chart, const char* mark, const char* from, const char* to) {
  spec.begin_object().key("mark").begin_object().member("type", mark);
  if (*mark == 'b') spec.member("size", 18).member("opacity", 0.6);
  if (*mark == 't') spec.member("size", 18).member("thickness", 2.5).member("style", "whisker");
  spec.end_object().key("encoding").begin_object();
  spec.object("x").set("field", "i").set("type", "ordinal").titled(chart.category_title);
  spec.object("scale").set("domain", positions(chart.categories.size())).end();
  spec.object("axis").set("labelExpr", "categories[datum.value]").set("labelAngle", 0).end().end();
  spec.object("y").set("field", from).set("type", "quantitative").key("title").null();
  spec.object("scale").set("zero", false).end().object("axis").set("format", "~s").end().end();
  if (*to != '\0') spec.object("y2").set("field", to).end();
  spec.array("tooltip");
  spec.tooltip("category", chart.category_title);
  spec.tooltip("m", "median", ".4~g");
  spec.tooltip("b", "25 %", ".4~g"), spec.tooltip("d", "75 %", ".4~g");
  spec.tooltip("a", "5 %", ".4~g"), spec.tooltip("e", "95 %", ".4~g");
  spec.end_array();
  spec.end().end();
}

}  // namespace

std::string spread_chart(const SpreadChart& chart) {
  Spec spec;
  spec.begin_object();
  spec.object("usermeta").set("height", 240).set("widest", 90 + 60 * chart.categories.size());
  std::vector<std::string> choices;
  for (const auto& name : chart.rows) choices.push_back(printable(name, kLabel));
  spec.set("choices", choices).end().array("params");
  spec.begin_object().member("name", "picked").member("value", 0).end_object();
  spec.names("categories", chart.categories);
  spec.end_array();
  write_spreads(spec, chart);
  spec.array("transform").begin_object().member("filter", "datum.f === picked").end_object();
  spec.lookup("categories", "i", "category");
  spec.end_array();
  spec.array("layer");
  write_spread_layer(spec, chart, "rule", "a", "e");
  write_spread_layer(spec, chart, "bar", "b", "d");
  write_spread_layer(spec, chart, "tick", "m", "");
  spec.end_array();
  return spec.end().text();
}

Index knee(const std::vector<double>& falling) {
  if (falling.size() < 3) return 0;
  const double last = static_cast<double>(falling.size() - 1);
  const double first_value = falling.front(), drop = falling.front() - falling.back();
  Index best = 0;
  double deepest = 0.0;
  for (std::size_t i = 0; i < falling.size(); ++i) {
    const double below = (first_value - drop * static_cast<double>(i) / last) - falling[i];
    if (below > deepest * (1.0 + 1e-12)) deepest = below, best = static_cast<Index>(i);
  }
  return best;
}

}  // namespace tamis::page
