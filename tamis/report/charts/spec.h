// What the kinds of figures share: a writer of specifications, facets, series. Used by charts/*.cpp only.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/base/message.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/report/charts/charts.h"
#include "tamis/report/json.h"

namespace tamis::page::charts {

inline constexpr std::size_t kLabel = 60;  // characters of a name
inline constexpr std::size_t kDashes = 4;
inline const std::vector<int> kDash[kDashes] = {{1, 0}, {6, 3}, {2, 2}, {8, 2, 2, 2}};
inline const std::vector<int> kControlDash[kDashes] = {{4, 4}, {1, 3}, {10, 4}, {8, 3, 1, 3}};

// Six digits: visually identical, at a third of the bytes.
inline double rounded(double value) {
  if (!std::isfinite(value)) return value;
  const std::string digits = short_number(value);
  double back = value;
  std::from_chars(digits.data(), digits.data() + digits.size(), back);
  return back;
}

inline std::vector<Index> positions(std::size_t count) {
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
inline double bound_of(double value, bool percent) { return rounded(percent ? std::clamp(value, 0.0, 1.0) : value); }

inline const char* format_of(bool percent) { return percent ? ".1%" : ".5~g"; }

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
inline void write_off(Spec& spec) {
  spec.begin_object().member("name", "off").key("value").begin_array().end_array().end_object();
}
inline void write_off_filter(Spec& spec) {
  spec.begin_object().member("filter", "indexof(off, datum.s) < 0").end_object();
}

// 59,500 and 0.01; 1.5M only where space is short. Eight digits distinguish 44,596.05 from 44,596.1.
inline const char* axis_format(bool percent, double most) { return percent ? "~%" : most < 1e7 ? ",.8~g" : "~s"; }

}  // namespace tamis::page::charts
