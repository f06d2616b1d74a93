// The kinds of figures there are, as Vega-Lite specifications for page::Figure.
//
// Names never become fields or keys of a specification: the data hold positions, and labels are looked up in a list.
// So equal names, empty ones, and names like __proto__ stay apart and do no harm. Colours, fonts, sizes and the legend
// are the page's own (tamis/report/assets/report.js).
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tamis/base/types.h"

namespace tamis::page {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// A point of a line, with a band from low to high where they are given.
struct Point {
  double x = 0.0, y = 0.0;
  double low = kNone, high = kNone;
};

struct Series {
  std::string name;
  std::vector<Point> points;
  bool control = false;  // grey and dashed: random subsets, all features
};

// Panels of one chart have the same series in the same order; a series may be without points in one of them.
struct LinePanel {
  std::string name;
  std::vector<Series> series;
};

// A vertical line at x with a word beside it. In every panel.
struct Marker {
  double x = 0.0;
  std::string label;
  bool before = false;  // the word stands at the foot of the line, to its left
};

struct LineChart {
  std::string x_title, y_title;
  std::vector<LinePanel> panels;  // one: no facets
  std::vector<Marker> markers;
  std::vector<std::string> x_names;  // where given, x is a position in them
  bool log_x = false, log_y = false;
  bool from_zero = false;   // the y axis begins at 0
  bool percent = false;     // y is a share of 1, and so are its bands: what of them lies outside 0 to 1 is cut off
  bool own_scales = false;  // of y, in each panel
  bool dots = true;         // at the points
  bool whole_x = false;     // x takes whole numbers only
};
std::string line_chart(const LineChart& chart);

// One bar for each series in each category, with a whisker where low and high are given.
struct Bar {
  double value = 0.0;
  double low = kNone, high = kNone;
};
struct BarSeries {
  std::string name;
  std::vector<Bar> bars;  // one a category; NaN: no bar
  bool control = false;
};
struct BarChart {
  std::string category_title, value_title;
  std::vector<std::string> categories;
  std::vector<BarSeries> series;
  bool horizontal = false;
  bool percent = false;  // shares of 1, as in LineChart
};
std::string bar_chart(const BarChart& chart);

struct HeatPanel {
  std::string name;
  std::vector<double> values;  // row after row: rows x columns; NaN: no cell
};
struct HeatMap {
  std::string x_title, y_title, value_title;
  std::vector<std::string> columns, rows;
  std::vector<HeatPanel> panels;     // one: no facets
  double low = kNone, high = kNone;  // of the colours; kNone: as the values are
  bool percent = false;
  bool numbers = false;     // written into the cells
  bool own_scales = false;  // the colours run from the least to the largest value of each panel, without a legend;
  double least_span = 0.0;  // over so much at least, around the middle: small differences look small
};
std::string heat_map(const HeatMap& map);

// The position of the knee of falling values: where they lie farthest below the chord from the first to the last
// (Kneedle; Satopaa et al. 2011). 0 where there are fewer than three, or none lies below.
Index knee(const std::vector<double>& falling);

}  // namespace tamis::page
