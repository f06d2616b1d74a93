// tamis select: rank the features of a table and select the best.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "app/columns.h"
#include "app/figures.h"
#include "app/help.h"
#include "app/session.h"
#include "tamis/base/text/number.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/data/weights.h"
#include "tamis/eval/metrics.h"
#include "tamis/graph/given.h"
#include "tamis/report/document.h"
#include "tamis/report/select_page.h"
#include "tamis/report/verdict.h"
#include "tamis/run/reduced.h"
#include "tamis/select/guided/guided.h"

namespace tamis::app {

namespace {

constexpr std::size_t kShownRows = 20;
constexpr std::size_t kShownName = 40;
constexpr std::size_t kShownClusters = 20;

struct SelectArguments {
  DataArguments data;
  MethodArguments method;
  std::shared_ptr<RunArguments> run = std::make_shared<RunArguments>();
  std::string features;
  std::string scale;  // empty: none, unless the method has another
  std::string redundancy = short_number(kRedundant);
  std::string supervise;
  std::string labels;
  std::string sample_weight;
  std::vector<std::string> include, exclude;
  std::string groups, connectivity;
  std::string output;
  std::string image, figures;
  std::string seeds, resample;
  std::string checkpoint;
  bool strict = false;
};

void add_table_flags(CLI::App& app, SelectArguments& arguments) {
  add_data_flags(app, arguments.data);
  app.add_option("--labels", arguments.labels,
                 "Labels, not used as a feature: a column, or any form that --supervise takes")
      ->type_name("LABELS");
  add_counts_flag(app, arguments.data);
}

void add_selection_flags(CLI::App& app, SelectArguments& arguments) {
  begin_group(app, kSelectionGroup);
  app.add_option("-k,--features", arguments.features,
                 concat("Number of features to select: a count, a fraction below 1, auto or all (auto for ",
                        methods_that(&BoundMethod::chooses_count), ", all for other methods)"))
      ->type_name("NUMBER");
  add_method_flags(app, arguments.method);
  app.add_option("--scale", arguments.scale, kScaleHelp)->type_name("WORD");
  app.add_option("--redundancy", arguments.redundancy,
                 "Report groups of columns with absolute correlations of this size, and the selected column that "
                 "stands for each other one; or off (0.8)")
      ->type_name("NUMBER");
  app.add_option(
         "--seeds", arguments.seeds,
         "Report how stable the selection is: repeat it with this many consecutive seeds, starting at --seed: 2..1000")
      ->type_name("INTEGER");
  app.add_option("--resample", arguments.resample,
                 "Report how stable the selection is: run it on this many random halves of the rows: 2..1000")
      ->type_name("INTEGER");
}

// What is known of the rows and of the features.
void add_knowledge_flags(CLI::App& app, SelectArguments& arguments) {
  app.add_option("--supervise", arguments.supervise,
                 concat("Use these labels as clusters (", methods_that(&BoundMethod::takes_classes),
                        "): a column, an npz array, a file, or FILE:COLUMN joined by row identifiers; empty or -1 is "
                        "unlabeled"))
      ->type_name("LABELS");
  app.add_option("--sample-weight", arguments.sample_weight,
                 concat("Weights of the rows, numbers >= 0; a row of weight w counts as w rows (",
                        methods_that(&Method::weighs), "): a column, an npz array, a file, or FILE:COLUMN"))
      ->type_name("WEIGHTS");
  add_list_flag(app, "--include", arguments.include,
                "Features to select in any case, by name, position in the file or pattern (*, ?): a,b,c or @FILE")
      ->type_name("LIST");
  add_list_flag(app, "--exclude", arguments.exclude,
                "Features to leave out, by name, position in the file or pattern (*, ?): a,b,c or @FILE")
      ->type_name("LIST");
  app.add_option("--groups", arguments.groups,
                 "Features that are selected as one (-k then counts groups): a file with a feature and its group per "
                 "line, or a group per feature; or @header, if columns are named NAME@GROUP")
      ->type_name("FILE");
  app.add_option("--connectivity", arguments.connectivity,
                 concat("Use this graph of the rows (", methods_that(&BoundMethod::takes_graph),
                        "): a symmetric matrix of weights, rows x rows, as .npz of SciPy, .mtx, .npy or text"))
      ->type_name("FILE");
}

void add_output_flags(CLI::App& app, SelectArguments& arguments) {
  begin_group(app, kOutputGroup);
  app.add_option("-o,--output", arguments.output,
                 "Folder for report.html, ranking.csv, selection.json, clusters.csv and the reduced table")
      ->type_name("DIR");
  app.add_option(
         "--image", arguments.image,
         "The features are pixels of an image, drawn in report.html: 28x28, or 28x28T if they are stored column by "
         "column")
      ->type_name("HxW");
  add_figures_flag(app, arguments.figures);
  app.add_option("--checkpoint", arguments.checkpoint,
                 concat("Save the state of a long run to this file, and resume from it if it exists (",
                        methods_that(&Method::resumes), "); deleted when the run is complete"))
      ->type_name("FILE")
      ->check([](const std::string& path) { return path.empty() ? "empty name, need a file" : ""; }, "");
  app.add_flag("--strict", arguments.strict, "Exit with code 6 if the method does not converge");
}

void add_select_flags(CLI::App& app, SelectArguments& arguments) {
  add_table_flags(app, arguments);
  add_selection_flags(app, arguments);
  add_knowledge_flags(app, arguments);
  add_output_flags(app, arguments);
  add_run_flags(app, *arguments.run);
}

std::vector<Index> sorted(std::vector<Index> values) {
  std::sort(values.begin(), values.end());
  return values;
}

// Everything of one run that later steps refer to.
struct Job {
  const SelectArguments& arguments;
  const Method& method;
  std::unique_ptr<BoundMethod> bound;
  Table table;
  SelectRequest request;
  SelectPageOptions page;
  SelectResult result;
};

// --evidence on: p-values for a method that has none of its own.
bool wants_evidence(const MethodArguments& arguments) {
  const auto given = arguments.given.find("evidence");
  if (given == arguments.given.end()) return false;
  GuidedOptions options;
  set_from_text(*find_option(tamis::describe(options), "evidence"), "select", given->second);
  return options.evidence;
}

std::optional<Index> parse_repeats(const std::string& text, const char* name) {
  if (text.empty()) return std::nullopt;
  const auto count = parse_whole<Index>(text);
  require(count.has_value(), ErrorCode::usage, name, " = ", text, ", need 2..", kMostRepeats);
  return count;
}

// Before the table: what the graph takes of the memory is part of the plan.
void read_connectivity(Job& job, Session& session) {
  const std::string& path = job.arguments.connectivity;
  if (path.empty()) return;
  require(job.bound->takes_graph(), ErrorCode::usage, MethodName{job.method.name},
          " uses no graph of the rows, so that ", Flag{"connectivity"}, " would change nothing, need one of ",
          methods_that(&BoundMethod::takes_graph));
  require(path != "-" || job.arguments.data.path != "-", ErrorCode::usage,
          "connectivity: standard input holds the table, need a file");
  job.request.connectivity = read_graph(path, session.context());
  job.bound->connect(job.request.connectivity);
}

// Those rows of the graph that the table has.
void follow_dropped_rows(Job& job) {
  if (!job.request.connectivity || job.table.kept_rows.empty()) return;
  const Graph& graph = *job.request.connectivity;
  require(graph.rows == job.table.rows_read, ErrorCode::usage, graph.origin, ": a graph of ", graph.rows,
          " rows, the table has ", job.table.rows_read, " before ", Flag{"missing", "drop-rows"}, " drops any");
  job.request.connectivity = graph_among(graph, job.table.kept_rows);
}

void read_and_resolve(Job& job, Session& session) {
  const SelectArguments& arguments = job.arguments;
  if (!arguments.features.empty()) job.request.features = parse_feature_count(arguments.features);
  if (!arguments.scale.empty()) job.request.scale = parse_scaling(arguments.scale);
  job.request.redundancy = parse_redundancy(arguments.redundancy);
  job.request.evidence = wants_evidence(arguments.method);
  job.request.checkpoint = arguments.checkpoint;
  job.request.page = !arguments.output.empty();
  job.request.seeds = parse_repeats(arguments.seeds, "seeds");
  job.request.resample = parse_repeats(arguments.resample, "resample");
  require_repeats(job.request);
  if (!arguments.image.empty()) job.page.image = parse_image_shape(arguments.image);
  job.page.id_column = arguments.data.id;
  Context& context = session.context();
  const auto include = words_of(arguments.include, context), exclude = words_of(arguments.exclude, context);
  ReadOptions options = arguments.data.read_options();
  options.text_columns = exclude;
  require(arguments.sample_weight.empty() || job.method.weighs, ErrorCode::usage, job.method.name,
          " does not use --sample-weight, need ", methods_that(&Method::weighs));
  for (const auto& labels : {arguments.supervise, arguments.labels, arguments.sample_weight}) {
    const bool known = std::find(options.labels.begin(), options.labels.end(), labels) != options.labels.end();
    if (!labels.empty() && !known) options.labels.push_back(labels);
  }
  if (job.request.features.count) job.bound->aim_at(*job.request.features.count);
  read_connectivity(job, session);
  job.table = session.read(arguments.data, options, peaks_of(*job.bound, context, job.request));
  for (const auto& list : arguments.exclude) {
    std::string& given = job.table.read_with["exclude"];
    given += (given.empty() ? "" : ",") + list;
  }
  follow_dropped_rows(job);
  if (job.page.image) require_image(*job.page.image, job.table);
  job.request.name = [&table = job.table](Index j) { return name_or_position(table, j); };
  job.request.include = sorted(resolve_features({include}, job.table, "include"));
  job.request.exclude = sorted(resolve_features({exclude}, job.table, "exclude", true));
  if (!arguments.groups.empty()) job.request.groups = read_groups(arguments.groups, job.table, context);
  if (!arguments.supervise.empty()) job.request.classes = job.table.labels.at(arguments.supervise).classes;
  if (const auto& weights = arguments.sample_weight; !weights.empty()) {
    job.request.weights = naming(arguments.data.path, [&] {
      std::vector<double> found = weights_of(job.table.labels.at(weights), weights);
      require_weights(found, job.table.source.rows());
      return found;
    });
  }
}

std::string ranking_table(const Job& job) {
  using enum TextTable::Align;
  const auto& guidance = job.result.selection.guidance;
  const bool judged = guidance && !guidance->evidence.empty();
  const bool moved = !job.table.columns.empty();  // columns of the file that are no features come between
  TextTable table({right, right, right, left, right, right, right});
  table.add({"rank", "feature", moved ? "column" : "", "name", "score", guidance ? "share" : "", judged ? "p" : ""});
  const auto share = for_all_columns(guidance ? guidance->share : std::vector<double>(), job.result);
  const auto evidence = for_all_columns(judged ? guidance->evidence : std::vector<double>(), job.result);
  const auto& selected = job.result.selected;
  const std::size_t shown = std::min(kShownRows, selected.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const Index j = selected[i];
    table.add({std::to_string(i + 1), std::to_string(j), moved ? std::to_string(job.table.column(j)) : "",
               printable(feature_name(job.table, j), kShownName), short_number(job.result.scores[j]),
               guidance ? short_number(share[j], 3) : "", judged ? short_number(evidence[j], 2) : ""});
  }
  std::string out = table.to_text();
  if (shown < selected.size()) out += concat("... and ", selected.size() - shown, " more (use -o DIR or --json)\n");
  return out;
}

std::string cluster_sizes(const std::vector<int>& clusters) {
  std::vector<Index> sizes;
  for (const int cluster : clusters) {
    if (cluster >= static_cast<int>(sizes.size())) sizes.resize(cluster + 1, 0);
    if (cluster >= 0) ++sizes[cluster];
  }
  std::sort(sizes.rbegin(), sizes.rend());
  std::string out;
  for (std::size_t i = 0; i < std::min(kShownClusters, sizes.size()); ++i) out += concat(i == 0 ? "" : " ", sizes[i]);
  return out + (sizes.size() > kShownClusters ? " ..." : "");
}

// "12 groups of 30 columns; the columns left out have R^2 0.62 to 0.98 on the selected ones"
std::string repetition_text(const Redundancy& found) {
  Index members = 0;
  for (const auto& group : found.groups) members += static_cast<Index>(group.size());
  std::string out = found.groups.empty()
                        ? concat("no two columns with |r| >= ", short_number(found.threshold))
                        : concat(counted(std::ssize(found.groups), "group"), ", ", counted(members, "column"),
                                 " in all, with |r| >= ", short_number(found.threshold));
  double least = 1, most = 0;
  for (std::size_t j = 0; j < found.r2.size(); ++j) {
    if (found.representative[j] < 0) continue;
    least = std::min(least, found.r2[j]), most = std::max(most, found.r2[j]);
  }
  if (least <= most) {
    out += concat("; R^2 of the other columns on the selected ones ", short_number(least, 2), " to ",
                  short_number(most, 2));
  }
  return found.note.empty() ? out : concat(found.groups.empty() ? "" : out + "; ", found.note);
}

// "3 of 12 selected: color, size, weight"
std::string groups_text(const Job& job) {
  constexpr std::size_t kShownGroups = 10;
  const auto& groups = job.result.groups;
  std::string out = concat(groups.size(), " of ", job.request.groups.names.size(), " selected: ");
  for (std::size_t i = 0; i < std::min(kShownGroups, groups.size()); ++i) {
    out += (i == 0 ? "" : ", ") + printable(job.request.groups.names[groups[i]], kShownName);
  }
  return out + (groups.size() > kShownGroups ? ", ..." : "");
}

std::string summary(const Job& job, Session& session) {
  const Report& report = job.result.selection.report;
  TextTable table({TextTable::Align::left, TextTable::Align::left});
  const auto& store = job.table.source.store();
  table.add(
      {"data", concat(counted(store.rows(), "row"), " x ", counted(std::ssize(job.result.scores), "feature"), ", ",
                      store.sparse() ? "sparse " : "", name_of(store.dtype()), store.in_memory() ? "" : " on disk",
                      job.result.constant > 0 ? concat(", ", job.result.constant, " constant") : "")});
  table.add({"method", concat(job.method.name, report.path.empty() ? "" : ", path " + report.path)});
  std::string resolved;
  for (const auto& [name, value] : report.resolved)
    resolved += (resolved.empty() ? "" : ", ") + name + " = " + short_number(value);
  if (!resolved.empty()) table.add({"options", resolved});
  if (report.status == Status::direct) {
    table.add({"status", name_of(report.status)});
  } else {
    table.add({"status", concat(name_of(report.status), ", ", counted(report.iterations, "iteration"))});
  }
  if (!report.objective.empty()) table.add({"objective", short_number(report.objective.back(), 10)});
  table.add({"time", concat(short_number(report.seconds, 3), " s, ", counted(report.passes, "pass"), " over the data, ",
                            counted(session.context().threads(), "thread"))});
  if (!job.request.weights.empty()) table.add({"weights", weights_text(job.request.weights)});
  if (!job.request.groups.names.empty()) table.add({"groups", groups_text(job)});
  if (const auto& redundancy = job.result.redundancy) table.add({"redundancy", repetition_text(*redundancy)});
  if (job.result.stability) table.add({"stability", stability_text(job.result)});
  if (!job.result.selection.clusters.empty()) table.add({"clusters", cluster_sizes(job.result.selection.clusters)});
  std::string out = table.to_text();
  for (const auto& sentence : verdict(job.result)) out += (out.ends_with(".\n") ? "" : "\n") + sentence + "\n";
  return out;
}

SelectionRecord record_of(const Job& job, Session& session) {
  std::vector<std::string> warnings = session.warnings();
  for (const auto& warning : job.result.selection.report.warnings) {
    if (std::find(warnings.begin(), warnings.end(), warning.text()) == warnings.end())
      warnings.push_back(warning.text());
  }
  Context& context = session.context();
  return {job.table,
          job.method,
          options_in_use(*job.bound, job.request),
          job.request,
          job.result,
          context.seed,
          context.threads(),
          context.memory_limit,
          peak_resident_bytes(),
          warnings,
          job.arguments.data.id,
          job.arguments.sample_weight};
}

// The files of a result, the page first.
std::vector<std::string> possible_files(const Job& job) {
  return {"report.html", "ranking.csv", "selection.json", reduced_name(job.table), "clusters.csv"};
}

bool has_clusters(const Job& job) {
  const auto& guidance = job.result.selection.guidance;
  return !job.result.selection.clusters.empty() || (guidance && !guidance->groups.empty());
}

// Once the run is over: clusters.csv only if there are clusters.
std::vector<std::string> result_files(const Job& job) {
  std::vector<std::string> files = possible_files(job);
  if (!has_clusters(job)) files.pop_back();
  return files;
}

// What is worth doing after this run.
std::string next_command(const Job& job, bool to_send) {
  const SelectArguments& arguments = job.arguments;
  if (arguments.output.empty()) return command_line(arguments.run->words, to_send) + " -o result";
  const std::string ending = std::filesystem::path(arguments.data.path).extension().string();
  return command_line({"apply", arguments.output, "OTHER" + (ending.empty() ? ".csv" : ending), "-o", "reduced"},
                      to_send);
}

std::vector<page::Origin> origin_of(const Job& job) {
  std::vector<std::string> beside = result_files(job);
  beside.erase(beside.begin());
  return {{"command", command_line(job.arguments.run->words, true), true},
          {"in the same folder", listed(beside)},
          {"to use the selection", next_command(job, true), true}};
}

// The last lines of a run: what was written, and what comes next.
std::string last_lines(const Job& job) {
  const std::string& folder = job.arguments.output;
  const std::string next = next_command(job, false);
  const std::string written =
      folder.empty() ? ""
                     : concat("Written to ", printable(folder, folder.size()), ": ", listed(result_files(job)), "\n");
  return concat("\n", written, folder.empty() ? "For a page and files: " : "Next: ", printable(next, next.size()),
                "\n");
}

void write_selection(OutputFolder& folder, const Job& job, const SelectionRecord& record, const std::string& json,
                     Session& session) {
  folder.add("ranking.csv", [&](FileWriter& out) { write_ranking(record, out); });
  folder.add(reduced_name(job.table), [&](FileWriter& out) {
    const Stage stage(session.context(), "writing " + reduced_name(job.table));
    naming(job.arguments.data.path, [&] {  // in the order of the table, as transform() has them in Python
      write_reduced(job.table, sorted(job.result.selected), job.arguments.data.id, out, session.context());
    });
  });
  folder.add("selection.json", [&](FileWriter& out) { out.write(json); });
  // That of an earlier run must not stay beside this one: a folder is the result of one run.
  const bool stale = std::filesystem::exists(job.arguments.output + "/clusters.csv");
  if (has_clusters(job) || stale) folder.add("clusters.csv", [&](FileWriter& out) { write_clusters(record, out); });
  const Stage stage(session.context(), "writing report.html");
  SelectPageOptions options = job.page;
  options.origin = origin_of(job);
  const page::Page page =
      naming(job.arguments.data.path, [&] { return select_page(record, options, session.context()); });
  folder.add("report.html",
             [&](FileWriter& out) { page::write_page(page, [&](std::string_view piece) { out.write(piece); }); });
  session.context().check_cancelled();
  folder.commit();
}

void say_defaults(const Job& job, Session& session) {
  const bool given = job.arguments.method.given.contains("clusters");
  if (job.arguments.method.method.empty() && !job.arguments.supervise.empty()) {
    session.note(concat("--supervise without -m: using ", job.method.name));
  }
  const Options options = job.bound->options();
  const Option* clusters = find_option(options, "clusters");
  const Option* function = find_option(options, "function");  // of spec: only the third divides the rows
  const bool used = function == nullptr || value_text(*function) == "3";
  const bool needed = clusters != nullptr && used && std::holds_alternative<Index*>(clusters->value);
  const auto& classes = job.request.classes;
  const bool known = !classes.empty() && std::ranges::find(classes, -1) == classes.end();
  if (!needed || given || known) return;
  session.note(concat("using ", counted(*std::get<Index*>(clusters->value), "cluster"), "; set the number with -c"));
  if (clusters == nullptr && given) session.note(concat(job.method.name, " does not use clusters; -c is ignored"));
}

// A batch is structure, too.
void warn_of_known_groups(const Job& job, Session& session) {
  constexpr double kMostly = 0.7;
  const std::string& labels = job.arguments.labels;
  const auto& clusters = job.result.selection.clusters;
  if (labels.empty() || !job.result.selection.guidance || clusters.empty()) return;
  const double nmi = normalized_mutual_info(job.table.labels.at(labels).classes, clusters);
  if (nmi < kMostly) return;
  session.warn(concat("the groups of rows mostly repeat ", printable(labels), " (NMI ", short_number(nmi, 2),
                      "); if that is a batch, the columns were chosen by the batch"));
}

// Labels name the first method that they can guide.
MethodArguments with_default(const SelectArguments& arguments) {
  MethodArguments method = arguments.method;
  if (!arguments.scale.empty()) method.keep_units();
  if (!method.method.empty() || arguments.supervise.empty()) return method;
  const auto takes_labels = [](const Method& one) { return one.bind()->takes_classes(); };
  method.method = std::ranges::find_if(methods(), takes_labels)->name;
  return method;
}

// However it is spelled, also where nothing is there yet: only an absolute path is resolved then. Empty where it cannot
// be found, which those who open it refuse.
std::filesystem::path place_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  const std::filesystem::path place = error ? std::filesystem::path() : std::filesystem::weakly_canonical(whole, error);
  if (error) return {};
  return place.has_filename() ? place : place.parent_path();  // out/ is out
}

bool is_at_or_above(const std::filesystem::path& upper, const std::filesystem::path& lower) {
  return std::mismatch(upper.begin(), upper.end(), lower.begin(), lower.end()).first == upper.end();
}

// The checkpoint is removed at the end: it must not be a result, nor stand where the folder of results will be.
void require_other_file(const SelectArguments& arguments, const std::vector<std::string>& names) {
  const std::string& checkpoint = arguments.checkpoint;
  if (checkpoint.empty()) return;
  const std::filesystem::path place = place_of(checkpoint), folder = place_of(arguments.output);
  if (place.empty() || folder.empty()) return;
  const auto clashes = [&](const std::string& name) { return place == place_of(arguments.output + "/" + name); };
  require(std::ranges::none_of(names, clashes), ErrorCode::usage,
          "checkpoint: ", printable(checkpoint, checkpoint.size()),
          " is a file that the result will be written to; choose another");
  require(!is_at_or_above(place, folder), ErrorCode::usage, "checkpoint: ", printable(checkpoint, checkpoint.size()),
          " is where the folder of -o will be; choose another file");
}

// Once the result is out. A checkpoint that stays does no harm: the next run resumes from its end.
void remove_checkpoint(const std::string& path, Session& session) {
  std::error_code error;
  if (!path.empty()) std::filesystem::remove(path, error);
  if (error) session.note(concat("warning: ", printable(path, path.size()), ": not removed: ", error.message()));
}

int run_select(const SelectArguments& arguments) {
  Session session(*arguments.run);
  require_figures("select", arguments.figures, arguments.output);
  const MethodArguments method = with_default(arguments);
  Job job{arguments, method.chosen(), method.bind(), {}, {}, {}, {}};
  read_and_resolve(job, session);
  std::optional<OutputFolder> folder;
  if (!arguments.output.empty()) {
    std::vector<std::string> inputs = {arguments.data.path,     arguments.labels, arguments.supervise,
                                       arguments.sample_weight, arguments.groups, arguments.connectivity};
    const std::vector<std::string> names = possible_files(job);
    require_other_file(arguments, names);
    folder.emplace(arguments.output, names, inputs);
  }
  say_defaults(job, session);
  session.note_time(seconds_of(*job.bound, job.table.source.size(), session.context(), job.request));
  job.result = naming(arguments.data.path, [&] {
    return select_features(job.table.source, job.method, *job.bound, job.request, session.context());
  });
  session.bar().clear();
  const Report& report = job.result.selection.report;
  for (const auto& warning : report.warnings) session.warn(warning.text());
  if (!job.result.scale_reason.empty())
    session.note(concat("--scale auto: ", name_of(job.result.scale), ", since ", job.result.scale_reason));
  warn_of_known_groups(job, session);
  if (report.resumed_at > 0)
    session.note(concat("resumed from ", arguments.checkpoint, " at iteration ", report.resumed_at));

  const auto record = record_of(job, session);
  const std::string json = arguments.run->json || folder ? selection_json(record) : std::string();
  if (folder) write_selection(*folder, job, record, json, session);
  save_figures(arguments.figures, arguments.output);
  print_result(arguments.run->json ? json : ranking_table(job) + "\n" + summary(job, session) + last_lines(job));
  remove_checkpoint(arguments.checkpoint, session);
  if (report.status != Status::max_iterations || !arguments.strict) return 0;
  fail(ErrorCode::not_converged, job.method.name, ": not converged in ", counted(report.iterations, "iteration"),
       "; raise --iterations or --tolerance");
}

}  // namespace

Command add_select_command(CLI::App& root) {
  auto arguments = std::make_shared<SelectArguments>();
  CLI::App* app = root.add_subcommand("select", "Rank the features of a table and select the best");
  add_select_flags(*app, *arguments);
  set_examples(*app,
               "tamis select table.csv\n"
               "tamis select table.csv -k 50 -o result\n"
               "tamis select genes.mtx.gz --transpose -k 200 --json\n"
               "tamis select table.csv --id sample -m ufcm -c 10\n"
               "tamis select -m mcfs --help        (the options of another method)");
  return {app, arguments->run, [arguments] { return run_select(*arguments); },
          [app, arguments] { show_options_of(*app, with_default(*arguments).chosen()); }};
}

}  // namespace tamis::app
