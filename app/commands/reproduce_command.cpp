// tamis reproduce DIR -o OUT: the paper's tables and figures made again.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/columns.h"
#include "app/figures.h"
#include "app/help.h"
#include "app/session.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/paper/reproduce_page.h"
#include "tamis/paper/reproduce_report.h"
#include "tamis/run/output.h"

namespace tamis::app {

namespace {

constexpr const char* kCells = "cells.json";
constexpr const char* kReport = "report.json";
constexpr const char* kPage = "report.html";

struct ReproduceArguments {
  std::string folder, output, methods, figures;
  std::vector<std::string> data;
  bool quick = false;
  std::shared_ptr<RunArguments> run = std::make_shared<RunArguments>();
};

void add_reproduce_flags(CLI::App& app, ReproduceArguments& arguments) {
  begin_group(app, "Experiments");
  app.add_option("DIR", arguments.folder, "Folder with the data sets (see tamis datasets)");
  app.add_option("-o,--output", arguments.output,
                 "Folder for the results; cells that an earlier run completed there are reused")
      ->type_name("DIR");
  add_list_flag(app, "--data", arguments.data,
                "Run only this data set, NAME.npz in DIR; may be repeated (the six of the paper)")
      ->type_name("NAME");
  app.add_flag("--quick", arguments.quick, "Smaller grid, fewer sizes and rows: minutes instead of hours");
  app.add_option("-m,--methods", arguments.methods, "Methods to run: a,b,c (those of the paper, and guided)")
      ->type_name("LIST");
  add_figures_flag(app, arguments.figures);
  add_run_flags(app, *arguments.run);
}

std::vector<std::string> wanted_sets(const ReproduceArguments& arguments) {
  if (!arguments.data.empty()) return arguments.data;
  std::vector<std::string> names;
  for (const auto& set : expected_sets()) names.push_back(set.name);
  return names;
}

// --- For people ---------------------------------------------------------------------------------------------------

std::string value_text(const std::optional<Measured>& measured) {
  return measured ? plus_minus(measured->value.mean, measured->value.sd) : "-";
}

std::string count_text(const std::optional<Measured>& measured) {
  return measured ? std::to_string(measured->features) : "-";
}

std::string gain_text(const TableRow& row) {
  return row.gain
             ? concat(*row.gain < 0.0 ? "" : "+", fixed_number(*row.gain, 3), " +- ", fixed_number(*row.gain_error, 3))
             : "-";
}

std::string paper_text(const TableRow& row) {
  if (!row.paper) return "-";
  return concat(fixed_number(row.paper->mean, 3), *row.paper_gain < 0.0 ? " (" : " (+",
                fixed_number(*row.paper_gain, 3), ")");
}

std::string table_text(const Reproduction& result, const char* title, Measure measure) {
  using enum TextTable::Align;
  TextTable table({left, left, left, right, right, left, right, right, left, right, left, left});
  table.add({"set", "method", "label-best", "features", "of", "label-free", "median", "worst", "allfea", "p", "gain",
             "paper (gain)"});
  std::string last;
  for (const auto& row : table_of(result, measure)) {
    if (!last.empty() && last != row.set) table.add({});
    const bool some = row.best.has_value();
    table.add({last == row.set ? "" : printable(row.set, 24), row.method, value_text(row.best),
               some ? std::to_string(row.best->features) : "-", std::to_string(row.evaluations), value_text(row.chosen),
               some ? fixed_number(row.median, 3) : "-", some ? fixed_number(row.worst, 3) : "-", value_text(row.all),
               row.best_random ? fixed_number(row.best_random->p, 3) : "-", gain_text(row), paper_text(row)});
    last = row.set;
  }
  return concat(title, "\n", table.to_text(), "\n");
}

// No label chose anything in the columns of guided; what they stand beside was chosen by labels.
std::string guided_text(const Reproduction& result, const char* title, Measure measure) {
  const auto rows = guided_rows(result, measure);
  if (rows.empty()) return {};
  using enum TextTable::Align;
  TextTable table({left, left, right, left, right, left, left, left});
  table.add({"set", "guided", "features", "guided, c given", "features", "allfea", "best label-best", "of"});
  for (const auto& row : rows) {
    std::size_t best = 0;
    for (std::size_t m = 1; m < row.label_best.size(); ++m) {
      const auto &one = row.label_best[m], &other = row.label_best[best];
      if (one && (!other || one->value.mean > other->value.mean)) best = m;
    }
    table.add({printable(row.set, 24), value_text(row.unknown), count_text(row.unknown), value_text(row.given),
               count_text(row.given), value_text(row.all), value_text(row.label_best[best]),
               row.label_best[best] ? result.methods[best].name : "-"});
  }
  return concat(title, "\n", table.to_text(), "\n");
}

std::string legend(const Protocol& protocol) {
  return concat(
      "label-best: the best mean of ", protocol.repeats,
      " k-means starts with the true classes, over all settings and sizes; it cannot be obtained without labels.\n"
      "label-free: the defaults at ",
      short_number(100.0 * protocol.chosen_share), " % of the columns. p: of the label-best among ", protocol.subsets,
      " random subsets of its size.\ngain: label-best less allfea, and its standard error.\n",
      protocol.quick ? "This is the quick protocol: fewer settings, sizes and rows than the paper's.\n" : "");
}

// After a quick run the full one; after that, a table of one's own.
std::string next_of_reproduction(const ReproduceArguments& arguments, bool to_send) {
  if (!arguments.quick) return command_line({"select", "YOUR.csv", "-o", "result"}, to_send);
  std::vector<std::string> words = arguments.run->words;
  std::erase(words, "--quick");
  return command_line(words, to_send);
}

// The last lines of a run: the verdict, what was written, and what comes next.
std::string end_of_reproduction(const Reproduction& result, const ReproduceArguments& arguments) {
  std::string out = "\n";
  for (const auto& sentence : reproduce_verdict(result)) out += sentence + "\n";
  const std::string& folder = arguments.output;
  const std::string next = next_of_reproduction(arguments, false);
  return out + concat("\nWritten to ", printable(folder, folder.size()), ": ", kPage, ", ", kReport, ", ", kCells,
                      "\nNext: ", printable(next, next.size()), "\n");
}

// --- The run ------------------------------------------------------------------------------------------------------

void write_results(const ReproduceArguments& arguments, const std::vector<std::string>& inputs,
                   const Reproduction& result, const std::string& report, const Machine& machine) {
  OutputFolder output(arguments.output, {kCells, kReport, kPage}, inputs);
  output.add(kCells, [&](FileWriter& writer) { writer.write(cells_json(result)); });
  output.add(kReport, [&](FileWriter& writer) { writer.write(report); });
  page::Page page = reproduce_page(result, machine);
  page.origin = {{"command", command_line(arguments.run->words, true), true},
                 {"in the same folder", concat(kReport, ", ", kCells)},
                 {"next", next_of_reproduction(arguments, true), true}};
  output.add(kPage,
             [&](FileWriter& writer) { page::write_page(page, [&](std::string_view piece) { writer.write(piece); }); });
  output.commit();
}

// Where everything failed, so did the run, as its first cell.
void require_some_cell(const Reproduction& result) {
  const auto failed = [](const Cell& cell) { return cell.failure.has_value(); };
  if (!std::all_of(result.cells.begin(), result.cells.end(), failed)) return;
  const Cell& first = result.cells.front();
  fail(first.failure->code, first.plan.key.set, ": no cell could be computed: ", first.failure->reason);
}

int run_reproduce(const ReproduceArguments& arguments) {
  Session session(*arguments.run);
  require(!arguments.folder.empty(), ErrorCode::usage, "reproduce: DIR is missing, need a folder (see --help)");
  require(!arguments.output.empty(), ErrorCode::usage, "reproduce: --output is missing, need a folder");
  require_figures("reproduce", arguments.figures, arguments.output);
  ReproduceRequest request;
  request.folder = arguments.folder;
  request.names = wanted_sets(arguments);
  request.protocol = arguments.quick ? quick_protocol() : full_protocol();
  if (!arguments.methods.empty()) {
    request.methods = parse_methods(arguments.methods, session.context());
    request.guided = std::any_of(request.methods.begin(), request.methods.end(),
                                 [](const Method& method) { return method.bind()->chooses_count(); });
  }
  std::vector<std::string> inputs;
  for (const auto& name : request.names) inputs.push_back(path_of_set(request.folder, name));
  require(file_exists(arguments.folder) && file_kind(arguments.folder) == FileKind::folder, ErrorCode::usage,
          "reproduce: ", in_quotes(arguments.folder), " is not a folder");
  // Refuses early what could not be written at the end.
  { const OutputFolder probe(arguments.output, {kCells, kReport, kPage}, inputs); }
  auto sets = read_sets(request, session.context());
  CellStore store(arguments.output + "/cells");
  const Reproduction result =
      reproduce(request, std::move(sets), store, session.context(), [&](Index cells, Index found) {
        session.note(
            concat(counted(cells, "cell"), found > 0 ? concat(", of which an earlier run completed ", found) : ""));
      });
  session.bar().clear();
  const Machine machine = this_machine();
  const std::string report = report_json(result, machine);
  write_results(arguments, inputs, result, report, machine);
  save_figures(arguments.figures, arguments.output);
  for (const auto& cell : result.cells) {
    if (cell.failure) session.warn(concat(cell.plan.key.set, ": ", cell.failure->reason));
  }
  print_result(
      arguments.run->json
          ? report
          : table_text(result, "ACC", Measure::accuracy) + table_text(result, "NMI", Measure::nmi) +
                guided_text(result, "Beside the paper: guided, which sees no labels (ACC)", Measure::accuracy) +
                guided_text(result, "The same (NMI)", Measure::nmi) + legend(result.protocol) +
                end_of_reproduction(result, arguments));
  require_some_cell(result);
  return 0;
}

}  // namespace

Command add_reproduce_command(CLI::App& root) {
  auto arguments = std::make_shared<ReproduceArguments>();
  CLI::App* app =
      root.add_subcommand("reproduce", "Reproduce the paper's tables and figures, next to the published values");
  add_reproduce_flags(*app, *arguments);
  return {app, arguments->run, [arguments] { return run_reproduce(*arguments); }};
}

}  // namespace tamis::app
