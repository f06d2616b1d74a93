// tamis evaluate: what a given list of features is worth, by known classes.
#include <CLI/CLI.hpp>

#include "app/columns.h"
#include "app/help.h"
#include "app/scores.h"
#include "app/session.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/base/version.h"
#include "tamis/data/scale.h"
#include "tamis/report/document.h"
#include "tamis/report/verdict.h"
#include "tamis/run/doubts.h"
#include "tamis/run/features.h"

namespace tamis::app {

namespace {

struct EvaluateArguments {
  DataArguments data;
  std::shared_ptr<RunArguments> run = std::make_shared<RunArguments>();
  std::string labels, list, top, clusters, repeats, scale = "none";
};

void add_evaluate_flags(CLI::App& app, EvaluateArguments& arguments) {
  add_data_flags(app, arguments.data);
  app.add_option("--labels", arguments.labels,
                 "Known classes (required): a column, an npz array, a file, or FILE:COLUMN joined by row identifiers")
      ->type_name("LABELS");
  add_exclude_flag(app, arguments.data);
  add_counts_flag(app, arguments.data);
  begin_group(app, "Evaluation");
  app.add_option(
         "--list", arguments.list,
         "Features to score (required): a file with one name or position in the table (from 0) per line, or the "
         "ranking.csv or selection.json of tamis select, whose columns are found by name if the table has names")
      ->type_name("FILE");
  app.add_option("--top", arguments.top, "Use only the first K of the list (all; the selected ones of a ranking.csv)")
      ->type_name("K");
  app.add_option("-c,--clusters", arguments.clusters, "Number of clusters (the number of classes)")
      ->type_name("INTEGER");
  app.add_option("--repeats", arguments.repeats, "Number of k-means++ runs (10)")->type_name("INTEGER");
  app.add_option("--scale", arguments.scale, "Scaling, as in tamis select: none, standard, minmax, unit or auto (none)")
      ->type_name("WORD");
  add_run_flags(app, *arguments.run);
}

std::string evaluation_json(const Table& table, const std::vector<Index>& features, const EvaluateOptions& options,
                            const ScaleAdvice& advice, const Evaluation& evaluation, Session& session) {
  std::vector<std::string> names;
  for (const Index j : features) names.push_back(feature_name(table, j));
  std::vector<std::string> notes = session.warnings();
  notes.insert(notes.end(), evaluation.notes.begin(), evaluation.notes.end());
  Json json;
  json.begin_object()
      .member("tamis", kVersion)
      .member("schema", kSchema)
      .key("options")
      .begin_object()
      .member("clusters", options.clusters);
  json.member("repeats", options.repeats).member("seed", session.context().seed);
  write_scale(json, advice.scale, advice.reason, table);
  json.member("threads", session.context().threads()).end_object().key("data").begin_object();
  json.member("path", table.path).member("rows", table.source.rows()).member("features", table.source.cols());
  json.member("format", table.format).member("sparse", table.source.sparse());
  write_reading(json, table);
  json.end_object();
  json.member("selected", features).member("columns", columns_of_file(table, features)).member("names", names);
  write_scores(json, evaluation, options.subsets);
  json.member("verdict", verdict(evaluation));
  return json.member("notes", notes).end_object().text() + "\n";
}

// The same table and labels, every method, as many features.
std::string next_of_evaluation(const EvaluateArguments& arguments, std::size_t features) {
  const auto own = [](const std::string& word) { return word.starts_with("--list") || word.starts_with("--top"); };
  std::vector<std::string> words = {"compare"};
  const auto& given = arguments.run->words;
  for (std::size_t i = 1; i < given.size(); ++i) {
    if (!own(given[i])) {
      words.push_back(given[i]);
    } else if (given[i].find('=') == std::string::npos) {
      ++i;
    }
  }
  words.insert(words.end(), {"-k", std::to_string(features)});
  return command_line(words, false);
}

int run_evaluate(const EvaluateArguments& arguments) {
  Session session(*arguments.run);
  Context& context = session.context();
  const Scaling scaling = parse_scaling(arguments.scale);
  ReadOptions read = arguments.data.read_options();
  require(!arguments.labels.empty(), ErrorCode::usage, "evaluate: --labels is missing, need a column, array or file");
  require(!arguments.list.empty(), ErrorCode::usage, "evaluate: --list is missing, need a file");
  std::optional<Index> top;
  if (!arguments.top.empty()) top = parse_count(arguments.top, "top");
  EvaluateOptions options;
  if (!arguments.repeats.empty()) options.repeats = parse_count(arguments.repeats, "repeats");
  if (!arguments.clusters.empty()) options.clusters = parse_count(arguments.clusters, "clusters");
  const auto list = read_feature_list(arguments.list, top, context, read_selection);
  read.labels = {arguments.labels};

  const Table table = session.read(arguments.data, read, peaks_of_one_pass(session.context()));
  const Labels& labels = table.labels.at(arguments.labels);
  if (arguments.clusters.empty()) {
    options.clusters = std::max<Index>(1, static_cast<Index>(labels.names.size()));
    session.note(
        concat("using ", counted(options.clusters, "cluster"), ", the number of classes; set the number with -c"));
  }
  const auto features = resolve_features(list, table, arguments.list);
  ScaleAdvice advice{scaling, {}};
  const Evaluation evaluation = naming(table.path, [&] {
    const ColumnName name = [&](Index j) { return name_or_position(table, j); };
    if (scaling == Scaling::automatic)
      advice = advise_scaling(table.source, column_moments(table.source, context), name);
    const Source source = advice.scale == Scaling::none
                              ? table.source
                              : scaled(table.source, advice.scale, column_moments(table.source, context), context);
    options.unit_rows = advice.scale == Scaling::unit;
    return evaluate_features(source, labels.classes, features, options, context);
  });
  session.bar().clear();
  if (!advice.reason.empty()) session.note(concat("--scale auto: ", name_of(advice.scale), ", since ", advice.reason));
  if (arguments.run->json) {
    print_result(evaluation_json(table, features, options, advice, evaluation, session));
    return 0;
  }
  for (const auto& note : evaluation.notes) session.note(note);
  const std::string next = next_of_evaluation(arguments, features.size());
  std::string words;
  for (const auto& sentence : verdict(evaluation)) words += "\n" + sentence;
  print_result(
      scores_table(evaluation) +
      concat(
          "\nk-means with ", counted(options.clusters, "cluster"), " compared with the ",
          counted(std::ssize(labels.names), "class"), ": mean +- sd of ", counted(options.repeats, "single start"),
          " (random: of the means of ", options.subsets,
          " subsets of this size); best: ACC of the start with the least inertia; ARI: adjusted Rand index; |r|: mean "
          "absolute correlation of the features; p: (1 + random subsets at least as good) / ",
          1 + options.subsets, "\n") +
      concat(words, "\n\nNext: ", printable(next, next.size()), "\n"));
  return 0;
}

}  // namespace

Command add_evaluate_command(CLI::App& root) {
  auto arguments = std::make_shared<EvaluateArguments>();
  CLI::App* app = root.add_subcommand("evaluate", "Score a list of features against known classes");
  add_evaluate_flags(*app, *arguments);
  set_examples(*app, "tamis evaluate data.npz --labels y --list result/ranking.csv --top 50");
  return {app, arguments->run, [arguments] { return run_evaluate(*arguments); }};
}

}  // namespace tamis::app
