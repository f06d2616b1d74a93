#include <cmath>
#include <string>
#include <vector>

#include "tamis/base/text/quote.h"
#include "tamis/report/charts/charts.h"
#include "tamis/report/charts/spec.h"

namespace tamis::page {

using namespace charts;

namespace {

constexpr std::size_t kManyCategories = 12;

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

double largest_spread(const SpreadChart& chart) {
  double most = 0.0;
  for (const auto& row : chart.spreads) {
    for (const Spread& one : row) most = std::fmax(most, std::fmax(std::abs(one.low), std::abs(one.high)));
  }
  return most;
}

// A mark from one quantile to another, by category.
void write_spread_layer(Spec& spec, const SpreadChart& chart, const char* mark, const char* from, const char* to) {
  spec.begin_object().key("mark").begin_object().member("type", mark);
  const int wide = chart.categories.size() > kManyCategories ? 7 : 18;  // pixels
  if (*mark == 'b') spec.member("size", wide).member("opacity", 0.6);
  if (*mark == 't') spec.member("size", wide).member("thickness", 2.5).member("style", "whisker");
  spec.end_object().key("encoding").begin_object();
  spec.object("x").set("field", "i").set("type", "ordinal").titled(chart.category_title);
  spec.object("scale").set("domain", positions(chart.categories.size())).end();
  spec.object("axis").set("labelExpr", "categories[datum.value]").set("labelAngle", 0).set("labelOverlap", "greedy");
  spec.set("labelSeparation", 3).end().end();
  spec.object("y").set("field", from).set("type", "quantitative").key("title").null();
  spec.object("scale").set("zero", false).end();
  spec.object("axis").set("format", axis_format(false, largest_spread(chart))).end().end();
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

}  // namespace tamis::page
