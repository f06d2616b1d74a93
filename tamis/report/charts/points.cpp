#include <charconv>
#include <cmath>
#include <string>
#include <vector>

#include "tamis/base/text/spelling.h"
#include "tamis/report/charts/charts.h"
#include "tamis/report/charts/spec.h"

namespace tamis::page {

using namespace charts;

namespace {

// Three digits: a point is as large as a hundredth of the picture.
double coarse(double value) {
  const std::string digits = short_number(value, 3);
  double back = value;
  std::from_chars(digits.data(), digits.data() + digits.size(), back);
  return back;
}

void write_coordinate(Spec& spec, const char* channel, const std::string& title, double most) {
  spec.object(channel).set("field", channel).set("type", "quantitative").titled(title);
  spec.object("scale").set("zero", false).end();
  spec.object("axis").set("grid", false).set("format", axis_format(false, most)).end().end();
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
  double most = 0.0;
  for (const auto& point : chart.points) most = std::fmax(most, std::fmax(std::abs(point.x), std::abs(point.y)));
  write_coordinate(spec, "x", chart.x_title, most);
  write_coordinate(spec, "y", chart.y_title, most);
  write_series_channels(spec, series, false);
  write_shapes(spec, series.size());
  spec.array("tooltip");
  spec.tooltip("name", "cluster");
  spec.tooltip("r", "row");
  spec.end_array();
  return spec.end().end().text();
}

}  // namespace tamis::page
