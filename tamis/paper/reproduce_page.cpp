#include "tamis/paper/reproduce_page.h"

#include <algorithm>
#include <utility>

#include "tamis/base/message.h"
#include "tamis/base/text/quote.h"
#include "tamis/paper/reproduce_view.h"

namespace tamis {

namespace reproduced {

namespace {

constexpr std::size_t kShownFailures = 20;

// "1 set", "2 sets"
std::string counted(std::size_t count, const char* what) { return concat(count, " ", what, count == 1 ? "" : "s"); }

constexpr Claim kLabelBest = {"label-best",          "With its best settings in hindsight (label-best), ufcm ",
                              &TableRow::best,       &TableRow::gain,
                              &TableRow::gain_error, &TableRow::best_random};
constexpr Claim kLabelFree = {"label-free",
                              "With its defaults (label-free), ufcm ",
                              &TableRow::chosen,
                              &TableRow::chosen_gain,
                              &TableRow::chosen_gain_error,
                              &TableRow::chosen_random};

}  // namespace

page::Page ReproducePage::compose() const {
  page::Page page;
  page.title = "Unsupervised Feature Analysis with Class Margin Optimization, reproduced";
  page.summary = summary();
  page.verdict = claims();
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

const ExperimentSet& ReproducePage::set_of(const std::string& name) const {
  return *std::find_if(result_.sets.begin(), result_.sets.end(), [&](const auto& set) { return set.name == name; });
}

std::string ReproducePage::title_of(const ExperimentSet& set) {
  return set.expected != nullptr ? set.expected->title : printable(set.name, 40);
}

std::string ReproducePage::title_of(const std::string& name) const { return title_of(set_of(name)); }

std::string ReproducePage::chosen_share() const { return short_number(100.0 * protocol_.chosen_share) + " %"; }

// --- Verdict ---------------------------------------------------------------------------------------------------------

std::string ReproducePage::summary() const {
  return concat(protocol_.quick ? "A quick run with fewer settings, sizes and rows than in the paper: "
                                : "A run of the full protocol: ",
                counted(result_.methods.size(), "method"), " on ", counted(result_.sets.size(), "data set"), ", ",
                counted(result_.cells.size(), "cell"),
                ". The paper is Wang, Nie, Chang, Yao, Li & Sheng, ECML PKDD 2015; its method is called ufcm here.");
}

page::Section ReproducePage::verdict() const {
  page::Section section{"Verdict", {}};
  if (protocol_.quick) {
    section.blocks.push_back(page::Note{
        concat("This is the quick protocol: at most ", protocol_.most_rows, " rows per set, ", protocol_.shares.size(),
               " sizes and a reduced grid. Its numbers are a first impression, not the full experiment."),
        true});
  }
  for (const auto& failure : failures()) section.blocks.push_back(page::Note{failure, true});
  if (!ours_.empty()) {
    section.blocks.push_back(gain_figure());
    section.blocks.push_back(verdict_table());
  }
  section.blocks.push_back(meanings());
  return section;
}

std::vector<std::string> ReproducePage::failures() const {
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

std::vector<std::string> ReproducePage::claims() const {
  if (ours_.empty()) return {"ufcm was not among the methods, so there is no verdict on it."};
  return {claim_text(kLabelBest), claim_text(kLabelFree)};
}

std::string ReproducePage::claim_text(const Claim& claim) const {
  std::size_t known = 0, gains = 0, clear = 0;
  std::vector<std::string> inside;
  for (const auto* row : ours_) {
    if (!(row->*claim.gain)) continue;
    ++known;
    gains += *(row->*claim.gain) > 0.0 ? 1 : 0;
    clear += *(row->*claim.gain) > 2.0 * *(row->*claim.error) ? 1 : 0;
    if (row->*claim.random && !(row->*claim.random)->beats_random) inside.push_back(title_of(row->set));
  }
  if (known == 0) return concat(claim.lead, "could not be measured.");
  const char* random = "random subsets of the same size";
  if (known == 1) {
    return concat(claim.lead,
                  gains == 0   ? "does not improve ACC over all features."
                  : clear == 0 ? "improves ACC over all features, but by less than two standard errors."
                               : "improves ACC over all features by more than two standard errors.",
                  inside.empty() ? " It beats " : " It does not beat ", random, ".");
  }
  return concat(claim.lead, "improves ACC over all features on ", gains, " of ", known, " sets, on ", clear,
                " of them by more than two standard errors.",
                inside.empty() ? concat(" It beats ", random, " on every set.")
                               : concat(" It does not beat ", random, " on ", spoken(inside), "."));
}

page::Figure ReproducePage::gain_figure() const {
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
                      " data sets, label-best and label-free", in_paper ? ", with the gain reported in the paper" : "",
                      ". The table below has the numbers.");
  figure.spec = page::bar_chart(chart);
  return figure;
}

page::Bar ReproducePage::gain_bar(const std::optional<double>& gain, const std::optional<double>& error) {
  if (!gain) return {page::kNone};
  return {100.0 * *gain, 100.0 * (*gain - *error), 100.0 * (*gain + *error)};
}

page::Table ReproducePage::verdict_table() const {
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

std::vector<TableCell> ReproducePage::verdict_row(const TableRow& row, const Claim& claim) const {
  const auto& value = row.*claim.value;
  const auto& random = row.*claim.random;
  return {title_of(row.set), claim.name,       value ? TableCell(value->features) : TableCell(),
          cell_of(value),    cell_of(row.all), points_of(row.*claim.gain, row.*claim.error),
          p_of(random),      beats(random),    points_of(row.paper_gain)};
}

std::string ReproducePage::beats(const std::optional<BesideRandom>& band) {
  return !band ? "" : band->beats_random ? "yes" : "no";
}

page::Facts ReproducePage::meanings() const {
  return {
      {{"label-best", concat("the best mean over ", protocol_.repeats,
                             " k-means starts, among all settings of a method's grid and all sizes. It is chosen "
                             "with the true classes, as in the paper, and cannot be obtained without labels")},
       {"label-free",
        concat(
            "the method's defaults at ", chosen_share(),
            " of the features: the result you get without labels. The grid need not contain the defaults, so this may "
            "exceed label-best")},
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

}  // namespace reproduced

page::Page reproduce_page(const Reproduction& result, const Machine& machine) {
  return reproduced::ReproducePage(result, machine).compose();
}

std::vector<std::string> reproduce_verdict(const Reproduction& result) {
  return reproduced::ReproducePage(result, Machine{}).claims();
}

}  // namespace tamis
