#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tamis/base/error.h"
#include "tamis/base/message.h"
#include "tamis/report/charts/charts.h"
#include "tamis/report/charts/spec.h"

namespace tamis::page {

using namespace charts;

namespace {

constexpr double kWidestHeat = 640.0;                   // pixels
constexpr double kWidestCell = 34.0;                    // pixels
constexpr std::size_t kLetters = 18, kFewLetters = 10;  // of a label; the page's width decides

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
  spec.object("axis").set("labelExpr",
                          concat("(letters < ", kLetters, " ? ", list, "_short : ", list, "_long)[datum.value]"));
  spec.set("ticks", false).set("domain", false);
  spec.set("labelOverlap", "greedy").set("labelSeparation", 3);
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

// The names of one axis, and its labels for wide and narrow pages.
void write_axis_names(Spec& spec, const std::string& list, const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const auto& one : names) shown.push_back(printable(one, one.size() + 1));
  spec.names(list.c_str(), names);
  for (const auto& [suffix, most] : {std::pair{"_long", kLetters}, std::pair{"_short", kFewLetters}}) {
    spec.names(concat(list, suffix).c_str(), distinct_labels(shown, most));
  }
}

}  // namespace

std::string heat_map(const HeatMap& map) {
  require(!map.panels.empty() && !map.rows.empty() && !map.columns.empty(), ErrorCode::internal,
          "heat map: no cells, need at least 1");
  const auto rows = static_cast<double>(map.rows.size()), columns = static_cast<double>(map.columns.size());
  Spec spec;
  spec.begin_object();
  spec.object("usermeta").set("panels", map.panels.size()).set("aspect", rounded(rows / columns));
  if (map.picks) spec.set("picks", true).set("most", 22.0 * rows);
  spec.set("widest", std::min(kWidestHeat, kWidestCell * columns)).end().array("params");
  write_axis_names(spec, "rows", map.rows);
  write_axis_names(spec, "columns", map.columns);
  spec.names("panels", names_of(map.panels));
  spec.begin_object().member("name", "letters").member("value", kLetters).end_object();
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

}  // namespace tamis::page
