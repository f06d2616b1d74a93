#include "tamis/report/charts/charts.h"
#include "tamis/report/select_view.h"
#include "tamis/select/guided/alignment.h"
#include "tamis/select/guided/guided.h"

namespace tamis {

namespace {

std::string percent_text(double share) { return short_number(100.0 * share) + " %"; }

// Where the suggested number comes from.
std::string suggestion_text(const Guidance& guidance, const std::string& what) {
  if (guidance.outcome == Outcome::no_structure) return concat("No number is suggested, as no structure was found.");
  if (guidance.outcome == Outcome::narrow) {
    return concat("No number is suggested: up to ", kNarrow, " ", what, " are best kept whole.");
  }
  const bool fewer = static_cast<Index>(guidance.alignment.size()) < kNarrow;
  return concat("The suggested number is the first, from ", kNarrow, " on, that reaches ", percent_text(kEnough),
                " of the maximum", fewer ? concat("; here all ", what, " that passed, as they are fewer") : "", ".");
}

page::Figure alignment_figure(const SelectView& view, const Guidance& guidance) {
  page::LineChart chart;
  chart.x_title = view.counted(), chart.y_title = "alignment f";
  chart.log_x = guidance.alignment.size() > kLogCurve;
  chart.dots = guidance.alignment.size() <= 60;
  chart.from_zero = true;
  chart.whole_x = !chart.log_x;
  chart.panels = {{"", {{"alignment", curve(guidance.alignment, chart.log_x), false}}}};
  const auto chosen = static_cast<Index>(view.is_grouped() ? view.result.groups.size() : view.result.selected.size());
  const auto length = static_cast<Index>(guidance.alignment.size());
  if (guidance.suggested <= length && guidance.outcome == Outcome::columns_found) {
    chart.markers.push_back({static_cast<double>(guidance.suggested), concat("suggested: ", guidance.suggested), true});
  }
  if (chosen != guidance.suggested && chosen <= length) {
    chart.markers.push_back({static_cast<double>(chosen), concat("selected: ", chosen), true});
  }
  page::Figure figure;
  figure.title = "Alignment with the groups of rows";
  const std::string what = view.counted();
  figure.caption =
      concat("How well the first ", what, " alone reproduce the groups found by the graphs of the rows. ",
             suggestion_text(guidance, what), " The curve says nothing about labels that differ from these groups.");
  figure.alt =
      concat("Line chart of the alignment for the first ", guidance.alignment.size(), " columns, from ",
             short_number(guidance.alignment.front(), 3), " to ", short_number(guidance.alignment.back(), 3), ".");
  figure.spec = page::line_chart(chart);
  return figure;
}

}  // namespace

page::Section guide_section(const SelectView& view) {
  const Guidance& guidance = *view.selection.guidance;
  page::Section section{"The guide", {}};
  if (view.is_order()) add_warnings(view, section);
  if (guidance.alignment.size() > 1) section.blocks.push_back(alignment_figure(view, guidance));
  page::Facts facts;
  const auto add = [&](const std::string& key, const std::string& value) { facts.facts.emplace_back(key, value); };
  add("rows used", concat(guidance.rows, " of ", view.record.table.source.rows()));
  add(concat(view.counted(), " that passed"),
      concat(guidance.passed, guidance.evidence.empty()
                                  ? ", by share alone"
                                  : ", at a false discovery rate of " + percent_text(kDiscoveryRate)));
  add("expected share of noise",
      concat(short_number(guidance.chance, 3), ", standard deviation ", short_number(guidance.deviation, 2)));
  add("graph weights", concat(short_number(guidance.graph_weights[0], 2), " for the table as it is, ",
                              short_number(guidance.graph_weights[1], 2), " for unit standard deviations, ",
                              short_number(guidance.graph_weights[2], 2), " for rows of unit length"));
  if (const auto& agreement = view.result.agreement) {
    add("agreement of k-means with the groups",
        concat(short_number(agreement->selected, 2), " on the selected columns, ", short_number(agreement->all, 2),
               " on all columns (normalized mutual information, ", agreement->rows, " rows)"));
  }
  section.blocks.push_back(facts);
  return section;
}

}  // namespace tamis
