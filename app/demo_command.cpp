// tamis demo: the main job on a data set inside the program.
#include "app/digits.h"
#include "app/scores.h"
#include "app/session.h"
#include "tamis/run/document.h"

namespace tamis::app {

namespace {

constexpr Index kFeatures = 20;
constexpr const char* kClusters = "10";

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

std::string closing_words() {
  return "\nk-means with 10 clusters on the chosen pixels alone, compared with the digits; mean +- sd.\n"
         "Data: E. Alpaydin & C. Kaynak, Optical Recognition of Handwritten Digits, UCI (CC BY 4.0).\n"
         "Next: tamis select YOUR.csv -k 20 -c 10\n";
}

int run_demo(const RunArguments& arguments) {
  Session session(arguments);
  session.context().on_warning = nullptr;  // of the pixels' spread: they are on one scale as they are
  const Table table = read_digits();
  const Method& method = find_method("ufcm");
  MethodArguments options;
  options.given["clusters"] = kClusters;
  const auto bound = options.bind();
  SelectRequest request;
  request.features.count = kFeatures;
  const SelectResult result = select_features(table.source, method, *bound, request, session.context());

  if (arguments.json) {
    Context& context = session.context();
    print_result(selection_json({table, method, bound->options(), request, result, context.seed, context.threads(),
                                 context.memory_limit, peak_resident_bytes(), session.warnings()}));
    return 0;
  }

  EvaluateOptions evaluate;
  evaluate.clusters = 10;
  const Evaluation evaluation =
      evaluate_features(table.source, table.labels.at("digit").classes, result.selected, evaluate, session.context());
  session.bar().clear();
  const Report& report = result.selection.report;
  print_result(text("Handwritten digits: ", kDigitRows, " images of 8 x 8 pixels, no labels used for the choice.\n",
                    method.name, " chose ", kFeatures, " of 64 pixels in ", short_number(1000.0 * report.seconds, 3),
                    " ms (", name_of(report.status), ", ", report.iterations, " iterations). Their ranks:\n\n",
                    picture(result.selected), "\n", scores_table(evaluation, evaluate.subsets), closing_words()));
  return 0;
}

}  // namespace

Command add_demo_command(CLI::App& root) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* app =
      root.add_subcommand("demo", "Select pixels of handwritten digits (embedded) and show what they are worth");
  add_run_flags(*app, *arguments);
  return {app, arguments, [arguments] { return run_demo(*arguments); }};
}

}  // namespace tamis::app
