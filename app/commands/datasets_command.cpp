// tamis datasets [DIR]: what the experiments expect, and whether it is there.
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "app/help.h"
#include "app/session.h"
#include "tamis/base/sha256.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/version.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/paper/experiments.h"
#include "tamis/report/json.h"

namespace tamis::app {

namespace {

struct DatasetsArguments {
  std::string folder;
  std::shared_ptr<RunArguments> run = std::make_shared<RunArguments>();
};

enum class State { unchecked, missing, wrong, same_contents, same_file };

struct Checked {
  State state = State::unchecked;
  std::string reason;  // where it is wrong
};

const char* name_of(State state) {
  switch (state) {
    case State::unchecked: return "unchecked";
    case State::missing: return "missing";
    case State::wrong: return "wrong";
    case State::same_contents: return "ok, packed in another way";
    case State::same_file: return "ok";
  }
  return "";
}

std::string sha256_of_file(const std::string& path, Context& context) {
  const auto stream = open_file(path, &context);
  std::string piece(1 << 16, '\0');
  Sha256 hash;
  while (const std::size_t size = stream->read(piece.data(), piece.size())) hash.add(piece.data(), size);
  return hash.finish();
}

Checked check(const ExpectedSet& set, const std::string& folder, Session& session) {
  const std::string path = path_of_set(folder, set.name);
  if (!file_exists(path)) return {State::missing, ""};
  Context& context = session.context();
  try {
    context.phase("reading " + set.name);
    ReadOptions options;
    options.labels = {"y"};
    const std::string difference = difference_from(set, read_table(path, options, context));
    if (!difference.empty()) return {State::wrong, difference};
    const bool same = sha256_of_file(path, context) == set.sha256_file;
    return {same ? State::same_file : State::same_contents, ""};
  } catch (const Error& error) {
    if (error.code() == ErrorCode::interrupted || error.code() == ErrorCode::resources) throw;
    return {State::wrong, error.what()};
  }
}

std::string shape_text(Index rows, Index features) { return concat(rows, " x ", features); }

std::string datasets_text(const std::vector<Checked>& states) {
  using enum TextTable::Align;
  const bool checked = states.front().state != State::unchecked;
  TextTable table({left, right, right, left, left, left});
  table.add({"file", "shape", "classes", "type", "image", checked ? "state" : ""});
  constexpr std::size_t kIndentOfOrigins = 10;
  const std::size_t width = columns_of_terminal(STDOUT_FILENO);
  const auto fitting = [&](const std::string& text) {
    return isatty(STDOUT_FILENO) == 1 ? wrapped(text, kIndentOfOrigins, width) : text;
  };
  std::string origins;
  for (std::size_t i = 0; i < states.size(); ++i) {
    const ExpectedSet& set = expected_sets()[i];
    const std::string reason = states[i].reason.empty() ? "" : ": " + printable(states[i].reason, 200);
    table.add({set.name + ".npz", shape_text(set.rows, set.features), std::to_string(set.classes),
               tamis::name_of(set.dtype),
               concat(set.image_rows, " x ", set.image_columns, set.column_major ? ", by columns" : ", by rows"),
               checked ? name_of(states[i].state) + reason : ""});
    origins += concat("\n", set.name, " (", set.title, " in the paper)\n  from    ", fitting(set.origin), "\n",
                      set.limits.empty() ? "" : "  limits  " + fitting(set.limits) + "\n", "  sha256  ",
                      set.sha256_file, "\n");
  }
  return table.to_text() + origins +
         "\nEach file holds X (one row per sample, not scaled) and y (int32 classes from 0). A file is accepted if its "
         "numbers and classes match, however it is packed. Tamis does not include these data; download them from the "
         "sources above.\n";
}

std::string datasets_json(const std::vector<Checked>& states, const std::string& folder) {
  Json json;
  json.begin_object().member("tamis", kVersion).member_if(!folder.empty(), "folder", folder);
  json.key("sets").begin_array();
  for (std::size_t i = 0; i < states.size(); ++i) {
    const ExpectedSet& set = expected_sets()[i];
    json.begin_object().member("name", set.name).member("file", set.name + ".npz").member("title", set.title);
    json.member("rows", set.rows).member("features", set.features).member("classes", set.classes);
    json.member("dtype", tamis::name_of(set.dtype)).key("image").begin_object();
    json.member("rows", set.image_rows).member("columns", set.image_columns);
    json.member("order", set.column_major ? "columns" : "rows").end_object();
    json.member("paper_rows", set.paper_rows).member("origin", set.origin).member("limits", set.limits);
    json.member("sha256_file", set.sha256_file).member("sha256_x", set.sha256_x).member("sha256_y", set.sha256_y);
    json.member("state", name_of(states[i].state)).member_if(!states[i].reason.empty(), "reason", states[i].reason);
    json.end_object();
  }
  return json.end_array().end_object().text() + "\n";
}

int run_datasets(const DatasetsArguments& arguments) {
  Session session(*arguments.run);
  const std::string& folder = arguments.folder;
  if (!folder.empty()) {
    require(file_kind(folder) == FileKind::folder, ErrorCode::usage, "datasets: ", in_quotes(folder),
            " is not a folder");
  }
  std::vector<Checked> states;
  bool wrong = false;
  for (const auto& set : expected_sets()) {
    states.push_back(folder.empty() ? Checked() : check(set, folder, session));
    wrong = wrong || states.back().state == State::wrong;
  }
  session.bar().clear();
  print_result(arguments.run->json ? datasets_json(states, folder) : datasets_text(states));
  return wrong ? static_cast<int>(ErrorCode::bad_data) : 0;
}

}  // namespace

Command add_datasets_command(CLI::App& root) {
  auto arguments = std::make_shared<DatasetsArguments>();
  CLI::App* app =
      root.add_subcommand("datasets", "List the data sets of the paper's experiments; with DIR, check the files there");
  optional_argument(app->add_option("DIR", arguments->folder, "Folder with these files"));
  app->add_flag("--json", arguments->run->json, "Print JSON instead of a table");
  app->add_flag("--quiet", arguments->run->quiet, "Do not print progress, notes or warnings");
  return {app, arguments->run, [arguments] { return run_datasets(*arguments); }};
}

}  // namespace tamis::app
