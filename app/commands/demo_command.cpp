// tamis demo: the main job on a data set inside the program.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "app/columns.h"
#include "app/digits.h"
#include "app/session.h"
#include "tamis/base/text/quote.h"
#include "tamis/eval/evaluate.h"
#include "tamis/report/charts/charts.h"
#include "tamis/report/document.h"
#include "tamis/report/select_page.h"
#include "tamis/report/verdict.h"
#include "tamis/run/settings.h"

namespace tamis::app {

namespace {

constexpr Index kFeatures = 20;  // shown
constexpr Index kSizes[] = {5, 10, 15, 20, 40};
constexpr Index kDigitCount = 10;
constexpr Index kSubsets = 20;  // random ones of each size
constexpr const char* kFolder = "tamis-demo";
constexpr const char* kDemoPage = "report.html";
constexpr const char* kCredit =
    "Data: E. Alpaydin & C. Kaynak, Optical Recognition of Handwritten Digits, UCI (CC BY 4.0).";

struct DemoArguments {
  std::string output;  // empty: kFolder, if it can be had
  std::shared_ptr<RunArguments> run = std::make_shared<RunArguments>();
};

// The 8 x 8 pixels: rank of the selected ones, a dot for the rest.
std::string picture(const std::vector<Index>& selected) {
  std::vector<std::string> cells(kDigitSide * kDigitSide, "  .");
  for (std::size_t i = 0; i < selected.size(); ++i) {
    const std::string rank = std::to_string(i + 1);
    cells[selected[i]] = std::string(3 - rank.size(), ' ') + rank;
  }
  std::string out;
  for (std::size_t j = 0; j < cells.size(); ++j) {
    out += cells[j];
    if ((j + 1) % static_cast<std::size_t>(kDigitSide) == 0) out += '\n';
  }
  return out;
}

// --- What the pixels are worth ------------------------------------------------------------------------------------

// k-means on so many pixels, compared with the digits.
struct Curve {
  std::string name;
  bool control = false;
  std::vector<SubsetScore> sizes;  // as kSizes; of all pixels one alone
};

std::vector<Index> ranking_of(const Table& table, const std::string& name, Context& context) {
  const Method& method = find_method(name);
  const auto bound = bound_with(method, kDigitCount, {});
  SelectRequest request;
  request.features.otherwise = FeatureCount::Otherwise::all;
  return select_features(table.source, method, *bound, request, context).ranking;
}

std::vector<Curve> curves(const Table& table, const std::vector<Index>& guided, Context& context) {
  const std::vector<int>& classes = table.labels.at("digit").classes;
  const Stage stage(context, "demo");
  EvaluateOptions options;
  options.clusters = kDigitCount;
  options.subsets = kSubsets;
  std::vector<Curve> out;
  const auto add = [&](const std::string& name, const std::vector<Index>& ranking) {
    out.push_back({name, false, {}});
    for (const Index k : kSizes) {
      std::vector<Index> first(ranking.begin(), ranking.begin() + k);
      std::sort(first.begin(), first.end());
      out.back().sizes.push_back(score_subset(table.source, classes, first, options, 1, context));
    }
  };
  add("guided", guided);
  add("ufcm, c = 10", ranking_of(table, "ufcm", context));
  add("max variance", ranking_of(table, "maxvar", context));
  EvaluateOptions single = options;
  single.repeats = 1;
  out.push_back({"random", true, {}});
  for (const Index k : kSizes) {
    out.back().sizes.push_back(summary_of(score_random_subsets(table.source, classes, k, single, context)));
  }
  std::vector<std::string> notes;
  if (const auto all = score_all(table.source, classes, options, notes, context)) {
    out.push_back({"all 64 pixels", true, {*all}});
  }
  return out;
}

std::string accuracy_text(const SubsetScore& score) {
  return concat(short_number(100.0 * score.accuracy.mean, 3), " +- ", short_number(100.0 * score.accuracy.sd, 2));
}

std::string curves_table(const std::vector<Curve>& all) {
  using enum TextTable::Align;
  TextTable table({left, right, right, right, right, right});
  std::vector<std::string> head = {"ACC in % at"};
  for (const Index k : kSizes) head.push_back(std::to_string(k));
  table.add(head);
  for (const Curve& curve : all) {
    std::vector<std::string> row = {curve.name};
    for (const auto& score : curve.sizes) row.push_back(accuracy_text(score));
    row.resize(head.size());
    table.add(row);
  }
  return table.to_text();
}

std::string closing_words(const SelectResult& result, const std::string& page) {
  std::string words;
  for (const auto& sentence : verdict(result)) words += sentence + "\n";
  return concat(
      "\nk-means with 10 clusters on the chosen pixels alone, compared with the digits: mean +- sd of 10 starts; "
      "random: of ",
      kSubsets, " subsets. One small table proves nothing; docs/guided.md says what to expect.\n", kCredit, "\n\n",
      words, "\n", page.empty() ? "" : "Page: " + printable(page, 200) + ", to be opened in a browser\n",
      "Next: tamis select YOUR.csv\n");
}

// --- The page -----------------------------------------------------------------------------------------------------

// Where no folder was asked for, the demo does without one that cannot be had; --json alone wants none.
void open_folder(std::optional<OutputFolder>& folder, const DemoArguments& arguments, Session& session) {
  const bool asked = !arguments.output.empty();
  if (!asked && arguments.run->json) return;
  const std::string path = asked ? arguments.output : kFolder;
  try {
    folder.emplace(path, std::vector<std::string>{kDemoPage}, std::vector<std::string>{});
  } catch (const Error& error) {
    std::error_code gone;
    static_cast<void>(std::filesystem::current_path(gone));
    if (asked || gone) throw;  // a vanished working folder is no place that another folder would help against
    session.warn(concat("no page was written: ", error.what()));
  }
}

page::Section against_the_digits(const std::vector<Curve>& all) {
  page::LineChart chart;
  chart.x_title = "pixels", chart.y_title = "ACC", chart.percent = chart.whole_x = true;
  chart.panels.emplace_back();
  page::Table table;
  using enum page::Column::Kind;
  table.columns = {{"pixels by"}, {"number", number}, {"ACC", percent, 1}, {"NMI", percent, 1}};
  for (const Curve& curve : all) {
    page::Series series{curve.name, {}, curve.control};
    for (const auto& score : curve.sizes) {
      const auto& [mean, sd] = score.accuracy;
      series.points.push_back({static_cast<double>(score.features), mean, mean - sd, mean + sd});
      table.rows.push_back(
          {curve.name, score.features, page::TableCell(mean, sd), page::TableCell(score.nmi.mean, score.nmi.sd)});
    }
    chart.panels[0].series.push_back(std::move(series));
  }
  page::Figure figure{"Clustering accuracy", "Bands: one standard deviation.", "", page::line_chart(chart)};
  figure.alt = "Lines of the accuracy over the number of pixels: guided, ufcm, largest variance, random ones and all.";
  return {"Against the digits",
          {page::Text{
               concat("k-means with 10 clusters on the chosen pixels alone, compared with the digits, which no choice "
                      "has seen. guided does not know that there are 10, ufcm does. Random: ",
                      kSubsets, " random subsets of the same size. ", kCredit)},
           figure, table}};
}

void write_page(OutputFolder& folder, const SelectionRecord& record, const std::vector<Curve>& all,
                const std::vector<std::string>& words, Context& context) {
  SelectPageOptions options;
  options.image = ImageShape{kDigitSide, kDigitSide, false};
  page::Page page = select_page(record, options, context);
  page.title = "Handwritten digits: which pixels tell them apart";
  page.origin = {{"command", command_line(words, true), true}, {"next", "tamis select YOUR.csv -o result", true}};
  page.sections.insert(page.sections.begin(), against_the_digits(all));
  folder.add(kDemoPage,
             [&](FileWriter& out) { page::write_page(page, [&](std::string_view piece) { out.write(piece); }); });
  context.check_cancelled();
  folder.commit();
}

// --- The run ------------------------------------------------------------------------------------------------------

int run_demo(const DemoArguments& arguments) {
  Session session(*arguments.run);
  std::optional<OutputFolder> folder;
  open_folder(folder, arguments, session);
  session.context().on_warning = nullptr;  // of the pixels' spread: they are on one scale as they are
  const Table table = read_digits(session.context());
  const Method& method = find_method(kDefaultMethod);
  const auto bound = method.bind();
  SelectRequest request;
  request.features.count = kFeatures;
  Context& context = session.context();
  const SelectResult result = select_features(table.source, method, *bound, request, context);
  const SelectionRecord record{table,
                               method,
                               bound->options(),
                               request,
                               result,
                               context.seed,
                               context.threads(),
                               context.memory_limit,
                               peak_resident_bytes(),
                               {}};
  std::vector<Curve> worth;
  if (folder || !arguments.run->json) worth = curves(table, result.ranking, context);
  session.bar().clear();
  if (folder) write_page(*folder, record, worth, arguments.run->words, context);
  if (arguments.run->json) {
    print_result(selection_json(record));
    return 0;
  }
  const std::string page =
      folder ? concat(arguments.output.empty() ? kFolder : arguments.output, "/", kDemoPage) : std::string();
  const Report& report = result.selection.report;
  print_result(concat("Handwritten digits: ", kDigitRows, " images of 8 x 8 pixels, no labels used for the choice.\n",
                      method.name, " put the pixels in order in ", short_number(report.seconds, 3),
                      " s, without being told that there are ten digits. The first ", kFeatures, ":\n\n",
                      picture(result.selected), "\n", curves_table(worth), closing_words(result, page)));
  return 0;
}

}  // namespace

Command add_demo_command(CLI::App& root) {
  auto arguments = std::make_shared<DemoArguments>();
  CLI::App* app =
      root.add_subcommand("demo", "Select pixels of embedded images of handwritten digits, and evaluate them");
  app->add_option("-o,--output", arguments->output, concat("Folder for report.html (", kFolder, "; none with --json)"))
      ->type_name("DIR");
  add_run_flags(*app, *arguments->run);
  return {app, arguments->run, [arguments] { return run_demo(*arguments); }};
}

}  // namespace tamis::app
