#include "tamis/paper/reproduce_page.h"

#include <algorithm>
#include <cmath>

#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/base/version.h"
#include "tamis/paper/reproduce_tables.h"
#include "tamis/report/charts.h"
#include "tamis/report/select_page.h"

namespace tamis {

namespace {

using page::TableCell;
using enum page::Column::Kind;

constexpr const char* kOurs = "ufcm";
constexpr std::size_t kRivals = 2;  // other methods whose pixels are drawn next to ours
constexpr std::size_t kShownFailures = 20;
constexpr double kLeastSpan = 0.05;    // smallest range of ACC covered by the colors of one set
constexpr std::uint8_t kLastInk = 70;  // of the last selected pixel; the first has 255

std::string percent_text(double share) { return short_number(100.0 * share, 3) + " %"; }

TableCell cell_of(const MeanSd& value) { return {value.mean, value.sd}; }
TableCell cell_of(const std::optional<Measured>& measured) { return measured ? cell_of(measured->value) : TableCell(); }
TableCell cell_of(const std::optional<BesideRandom>& band) { return band ? cell_of(band->value) : TableCell(); }
TableCell p_of(const std::optional<BesideRandom>& band) { return band ? TableCell(band->p) : TableCell(); }

// In percentage points, so that a gain is not mistaken for a relative one.
TableCell points_of(const std::optional<double>& gain, const std::optional<double>& error = std::nullopt) {
  if (!gain) return {};
  return error ? TableCell(100.0 * *gain, 100.0 * *error) : TableCell(100.0 * *gain);
}

std::string range_text(const std::optional<BesideRandom>& band) {
  return band ? concat(percent_text(band->min), " to ", percent_text(band->max)) : std::string();
}

page::Point point_of(double x, const MeanSd& value) {
  return {x, value.mean, value.mean - value.sd, value.mean + value.sd};
}

// "a, b and c".
std::string spoken(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out += concat(i == 0 ? "" : i + 1 == words.size() ? " and " : ", ", words[i]);
  }
  return out;
}

// One claim about our method on all sets: label-best or label-free.
struct Claim {
  const char* name;
  std::optional<Measured> TableRow::*value;
  std::optional<double> TableRow::*gain;
  std::optional<double> TableRow::*error;
  std::optional<BesideRandom> TableRow::*random;
};
constexpr Claim kLabelBest = {"label-best", &TableRow::best, &TableRow::gain, &TableRow::gain_error,
                              &TableRow::best_random};
constexpr Claim kLabelFree = {"label-free", &TableRow::chosen, &TableRow::chosen_gain, &TableRow::chosen_gain_error,
                              &TableRow::chosen_random};

class ReproducePage {
 public:
  ReproducePage(const Reproduction& result, const Machine& machine)
      : result_(result),
        protocol_(result.protocol),
        machine_(machine),
        accuracy_(table_of(result, Measure::accuracy)),
        nmi_(table_of(result, Measure::nmi)),
        figures_(figures_of(result)) {
    for (const auto& row : accuracy_) {
      if (row.method == kOurs) ours_.push_back(&row);
    }
  }

  page::Page compose() const {
    page::Page page;
    page.title = "Unsupervised Feature Analysis with Class Margin Optimization, reproduced";
    page.summary = summary();
    page.sections = {verdict(), data()};
    page.sections.push_back(scores("ACC", "Table 2: clustering accuracy (ACC)", accuracy_));
    page.sections.push_back(scores("NMI", "Table 3: normalized mutual information (NMI)", nmi_));
    if (auto blocks = guided(); !blocks.empty()) page.sections.push_back({"Guided UFCM", std::move(blocks)});
    if (!ours_.empty()) {
      page.sections.push_back({"Figures", figures()});
      page.sections.push_back(convergence());
    }
    if (auto blocks = pixels(); !blocks.empty()) page.sections.push_back({"Pixels", std::move(blocks)});
    page.sections.push_back(times());
    page.sections.push_back(run());
    return page;
  }

 private:
  const ExperimentSet& set_of(const std::string& name) const {
    return *std::find_if(result_.sets.begin(), result_.sets.end(), [&](const auto& set) { return set.name == name; });
  }
  static std::string title_of(const ExperimentSet& set) {
    return set.expected != nullptr ? set.expected->title : printable(set.name, 40);
  }
  std::string title_of(const std::string& name) const { return title_of(set_of(name)); }
  std::string chosen_share() const { return short_number(100.0 * protocol_.chosen_share) + " %"; }

  // --- Verdict ----------------------------------------------------------------------------------------------------

  std::string summary() const {
    return concat(
        protocol_.quick ? "A quick run with fewer settings, sizes and rows than in the paper: "
                        : "A run of the full protocol: ",
        result_.methods.size(), " methods on ", result_.sets.size(), " data sets, ", result_.cells.size(),
        " cells. The paper is Wang, Nie, Chang, Yao, Li & Sheng, ECML PKDD 2015; its method is called ufcm here.");
  }

  page::Section verdict() const {
    page::Section section{"Verdict", {}};
    if (protocol_.quick) {
      section.blocks.push_back(
          page::Note{concat("This is the quick protocol: at most ", protocol_.most_rows, " rows per set, ",
                            protocol_.shares.size(),
                            " sizes and a reduced grid. Its numbers are a first impression, not the full experiment."),
                     true});
    }
    for (const auto& failure : failures()) section.blocks.push_back(page::Note{failure, true});
    if (ours_.empty()) {
      section.blocks.push_back(page::Note{"ufcm was not among the methods, so there is no verdict on it.", true});
    } else {
      section.blocks.push_back(page::Note{claim_text(kLabelBest)});
      section.blocks.push_back(page::Note{claim_text(kLabelFree)});
      section.blocks.push_back(gain_figure());
      section.blocks.push_back(verdict_table());
    }
    section.blocks.push_back(meanings());
    return section;
  }

  std::vector<std::string> failures() const {
    std::vector<std::string> found;
    for (const auto& cell : result_.cells) {
      if (!cell.failure) continue;
      found.push_back(concat(title_of(cell.plan.key.set), ", ", cell.plan.key.method, " (",
                             settings_text(cell.plan.settings), "): ", cell.failure->reason));
    }
    if (found.size() > kShownFailures) {
      const std::size_t more = found.size() - kShownFailures;
      found.resize(kShownFailures);
      found.push_back(concat("... and ", more, " more cells failed; cells.json has them."));
    }
    return found;
  }

  std::string claim_text(const Claim& claim) const {
    std::size_t known = 0, gains = 0, clear = 0;
    std::vector<std::string> inside;
    for (const auto* row : ours_) {
      if (!(row->*claim.gain)) continue;
      ++known;
      gains += *(row->*claim.gain) > 0.0 ? 1 : 0;
      clear += *(row->*claim.gain) > 2.0 * *(row->*claim.error) ? 1 : 0;
      if (row->*claim.random && !(row->*claim.random)->beats_random) inside.push_back(title_of(row->set));
    }
    if (known == 0) return concat(claim.name, ": nothing could be measured.");
    const std::string random =
        inside.empty() ? std::string(" It beats random subsets of the same size on every set.")
                       : concat(" It does not beat random subsets of the same size on ", spoken(inside), ".");
    return concat(claim.name, ": ufcm improves ACC over all features on ", gains, " of ", known, " sets, on ", clear,
                  " of them by more than two standard errors.", random);
  }

  page::Figure gain_figure() const {
    page::BarChart chart;
    chart.value_title = "gain in ACC, percentage points";
    chart.series = {{"label-best", {}, false}, {"label-free", {}, false}};
    page::BarSeries paper{"paper", {}, true};
    bool in_paper = false;
    for (const auto* row : ours_) {
      chart.categories.push_back(title_of(row->set));
      chart.series[0].bars.push_back(gain_bar(row->gain, row->gain_error));
      chart.series[1].bars.push_back(gain_bar(row->chosen_gain, row->chosen_gain_error));
      paper.bars.push_back({row->paper_gain ? 100.0 * *row->paper_gain : page::kNone});
      in_paper = in_paper || row->paper_gain;
    }
    if (in_paper) chart.series.push_back(std::move(paper));
    page::Figure figure;
    figure.title = "Gain of ufcm over all features";
    figure.caption = "Whiskers: one standard error to each side, over the k-means starts only.";
    figure.alt = concat("Bar chart of the gain in accuracy over all features on ", ours_.size(),
                        " data sets, label-best and label-free",
                        in_paper ? ", with the gain reported in the paper" : "", ". The table below has the numbers.");
    figure.spec = page::bar_chart(chart);
    return figure;
  }

  static page::Bar gain_bar(const std::optional<double>& gain, const std::optional<double>& error) {
    if (!gain) return {page::kNone};
    return {100.0 * *gain, 100.0 * (*gain - *error), 100.0 * (*gain + *error)};
  }

  page::Table verdict_table() const {
    page::Table table;
    table.title = "ACC of ufcm";
    table.caption = "Gains over AllFea (all features) in percentage points, with standard errors.";
    table.columns = {{"data"},
                     {"choice"},
                     {"features", number},
                     {"ACC", percent, 1},
                     {"AllFea", percent, 1},
                     {"gain", number, 1},
                     {"p", number, 3},
                     {"beats random"},
                     {"paper's gain", number, 1}};
    for (const auto* row : ours_) {
      table.rows.push_back(verdict_row(*row, kLabelBest));
      table.rows.push_back(verdict_row(*row, kLabelFree));
    }
    return table;
  }

  std::vector<TableCell> verdict_row(const TableRow& row, const Claim& claim) const {
    const auto& value = row.*claim.value;
    const auto& random = row.*claim.random;
    return {title_of(row.set), claim.name,       value ? TableCell(value->features) : TableCell(),
            cell_of(value),    cell_of(row.all), points_of(row.*claim.gain, row.*claim.error),
            p_of(random),      beats(random),    points_of(row.paper_gain)};
  }

  static std::string beats(const std::optional<BesideRandom>& band) {
    return !band ? "" : band->beats_random ? "yes" : "no";
  }

  page::Facts meanings() const {
    return {
        {{"label-best", concat("the best mean over ", protocol_.repeats,
                               " k-means starts, among all settings of a method's grid and all sizes. It is chosen "
                               "with the true classes, as in the paper, and cannot be obtained without labels")},
         {"label-free",
          concat("the method's defaults at ", chosen_share(), " of the features: the result you get without labels")},
         {"tried", "number of means that label-best was chosen from; median and worst are over the same means"},
         {"AllFea, MaxVar", "all features; the features with the largest variance, as many as for label-best"},
         {"random", concat(protocol_.subsets,
                           " random subsets of the same size: mean and standard deviation, minimum "
                           "and maximum")},
         {"p",
          concat("(1 + number of random subsets at least as good) / ", 1 + protocol_.subsets,
                 "; a method beats random if p is at most ", short_number(kBeatsRandom),
                 ". For label-best it is optimistic, since label-best was picked from many; for label-free it is not")},
         {"gain",
          "difference from AllFea in percentage points. Its standard error covers the k-means starts, not the "
          "picking"},
         {"\u00b1", "standard deviation over the starts; for gains the standard error"}}};
  }

  // --- Tables -----------------------------------------------------------------------------------------------------

  page::Section data() const {
    page::Table table;
    table.title = "Table 1: data sets";
    table.caption = "The number of rows in the paper is given if it differs from ours.";
    table.columns = {{"data"}, {"rows", number}};
    if (sampled()) table.columns.push_back({"of", number});
    table.columns.insert(table.columns.end(), {{"in the paper"},
                                               {"features", number},
                                               {"classes", number},
                                               {"numbers"},
                                               {"image"},
                                               {"origin"},
                                               {"known limitations"}});
    for (const auto& set : result_.sets) table.rows.push_back(data_row(set));
    return {"Data", {table}};
  }

  // Whether any set is sampled.
  bool sampled() const {
    return std::any_of(result_.sets.begin(), result_.sets.end(), [](const auto& set) {
      return set.expected != nullptr && set.source.rows() != set.expected->rows;
    });
  }

  std::vector<TableCell> data_row(const ExperimentSet& set) const {
    std::vector<TableCell> row = {title_of(set), set.source.rows()};
    const ExpectedSet* expected = set.expected;
    if (sampled()) row.emplace_back(expected != nullptr ? TableCell(expected->rows) : TableCell());
    const bool differs = expected != nullptr && expected->paper_rows != expected->rows;
    row.emplace_back(differs               ? concat(expected->paper_rows, " rows")
                     : expected != nullptr ? "the same"
                                           : "not in the paper");
    row.emplace_back(set.source.cols());
    row.emplace_back(set.class_count);
    row.emplace_back(concat(name_of(set.dtype), set.dtype == DType::u8 ? " / 255" : ""));
    row.emplace_back(expected != nullptr ? concat(expected->image_rows, " x ", expected->image_columns)
                                         : std::string());
    row.emplace_back(expected != nullptr ? expected->origin : std::string());
    row.emplace_back(expected != nullptr ? expected->limits : std::string());
    return row;
  }

  // Not in the paper: guided sees no labels, and is shown next to the label-best of every method.
  std::vector<page::Block> guided() const {
    std::vector<page::Block> blocks;
    const auto add = [&](const char* name, Measure measure) {
      const auto rows = guided_rows(result_, measure);
      if (rows.empty()) return;
      page::Table table;
      table.title = concat("Guided UFCM and the label-best of every method (", name, ")");
      table.caption = blocks.empty()
                          ? "guided sees no labels and chooses the number of columns itself; it is shown without "
                            "and with the number of classes. The other methods show their label-best, which cannot "
                            "be obtained without labels."
                          : "As above.";
      table.wide = true;
      table.columns = {{"data"},
                       {"guided", percent, 1},
                       {"features", number},
                       {"guided, c given", percent, 1},
                       {"features", number},
                       {"AllFea", percent, 1}};
      for (const auto& method : result_.methods) table.columns.push_back({method.name, percent, 1});
      for (const auto& row : rows) table.rows.push_back(guided_row(row));
      blocks.emplace_back(table);
    };
    add("ACC", Measure::accuracy);
    add("NMI", Measure::nmi);
    return blocks;
  }

  std::vector<TableCell> guided_row(const GuidedRow& row) const {
    const auto count = [](const std::optional<Measured>& one) { return one ? TableCell(one->features) : TableCell(); };
    std::vector<TableCell> cells = {title_of(row.set), cell_of(row.unknown), count(row.unknown),
                                    cell_of(row.told), count(row.told),      cell_of(row.all)};
    for (const auto& best : row.label_best) cells.push_back(cell_of(best));
    return cells;
  }

  page::Section scores(const std::string& measure, const std::string& title, const std::vector<TableRow>& rows) const {
    page::Table table;
    table.title = title;
    table.caption = "Highlighted: the best method on each set. Gains in percentage points.";
    table.wide = true;
    table.columns = {{"data"},
                     {"method"},
                     {"label-best", percent, 1},
                     {"features", number},
                     {"tried", number},
                     {"label-free", percent, 1},
                     {"median", percent, 1},
                     {"worst", percent, 1},
                     {"AllFea", percent, 1},
                     {"MaxVar", percent, 1},
                     {"random", percent, 1},
                     {"random, min to max"},
                     {"p", number, 3},
                     {"gain", number, 1},
                     {"p, label-free", number, 3},
                     {"gain, label-free", number, 1},
                     {"paper", percent, 1},
                     {"paper's gain", number, 1},
                     {"label-best at"}};
    for (const auto& row : rows) table.rows.push_back(score_row(row));
    highlight(table, rows, 2, &TableRow::best);
    highlight(table, rows, 5, &TableRow::chosen);
    return {measure, {table}};
  }

  std::vector<TableCell> score_row(const TableRow& row) const {
    const bool some = row.best.has_value();
    return {title_of(row.set),
            row.method,
            cell_of(row.best),
            some ? TableCell(row.best->features) : TableCell(),
            row.evaluations,
            cell_of(row.chosen),
            some ? TableCell(row.median) : TableCell(),
            some ? TableCell(row.worst) : TableCell(),
            cell_of(row.all),
            cell_of(row.max_variance),
            cell_of(row.best_random),
            range_text(row.best_random),
            p_of(row.best_random),
            points_of(row.gain, row.gain_error),
            p_of(row.chosen_random),
            points_of(row.chosen_gain, row.chosen_gain_error),
            row.paper ? TableCell(row.paper->mean, row.paper->sd) : TableCell(),
            points_of(row.paper_gain),
            some ? settings_text(row.best->cell->plan.settings) : std::string()};
  }

  static void highlight(page::Table& table, const std::vector<TableRow>& rows, std::size_t column,
                        std::optional<Measured> TableRow::*value) {
    std::map<std::string, double> most;
    for (const auto& row : rows) {
      if (!(row.*value)) continue;
      const auto [known, added] = most.emplace(row.set, (row.*value)->value.mean);
      known->second = std::max(known->second, (row.*value)->value.mean);
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      table.rows[i][column].best = rows[i].*value && (rows[i].*value)->value.mean == most.at(rows[i].set);
    }
  }

  // --- Figures ----------------------------------------------------------------------------------------------------

  std::vector<page::Block> figures() const {
    std::vector<page::Block> blocks = {figure1(), figure2()};
    if (auto figure =
            heat_figure("Figure 3: ACC by alpha and p", "alpha", concat("beta = ", kFigure3Beta), &Figures::alpha_p)) {
      blocks.push_back(std::move(*figure));
    }
    if (auto figure =
            heat_figure("Figure 4: ACC by beta and p", "beta", concat("alpha = ", kFigure4Alpha), &Figures::beta_p)) {
      blocks.push_back(std::move(*figure));
    }
    return blocks;
  }

  page::Figure figure1() const {
    page::LineChart chart;
    chart.x_title = "% of the features", chart.y_title = "ACC";
    chart.percent = chart.own_scales = true;
    for (const auto& one : figures_) chart.panels.push_back({title_of(one.set), size_curves(one)});
    page::Figure figure;
    figure.title = "Figure 1: ACC by number of features";
    figure.caption = concat(
        "Best of the grid: the best setting at each size, chosen with the true classes. Bands: one standard deviation "
        "over the starts; for random, the minimum to the maximum of ",
        protocol_.subsets, " subsets. Click a name to hide or show its line.");
    figure.alt = concat("Line charts of the accuracy of ufcm by share of features on ", figures_.size(),
                        " data sets: best of the grid and defaults, with a band of random subsets and all features.");
    figure.spec = page::line_chart(chart);
    return figure;
  }

  std::vector<page::Series> size_curves(const Figures& one) const {
    page::Series best{"best of the grid", {}, false}, free{"defaults", {}, false}, random{"random", {}, true},
        all{"all features", {}, true};
    const double count = static_cast<double>(set_of(one.set).source.cols());
    for (const auto& point : one.sizes) {
      const double share = std::round(1000.0 * static_cast<double>(point.features) / count) / 10.0;
      if (point.best) best.points.push_back(point_of(share, point.best->value));
      if (point.label_free) free.points.push_back(point_of(share, point.label_free->value));
      if (point.random) {
        random.points.push_back({share, point.random->value.mean, point.random->min, point.random->max});
      }
    }
    const auto& longest = best.points.empty() ? free.points : best.points;
    if (one.all && !longest.empty()) all.points = level(longest.front().x, longest.back().x, *one.all);
    return {best, free, random, all};
  }

  static std::vector<page::Point> level(double from, double to, const Measured& value) {
    return {{from, value.value.mean}, {to, value.value.mean}};
  }

  page::Figure figure2() const {
    page::LineChart chart;
    chart.x_title = "beta", chart.y_title = "ACC";
    chart.x_names = protocol_.figure2;
    chart.percent = chart.own_scales = true;
    for (const auto& one : figures_) {
      page::Series best{"best size", {}, false}, chosen{chosen_share(), {}, false}, all{"all features", {}, true};
      for (const auto& point : one.beta) {
        const auto found = std::find(protocol_.figure2.begin(), protocol_.figure2.end(), point.settings.at("beta"));
        const auto x = static_cast<double>(found - protocol_.figure2.begin());
        if (point.best) best.points.push_back(point_of(x, point.best->value));
        if (point.chosen) chosen.points.push_back(point_of(x, point.chosen->value));
      }
      if (one.all) all.points = level(0.0, static_cast<double>(protocol_.figure2.size() - 1), *one.all);
      chart.panels.push_back({title_of(one.set), {best, chosen, all}});
    }
    page::Figure figure;
    figure.title = "Figure 2: ACC by beta";
    figure.caption = concat(
        "ufcm at alpha = p = 1. The paper does not state the number of features: here at the best "
        "size, chosen with the true classes, and at ",
        chosen_share(), " of them. Bands: one standard deviation.");
    figure.alt = concat("Line charts of the accuracy of ufcm by beta on ", figures_.size(),
                        " data sets, at the best size and at ", chosen_share(), " of the features, with all features.");
    figure.spec = page::line_chart(chart);
    return figure;
  }

  const std::vector<std::string>& tried(const std::string& option) const {
    static const std::vector<std::string> none;
    for (const auto& axis : protocol_.axes) {
      if (axis.method == kOurs && axis.option == option) return axis.values;
    }
    return none;
  }

  // Unset if the grid has no such settings.
  std::optional<page::Figure> heat_figure(const std::string& title, const std::string& option, const std::string& fixed,
                                          std::vector<FigurePoint> Figures::*points) const {
    page::HeatMap map;
    map.x_title = option, map.y_title = "p", map.value_title = "ACC";
    map.columns = tried(option), map.rows = tried("p");
    map.percent = map.numbers = map.own_scales = true;
    map.least_span = kLeastSpan;
    bool some = false;
    for (const auto& one : figures_) {
      page::HeatPanel panel{title_of(one.set), std::vector<double>(map.rows.size() * map.columns.size(), page::kNone)};
      for (const auto& point : one.*points) {
        const auto row = std::find(map.rows.begin(), map.rows.end(), point.settings.at("p")) - map.rows.begin();
        const auto column =
            std::find(map.columns.begin(), map.columns.end(), point.settings.at(option)) - map.columns.begin();
        const auto at = static_cast<std::size_t>(row) * map.columns.size() + static_cast<std::size_t>(column);
        if (point.best) panel.values[at] = point.best->value.mean, some = true;
      }
      map.panels.push_back(std::move(panel));
    }
    if (!some) return std::nullopt;
    page::Figure figure;
    figure.title = title;
    figure.caption = concat(
        "ufcm at ", fixed, " and the best size, chosen with the true classes; report.json also has ", chosen_share(),
        " of the features. The colors of a set range from its minimum to its maximum, and cover at least five "
        "points.");
    figure.alt = concat("Heat maps of the accuracy of ufcm by ", option, " and p at ", fixed, ", one for each of ",
                        figures_.size(), " data sets, with the numbers in the cells.");
    figure.spec = page::heat_map(map);
    return figure;
  }

  // --- Convergence ------------------------------------------------------------------------------------------------

  page::Section convergence() const {
    page::LineChart chart;
    chart.x_title = "iteration";
    chart.own_scales = chart.whole_x = true;
    chart.markers = {{static_cast<double>(kPaperIterations), concat("paper: ", kPaperIterations), true}};
    page::Table table;
    table.title = "Iterations to convergence";
    table.caption = concat(
        "First the runs above; then all runs of ufcm on the set: how many, how many of them monotone, "
        "and the median and maximum number of iterations. The paper says: usually within ",
        kPaperIterations, ".");
    table.columns = {{"data"},
                     {"iterations", number},
                     {"status"},
                     {"monotone"},
                     {"runs", number},
                     {"monotone", number},
                     {"median", number, 1},
                     {"maximum", number},
                     {concat("within ", kPaperIterations), number}};
    std::size_t monotone = 0;
    for (const auto& one : figures_) {
      if (!one.convergence) continue;
      const auto& objective = one.convergence->cell->objective;
      page::Series series{"objective", {}, false};
      for (std::size_t i = 0; i < objective.size(); ++i) {
        series.points.push_back({static_cast<double>(i + 1), objective[i]});
      }
      chart.panels.push_back({title_of(one.set), {series}});
      table.rows.push_back(convergence_row(one));
      monotone += one.convergence->monotone ? 1 : 0;
    }
    if (chart.panels.empty()) return {"Convergence", {page::Note{"No run of Figure 5 finished.", true}}};
    const std::string verdict = concat("The objective never falls on ", monotone, " of ", table.rows.size(), " sets.");
    page::Figure figure;
    figure.title = "Figure 5: objective by iteration";
    figure.caption = concat("ufcm at alpha = beta = p = 1. ", verdict);
    figure.alt = concat("Line charts of the objective by iteration on ", chart.panels.size(), " data sets. ", verdict);
    figure.spec = page::line_chart(chart);
    return {"Convergence", {figure, table}};
  }

  std::vector<TableCell> convergence_row(const Figures& one) const {
    const tamis::Cell& cell = *one.convergence->cell;
    std::vector<double> iterations;
    Index monotone = 0, within = 0;
    for (const auto& other : result_.cells) {
      if (other.failure || other.plan.key.set != one.set || other.plan.key.method != kOurs) continue;
      iterations.push_back(static_cast<double>(other.iterations));
      monotone += never_falls(other.objective) ? 1 : 0;
      within += other.iterations <= kPaperIterations ? 1 : 0;
    }
    return {title_of(one.set),
            cell.iterations,
            name_of(cell.status),
            one.convergence->monotone ? "yes" : "no",
            static_cast<Index>(iterations.size()),
            monotone,
            median(iterations),
            *std::max_element(iterations.begin(), iterations.end()),
            within};
  }

  // --- Pixels -----------------------------------------------------------------------------------------------------

  std::vector<page::Block> pixels() const {
    std::vector<page::Block> blocks;
    for (const auto& set : result_.sets) {
      if (set.expected == nullptr) continue;
      page::Images images{title_of(set), "", {}};
      for (const auto& row : drawn_rows(set)) {
        add_image(images, set, *row, row->best, "label-best");
        if (row->method == kOurs) add_image(images, set, *row, row->chosen, "label-free");
      }
      if (!images.images.empty()) blocks.push_back(std::move(images));
    }
    if (blocks.empty()) return blocks;
    blocks.insert(
        blocks.begin(),
        page::Text{concat("Selected pixels: darker means earlier in the ranking; white pixels were not selected. "
                          "Shown are ufcm and the ",
                          kRivals, " other methods with the highest label-best ACC.")});
    return blocks;
  }

  // Ours, then the other methods with the highest label-best.
  std::vector<const TableRow*> drawn_rows(const ExperimentSet& set) const {
    std::vector<const TableRow*> rivals, drawn;
    for (const auto& row : accuracy_) {
      if (row.set == set.name && row.best) (row.method == kOurs ? drawn : rivals).push_back(&row);
    }
    std::stable_sort(rivals.begin(), rivals.end(),
                     [](const auto* a, const auto* b) { return a->best->value.mean > b->best->value.mean; });
    rivals.resize(std::min(kRivals, rivals.size()));
    drawn.insert(drawn.end(), rivals.begin(), rivals.end());
    return drawn;
  }

  static void add_image(page::Images& images, const ExperimentSet& set, const TableRow& row,
                        const std::optional<Measured>& measured, const std::string& choice) {
    const ImageShape shape{set.expected->image_rows, set.expected->image_columns, set.expected->column_major};
    const auto count = static_cast<std::size_t>(shape.height * shape.width);
    if (!measured || measured->cell->ranking.size() != count) return;
    page::Image image{shape.width, shape.height, std::vector<std::uint8_t>(count, 0), "", ""};
    const double last = std::max(1.0, static_cast<double>(measured->features - 1));
    for (Index rank = 0; rank < measured->features; ++rank) {
      const Index pixel = shape.pixel(measured->cell->ranking[rank]);
      const double shade = 255.0 - (255.0 - kLastInk) * static_cast<double>(rank) / last;
      image.ink[pixel] = static_cast<std::uint8_t>(std::lround(shade));
    }
    image.label =
        concat(row.method, " ", choice, ": ", measured->features, " pixels, ACC ", percent_text(measured->value.mean));
    image.alt = concat("Image of ", shape.height, " x ", shape.width, " pixels of ", title_of(set), ": the ",
                       measured->features, " selected by ", row.method, ", ", choice, ", are dark.");
    images.images.push_back(std::move(image));
  }

  // --- Time, and the run ------------------------------------------------------------------------------------------

  page::Section times() const {
    const auto spent = spent_by_method(result_);
    std::vector<std::string> names;  // including controls
    for (const auto& one : spent) {
      if (std::find(names.begin(), names.end(), one.method) == names.end()) names.push_back(one.method);
    }
    page::BarChart chart;
    chart.value_title = "CPU seconds", chart.horizontal = true;
    chart.series = {{"CPU seconds", {}, false}};
    page::Table table;
    table.title = "CPU seconds per cell";
    table.caption = concat("A cell is one ranking of all features with one setting, and all sizes measured with ",
                           protocol_.repeats, " starts each; for random, ", protocol_.subsets, " subsets of one size.");
    table.columns = {{"method"}, {"cells", number}, {"total, s", number, 1}};
    for (const auto& set : result_.sets) table.columns.push_back({title_of(set), significant, 3});
    for (const auto& name : names) {
      Index cells = 0;
      double all = 0.0;
      std::vector<TableCell> by_set;
      for (const auto& set : result_.sets) {
        by_set.emplace_back();
        for (const auto& one : spent) {
          if (one.set != set.name || one.method != name) continue;
          cells += one.cells, all += one.cpu_seconds;
          by_set.back() = TableCell(one.cpu_seconds / static_cast<double>(one.cells));
        }
      }
      std::vector<TableCell> row = {name, cells, all};
      row.insert(row.end(), by_set.begin(), by_set.end());
      table.rows.push_back(std::move(row));
      chart.categories.push_back(name);
      chart.series[0].bars.push_back({all});
    }
    page::Figure figure{"CPU seconds of all cells", "Including cells computed by earlier runs.", "",
                        page::bar_chart(chart)};
    figure.alt = "Bar chart of the CPU seconds that each method's cells took; the table below has the numbers.";
    return {"Time", {figure, table}};
  }

  page::Section run() const {
    page::Facts facts;
    const auto add = [&](const std::string& key, const std::string& value) { facts.facts.emplace_back(key, value); };
    double cpu_seconds = 0.0;
    for (const auto& cell : result_.cells) cpu_seconds += cell.cpu_seconds;
    add("protocol", concat(protocol_.quick ? "quick" : "full", ", version ", kProtocolVersion));
    add("seed", std::to_string(result_.seed));
    add("cells", concat(result_.cells.size(), ", ", result_.found, " of them from earlier runs"));
    const double seconds = result_.seconds < 100 ? result_.seconds : std::round(result_.seconds);
    add("time", concat(short_number(seconds, seconds < 100 ? 3 : 9), " s of wall-clock time in this run, with ",
                       result_.threads, " threads; ", short_number(cpu_seconds, 4), " s of CPU time in all cells"));
    add("machine", concat(machine_.processor.empty() ? "" : machine_.processor + ", ", machine_.cores, " cores, ",
                          size_text(machine_.memory_bytes), ", ", machine_.system));
    add("version", concat("tamis ", kVersion));
    return {"The run", {facts, protocol_table()}};
  }

  page::Table protocol_table() const {
    page::Table table;
    table.title = "Protocol";
    table.columns = {{"item"}, {"value"}};
    table.sortable = false;
    const auto add = [&](const std::string& what, const std::string& value) { table.rows.push_back({what, value}); };
    std::vector<std::string> shares;
    for (const double share : protocol_.shares) shares.push_back(short_number(100.0 * share));
    add("sizes", spoken(shares) + " % of the features");
    add("label-free", "defaults at " + chosen_share());
    add("k-means",
        concat(protocol_.repeats, " k-means++ starts, one Lloyd run each, with as many clusters as classes"));
    add("random", concat(protocol_.subsets, " subsets of each size"));
    add("graphs", concat(protocol_.neighbors, " neighbors"));
    if (protocol_.most_rows > 0)
      add("rows", concat("at most ", protocol_.most_rows, " per set, sampled with the seed"));
    for (const auto& axis : protocol_.axes) add(concat(axis.method, " ", axis.option), spoken(axis.values));
    add("Figure 2: beta", spoken(protocol_.figure2));
    return table;
  }

  const Reproduction& result_;
  const Protocol& protocol_;
  const Machine& machine_;
  std::vector<TableRow> accuracy_, nmi_;
  std::vector<Figures> figures_;
  std::vector<const TableRow*> ours_;  // by accuracy, one per set
};

}  // namespace

page::Page reproduce_page(const Reproduction& result, const Machine& machine) {
  return ReproducePage(result, machine).compose();
}

}  // namespace tamis
