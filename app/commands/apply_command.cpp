// tamis apply: the columns of an earlier selection from another table.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <unordered_set>

#include "app/columns.h"
#include "app/help.h"
#include "app/session.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/base/version.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/report/document.h"
#include "tamis/run/reduced.h"

namespace tamis::app {

namespace {

constexpr const char* kAppliedName = "applied.json";

struct ApplyArguments {
  std::string selection;
  DataArguments data;
  std::shared_ptr<RunArguments> run = std::make_shared<RunArguments>();
  std::string output;
};

void add_apply_flags(CLI::App& app, ApplyArguments& arguments) {
  begin_group(app, kTableGroup);
  app.add_option("SELECTION", arguments.selection, "The selection.json of tamis select, or the folder with it");
  add_data_flags(app, arguments.data);
  begin_group(app, kOutputGroup);
  app.add_option(
         "-o,--output", arguments.output,
         "Folder for applied.json and the reduced table (required): selected.csv, .npy or .mtx, as tamis select writes "
         "it")
      ->type_name("DIR");
  add_run_flags(app, *arguments.run);
}

std::string document_path(const std::string& given) {
  const bool folder = file_exists(given) && file_kind(given) == FileKind::folder;
  return folder ? given + "/selection.json" : given;
}

EarlierSelection read_document(const std::string& path, Context& context) {
  complete_result_of(path);
  const std::string where = printable(path, path.size());
  Budget budget(context, where);
  return naming(path, [&] { return read_selection(read_whole(path, budget, context), where, &budget); });
}

// Any other column may hold text.
std::vector<std::string> columns_not_needed(const ApplyArguments& arguments, const EarlierSelection& selection,
                                            const ReadOptions& options, Context& context) {
  const std::unordered_set<std::string> needed(selection.names.begin(), selection.names.end());
  if (needed.empty() || arguments.data.path == "-") return {};
  std::vector<std::string> names = peek_names(arguments.data.path, options, context);
  if (names.empty()) return {"*"};  // a format whose reader knows the names
  std::erase_if(names, [&](const std::string& name) { return needed.contains(name); });
  return names;
}

Table read_other(const ApplyArguments& arguments, const EarlierSelection& selection, Session& session) {
  ReadOptions options = arguments.data.read_options();
  if (options.id_column.empty() && !options.transpose) options.id_column = selection.id_column;
  options.text_columns = columns_not_needed(arguments, selection, options, session.context());
  return session.read(arguments.data, options, peaks_of_one_pass(session.context()));
}

// Throws where one of the columns has a number that is not finite, naming it.
void require_finite_columns(const Table& table, std::vector<Index> columns, Context& context) {
  std::sort(columns.begin(), columns.end());
  naming(table.path, [&] { column_moments(table.source.with_columns(columns), context); });
}

std::string applied_json(const ApplyArguments& arguments, const Table& table, const std::vector<Index>& columns) {
  std::vector<std::string> names;
  for (const Index j : columns) names.push_back(feature_name(table, j));
  Json json;
  json.begin_object().member("tamis", kVersion).member("schema", kSchema).member("selection", arguments.selection);
  json.key("data").begin_object().member("path", table.path).member("rows", table.source.rows());
  json.member("features", table.source.cols()).member("format", table.format);
  write_reading(json, table);
  json.end_object();
  json.member("selected", columns).member("columns", columns_of_file(table, columns)).member("names", names);
  return json.member("output", arguments.output + "/" + reduced_name(table)).end_object().text() + "\n";
}

int run_apply(const ApplyArguments& arguments) {
  Session session(*arguments.run);
  Context& context = session.context();
  require(!arguments.selection.empty(), ErrorCode::usage,
          "apply: SELECTION is missing, need the selection.json of tamis select");
  require(!arguments.output.empty(), ErrorCode::usage, "apply: -o is missing, need a folder for the reduced table");
  const std::string document = document_path(arguments.selection);
  const EarlierSelection selection = read_document(document, context);
  const Table table = read_other(arguments, selection, session);
  const std::vector<Index> columns = find_selected(
      selection, {printable(table.path, table.path.size()), table.names, table.source.cols(), table.excluded_columns});
  const std::string name = reduced_name(table);
  OutputFolder folder(arguments.output, {name, kAppliedName}, {document, arguments.data.path});
  require_finite_columns(table, columns, context);
  const std::string id = arguments.data.id.empty() ? selection.id_column : arguments.data.id;
  folder.add(name,
             [&](FileWriter& out) { naming(table.path, [&] { write_reduced(table, columns, id, out, context); }); });
  const std::string json = applied_json(arguments, table, columns);
  folder.add(kAppliedName, [&](FileWriter& out) { out.write(json); });
  session.bar().clear();
  context.check_cancelled();
  folder.commit();
  print_result(arguments.run->json
                   ? json
                   : concat(columns.size(), " of ", counted(table.source.cols(), "column"), ", ",
                            counted(table.source.rows(), "row"), "\n\nWritten to ", printable(arguments.output, 200),
                            ": ", name, ", ", kAppliedName,
                            "\nNext: ", command_line({"info", arguments.output + "/" + name}, false), "\n"));
  return 0;
}

}  // namespace

Command add_apply_command(CLI::App& root) {
  auto arguments = std::make_shared<ApplyArguments>();
  CLI::App* app = root.add_subcommand("apply", "Apply an earlier selection to another table");
  add_apply_flags(*app, *arguments);
  set_examples(*app,
               "tamis select january.csv -k 50 -o january\n"
               "tamis apply january/selection.json february.csv -o february");
  return {app, arguments->run, [arguments] { return run_apply(*arguments); }};
}

}  // namespace tamis::app
