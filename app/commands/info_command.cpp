// tamis info: what a table is like, and what a run on it will need.
#include <CLI/CLI.hpp>

#include "app/columns.h"
#include "app/help.h"
#include "app/session.h"
#include "tamis/base/memory.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/base/version.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/report/document.h"
#include "tamis/run/doubts.h"
#include "tamis/run/features.h"
#include "tamis/run/forecast.h"
#include "tamis/run/profile.h"
#include "tamis/run/survey.h"

namespace tamis::app {

namespace {

constexpr std::size_t kShown = 8;

struct InfoArguments {
  DataArguments data;
  std::shared_ptr<RunArguments> run = std::make_shared<RunArguments>();
  std::string labels;
  bool all = false;
};

double zero_share(const Table& table, const Profile& found) {
  return static_cast<double>(found.zeros) /
         (static_cast<double>(table.source.rows()) * static_cast<double>(table.source.cols()));
}

// "3: a, b, c"
std::string count_and_names(const Table& table, const std::vector<Index>& columns) {
  std::string out = std::to_string(columns.size());
  for (std::size_t i = 0; i < std::min(kShown, columns.size()); ++i) {
    out += (i == 0 ? ": " : ", ") + printable(feature_name(table, columns[i]), 24);
  }
  return out + (columns.size() > kShown ? ", ..." : "");
}

std::string duplicates_text(const Table& table, const Profile& found) {
  std::string out = std::to_string(found.duplicates.size());
  for (std::size_t i = 0; i < std::min(kShown, found.duplicates.size()); ++i) {
    const auto& [column, first] = found.duplicates[i];
    out += (i == 0 ? ": " : ", ") + printable(feature_name(table, column), 24) + " = " +
           printable(feature_name(table, first), 24);
  }
  return out + (found.duplicates.size() > kShown ? ", ..." : "");
}

std::string scale_text(const Profile& found) {
  if (found.deviation_most == 0.0) return "no column varies";
  const double spread = found.deviation_most / found.deviation_least;
  return concat(short_number(found.deviation_least, 4), " .. ", short_number(found.deviation_most, 4), ", a factor of ",
                short_number(spread, 3));
}

// All that is known of a table: its columns as text, where it is text, and its numbers, where they can be read.
struct Known {
  const InfoArguments& arguments;
  std::optional<Survey> survey;
  std::optional<Table> table;
  std::string problem;  // why there is no table
  Profile profile;
  ScaleAdvice advice;
  std::vector<std::string> doubts;
  bool raw_counts = false;
  bool works = true;        // the command below
  bool has_choice = false;  // it does with either meaning of points and commas

  DataArguments working() const {
    DataArguments out = working_arguments(arguments.data, arguments.labels, survey ? *survey : Survey());
    out.counts = out.counts || raw_counts;
    return out;
  }
  // Empty where no options make the table readable.
  std::string command() const {
    if (!works) return {};
    const bool scales = advice.scale != Scaling::none && !raw_counts;
    return working_command(working(), arguments.labels, scales ? concat(" --scale ", name_of(advice.scale)) : "");
  }
};

std::string costs_table(const TableSize& size, const Context& context) {
  using enum TextTable::Align;
  TextTable costs({left, right, right, right});
  costs.add({"method", "seconds", "passes", "memory"});
  for (const auto& method : methods()) {
    const auto need = forecast(method.bind()->plan(shape_of(size), context.threads()), size, context.process);
    costs.add({method.name, short_number(need.seconds, 2), short_number(need.passes, 3), size_text(need.peak_bytes)});
  }
  return concat("Estimates, with default options and ", counted(context.threads(), "thread"), ":\n", costs.to_text());
}

std::string facts_of(const Known& known) {
  const Table& table = *known.table;
  const Profile& found = known.profile;
  const Store& store = table.source.store();
  TextTable facts({TextTable::Align::left, TextTable::Align::left});
  facts.add({"data", printable(table.path, table.path.size())});
  facts.add({"shape", concat(counted(table.source.rows(), "row"), " x ", counted(table.source.cols(), "feature"))});
  facts.add({"type", concat(table.format, ", ", store.sparse() ? "sparse " : "dense ", name_of(store.dtype()), ", ",
                            size_text(store.table_bytes()), " in memory")});
  facts.add({"zeros", short_number(100.0 * zero_share(table, found), 3) + " %"});
  facts.add({"missing", found.not_finite == 0 ? "0"
                                              : concat(found.not_finite, " NaN or infinite; columns that have any: ",
                                                       count_and_names(table, found.columns_not_finite))});
  facts.add({"constant", count_and_names(table, found.constant)});
  facts.add({"duplicates", duplicates_text(table, found)});
  facts.add({"values", concat(short_number(found.min), " .. ", short_number(found.max))});
  facts.add({"deviations", scale_text(found)});
  if (!known.advice.reason.empty()) {
    facts.add(
        {"scaling", concat(name_of(known.advice.scale), " (what --scale auto would choose): ", known.advice.reason)});
  }
  for (const auto& doubt : known.doubts) facts.add({"doubt", doubt});
  return facts.to_text();
}

// Where the numbers cannot be read as they are.
std::string facts_of_text(const Known& known) {
  const Survey& survey = *known.survey;
  TextTable facts({TextTable::Align::left, TextTable::Align::left});
  const std::string& path = known.arguments.data.path;
  facts.add({"data", printable(path, path.size())});
  facts.add({"shape", concat(counted(survey.rows, "row"), " x ", counted(std::ssize(survey.columns), "column"))});
  facts.add({"problem", printable(known.problem, known.problem.size())});
  return facts.to_text();
}

std::string describe(const Known& known, const Context& context) {
  std::string out = known.table ? facts_of(known) : facts_of_text(known);
  if (known.survey) out += "\n" + columns_table(*known.survey, known.arguments.all);
  if (known.table) out += "\n" + costs_table(known.table->source.size(), context);
  const std::string command = known.command();
  if (known.has_choice) {
    return out +
           "\nNext: tamis select with --thousands . or with --thousands , as the problem says; the file cannot tell\n";
  }
  if (command.empty()) return out + "\nNext: mend the file; no options of tamis select read it as it is\n";
  return out + "\nNext: " + printable(command, command.size()) + "\n";
}

void write_numbers(Json& json, const Known& known) {
  const Table& table = *known.table;
  const Profile& found = known.profile;
  const Store& store = table.source.store();
  json.member("rows", table.source.rows()).member("features", table.source.cols()).member("format", table.format);
  json.member("sparse", store.sparse()).member("dtype", name_of(store.dtype())).member("stored", store.nonzeros());
  json.member("bytes", store.table_bytes()).member("zeros", found.zeros).member("not_finite", found.not_finite);
  json.member("columns_not_finite", found.columns_not_finite).member("constant", found.constant);
  json.key("duplicates").begin_array();
  for (const auto& [column, first] : found.duplicates) json.value(std::vector<Index>{column, first});
  json.end_array().member("min", found.min).member("max", found.max);
  json.member("deviation_least", found.deviation_least).member("deviation_most", found.deviation_most);
  std::vector<std::string> names;
  for (Index j = 0; j < table.source.cols(); ++j) names.push_back(feature_name(table, j));
  json.member("names", names).member("left_out", table.excluded_columns);
  write_scale(json, known.advice.scale, known.advice.reason, table);
  write_reading(json, table);
}

void write_forecasts(Json& json, const TableSize& size, const Context& context) {
  for (const auto& method : methods()) {
    const Plan plan = method.bind()->plan(shape_of(size), context.threads());
    const auto need = forecast(plan, size, context.process);
    json.key(method.name)
        .begin_object()
        .member("seconds", need.seconds)
        .member("passes", need.passes)
        .member("peak_bytes", need.peak_bytes)
        .member("path", plan.path)
        .end_object();
  }
}

std::string describe_json(const Known& known, const Context& context) {
  Json json;
  json.begin_object().member("tamis", kVersion).member("schema", kSchema).key("data").begin_object();
  json.member("path", known.arguments.data.path);
  if (known.table) {
    write_numbers(json, known);
  } else {
    json.member("rows", known.survey->rows).key("features").null();
  }
  json.end_object().member_if(!known.problem.empty(), "problem", known.problem);
  json.member("doubts", known.doubts);
  if (known.survey) {
    write_columns(json, *known.survey);
  } else {
    json.key("columns").null();
  }
  json.member("command", known.command()).key("forecast").begin_object();
  if (known.table) write_forecasts(json, known.table->source.size(), context);
  return json.end_object().end_object().text() + "\n";
}

// Columns of text are left out, as the command that is recommended does; those that are named are left to the reader.
std::vector<std::string> columns_of_text(const Known& known) {
  std::vector<std::string> words;
  for (const Index j : columns_to_exclude(*known.survey)) {
    const std::string& name = known.survey->columns[j].name;
    words.push_back(name.empty() ? std::to_string(j) : name);
  }
  return words;
}

// Those that are left in by the command that is recommended.
std::vector<Index> columns_to_scale(const Known& known) {
  std::vector<Index> kept, all;
  for (Index j = 0; j < known.table->source.cols(); ++j) {
    all.push_back(j);
    const bool left_out = known.survey && is_doubtful(known.survey->columns[known.table->column(j)]);
    if (!left_out) kept.push_back(j);
  }
  return kept.empty() ? all : kept;
}

void look_at_numbers(Known& known, Session& session) {
  const Table& table = *known.table;
  Context& context = session.context();
  const Stage stage(context, "info");
  context.phase("values of the columns");
  known.profile = naming(table.path, [&] { return profile(table.source, context); });
  if (known.profile.not_finite > 0) return;
  const ColumnName name = [&](Index j) { return name_or_position(table, j); };
  known.raw_counts = looks_like_counts(table.source, column_moments(table.source, context));
  for (const Message& doubt : doubts(table.source, column_moments(table.source, context), name, context)) {
    known.doubts.push_back(doubt.text());
  }
  const std::vector<Index> kept = columns_to_scale(known);
  const Source source = table.source.with_columns(kept);
  known.advice = advise_scaling(source, column_moments(source, context),
                                [&](Index j) { return name_or_position(table, kept[j]); });
}

// Standard input, or a pipe without a telling name, as a shell's <(...) makes: CSV, which can be read once only.
bool is_pipe(const std::string& path) {
  if (path == "-") return true;
  return path.find('.', path.rfind('/') + 1) == std::string::npos && file_exists(path) &&
         file_kind(path) == FileKind::pipe;
}

std::shared_ptr<const std::string> read_pipe(const std::string& path, Context& context) {
  const Stage stage(context, path == "-" ? "reading standard input" : "reading " + path);
  Budget budget(context, path == "-" ? "standard input" : printable(path, path.size()));
  const auto bytes = path == "-" ? open_standard_input(&context) : open_file(path, &context);
  return std::make_shared<const std::string>(read_whole(*bytes, budget));
}

// Whether the command that is recommended would read the table.
bool reads_as_recommended(const Known& known, const std::string& thousands, const ReadOptions& asked,
                          const Context& context) {
  Context quiet(context.threads());
  quiet.memory_limit = context.memory_limit;
  quiet.is_cancelled = context.is_cancelled;
  DataArguments working = known.working();
  if (!thousands.empty()) working.thousands = thousands;
  try {
    ReadOptions read = working.read_options();
    read.text = asked.text;
    read.text_columns = words_of(working.exclude, quiet);
    if (!known.arguments.labels.empty()) read.labels = {known.arguments.labels};
    open_table(working.path, read, quiet).load();
  } catch (const Error& error) {
    return error.code() != ErrorCode::bad_data && error.code() != ErrorCode::usage;
  }
  return true;
}

int run_info(const InfoArguments& arguments) {
  Session session(*arguments.run);
  ReadOptions read = arguments.data.read_options();
  if (read.missing == Missing::refuse) read.missing = Missing::keep;  // and counted
  if (!arguments.labels.empty()) read.labels = {arguments.labels};
  if (is_pipe(arguments.data.path)) read.text = read_pipe(arguments.data.path, session.context());
  Known known{arguments, survey_text(arguments.data.path, read, session.context()), {}, {}, {}, {}, {}, false, true,
              false};
  if (known.survey) read.text_columns = columns_of_text(known);
  try {
    known.table = session.read(arguments.data, read, peaks_of_one_pass(session.context()));
    look_at_numbers(known, session);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::bad_data || !known.survey || known.survey->rows == 0) throw;
    known.table.reset();
    known.problem = error.what();
    known.works = reads_as_recommended(known, "", read, session.context());
    known.has_choice = !known.works && arguments.data.thousands.empty() &&
                       reads_as_recommended(known, ".", read, session.context()) &&
                       reads_as_recommended(known, ",", read, session.context());
  }
  session.bar().clear();
  const Context& context = session.context();
  print_result(arguments.run->json ? describe_json(known, context) : describe(known, context));
  return 0;
}

}  // namespace

Command add_info_command(CLI::App& root) {
  auto arguments = std::make_shared<InfoArguments>();
  CLI::App* app =
      root.add_subcommand("info", "Describe a table, and estimate the time and memory that each method needs");
  add_data_flags(*app, arguments->data);
  app->add_option("--labels", arguments->labels, "Column with labels, which is not a feature")->type_name("LABELS");
  add_exclude_flag(*app, arguments->data);
  add_counts_flag(*app, arguments->data);
  begin_group(*app, kOutputGroup);
  app->add_flag("--all", arguments->all, "Show every column, not only those with remarks");
  add_run_flags(*app, *arguments->run);
  set_examples(*app, "tamis info table.csv");
  return {app, arguments->run, [arguments] { return run_info(*arguments); }};
}

}  // namespace tamis::app
