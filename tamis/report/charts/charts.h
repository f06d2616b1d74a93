// The kinds of figures, as Vega-Lite specifications for page::Figure.
//
// Names never become fields or keys of a specification: the data hold positions, and labels are looked up in a list.
// So equal names, empty names and names like __proto__ stay distinct and do no harm. Colors, fonts, sizes and the
// legend are set by the page (tamis/report/assets/report.js).
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "tamis/base/types.h"

namespace tamis::page {

inline constexpr std::size_t kPageColors = 9;  // of series, in report.js
inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// A point of a line, with a band from low to high if they are given.
struct Point {
  double x = 0.0, y = 0.0;
  double low = kNone, high = kNone;
};

struct Series {
  std::string name;
  std::vector<Point> points;
  bool control = false;  // gray and dashed: random subsets, all features
};

// Panels of one chart have the same series in the same order; a series may be without points in one of them.
struct LinePanel {
  std::string name;
  std::vector<Series> series;
};

// A vertical line at x with a label, in every panel; the label is to the right of it, unless that is the end of the
// axis or the line of another marker.
struct Marker {
  double x = 0.0;
  std::string label;
  bool at_foot = false;  // the label is rather at the foot of the line, under a rising curve, than at its top
};

struct LineChart {
  std::string x_title, y_title;
  std::vector<LinePanel> panels;  // one: no facets
  std::vector<Marker> markers;
  std::vector<std::string> x_names;  // if given, x is a position in this list
  bool log_x = false, log_y = false;
  bool from_zero = false;   // the y axis begins at 0
  bool percent = false;     // y and its bands are fractions of 1; bands are clipped to 0 to 1
  bool own_scales = false;  // each panel has its own y scale
  bool dots = true;         // at the points
  bool whole_x = false;     // x is an integer
};
std::string line_chart(const LineChart& chart);

// One bar per series and category, with a whisker if low and high are given.
struct Bar {
  double value = 0.0;
  double low = kNone, high = kNone;
};
struct BarSeries {
  std::string name;
  std::vector<Bar> bars;  // one per category; NaN: no bar
  bool control = false;
};
struct BarChart {
  std::string category_title, value_title;
  std::vector<std::string> categories;
  std::vector<BarSeries> series;
  bool horizontal = false;
  bool percent = false;  // fractions of 1, as in LineChart
};
std::string bar_chart(const BarChart& chart);

struct HeatPanel {
  std::string name;
  std::vector<double> values;  // row by row: rows x columns; NaN: no cell
};
struct HeatMap {
  std::string x_title, y_title, value_title;
  std::vector<std::string> columns, rows;
  std::vector<HeatPanel> panels;     // one: no facets
  double low = kNone, high = kNone;  // range of the colors; kNone: that of the values
  bool percent = false;
  bool numbers = false;     // write the numbers into the cells
  bool own_scales = false;  // colors range from the minimum to the maximum of each panel, without a legend;
  double least_span = 0.0;  // the smallest such range, so that small differences look small
  std::vector<std::pair<std::size_t, std::size_t>> blocks = {};  // on the diagonal, outlined: first and last position
  bool diverging = false;                                        // two colors, with 0 between them
  bool picks = false;  // a click on a row shows it in the spread_chart() of the page
};
std::string heat_map(const HeatMap& map);

// Points in series; a click on a name hides them.
struct ScatterPoint {
  double x = 0.0, y = 0.0;
  std::size_t series = 0;
  Index row = 0;  // of the table
};
struct ScatterChart {
  std::string x_title, y_title;
  std::vector<std::string> series;
  std::vector<ScatterPoint> points;
};
std::string scatter_chart(const ScatterChart& chart);

// The spread of values in each category, of one row at a time: the reader picks it.
struct Spread {
  double low = kNone, quarter = kNone, middle = kNone, three_quarters = kNone, high = kNone;
};
struct SpreadChart {
  std::string category_title;
  std::vector<std::string> categories;
  std::vector<std::string> rows;
  std::vector<std::vector<Spread>> spreads;  // of each row, by category; NaN: none
};
std::string spread_chart(const SpreadChart& chart);

// Names of at most so many letters, elided in the middle; where that would make different names alike, the part in
// which they differ.
std::vector<std::string> distinct_labels(const std::vector<std::string>& names, std::size_t most);

// The position of the knee of decreasing values: where they are farthest below the line from the first to the last
// (Kneedle; Satopaa et al. 2011). 0 if there are fewer than three, or none is below.
Index knee(const std::vector<double>& falling);

}  // namespace tamis::page
