#include "tamis/report/compare_page.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/base/version.h"
#include "tamis/report/charts/charts.h"
#include "tamis/report/verdict.h"

namespace tamis {

namespace {

// The typographic sign, as in the numbers of tables.
std::string with_minus_signs(std::string text) {
  constexpr std::string_view kHyphen = " -", kMinus = " \u2212";
  for (std::size_t found = 0; (found = text.find(kHyphen, found)) != std::string::npos; found += kMinus.size()) {
    text.replace(found, kHyphen.size(), kMinus);
  }
  return text;
}

using page::TableCell;
using enum page::Column::Kind;

using ScoreOf = MeanSd SubsetScore::*;

page::Point point_at(const SubsetScore& score, ScoreOf measure) {
  const MeanSd& value = score.*measure;
  return {static_cast<double>(score.features), value.mean, value.mean - value.sd, value.mean + value.sd};
}

class ComparePage {
 public:
  explicit ComparePage(const ComparisonRecord& record)
      : record_(record), request_(record.request), comparison_(record.comparison) {
    for (const auto& row : comparison_.methods) {
      if (!row.failure) ranked_.push_back(&row);
    }
  }

  page::Page compose() const {
    page::Page page;
    page.title = concat("Comparison of methods on ", page::file_text(record_.table.path));
    page.summary = summary();
    page.verdict = verdict(request_, comparison_);
    page.origin = record_.origin;
    page.sections.push_back(scores());
    if (ranked_.size() > 1) page.sections.push_back(agreement());
    if (request_.grid) page.sections.push_back(grid());
    page.sections.push_back(costs());
    page.sections.push_back(features());
    page.sections.push_back(run());
    return page;
  }

 private:
  bool labelled() const { return !request_.classes.empty(); }

  std::string summary() const {
    return concat(counted(std::ssize(ranked_), "method"), " on ", counted(record_.table.source.rows(), "row"), " and ",
                  counted(record_.table.source.cols(), "feature"), ".");
  }

  static std::string percent_text(double share) { return fixed_number(100.0 * share, 1) + " %"; }

  page::Section scores() const {
    page::Section section{labelled() ? "Agreement with the classes" : "Redundancy", {}};
    for (const auto& warning : record_.warnings) section.blocks.push_back(page::Note{warning, true});
    for (const auto& note : comparison_.notes) section.blocks.push_back(page::Note{note, false});
    if (ranked_.empty()) {
      section.blocks.push_back(page::Note{"No method finished.", true});
      return section;
    }
    if (labelled()) {
      section.blocks.push_back(
          page::Text{concat("k-means with ", request_.clusters,
                            " clusters on the selected features only, compared with the classes: mean "
                            "and standard deviation of ",
                            request_.repeats, " single starts. Random: ", request_.subsets,
                            " random subsets of the same size. A method within the gray band has shown nothing.")});
      section.blocks.push_back(curve("ACC", "clustering accuracy (ACC)", &SubsetScore::accuracy));
      section.blocks.push_back(curve("NMI", "normalized mutual information (NMI)", &SubsetScore::nmi));
    }
    section.blocks.push_back(score_table());
    return section;
  }

  page::Figure curve(const std::string& short_name, const std::string& name, ScoreOf measure) const {
    page::LineChart chart;
    chart.x_title = "features", chart.y_title = short_name, chart.percent = true;
    chart.log_x = request_.sizes.back() > 20 * request_.sizes.front();
    page::LinePanel panel;
    for (const auto* row : ranked_) {
      page::Series series{row->name, {}, false};
      for (const auto& size : row->sizes) series.points.push_back(point_at(size.score, measure));
      panel.series.push_back(std::move(series));
    }
    page::Series random{"random", {}, true};
    for (const auto& band : comparison_.random) random.points.push_back(point_at(band, measure));
    panel.series.push_back(std::move(random));
    if (comparison_.all) panel.series.push_back(all_line(measure));
    chart.panels = {std::move(panel)};
    page::Figure figure;
    figure.title = short_name + " by number of features";
    figure.caption = "Bands: one standard deviation. Click a name to hide or show its line.";
    figure.alt = concat("Line chart of the ", name, " by number of features for ",
                        counted(std::ssize(ranked_), "method"), ", with random features",
                        comparison_.all ? " and all features" : "", ". The table below has the numbers.");
    figure.spec = page::line_chart(chart);
    return figure;
  }

  // A horizontal line, since it is one number.
  page::Series all_line(ScoreOf measure) const {
    page::Series series{"all features", {}, true};
    for (const Index k : {request_.sizes.front(), request_.sizes.back()}) {
      series.points.push_back({static_cast<double>(k), ((*comparison_.all).*measure).mean});
    }
    return series;
  }

  page::Table score_table() const {
    page::Table table;
    table.title = "Scores";
    table.columns = {{"features", number}, {"method"}};
    if (labelled()) {
      table.caption = concat(
          "Highlighted: the best method at each size. p: (1 + number of random subsets at least as "
          "good) / ",
          1 + request_.subsets,
          ". Against the best: the difference of ACC from the best method, and its 95 % interval, paired over the "
          "k-means starts; it is not clear where the interval contains 0. Redundancy: mean absolute correlation.");
      table.columns.insert(table.columns.end(), {{"ACC", percent, 1}, {"NMI", percent, 1}, {"p of ACC", number, 3}});
      if (request_.repeats > 1) table.columns.push_back({"against the best"});
    } else {
      table.caption = "Mean absolute correlation of the selected features: high if they are redundant.";
    }
    table.columns.push_back({"redundancy", number, 3});
    for (std::size_t s = 0; s < request_.sizes.size(); ++s) {
      for (const auto* row : ranked_) {
        auto cells = score_row(row->name, row->sizes[s].score, row->sizes[s].accuracy_p, s);
        if (labelled()) {
          cells[2].best = is_best(s, row->sizes[s].score, &SubsetScore::accuracy);
          cells[3].best = is_best(s, row->sizes[s].score, &SubsetScore::nmi);
        }
        table.rows.push_back(std::move(cells));
      }
      table.rows.push_back(score_row("random", comparison_.random[s], page::kNone, s));
    }
    if (comparison_.all)
      table.rows.push_back(score_row("all features", *comparison_.all, page::kNone, request_.sizes.size() - 1));
    return table;
  }

  // The best at the size of that position, and which differences from it are real.
  std::string against_best(const SubsetScore& score, std::size_t s) const {
    const SubsetScore& best = best_method(comparison_, s)->sizes[s].score;
    if (&best == &score) return "the best";
    const auto difference = paired_difference(score, best, &StartScore::accuracy);
    if (!difference) return "";
    if (difference->low == 0.0 && difference->high == 0.0) return "the same";
    const char* word = !difference->is_clear() ? "not clear" : difference->mean < 0 ? "worse" : "better";
    return with_minus_signs(concat(word, ": ", points_text(*difference)));
  }

  std::vector<TableCell> score_row(const std::string& name, const SubsetScore& score, double p, std::size_t s) const {
    std::vector<TableCell> cells = {score.features, name};
    if (labelled()) {
      cells.emplace_back(score.accuracy.mean, score.accuracy.sd);
      cells.emplace_back(score.nmi.mean, score.nmi.sd);
      cells.emplace_back(p);
      if (request_.repeats > 1) cells.emplace_back(against_best(score, s));
    }
    cells.emplace_back(score.redundancy.value_or(page::kNone));
    return cells;
  }

  bool is_best(std::size_t s, const SubsetScore& score, ScoreOf measure) const {
    return std::all_of(ranked_.begin(), ranked_.end(),
                       [&](const auto* row) { return (row->sizes[s].score.*measure).mean <= (score.*measure).mean; });
  }

  page::Section agreement() const {
    std::vector<std::vector<Index>> rankings;
    page::HeatMap map;
    for (const auto* row : ranked_) rankings.push_back(row->selected), map.rows.push_back(row->name);
    map.columns = map.rows;
    map.value_title = "share", map.low = 0.0, map.high = 1.0, map.percent = true;
    for (const Index k : request_.sizes) {
      const Matrix share = overlap(rankings, k);
      map.panels.push_back({concat("first ", k), std::vector<double>(share.data(), share.data() + share.size())});
    }
    const double by_chance =
        static_cast<double>(request_.sizes.back()) / static_cast<double>(record_.table.source.cols());
    page::Figure figure;
    figure.title = "Overlap of the selected features";
    figure.caption = concat("Share of common features for each pair of methods; two random subsets of ",
                            request_.sizes.back(), " share ", percent_text(by_chance), " on average.");
    figure.alt = concat("Heat maps of the share of common features between ", counted(std::ssize(ranked_), "method"),
                        ", one for each of ", counted(std::ssize(request_.sizes), "size"), ".");
    figure.spec = page::heat_map(map);
    return {"Overlap", {figure}};
  }

  page::Section grid() const {
    page::Table table;
    table.title = "ACC over a grid of options";
    table.caption =
        "Label-best is the best of all settings tried, chosen with the true classes; it cannot be obtained without "
        "labels.";
    table.columns = {{"features", number},  {"method"},        {"label-best", percent, 1}, {"median", percent, 1},
                     {"worst", percent, 1}, {"tried", number}, {"label-best at"}};
    for (std::size_t s = 0; s < request_.sizes.size(); ++s) {
      for (const auto& row : comparison_.methods) {
        const GridSummary found = summary_of(row.grid, s);
        if (found.evaluations == 0) continue;
        table.rows.push_back({request_.sizes[s], row.name, found.best, found.median, found.worst, found.evaluations,
                              settings_text(found.best_settings)});
      }
    }
    return {"Grid", {table}};
  }

  page::Section costs() const {
    page::Section section{"Time and memory", {}};
    page::BarChart chart;
    chart.value_title = "seconds", chart.horizontal = true;
    chart.series = {{"seconds", {}, false}};
    page::Table table;
    table.columns = {{"method"}, {"seconds", significant, 3}, {"MiB", number, 1}, {"status"}};
    for (const auto& row : comparison_.methods) {
      if (row.failure) {
        table.rows.push_back({row.name, TableCell(), TableCell(), "failed: " + row.failure->reason.text()});
        continue;
      }
      const double mebibytes = row.bytes ? static_cast<double>(*row.bytes) / 1048576.0 : page::kNone;
      table.rows.push_back({row.name, row.seconds, mebibytes, status_text(row.report)});
      chart.categories.push_back(row.name);
      chart.series[0].bars.push_back({row.seconds});
    }
    if (!ranked_.empty()) {
      page::Figure figure{"Seconds to rank the features", "", "", page::bar_chart(chart)};
      figure.alt = "Bar chart of the seconds each method took; the table next to it has the numbers.";
      figure.half = true;
      section.blocks.push_back(figure);
    }
    table.half = !ranked_.empty();
    section.blocks.push_back(table);
    return section;
  }

  page::Section features() const {
    page::Table table;
    table.title = concat("The first ", request_.sizes.back(), " features of each method");
    table.columns = {{"rank", number}};
    for (const auto* row : ranked_) table.columns.push_back({row->name});
    constexpr Index kShown = 500;
    const Index shown = std::min(kShown, request_.sizes.back());
    if (shown < request_.sizes.back()) table.caption = concat("The first ", shown, " are shown.");
    for (Index rank = 0; rank < shown && !ranked_.empty(); ++rank) {
      std::vector<TableCell> cells = {rank + 1};
      for (const auto* row : ranked_) {
        cells.push_back(page::name_cell(feature_name(record_.table, row->selected[rank])));
      }
      table.rows.push_back(std::move(cells));
    }
    return {"Features", {table}};
  }

  page::Section run() const {
    const Source& source = record_.table.source;
    page::Facts facts;
    const auto add = [&](const std::string& key, const std::string& value) { facts.facts.emplace_back(key, value); };
    add("data",
        concat(page::file_text(record_.table.path), ": ", counted(source.rows(), "row"), " x ",
               counted(source.cols(), "feature"), ", ", record_.table.format, source.sparse() ? ", sparse" : ""));
    add("labels", labelled() ? record_.labels : "none");
    add("clusters", std::to_string(request_.clusters));
    add("scale", name_of(comparison_.scale));
    add("seed", std::to_string(record_.seed));
    add("threads", std::to_string(record_.threads));
    add("machine", page::machine_text());
    add("version", concat("tamis ", kVersion));
    page::Table table;
    table.title = "Options of the methods";
    table.columns = {{"method"}, {"option"}, {"value"}, {"meaning"}};
    for (const auto& row : comparison_.methods) {
      for (const auto& option : row.bound->options()) {
        table.rows.push_back({row.name, option.name, resolved(option, row.report), option.help});
      }
    }
    return {"The run", {facts, table}};
  }

  static std::string resolved(const Option& option, const Report& report) {
    for (const auto& [fact, value] : report.resolved) {
      if (fact == option.name) return short_number(value);
    }
    return value_text(option);
  }

  const ComparisonRecord& record_;
  const CompareRequest& request_;
  const Comparison& comparison_;
  std::vector<const ComparedMethod*> ranked_;  // those that have a ranking
};

}  // namespace

page::Page compare_page(const ComparisonRecord& record) { return ComparePage(record).compose(); }

}  // namespace tamis
