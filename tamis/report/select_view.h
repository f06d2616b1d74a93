// What the sections of the page of a selection have in common: the run, the names of its features, and the
// correlations of the best ones. Each section is a function in a file of its own (select_*.cpp).
#pragma once

#include <string>
#include <vector>

#include "tamis/data/passes/passes.h"
#include "tamis/report/charts/charts.h"
#include "tamis/report/cluster_profile.h"
#include "tamis/report/select_page.h"

namespace tamis {

inline constexpr std::size_t kShownFeatures = 2000;  // rows of the ranking
inline constexpr std::size_t kLogCurve = 400;        // above this many features the rank axis is logarithmic

inline std::size_t at(Index j) { return static_cast<std::size_t>(j); }

struct SelectView {
  SelectView(const SelectionRecord& record, const SelectPageOptions& options, Context& context);

  const SelectionRecord& record;
  const SelectPageOptions& options;
  Context& context;
  const SelectResult& result;
  const Selection& selection;
  std::vector<Index> place;  // of a table column among the available ones, or -1
  std::vector<char> chosen;  // of each table column: whether it is selected
  ColumnMoments moments;     // of the available columns
  std::vector<Index> top;    // the best features, by rank
  Matrix correlation;        // of these

  std::optional<ClusterProfile> profile;  // where there are clusters

  std::string name(Index j) const;             // of a figure
  page::TableCell name_of_row(Index j) const;  // of a table
  bool is_order() const { return record.method.is_order; }
  // Whether several columns are chosen as one, so that curves count groups.
  bool is_grouped() const { return result.choices < static_cast<Index>(result.available.size()); }
  // Whether what the clusters of the rows say is worth a word.
  bool has_structure() const { return !selection.guidance || selection.guidance->outcome != Outcome::no_structure; }
  const char* counted() const { return is_grouped() ? "groups of columns" : "columns"; }
  Source kept() const;  // the available columns
  // Of some features, in their order, as the method saw them.
  Matrix correlations_of(const std::vector<Index>& features) const;
};

page::Section guide_section(const SelectView& view);
page::Section scores_section(const SelectView& view);
page::Section ranking_section(const SelectView& view);
page::Section image_section(const SelectView& view);
page::Section redundancy_section(const SelectView& view);
page::Section clusters_section(const SelectView& view);   // where there is a profile
page::Section objective_section(const SelectView& view);  // where there is an objective
page::Section left_out_section(const SelectView& view);
page::Section run_section(const SelectView& view);

void add_warnings(const SelectView& view, page::Section& section);
// A few hundred points at most, evenly spaced along the axis, including the first and the last.
std::vector<page::Point> curve(const std::vector<double>& falling, bool log_x);

}  // namespace tamis
