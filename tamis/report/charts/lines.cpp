#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tamis/base/error.h"
#include "tamis/base/text/quote.h"
#include "tamis/report/charts/charts.h"
#include "tamis/report/charts/spec.h"

namespace tamis::page {

using namespace charts;

namespace {

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

// Where things stand on the axes of the first panel, from 0 to 1.
class Axes {
 public:
  explicit Axes(const LineChart& chart) : chart_(chart) {
    for (const Series& series : chart.panels.front().series) {
      for (const Point& point : series.points) {
        x_low_ = std::min(x_low_, point.x), x_high_ = std::max(x_high_, point.x);
        y_low_ = std::min(y_low_, point.y), y_high_ = std::max(y_high_, point.y);
      }
    }
    if (chart.from_zero) y_low_ = std::min(y_low_, 0.0);
  }

  double across(double x) const {
    const auto value = [&](double at) { return chart_.log_x && x_low_ > 0 ? std::log(at) : at; };
    return x_high_ > x_low_ ? (value(x) - value(x_low_)) / (value(x_high_) - value(x_low_)) : 0.0;
  }
  // The lowest and the highest point of the lines between two places on the x axis.
  std::pair<double, double> reach(double from, double to) const {
    double low = 1.0, high = 0.0;
    for (const Series& series : chart_.panels.front().series) {
      for (const Point& point : series.points) {
        const double place = across(point.x), up = y_high_ > y_low_ ? (point.y - y_low_) / (y_high_ - y_low_) : 0.5;
        if (place >= from && place <= to) low = std::min(low, up), high = std::max(high, up);
      }
    }
    return {low, high};
  }

 private:
  const LineChart& chart_;
  double x_low_ = std::numeric_limits<double>::infinity(), x_high_ = -x_low_;
  double y_low_ = x_low_, y_high_ = -x_low_;
};

// On which side of its marker a label is, and at which end.
struct LabelPlace {
  bool leftward = false, at_foot = false;
};

// A label keeps off the end of the axis, the lines of other markers and the curve, where it can.
LabelPlace place_of_label(const LineChart& chart, const Marker& marker) {
  constexpr double kLong = 0.3;  // of the axis: a label on a phone
  constexpr double kHigh = 0.2;  // of the axis: labels above each other
  const Axes axes(chart);
  const double here = axes.across(marker.x);
  const auto is_free = [&](double from, double to) {
    return from >= 0.0 && to <= 1.0 && std::ranges::none_of(chart.markers, [&](const Marker& other) {
             const double there = axes.across(other.x);
             return &other != &marker && there > from && there < to;
           });
  };
  LabelPlace out{!is_free(here, here + kLong) && (is_free(here - kLong, here) || here > 1.0 - kLong), marker.at_foot};
  const auto [low, high] = axes.reach(out.leftward ? here - kLong : here, out.leftward ? here : here + kLong);
  if (!out.at_foot && high > 1.0 - kHigh && low > kHigh) out.at_foot = true;
  if (out.at_foot && low < kHigh && high < 1.0 - kHigh) out.at_foot = false;
  return out;
}

// On one data row, not on every row of the chart.
void begin_marker(Spec& spec, const char* mark) {
  spec.begin_object().key("data").begin_object().key("values").begin_array().begin_object().end_object();
  spec.end_array().end_object();
  spec.key("mark").begin_object().member("type", mark);
}

void write_marker_label(Spec& spec, const LineChart& chart, std::size_t i, bool halo) {
  const Marker& marker = chart.markers[i];
  const auto [leftward, at_foot] = place_of_label(chart, marker);
  const double step = 8.0 + 16.0 * static_cast<double>(i);
  begin_marker(spec, "text");
  if (halo) spec.member("style", "halo");
  spec.member("align", leftward ? "right" : "left");
  spec.member("dx", leftward ? -5 : 5).member("dy", at_foot ? -step : step);
  spec.member("baseline", at_foot ? "bottom" : "top").member("text", printable(marker.label, kLabel));
  spec.end().object("encoding").object("x").set("datum", rounded(marker.x)).end().object("y");
  at_foot ? spec.set("value", "height") : spec.set("value", 0);
  spec.end().end().end();
}

// The labels on top of all lines, each on a halo in the color of the page.
void write_marker_layers(Spec& spec, const LineChart& chart) {
  for (const auto& marker : chart.markers) {
    begin_marker(spec, "rule");
    spec.member("strokeDash", std::vector<int>{3, 3});
    spec.end().object("encoding").object("x").set("datum", rounded(marker.x)).end().end().end();
  }
  for (const bool halo : {true, false}) {
    for (std::size_t i = 0; i < chart.markers.size(); ++i) write_marker_label(spec, chart, i, halo);
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
