#include "tamis/report/select_page.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "tamis/base/error.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/version.h"
#include "tamis/eval/redundancy.h"
#include "tamis/report/charts.h"
#include "tamis/report/verdict.h"

namespace tamis {

namespace {

using page::TableCell;
using enum page::Column::Kind;

constexpr std::size_t kShownFeatures = 2000;  // rows of the ranking
constexpr std::size_t kPartners = 100;        // best features that are searched for the most similar one
constexpr std::size_t kHeatFeatures = 50;
constexpr std::size_t kCurvePoints = 400;
constexpr std::size_t kLogCurve = 400;  // above this many features the rank axis is logarithmic
constexpr std::size_t kShownLeftOut = 500;
constexpr std::size_t kShownClusters = 60;
constexpr std::size_t kGroupFeatures = 60;  // of the picture of redundancy groups
constexpr std::size_t kShownGroups = 500;
constexpr std::size_t kShownMembers = 20;
constexpr std::size_t kNameLength = 80;

std::size_t at(Index j) { return static_cast<std::size_t>(j); }

// Always signed, with a typographic minus.
std::string signed_number(double value) { return (value < 0.0 ? "\u2212" : "+") + short_number(std::abs(value), 3); }

class SelectPage {
 public:
  SelectPage(const SelectionRecord& record, const SelectPageOptions& options, Context& context)
      : record_(record), options_(options), context_(context), result_(record.result), selection_(result_.selection) {
    available_position_.assign(at(record.table.source.cols()), -1);
    for (std::size_t i = 0; i < result_.available.size(); ++i) {
      available_position_[at(result_.available[i])] = static_cast<Index>(i);
    }
  }

  page::Page compose() {
    correlate();
    const std::string file = std::filesystem::path(record_.table.path).filename().string();
    page::Page page;
    page.title = concat("Selected features of ", record_.table.path == "-" ? "standard input" : file);
    page.summary =
        concat(record_.method.name, " selected ", result_.selected.size(), " of ", record_.table.source.cols(),
               " features, without labels, from ", record_.table.source.rows(), " rows.");
    if (!record_.request.classes.empty()) {
      page.summary =
          concat(record_.method.name, " selected ", result_.selected.size(), " of ", record_.table.source.cols(),
                 " features from ", record_.table.source.rows(), " rows, using labels.");
    }
    if (selection_.guidance) page.sections.push_back(guide());
    if (!is_order()) page.sections.push_back(scores());
    page.sections.push_back(ranking());
    if (options_.image) page.sections.push_back(image());
    if (top_.size() > 1) page.sections.push_back(redundancy_section());
    if (result_.redundancy) page.sections.push_back(groups_section());
    if (!selection_.report.objective.empty() || !selection_.clusters.empty()) page.sections.push_back(method());
    page.sections.push_back(left_out());
    page.sections.push_back(run());
    return page;
  }

 private:
  std::string name(Index j) const {
    const std::string found = feature_name(record_.table, j);
    return found.empty() ? "(empty name)" : printable(found, kNameLength);
  }

  Source kept() const {
    return record_.request.exclude.empty() ? record_.table.source
                                           : record_.table.source.with_columns(result_.available);
  }

  // Correlations of the features as the method saw them.
  void correlate() {
    moments_ = column_moments(kept(), context_);
    top_.assign(result_.ranking.begin(),
                result_.ranking.begin() + static_cast<Index>(std::min(kPartners, result_.ranking.size())));
    if (top_.size() > 1) correlation_ = correlations_of(top_);
  }

  bool is_order() const { return record_.method.is_order; }

  void add_warnings(page::Section& section) const {
    for (const auto& warning : record_.warnings) section.blocks.push_back(page::Note{warning, true});
  }

  // --- Sections -------------------------------------------------------------------------------------------------

  page::Section guide() const {
    const Guidance& guidance = *selection_.guidance;
    page::Section section{"Verdict", {}};
    std::string words;
    for (const auto& sentence : verdict(result_)) words += (words.empty() ? "" : " ") + sentence;
    section.blocks.push_back(page::Text{words});
    if (is_order()) add_warnings(section);
    if (guidance.alignment.size() > 1) section.blocks.push_back(alignment_figure(guidance));
    page::Facts facts;
    const auto add = [&](const std::string& key, const std::string& value) { facts.facts.emplace_back(key, value); };
    add("rows used", concat(guidance.rows, " of ", record_.table.source.rows()));
    add("columns that passed",
        concat(guidance.passed, guidance.evidence.empty() ? ", by share alone" : ", at a false discovery rate of 1 %"));
    add("expected share of noise",
        concat(short_number(guidance.chance, 3), ", standard deviation ", short_number(guidance.deviation, 2)));
    add("graph weights", concat(short_number(guidance.graph_weights[0], 2), " for the table as it is, ",
                                short_number(guidance.graph_weights[1], 2), " for unit standard deviations, ",
                                short_number(guidance.graph_weights[2], 2), " for rows of unit length"));
    if (const auto& agreement = result_.agreement) {
      add("agreement of k-means with the groups",
          concat(short_number(agreement->selected, 2), " on the selected columns, ", short_number(agreement->all, 2),
                 " on all columns (normalized mutual information, ", agreement->rows, " rows)"));
    }
    section.blocks.push_back(facts);
    return section;
  }

  // Whether several columns are chosen as one, so that curves count groups.
  bool grouped() const { return result_.choices < static_cast<Index>(result_.available.size()); }

  page::Figure alignment_figure(const Guidance& guidance) const {
    page::LineChart chart;
    chart.x_title = grouped() ? "groups of columns" : "columns", chart.y_title = "alignment f";
    chart.log_x = guidance.alignment.size() > kLogCurve;
    chart.dots = guidance.alignment.size() <= 60;
    chart.from_zero = true;
    chart.whole_x = !chart.log_x;
    chart.panels = {{"", {{"alignment", curve(guidance.alignment, chart.log_x), false}}}};
    const auto chosen = static_cast<Index>(grouped() ? result_.groups.size() : result_.selected.size());
    const auto length = static_cast<Index>(guidance.alignment.size());
    if (guidance.suggested <= length) {
      chart.markers.push_back(
          {static_cast<double>(guidance.suggested), concat("suggested: ", guidance.suggested), true});
    }
    if (chosen != guidance.suggested && chosen <= length) {
      chart.markers.push_back({static_cast<double>(chosen), concat("selected: ", chosen), true});
    }
    page::Figure figure;
    figure.title = "Alignment with the groups of rows";
    figure.caption =
        "How well the first columns alone reproduce the groups found by the graphs of the rows. The suggested number "
        "is the first, from 50 columns on, that reaches 98 % of the maximum. The curve says nothing about labels that "
        "differ from these groups.";
    figure.alt =
        concat("Line chart of the alignment for the first ", guidance.alignment.size(), " columns, from ",
               short_number(guidance.alignment.front(), 3), " to ", short_number(guidance.alignment.back(), 3), ".");
    figure.spec = page::line_chart(chart);
    return figure;
  }

  page::Section scores() const {
    page::Section section{"Scores", {}};
    add_warnings(section);
    std::vector<double> falling;
    for (const Index j : result_.ranking) falling.push_back(result_.scores[at(j)]);
    const Index bend = page::knee(falling);
    page::LineChart chart;
    chart.x_title = "rank", chart.y_title = "score";
    chart.log_x = falling.size() > kLogCurve;
    chart.dots = falling.size() <= 60;
    chart.from_zero = falling.back() >= 0.0;
    chart.whole_x = !chart.log_x;
    chart.panels = {{"", {{"score", curve(falling, chart.log_x), false}}}};
    if (bend > 0) chart.markers.push_back({static_cast<double>(bend + 1), concat("knee at ", bend + 1)});
    if (result_.selected.size() < falling.size()) {
      chart.markers.push_back(
          {static_cast<double>(result_.selected.size()), concat("selected: ", result_.selected.size())});
    }
    page::Figure figure;
    figure.title = "Scores by rank";
    figure.caption = bend > 0 ? concat("Higher is better. The knee is at rank ", bend + 1,
                                       ", where the scores are farthest below the line from the first to the last.")
                              : std::string("Higher is better. The scores have no knee.");
    figure.alt = concat("Line chart of the scores of ", falling.size(), " features by rank, decreasing from ",
                        short_number(falling.front(), 3), " to ", short_number(falling.back(), 3), ". ",
                        bend > 0 ? concat("Knee at rank ", bend + 1, ".") : std::string("No knee."));
    figure.spec = page::line_chart(chart);
    section.blocks.push_back(figure);
    return section;
  }

  const std::vector<double>* trace(const std::string& of) const {
    for (const auto& [term, values] : selection_.report.terms) {
      if (term == of) return &values;
    }
    return nullptr;
  }

  page::Figure explained_figure(const std::vector<double>& explained) const {
    page::LineChart chart;
    chart.x_title = grouped() ? "groups of columns" : "columns", chart.y_title = "explained variance";
    chart.log_x = explained.size() > kLogCurve;
    chart.dots = explained.size() <= 60;
    chart.from_zero = chart.percent = true;
    chart.whole_x = !chart.log_x;
    chart.panels = {{"", {{"explained", curve(explained, chart.log_x), false}}}};
    page::Figure figure;
    figure.title = "Explained variance";
    figure.caption = "Share of the variance of all columns that the first columns explain.";
    figure.alt = concat("Line chart of the share of the variance that the first columns explain, from ",
                        short_number(explained.front(), 3), " for one to ", short_number(explained.back(), 3), " for ",
                        explained.size(), ".");
    figure.spec = page::line_chart(chart);
    return figure;
  }

  // A few hundred points at most, evenly spaced along the axis, including the first and the last.
  static std::vector<page::Point> curve(const std::vector<double>& falling, bool log_x) {
    std::vector<page::Point> points;
    const double last = static_cast<double>(falling.size() - 1);
    std::size_t before = falling.size();
    for (std::size_t i = 0; i < kCurvePoints; ++i) {
      const double share = static_cast<double>(i) / static_cast<double>(kCurvePoints - 1);
      const double position = log_x ? std::expm1(share * std::log1p(last)) : share * last;
      const auto rank = static_cast<std::size_t>(std::llround(position));
      if (rank == before) continue;
      points.push_back({static_cast<double>(rank + 1), falling[rank]});
      before = rank;
    }
    return points;
  }

  page::Section ranking() const {
    page::Section section{"Ranking", {page::Text{reason_text()}}};
    if (is_order() && !selection_.guidance) add_warnings(section);
    if (const auto* explained = trace("explained"); explained != nullptr && explained->size() > 1) {
      section.blocks.push_back(explained_figure(*explained));
    }
    page::Table table;
    table.title = "Features, best first";
    const bool some = result_.selected.size() < result_.ranking.size();
    const bool reasons = !selection_.components.empty();
    table.columns = {{"rank", number}, {"feature", number}, {"name"}};
    if (!is_order()) table.columns.push_back({"score", significant, 5});
    const auto& guidance = selection_.guidance;
    const bool judged = guidance && !guidance->evidence.empty();
    if (guidance) table.columns.push_back({"share", percent, 1});
    if (judged) table.columns.push_back({"p", significant, 2});
    if (some) table.columns.push_back({"selected"});
    if (reasons) table.columns.push_back({"why"});
    if (top_.size() > 1) table.columns.insert(table.columns.end(), {{"most alike"}, {"r", number, 2}});
    std::vector<char> chosen(result_.scores.size(), 0);
    for (const Index j : result_.selected) chosen[at(j)] = 1;
    const std::size_t shown = std::min(kShownFeatures, result_.ranking.size());
    for (std::size_t rank = 0; rank < shown; ++rank) {
      const Index j = result_.ranking[rank];
      std::vector<TableCell> row = {static_cast<Index>(rank + 1), j, name(j)};
      if (!is_order()) row.emplace_back(result_.scores[at(j)]);
      if (guidance) row.emplace_back(guidance->share[at(available_position_[at(j)])]);
      if (judged) row.emplace_back(guidance->evidence[at(available_position_[at(j)])]);
      if (some) row.emplace_back(chosen[at(j)] ? "yes" : "");
      if (reasons) row.emplace_back(reason(j));
      if (top_.size() > 1) add_partner(row, rank);
      table.rows.push_back(std::move(row));
    }
    if (shown < result_.ranking.size()) {
      table.caption = concat("The best ", shown, " of ", result_.ranking.size(), "; ranking.csv has all of them.");
    }
    section.blocks.push_back(std::move(table));
    return section;
  }

  std::string reason_text() const {
    std::string out = record_.method.reasons.text;
    if (out.empty()) {
      out = concat(record_.method.name,
                   " scores each feature on its own, so the score is the only reason: ", record_.method.formula, ".");
    }
    if (top_.size() < 2) return out;
    return out +
           concat(" Most alike: among the best ", top_.size(),
                  ", the feature with the largest absolute correlation r; it is the most redundant with this one.");
  }

  // A feature's strongest component, and the clusters it separates.
  std::string reason(Index j) const {
    const Index i = available_position_[at(j)];
    const Matrix& w = selection_.components;
    Index strongest = 0;
    for (Index k = 1; k < w.cols(); ++k) {
      if (std::abs(w(i, k)) > std::abs(w(i, strongest))) strongest = k;
    }
    const double weight = w(i, strongest);
    if (weight == 0.0) return "no weight in any component";
    const Reasons& reasons = record_.method.reasons;
    const std::string head = concat(reasons.column, " ", strongest, " (", signed_number(weight), ")");
    if (selection_.centers.rows() < 2) return head;
    const bool embedded = reasons.centers_by_column;
    const auto [high, low] = farthest(embedded ? strongest : i);
    return head +
           (embedded ? concat(": clusters ", high, " and ", low) : concat(": highest in ", high, ", lowest in ", low));
  }

  std::pair<Index, Index> farthest(Index column) const {
    const Matrix& g = selection_.centers;
    Index high = 0, low = 0;
    for (Index k = 1; k < g.rows(); ++k) {
      if (g(k, column) > g(high, column)) high = k;
      if (g(k, column) < g(low, column)) low = k;
    }
    return {high, low};
  }

  void add_partner(std::vector<TableCell>& row, std::size_t rank) const {
    if (rank >= top_.size()) {
      row.insert(row.end(), {TableCell(), TableCell()});
      return;
    }
    const auto me = static_cast<Index>(rank);
    Index best = me == 0 ? 1 : 0;
    for (Index other = 0; other < correlation_.cols(); ++other) {
      if (other != me && std::abs(correlation_(me, other)) > std::abs(correlation_(me, best))) best = other;
    }
    row.emplace_back(name(top_[at(best)]));
    row.emplace_back(correlation_(me, best));
  }

  page::Section image() const {
    const ImageShape& shape = *options_.image;
    const auto pixels = static_cast<std::size_t>(shape.height * shape.width);
    page::Image mask{shape.width, shape.height, std::vector<std::uint8_t>(pixels, 0), "Selected pixels", ""};
    page::Image shade = mask;
    for (const Index j : result_.selected) mask.ink[at(shape.pixel(j))] = 255;
    mask.alt = concat("Image of ", shape.height, " x ", shape.width, " pixels, the ", result_.selected.size(),
                      " selected ones in black.");
    const bool by_share = is_order() && selection_.guidance.has_value();
    const std::vector<double> values = by_share ? for_all_columns(selection_.guidance->share, result_) : result_.scores;
    double least = values[at(result_.ranking.front())], most = least;
    for (const Index j : result_.ranking) {
      least = std::min(least, values[at(j)]);
      most = std::max(most, values[at(j)]);
    }
    for (const Index j : result_.ranking) {
      const double share = most > least ? (values[at(j)] - least) / (most - least) : 0.0;
      shade.ink[at(shape.pixel(j))] = static_cast<std::uint8_t>(std::lround(255.0 * share));
    }
    shade.label = by_share ? "Shares (the largest is black)" : "Scores (the best is black)";
    shade.alt = concat("Image of ", shape.height, " x ", shape.width, " pixels; darker means a higher ",
                       by_share ? "share." : "score.");
    return {"Image", {page::Images{"", "One feature per pixel.", {mask, shade}}}};
  }

  page::Section redundancy_section() const {
    const std::size_t shown = std::min(kHeatFeatures, top_.size());
    page::HeatMap map;
    page::HeatPanel panel;
    double sum = 0.0;
    for (std::size_t a = 0; a < shown; ++a) {
      map.rows.push_back(name(top_[a]));
      for (std::size_t b = 0; b < shown; ++b) {
        panel.values.push_back(std::abs(correlation_(static_cast<Index>(a), static_cast<Index>(b))));
        if (b < a) sum += panel.values.back();
      }
    }
    map.columns = map.rows;
    map.panels = {panel};
    map.value_title = "|r|", map.low = 0.0, map.high = 1.0;
    const double mean = sum / (0.5 * static_cast<double>(shown * (shown - 1)));
    page::Figure figure;
    figure.title = concat("Absolute correlation of the best ", shown, " features");
    figure.caption = concat("In order of rank. A dark cell off the diagonal marks two redundant features. The mean is ",
                            short_number(mean, 3), ".");
    figure.alt = concat("Heat map of the absolute correlations between the best ", shown, " features, with mean ",
                        short_number(mean, 3), ".");
    figure.spec = page::heat_map(map);
    return {"Redundancy", {figure}};
  }

  // --- Columns that repeat each other ---------------------------------------------------------------------------

  page::Section groups_section() const {
    const Redundancy& found = *result_.redundancy;
    page::Section section{"Redundancy groups", {page::Text{groups_text(found)}}};
    if (!found.note.empty()) section.blocks.push_back(page::Note{found.note});
    if (!found.groups.empty()) section.blocks.push_back(groups_figure(found));
    if (!found.groups.empty()) section.blocks.push_back(groups_table(found));
    if (!found.r2.empty()) section.blocks.push_back(represented_table(found));
    return section;
  }

  static std::string groups_text(const Redundancy& found) {
    return concat(
        "A group is led by its best column, and has every column whose absolute correlation with it is at least ",
        short_number(found.threshold), ". ",
        found.groups.empty() ? "There is none." : concat("There are ", found.groups.size(), "."),
        found.rows > 0 && !found.groups.empty() ? concat(" They were found in ", found.rows, " rows.") : "");
  }

  // The columns of the largest groups, beside each other.
  page::Figure groups_figure(const Redundancy& found) const {
    std::vector<const std::vector<Index>*> by_size;
    for (const auto& group : found.groups) by_size.push_back(&group);
    std::ranges::stable_sort(by_size, [](const auto* a, const auto* b) { return a->size() > b->size(); });
    std::vector<Index> members;
    std::size_t shown = 0;
    for (const auto* group : by_size) {
      if (members.size() + 2 > kGroupFeatures) break;
      const std::size_t fits = std::min(group->size(), kGroupFeatures - members.size());
      members.insert(members.end(), group->begin(), group->begin() + static_cast<Index>(fits));
      ++shown;
    }
    const Matrix r = correlations_of(members);
    page::HeatMap map;
    page::HeatPanel panel;
    for (std::size_t a = 0; a < members.size(); ++a) {
      map.rows.push_back(name(members[a]));
      for (std::size_t b = 0; b < members.size(); ++b) {
        panel.values.push_back(std::abs(r(static_cast<Index>(a), static_cast<Index>(b))));
      }
    }
    map.columns = map.rows;
    map.panels = {panel};
    map.value_title = "|r|", map.low = 0.0, map.high = 1.0;
    page::Figure figure;
    figure.title = "Redundancy groups";
    figure.caption =
        concat("Absolute correlations of ", members.size(), " columns of the ", shown, " largest of ",
               found.groups.size(), " groups, group by group: each group is a dark block on the diagonal.");
    figure.alt = concat("Heat map of the absolute correlations between ", members.size(), " columns of ", shown,
                        " redundancy groups, in blocks.");
    figure.spec = page::heat_map(map);
    return figure;
  }

  page::Table groups_table(const Redundancy& found) const {
    page::Table table;
    table.title = "Groups";
    table.columns = {{"group", number}, {"led by"}, {"columns", number}, {"selected", number}, {"the others"}};
    std::vector<char> chosen(result_.scores.size(), 0);
    for (const Index j : result_.selected) chosen[at(j)] = 1;
    for (const auto& group : found.groups) {
      if (table.rows.size() == kShownGroups) break;
      Index selected = 0;
      std::string others;
      for (const Index j : group) selected += chosen[at(j)];
      for (std::size_t i = 1; i < std::min(group.size(), kShownMembers); ++i) {
        others += concat(i == 1 ? "" : ", ", name(group[i]));
      }
      if (group.size() > kShownMembers) others += ", ...";
      table.rows.push_back({static_cast<Index>(table.rows.size() + 1), name(group.front()),
                            static_cast<Index>(group.size()), selected, others});
    }
    if (table.rows.size() < found.groups.size()) {
      table.caption = concat("The first ", table.rows.size(), " of ", found.groups.size(), "; selection.json has all.");
    }
    return table;
  }

  page::Table represented_table(const Redundancy& found) const {
    page::Table table;
    table.title = "Columns that were left out";
    table.columns = {{"rank", number}, {"name"}, {"stands for it"}, {"r", number, 2}, {"R\u00b2", number, 3}};
    std::size_t count = 0;
    for (std::size_t rank = 0; rank < result_.ranking.size(); ++rank) {
      const Index j = result_.ranking[rank], representative = found.representative[at(j)];
      if (representative < 0 || ++count > kShownFeatures) continue;
      table.rows.push_back(
          {static_cast<Index>(rank + 1), name(j), name(representative), found.correlation[at(j)], found.r2[at(j)]});
    }
    table.caption =
        "R\u00b2: how well the selected columns together explain this one. The one with the largest coefficient "
        "stands for it; r is its correlation with it.";
    if (count > table.rows.size()) {
      table.caption += concat(" The first ", table.rows.size(), " of ", count, "; ranking.csv has all of them.");
    }
    return table;
  }

  // Of some features, in their order, as the method saw them.
  Matrix correlations_of(const std::vector<Index>& features) const {
    std::vector<Index> columns;
    for (const Index j : features) columns.push_back(available_position_[at(j)]);
    std::sort(columns.begin(), columns.end());
    const Source source = kept();
    const Matrix found =
        correlations(scaled(source, result_.scale, moments_, context_).with_columns(columns), context_);
    const auto place = [&](Index j) {
      return std::lower_bound(columns.begin(), columns.end(), available_position_[at(j)]) - columns.begin();
    };
    Matrix out(found.rows(), found.cols());
    for (std::size_t a = 0; a < features.size(); ++a) {
      for (std::size_t b = 0; b < features.size(); ++b) {
        out(static_cast<Index>(a), static_cast<Index>(b)) = found(place(features[a]), place(features[b]));
      }
    }
    return out;
  }

  page::Section method() const {
    page::Section section{"Clusters and objective", {}};
    if (!selection_.clusters.empty()) section.blocks.push_back(cluster_figure());
    if (!selection_.report.objective.empty()) section.blocks.push_back(objective_figure());
    return section;
  }

  page::Figure cluster_figure() const {
    std::vector<double> sizes;
    for (const int cluster : selection_.clusters) {
      if (cluster >= static_cast<int>(sizes.size())) sizes.resize(static_cast<std::size_t>(cluster) + 1, 0.0);
      if (cluster >= 0) sizes[cluster] += 1.0;
    }
    const std::size_t count = sizes.size(), shown = std::min(kShownClusters, count);
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    page::Figure figure;
    figure.title = "Cluster sizes";
    figure.caption = concat("Rows in each of the ", count, " clusters",
                            shown < count ? concat("; the first ", shown, " are shown.") : std::string("."));
    if (count > 0) {
      figure.alt = concat("Bar chart of the sizes of ", count, " clusters, from ", *least, " to ", *most, " rows.");
    }
    page::BarChart chart;
    chart.category_title = "cluster", chart.value_title = "rows";
    chart.series = {{"rows", {}, false}};
    for (std::size_t k = 0; k < shown; ++k) {
      chart.categories.push_back(std::to_string(k));
      chart.series[0].bars.push_back({sizes[k]});
    }
    figure.spec = page::bar_chart(chart);
    figure.half = !selection_.report.objective.empty() && selection_.report.terms.empty();
    return figure;
  }

  page::Figure objective_figure() const {
    const Report& report = selection_.report;
    page::LineChart chart;
    chart.x_title = "iteration";
    chart.own_scales = true, chart.whole_x = true;
    const auto add = [&](const std::string& curve_name, const std::vector<double>& values) {
      page::Series series{"value", {}, false};
      for (std::size_t i = 0; i < values.size(); ++i) series.points.push_back({static_cast<double>(i + 1), values[i]});
      chart.panels.push_back({curve_name, {series}});
    };
    add("objective", report.objective);
    for (const auto& [term, values] : report.terms) add(term, values);
    page::Figure figure;
    figure.title = "Objective by iteration";
    figure.caption =
        concat(name_of(report.status) == std::string("converged") ? "Converged" : "Stopped", " after ",
               report.iterations, " iterations", report.terms.empty() ? "." : ". The other panels show its terms.");
    figure.alt = concat("Line chart of the objective over ", report.objective.size(), " iterations, from ",
                        short_number(report.objective.front()), " to ", short_number(report.objective.back()), ".");
    figure.spec = page::line_chart(chart);
    figure.half = report.terms.empty() && !selection_.clusters.empty();
    return figure;
  }

  // --- Excluded columns, and the run ----------------------------------------------------------------------------

  page::Section left_out() const {
    page::Table table;
    table.title = "Columns";
    table.columns = {{"name"}, {"why"}};
    std::size_t count = 0;
    const auto add = [&](const std::string& column, const std::string& why) {
      if (count++ < kShownLeftOut) table.rows.push_back({column.empty() ? "(empty name)" : column, why});
    };
    for (const auto& column : record_.table.excluded_columns) {
      const std::string why = column == options_.id_column            ? "row identifiers"
                              : record_.table.labels.contains(column) ? "labels"
                                                                      : "text";
      add(printable(column, kNameLength), why + "; not a feature");
    }
    for (const Index j : record_.request.exclude) add(name(j), "excluded on request; not seen by the method");
    for (Index i = 0; i < static_cast<Index>(result_.available.size()); ++i) {
      if (!moments_.varies(i)) add(name(result_.available[at(i)]), "constant; ranked last");
    }
    if (count == 0) return {"Excluded and constant columns", {page::Text{"None: every column varies and was ranked."}}};
    if (count > table.rows.size()) table.caption = concat("The first ", table.rows.size(), " of ", count, ".");
    return {"Excluded and constant columns", {table}};
  }

  page::Section run() const {
    const Report& report = selection_.report;
    const Store& store = record_.table.source.store();
    page::Facts facts;
    const auto add = [&](const std::string& key, const std::string& value) { facts.facts.emplace_back(key, value); };
    add("data",
        concat(record_.table.path, ": ", record_.table.source.rows(), " rows x ", record_.table.source.cols(),
               " features, ", record_.table.format, ", ", store.sparse() ? "sparse " : "", name_of(store.dtype())));
    add("method", concat(record_.method.name, ": ", record_.method.summary, " (", record_.method.reference, ")"));
    if (!report.path.empty()) add("path", report.path);
    add("status", report.status == Status::direct
                      ? std::string(name_of(report.status))
                      : concat(name_of(report.status), ", ", report.iterations, " iterations"));
    if (!report.objective.empty()) add("objective", short_number(report.objective.back(), 10));
    add("time", concat(short_number(report.seconds, 3), " s, ", report.passes, report.passes == 1 ? " pass" : " passes",
                       " over the data"));
    add("memory", concat(size_text(record_.peak_bytes), " peak, whole process"));
    add("machine", page::machine_text());
    add("version", concat("tamis ", kVersion));
    return {"The run", {facts, option_table()}};
  }

  page::Table option_table() const {
    page::Table table;
    table.title = "Options used";
    table.columns = {{"option"}, {"value"}, {"meaning"}};
    table.sortable = false;
    const auto add = [&](const std::string& option, const std::string& value, const std::string& help) {
      table.rows.push_back({option, value, help});
    };
    add("features", std::to_string(result_.selected.size()), "number of selected features");
    for (const auto& option : record_.options) add(option.name, resolved(option), option.help);
    add("scale", name_of(result_.scale), "scaling of columns or rows before ranking");
    add("seed", std::to_string(record_.seed), "seed of all random numbers");
    add("threads", std::to_string(record_.threads), "number of threads; the result does not depend on it");
    return table;
  }

  std::string resolved(const Option& option) const {
    for (const auto& [fact, value] : selection_.report.resolved) {
      if (fact == option.name) return short_number(value);
    }
    return value_text(option);
  }

  const SelectionRecord& record_;
  const SelectPageOptions& options_;
  Context& context_;
  const SelectResult& result_;
  const Selection& selection_;
  std::vector<Index> available_position_;  // of a table column, or -1
  std::vector<Index> top_;                 // the best features, by rank
  Matrix correlation_;                     // of these
  ColumnMoments moments_;                  // of the available columns
};

}  // namespace

ImageShape parse_image_shape(const std::string& given) {
  ImageShape shape;
  const char* last = given.data() + given.size();
  const auto height = std::from_chars(given.data(), last, shape.height);
  const char* width_begin = height.ptr == last ? last : height.ptr + 1;
  const bool cross = height.ec == std::errc() && height.ptr != last && (*height.ptr == 'x' || *height.ptr == 'X');
  const auto width = std::from_chars(width_begin, last, shape.width);
  const std::string_view rest(width.ptr, static_cast<std::size_t>(last - width.ptr));
  shape.by_columns = rest == "T" || rest == "t";
  constexpr Index kMost = 1 << 20;
  const bool sized = shape.height > 0 && shape.width > 0 && shape.height <= kMost && shape.width <= kMost;
  require(cross && width.ec == std::errc() && sized && (rest.empty() || shape.by_columns), ErrorCode::usage,
          "image = ", given, ", need HEIGHTxWIDTH, such as 28x28, or 28x28T if pixels are stored column by column");
  return shape;
}

void require_image(const ImageShape& shape, const Table& table) {
  require(shape.height * shape.width == table.source.cols(), ErrorCode::usage, "image = ", shape.height, "x",
          shape.width, ", need one feature per pixel: the table has ", table.source.cols());
}

page::Page select_page(const SelectionRecord& record, const SelectPageOptions& options, Context& context) {
  return SelectPage(record, options, context).compose();
}

}  // namespace tamis
