// tamis compare: every method side by side on one table.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/columns.h"
#include "app/figures.h"
#include "app/help.h"
#include "app/scores.h"
#include "app/session.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/base/version.h"
#include "tamis/report/compare_page.h"
#include "tamis/report/document.h"
#include "tamis/report/verdict.h"
#include "tamis/run/output.h"

namespace tamis::app {

namespace {

using enum TextTable::Align;

struct CompareArguments {
  DataArguments data;
  std::shared_ptr<RunArguments> run = std::make_shared<RunArguments>();
  std::string features, methods, clusters, repeats, labels, scale, output, figures, connectivity;
  std::vector<std::string> set;
  bool grid = false;
};

// "all but spec, which equals lapscore by default"
std::string compared_text() {
  std::string out = "all";
  for (const auto& method : methods()) {
    if (!method.same_as.empty())
      out += concat(out == "all" ? " but " : ", ", method.name, ", which equals ", method.same_as, " by default");
  }
  return out;
}

void add_compare_flags(CLI::App& app, CompareArguments& arguments) {
  add_data_flags(app, arguments.data);
  app.add_option(
         "--labels", arguments.labels,
         "Known classes to evaluate against: a column, an npz array, a file, or FILE:COLUMN joined by row identifiers")
      ->type_name("LABELS");
  add_exclude_flag(app, arguments.data);
  add_counts_flag(app, arguments.data);
  begin_group(app, kSelectionGroup);
  app.add_option("-c,--clusters", arguments.clusters,
                 "Number of clusters, for methods and for k-means (the number of classes; 8 without labels)")
      ->type_name("INTEGER");
  app.add_option("-k,--features", arguments.features,
                 "Numbers of features to compare at: counts or fractions below 1 (20,50,100)")
      ->type_name("LIST");
  app.add_option("-m,--methods", arguments.methods, "Methods to run: a,b,c (" + compared_text() + ")")
      ->type_name("LIST");
  add_list_flag(app, "--set", arguments.set, "Set an option of one method, such as ufcm.alpha=0.1; may be repeated")
      ->type_name("METHOD.OPTION=VALUE");
  app.add_flag(
      "--grid", arguments.grid,
      "Also try a grid of options for each method; shows the best (chosen by the labels), the median and the worst");
  app.add_option("--repeats", arguments.repeats, "Number of k-means++ runs (10)")->type_name("INTEGER");
  app.add_option("--scale", arguments.scale, "Scaling, as in tamis select: none, standard, minmax, unit or auto (none)")
      ->type_name("WORD");
  app.add_option("--connectivity", arguments.connectivity)->group("");  // to say why not
  begin_group(app, kOutputGroup);
  app.add_option("-o,--output", arguments.output, "Folder for report.html and comparison.json")->type_name("DIR");
  add_figures_flag(app, arguments.figures);
  add_run_flags(app, *arguments.run);
}

std::vector<FeatureCount> parse_sizes(const std::string& list, Context& context) {
  std::vector<FeatureCount> sizes;
  for (const auto& word : list_words(list, context)) {
    sizes.push_back(parse_feature_count(word));
    require(sizes.back().count || sizes.back().fraction, ErrorCode::usage, "features = ", word,
            ", need counts or fractions to compare at");
  }
  require(list.empty() || !sizes.empty(), ErrorCode::usage, "features = ", list, ", need counts or fractions: a,b,c");
  return sizes;
}

std::map<std::string, Settings> parse_settings(const std::vector<std::string>& words) {
  std::map<std::string, Settings> settings;
  for (const auto& word : words) {
    const std::size_t equals = word.find('='), dot = word.find('.');
    require(equals != std::string::npos && dot < equals, ErrorCode::usage, "set = ", word,
            ", need METHOD.OPTION=VALUE");
    settings[find_method(word.substr(0, dot)).name][word.substr(dot + 1, equals - dot - 1)] = word.substr(equals + 1);
  }
  return settings;
}

// All that can be said before the table is read.
CompareRequest parse_request(const CompareArguments& arguments, Context& context) {
  CompareRequest request;
  require(arguments.connectivity.empty(), ErrorCode::usage,
          "compare: --connectivity is an option of tamis select; here every method sees the table alone");
  request.settings = parse_settings(arguments.set);
  request.methods =
      arguments.methods.empty() ? compared_by_default(request.settings) : parse_methods(arguments.methods, context);
  if (!arguments.scale.empty()) {
    request.scale = parse_scaling(arguments.scale);
    keep_units(request);
  }
  request.grid = arguments.grid;
  if (!arguments.repeats.empty()) request.repeats = parse_count(arguments.repeats, "repeats");
  if (!arguments.clusters.empty()) request.clusters = parse_count(arguments.clusters, "clusters");
  require(!arguments.grid || !arguments.labels.empty(), ErrorCode::usage,
          "compare: --grid without --labels, need labels to score its settings");
  return request;
}

// Everything that is printed, as a table or as JSON.
struct Result {
  const CompareArguments& arguments;
  const Table& table;
  const CompareRequest& request;
  Comparison comparison;

  bool labelled() const { return !request.classes.empty(); }
};

// Those that have a ranking.
std::vector<const ComparedMethod*> ranked(const Result& result) {
  std::vector<const ComparedMethod*> rows;
  for (const auto& row : result.comparison.methods) {
    if (!row.failure) rows.push_back(&row);
  }
  return rows;
}

struct NamedOverlap {
  std::vector<std::string> names;
  Matrix share;
};

NamedOverlap overlap_of(const Result& result, Index k) {
  NamedOverlap found;
  std::vector<std::vector<Index>> rankings;
  for (const auto* row : ranked(result)) {
    found.names.push_back(row->name);
    rankings.push_back(row->selected);
  }
  found.share = overlap(rankings, k);
  return found;
}

// --- For people -------------------------------------------------------------------------------------------------

std::string runs_table(const Result& result) {
  TextTable table({left, right, right, left});
  table.add({"method", "seconds", "memory", "status"});
  for (const auto& row : result.comparison.methods) {
    if (row.failure) {
      table.add({row.name, "-", "-", "failed: " + printable(row.failure->reason.text(), std::string::npos)});
      continue;
    }
    const Report& report = row.report;
    const std::string iterations =
        report.status == Status::direct ? "" : concat(", ", counted(report.iterations, "iteration"));
    table.add({row.name, fixed_number(row.seconds, 3), row.bytes ? size_text(*row.bytes) : "-",
               name_of(report.status) + iterations});
  }
  return table.to_text();
}

void add_score(TextTable& table, const Result& result, const std::string& name, const SubsetScore& score,
               const std::string& p) {
  std::vector<std::string> cells = {std::to_string(score.features), name};
  if (result.labelled()) {
    cells.push_back(plus_minus(score.accuracy.mean, score.accuracy.sd));
    cells.push_back(plus_minus(score.nmi.mean, score.nmi.sd));
    cells.push_back(p);
  }
  cells.push_back(score.redundancy ? fixed_number(*score.redundancy, 3) : "-");
  table.add(cells);
}

std::string sizes_table(const Result& result) {
  const auto& request = result.request;
  TextTable table(result.labelled() ? std::vector{right, left, left, left, right, right}
                                    : std::vector{right, left, right});
  table.add(result.labelled() ? std::vector<std::string>{"features", "method", "ACC", "NMI", "p of ACC", "redundancy"}
                              : std::vector<std::string>{"features", "method", "redundancy"});
  for (std::size_t s = 0; s < request.sizes.size(); ++s) {
    if (s > 0) table.add({});
    for (const auto* row : ranked(result)) {
      add_score(table, result, row->name, row->sizes[s].score, fixed_number(row->sizes[s].accuracy_p, 3));
    }
    add_score(table, result, "random", result.comparison.random[s], "");
  }
  if (result.comparison.all) table.add({}), add_score(table, result, "allfea", *result.comparison.all, "");
  std::string out = table.to_text();
  if (!result.labelled()) return out;
  return out + concat("\nk-means with ", request.clusters, " clusters compared with the classes: mean +- sd of ",
                      request.repeats, " single starts (random: of ", request.subsets,
                      " subsets).\np of ACC: (1 + random subsets at least as good) / ", 1 + request.subsets, ".\n");
}

std::string overlap_tables(const Result& result) {
  if (ranked(result).size() < 2) return "";
  std::string out;
  for (const Index k : result.request.sizes) {
    const NamedOverlap found = overlap_of(result, k);
    const double by_chance = static_cast<double>(k) / static_cast<double>(result.table.source.cols());
    std::vector<TextTable::Align> columns(found.names.size() + 1, right);
    columns[0] = left;
    TextTable table(columns);
    // Numbers head the columns, and percentages have no point: a dozen methods fit into 80 characters.
    std::vector<std::string> cells = {""};
    for (Index a = 0; a < found.share.rows(); ++a) cells.push_back(std::to_string(a + 1));
    table.add(cells);
    for (Index a = 0; a < found.share.rows(); ++a) {
      cells = {concat(a + 1, a < 9 && found.share.rows() > 9 ? "  " : " ", found.names[a])};
      for (Index b = 0; b < found.share.cols(); ++b) cells.push_back(fixed_number(100 * found.share(a, b), 0));
      table.add(cells);
    }
    out += concat("\nCommon features among the first ", k, ", in percent (by chance ", fixed_number(100 * by_chance, 0),
                  ")\n", table.to_text());
  }
  return out;
}

std::string grid_table(const Result& result) {
  if (!result.request.grid) return "";
  TextTable table({right, left, right, right, right, right, left});
  table.add({"features", "method", "label-best", "median", "worst", "tried", "label-best at"});
  for (std::size_t s = 0; s < result.request.sizes.size(); ++s) {
    for (const auto& row : result.comparison.methods) {
      const GridSummary found = summary_of(row.grid, s);
      if (found.evaluations == 0) continue;
      table.add({std::to_string(result.request.sizes[s]), row.name, fixed_number(found.best, 3),
                 fixed_number(found.median, 3), fixed_number(found.worst, 3), std::to_string(found.evaluations),
                 settings_text(found.best_settings)});
    }
  }
  return "\nACC over a grid of options\n" + table.to_text() +
         "label-best was chosen with the true classes, as the best of the settings tried; it cannot be obtained "
         "without "
         "labels.\n";
}

// --- JSON -------------------------------------------------------------------------------------------------------

void write_head(Json& json, const Result& result, Session& session) {
  const CompareRequest& request = result.request;
  json.member("tamis", kVersion)
      .member("schema", kSchema)
      .key("options")
      .begin_object()
      .member("clusters", request.clusters);
  json.member("features", request.sizes).member_if(result.labelled(), "labels", result.arguments.labels);
  json.member("repeats", request.repeats).member("subsets", request.subsets).member("grid", request.grid);
  write_scale(json, result.comparison.scale, result.comparison.scale_reason, result.table);
  json.member("seed", session.context().seed);
  json.member("threads", session.context().threads()).end_object().key("data").begin_object();
  const Source& source = result.table.source;
  json.member("path", result.table.path).member("rows", source.rows()).member("features", source.cols());
  json.member("format", result.table.format).member("sparse", source.sparse());
  write_reading(json, result.table);
  json.end_object();
}

void write_settings(Json& json, const char* name, const Settings& settings) {
  json.key(name).begin_object();
  for (const auto& [option, value] : settings) json.member(option, value);
  json.end_object();
}

void write_run(Json& json, double seconds, Status status, const std::optional<Failure>& failure) {
  json.member_if(!failure, "seconds", seconds);
  json.member("status", failure ? "failed" : name_of(status));
  if (failure) json.member("error", failure->reason.text());
}

void write_grid(Json& json, const Result& result, const std::vector<GridRun>& grid) {
  std::size_t s = 0;
  json.key("grid").begin_object();
  write_list(json, "sizes", result.request.sizes, [&](Index k) {
    const GridSummary found = summary_of(grid, s++);
    json.member("features", k).member("evaluations", found.evaluations);
    if (found.evaluations == 0) return;
    json.member("label_best", found.best).member("median", found.median).member("worst", found.worst);
    write_settings(json, "label_best_options", found.best_settings);
  });
  write_list(json, "runs", grid, [&](const GridRun& run) {
    write_settings(json, "options", run.settings);
    write_run(json, run.seconds, run.status, run.failure);
    write_list(json, "sizes", run.sizes, [&](const SubsetScore& score) { write_measures(json, score); });
  });
  json.end_object();
}

// "against_best": of ACC, from the best method of this size; null where there is one start.
void write_difference(Json& json, const std::optional<Difference>& difference) {
  json.key("against_best");
  if (!difference) {
    json.null();
    return;
  }
  json.begin_object().member("mean", difference->mean).member("low", difference->low);
  json.member("high", difference->high).member("clear", difference->is_clear()).end_object();
}

void write_row(Json& json, const Result& result, const ComparedMethod& row) {
  json.member("name", row.name);
  write_run(json, row.seconds, row.report.status, row.failure);
  json.member("bytes", row.bytes);
  json.key("options").begin_object();
  write_options(json, row.bound->options(), row.report);
  json.end_object().member("selected", row.selected).member("columns", columns_of_file(result.table, row.selected));
  json.key("names").begin_array();
  for (const Index j : row.selected) json.value(feature_name(result.table, j));
  json.end_array();
  write_list(json, "sizes", row.sizes, [&](const ComparedSize& size) {
    write_measures(json, size.score, result.labelled());
    if (!result.labelled()) return;
    json.member("accuracy_p", size.accuracy_p);
    const auto s = static_cast<std::size_t>(&size - row.sizes.data());
    write_difference(
        json, paired_difference(size.score, best_method(result.comparison, s)->sizes[s].score, &StartScore::accuracy));
  });
  if (result.request.grid) write_grid(json, result, row.grid);
}

void write_overlap(Json& json, const Result& result, Index k) {
  const NamedOverlap found = overlap_of(result, k);
  json.member("features", k).member("names", found.names).key("matrix").begin_array();
  for (Index a = 0; a < found.share.rows(); ++a) {
    json.value(std::vector<double>(found.share.row(a), found.share.row(a) + found.share.cols()));
  }
  json.end_array();
}

std::string comparison_json(const Result& result, Session& session) {
  const Comparison& comparison = result.comparison;
  std::vector<std::string> notes = session.warnings();
  notes.insert(notes.end(), comparison.notes.begin(), comparison.notes.end());
  Json json;
  json.begin_object();
  write_head(json, result, session);
  write_list(json, "methods", comparison.methods, [&](const ComparedMethod& row) { write_row(json, result, row); });
  write_list(json, "overlap", result.request.sizes, [&](Index k) { write_overlap(json, result, k); });
  write_list(json, "random", comparison.random, [&](const SubsetScore& band) {
    write_measures(json, band, result.labelled());
    json.member("subsets", result.request.subsets);
  });
  json.key("all");
  if (comparison.all) {
    json.begin_object();
    write_measures(json, *comparison.all, result.labelled());
    json.end_object();
  } else {
    json.null();
  }
  json.member("verdict", verdict(result.request, comparison));
  return json.member("notes", notes).end_object().text() + "\n";
}

// --- The run ----------------------------------------------------------------------------------------------------

// The classes, and what is taken from them or from the table unless it was given.
void resolve(const CompareArguments& arguments, const Table& table, const std::vector<FeatureCount>& sizes,
             CompareRequest& request, Session& session) {
  request.sizes = resolve_sizes(sizes, table.source.cols());
  request.name = [&table](Index j) { return name_or_position(table, j); };
  if (!arguments.labels.empty()) request.classes = table.labels.at(arguments.labels).classes;
  if (arguments.clusters.empty() && !arguments.labels.empty()) {
    request.clusters = std::max<Index>(1, static_cast<Index>(table.labels.at(arguments.labels).names.size()));
  }
  require_comparable(table.source, request);
  if (!arguments.clusters.empty()) return;
  session.note(concat("using ", counted(request.clusters, "cluster"),
                      arguments.labels.empty() ? "" : ", the number of classes", "; set the number with -c"));
}

// How the table was read, in the words of a command.
std::vector<std::string> table_words(const CompareArguments& arguments) {
  const DataArguments& data = arguments.data;
  const DataArguments defaults;
  std::vector<std::string> words = {data.path};
  const auto add = [&](const std::string& flag, const std::string& value, const std::string& unless) {
    if (value != unless) words.insert(words.end(), {"--" + flag, value});
  };
  for (const auto& [name, value] : kDataFlags) add(name, data.*value, defaults.*value);
  if (data.transpose) words.emplace_back("--transpose");
  add("labels", arguments.labels, "");
  for (const auto& list : data.exclude) add("exclude", list, "");
  if (data.counts) words.emplace_back("--counts");
  add("scale", arguments.scale, "");
  return words;
}

// The options of a method that the comparison set.
void add_settings(const Result& result, const ComparedMethod& row, std::vector<std::string>& words) {
  words.insert(words.end(), {"-m", row.name});
  for (const auto& option : row.bound->options()) {
    const std::string value = value_text(option);
    const bool number = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
    if (option.name == "clusters" && number) words.insert(words.end(), {"-c", value});
  }
  for (const auto& setting : result.arguments.set) {
    const std::size_t dot = setting.find('.'), sign = setting.find('=');
    if (dot >= sign || setting.substr(0, dot) != row.name) continue;
    const std::string option = setting.substr(dot + 1, sign - dot - 1);
    if (option != "clusters") words.insert(words.end(), {"--" + option, setting.substr(sign + 1)});
  }
}

std::string next_of_comparison(const Result& result, bool to_send) {
  const ComparedMethod* best =
      result.labelled() ? best_method(result.comparison, result.request.sizes.size() - 1) : nullptr;
  std::vector<std::string> words = table_words(result.arguments);
  words.insert(words.begin(), "select");
  if (best != nullptr) add_settings(result, *best, words);
  words.insert(words.end(), {"-k", std::to_string(result.request.sizes.back()), "-o", "result"});
  return command_line(words, to_send);
}

std::vector<page::Origin> compare_origin(const Result& result) {
  return {{"command", command_line(result.arguments.run->words, true), true},
          {"in the same folder", "comparison.json"},
          {"next", next_of_comparison(result, true), true}};
}

// The last lines of a run: the verdict, what was written, and what comes next.
std::string verdict_lines(const Result& result) {
  std::string out = "\n";
  for (const auto& sentence : verdict(result.request, result.comparison)) out += sentence + "\n";
  const std::string& folder = result.arguments.output;
  const std::string next = next_of_comparison(result, false);
  if (!folder.empty()) {
    out += concat("\nWritten to ", printable(folder, folder.size()), ": report.html, comparison.json\n");
  }
  return out + concat(folder.empty() ? "\n" : "", "Next: ", printable(next, next.size()), "\n");
}

void write_comparison(OutputFolder& folder, const Result& result, const std::string& json, Session& session) {
  Context& context = session.context();
  const ComparisonRecord record{result.table, result.request,    result.comparison,  result.arguments.labels,
                                context.seed, context.threads(), session.warnings(), compare_origin(result)};
  const page::Page page = compare_page(record);
  folder.add("comparison.json", [&](FileWriter& out) { out.write(json); });
  folder.add("report.html",
             [&](FileWriter& out) { page::write_page(page, [&](std::string_view piece) { out.write(piece); }); });
  context.check_cancelled();
  folder.commit();
}

// Of the methods that will run, with the options they have by default.
Session::Peaks peaks_of_all(const std::vector<Method>& methods, const Context& context) {
  return [&](const TableSize& table) {
    std::vector<std::uint64_t> peaks;
    for (const Method& method : methods) peaks.push_back(peak_of(*method.bind(), table, context));
    return peaks;
  };
}

int run_compare(const CompareArguments& arguments) {
  Session session(*arguments.run);
  require_figures("compare", arguments.figures, arguments.output);
  ReadOptions read = arguments.data.read_options();
  if (!arguments.labels.empty()) read.labels = {arguments.labels};
  CompareRequest request = parse_request(arguments, session.context());
  const auto sizes = parse_sizes(arguments.features, session.context());
  const Table table = session.read(arguments.data, read, peaks_of_all(request.methods, session.context()));
  std::optional<OutputFolder> folder;
  if (!arguments.output.empty()) {
    folder.emplace(arguments.output, std::vector<std::string>{"comparison.json", "report.html"},
                   std::vector<std::string>{arguments.data.path, arguments.labels});
  }
  resolve(arguments, table, sizes, request, session);
  double seconds = 0.0;
  for (const Method& method : request.methods)
    seconds += seconds_of(*method.bind(), table.source.size(), session.context());
  session.note_time(seconds);
  const Result result{arguments, table, request,
                      naming(table.path, [&] { return compare_methods(table.source, request, session.context()); })};
  session.bar().clear();
  const Comparison& found = result.comparison;
  if (!found.scale_reason.empty())
    session.note(concat("--scale auto: ", name_of(found.scale), ", since ", found.scale_reason));
  const std::string json = arguments.run->json || folder ? comparison_json(result, session) : std::string();
  if (folder) write_comparison(*folder, result, json, session);
  save_figures(arguments.figures, arguments.output);
  if (arguments.run->json) {
    print_result(json);
  } else {
    for (const auto& note : result.comparison.notes) session.note(note);
    print_result(runs_table(result) + "\n" + sizes_table(result) + overlap_tables(result) + grid_table(result) +
                 verdict_lines(result));
  }
  if (!ranked(result).empty()) return 0;
  const Failure& first = *result.comparison.methods.front().failure;
  fail(first.code, table.path, ": no method could be run: ", first.reason);
}

}  // namespace

Command add_compare_command(CLI::App& root) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App* app = root.add_subcommand("compare", "Run several methods and compare their selections");
  add_compare_flags(*app, *arguments);
  set_examples(*app,
               "tamis compare table.csv -k 20,50\n"
               "tamis compare data.npz --labels y -o comparison\n"
               "tamis compare table.csv -m ufcm,lapscore --set ufcm.alpha=0.1");
  return {app, arguments->run, [arguments] { return run_compare(*arguments); }};
}

}  // namespace tamis::app
