// tamis demo: the main job on a data set inside the program.
#include <CLI/CLI.hpp>
#include <fstream>

#include "app/digits.h"
#include "app/scores.h"
#include "app/session.h"
#include "tamis/data/quote.h"
#include "tamis/run/charts.h"
#include "tamis/run/document.h"
#include "tamis/run/select_page.h"

namespace tamis::app {

namespace {

constexpr Index kFeatures = 20;
constexpr const char* kClusters = "10";
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
  std::vector<std::string> cells(static_cast<std::size_t>(kDigitSide * kDigitSide), "  .");
  for (std::size_t i = 0; i < selected.size(); ++i) {
    const std::string rank = std::to_string(i + 1);
    cells[static_cast<std::size_t>(selected[i])] = std::string(3 - rank.size(), ' ') + rank;
  }
  std::string out;
  for (std::size_t j = 0; j < cells.size(); ++j) {
    out += cells[j];
    if ((j + 1) % static_cast<std::size_t>(kDigitSide) == 0) out += '\n';
  }
  return out;
}

std::string closing_words(const std::string& page) {
  return text("\nk-means with 10 clusters on the chosen pixels alone, compared with the digits; mean +- sd.\n", kCredit,
              "\n", page.empty() ? "" : "Page: " + printable(page, 200) + ", to be opened in a browser\n",
              "Next: tamis select YOUR.csv -k 20 -c 10\n");
}

// --- The page -----------------------------------------------------------------------------------------------------

// What stands under the page's name is replaced only where it is such a page itself.
void require_own_page(const std::string& folder) {
  const std::string path = text(folder, "/", kDemoPage);
  std::ifstream file(path, std::ios::binary);
  if (!file) return;
  std::string head(4096, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  require(head.find("name=\"generator\" content=\"tamis ") != std::string::npos, ErrorCode::usage, "output: ", path,
          " is no page of tamis, need another folder (-o DIR)");
}

// Where no folder was asked for, the demo does without one that cannot be had; --json alone wants none.
void open_folder(std::optional<OutputFolder>& folder, const DemoArguments& arguments, Session& session) {
  const bool asked = !arguments.output.empty();
  if (!asked && arguments.run->json) return;
  const std::string path = asked ? arguments.output : kFolder;
  try {
    require_own_page(path);
    folder.emplace(path, std::vector<std::string>{kDemoPage}, std::vector<std::string>{});
  } catch (const Error& error) {
    if (asked) throw;
    session.warn(text("no page was written: ", error.what()));
  }
}

page::Section against_the_digits(const Evaluation& evaluation, Index subsets) {
  page::BarChart chart;
  chart.value_title = "ACC", chart.percent = chart.horizontal = true;
  chart.series = {{"ACC", {}, false}};
  page::Table table;
  using enum page::Column::Kind;
  table.columns = {{"pixels"}, {"number", number}, {"ACC", percent, 1}, {"NMI", percent, 1}};
  const auto add = [&](const std::string& name, const SubsetScore& score) {
    const auto& [mean, sd] = score.accuracy;
    chart.categories.push_back(name);
    chart.series[0].bars.push_back({mean, mean - sd, mean + sd});
    table.rows.push_back(
        {name, score.features, page::TableCell(mean, sd), page::TableCell(score.nmi.mean, score.nmi.sd)});
  };
  add("chosen", evaluation.given);
  if (evaluation.all) add("all", *evaluation.all);
  add("by variance", evaluation.max_variance);
  add("random", evaluation.random);
  page::Figure figure{"Clustering accuracy", "Whiskers: one standard deviation.", "", page::bar_chart(chart)};
  figure.alt = "Bars of the accuracy by the chosen pixels, all of them, those of largest variance and random ones.";
  figure.half = table.half = true;
  return {"Against the digits",
          {page::Text{text("k-means with 10 clusters on the chosen pixels alone, compared with the digits, which the "
                           "choice never saw. Random: ",
                           subsets, " random subsets of as many pixels; by variance: the pixels of largest variance. ",
                           kCredit)},
           figure, table}};
}

void write_page(OutputFolder& folder, const SelectionRecord& record, const Evaluation& evaluation, Index subsets,
                Context& context) {
  SelectPageOptions options;
  options.image = ImageShape{kDigitSide, kDigitSide, false};
  page::Page page = select_page(record, options, context);
  page.title = "Handwritten digits: which pixels tell them apart";
  page.sections.insert(page.sections.begin(), against_the_digits(evaluation, subsets));
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
  const Table table = read_digits();
  const Method& method = find_method("ufcm");
  MethodArguments options;
  options.method = method.name;
  options.given["clusters"] = kClusters;
  const auto bound = options.bind();
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
  EvaluateOptions evaluate;
  evaluate.clusters = 10;
  std::optional<Evaluation> evaluation;
  if (folder || !arguments.run->json) {
    evaluation = evaluate_features(table.source, table.labels.at("digit").classes, result.selected, evaluate, context);
  }
  session.bar().clear();
  if (folder) write_page(*folder, record, *evaluation, evaluate.subsets, context);
  if (arguments.run->json) {
    print_result(selection_json(record));
    return 0;
  }
  const std::string page =
      folder ? text(arguments.output.empty() ? kFolder : arguments.output, "/", kDemoPage) : std::string();
  const Report& report = result.selection.report;
  print_result(text("Handwritten digits: ", kDigitRows, " images of 8 x 8 pixels, no labels used for the choice.\n",
                    method.name, " chose ", kFeatures, " of 64 pixels in ", short_number(1000.0 * report.seconds, 3),
                    " ms (", name_of(report.status), ", ", report.iterations, " iterations). Their ranks:\n\n",
                    picture(result.selected), "\n", scores_table(*evaluation, evaluate.subsets), closing_words(page)));
  return 0;
}

}  // namespace

Command add_demo_command(CLI::App& root) {
  auto arguments = std::make_shared<DemoArguments>();
  CLI::App* app =
      root.add_subcommand("demo", "Select pixels of handwritten digits (embedded) and show what they are worth");
  app->add_option("-o,--output", arguments->output,
                  text("Folder for report.html (", kFolder, "; with --json none). Only a page of tamis is replaced"))
      ->type_name("DIR");
  add_run_flags(*app, *arguments->run);
  return {app, arguments->run, [arguments] { return run_demo(*arguments); }};
}

}  // namespace tamis::app
