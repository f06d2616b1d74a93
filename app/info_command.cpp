// tamis info: what a table is like, and what a run on it will need.
#include <CLI/CLI.hpp>

#include "app/help.h"
#include "app/session.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/version.h"
#include "tamis/report/json.h"
#include "tamis/run/features.h"
#include "tamis/run/forecast.h"
#include "tamis/run/profile.h"

namespace tamis::app {

namespace {

constexpr std::size_t kShown = 8;

struct InfoArguments {
  DataArguments data;
  std::shared_ptr<RunArguments> run = std::make_shared<RunArguments>();
  std::string labels;
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
  return concat(short_number(found.deviation_least, 4), " .. ", short_number(found.deviation_most, 4), ", ",
                short_number(spread, 3), "-fold", spread > 100.0 ? "; consider --scale standard" : "");
}

std::string describe(const Table& table, const Profile& found, const Context& context) {
  const Shape shape = shape_of(table.source);
  const Store& store = table.source.store();
  TextTable facts({TextTable::Align::left, TextTable::Align::left});
  facts.add({"data", printable(table.path, table.path.size())});
  facts.add({"shape", concat(table.source.rows(), " rows x ", table.source.cols(), " features")});
  facts.add({"type", concat(table.format, ", ", store.sparse() ? "sparse " : "dense ", name_of(store.dtype()), ", ",
                            size_text(store.table_bytes()), " in memory")});
  facts.add({"zeros", short_number(100.0 * zero_share(table, found), 3) + " %"});
  facts.add({"missing", found.not_finite == 0 ? "0"
                                              : concat(found.not_finite, " NaN or infinite, in columns ",
                                                       count_and_names(table, found.columns_not_finite))});
  facts.add({"constant", count_and_names(table, found.constant)});
  facts.add({"duplicates", duplicates_text(table, found)});
  facts.add({"values", concat(short_number(found.min), " .. ", short_number(found.max))});
  facts.add({"deviations", scale_text(found)});

  using enum TextTable::Align;
  TextTable costs({left, right, right, right});
  costs.add({"method", "seconds", "passes", "memory"});
  for (const auto& method : methods()) {
    const auto need = forecast(method.bind()->plan(shape, context.threads()), table.source.size(), context.process);
    costs.add({method.name, short_number(need.seconds, 2), short_number(need.passes, 3), size_text(need.peak_bytes)});
  }
  return facts.to_text() + "\nEstimates, with default options and " + std::to_string(context.threads()) +
         " threads:\n" + costs.to_text() + "\nNext: tamis select " + printable(table.path, table.path.size()) + " (" +
         kDefaultMethod + ", which needs neither -c nor -k)\n";
}

std::string describe_json(const Table& table, const Profile& found, const Context& context) {
  const Shape shape = shape_of(table.source);
  const Store& store = table.source.store();
  Json json;
  json.begin_object().member("tamis", kVersion).key("data").begin_object().member("path", table.path);
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
  json.member("names", names).member("left_out", table.excluded_columns).end_object();
  json.key("forecast").begin_object();
  for (const auto& method : methods()) {
    const Plan plan = method.bind()->plan(shape, context.threads());
    const auto need = forecast(plan, table.source.size(), context.process);
    json.key(method.name)
        .begin_object()
        .member("seconds", need.seconds)
        .member("passes", need.passes)
        .member("peak_bytes", need.peak_bytes)
        .member("path", plan.path)
        .end_object();
  }
  return json.end_object().end_object().text() + "\n";
}

int run_info(const InfoArguments& arguments) {
  Session session(*arguments.run);
  ReadOptions read = arguments.data.read_options();
  if (read.missing == Missing::refuse) read.missing = Missing::keep;  // and counted
  if (!arguments.labels.empty()) read.labels = {arguments.labels};
  const Table table = session.read(arguments.data, read, peaks_of_one_pass(session.context()));
  const Profile found = naming(table.path, [&] { return profile(table.source, session.context()); });
  session.bar().clear();
  const Context& context = session.context();
  print_result(arguments.run->json ? describe_json(table, found, context) : describe(table, found, context));
  return 0;
}

}  // namespace

Command add_info_command(CLI::App& root) {
  auto arguments = std::make_shared<InfoArguments>();
  CLI::App* app =
      root.add_subcommand("info", "Describe a table, and estimate the time and memory that each method needs");
  add_data_flags(*app, arguments->data);
  app->add_option("--labels", arguments->labels, "Column with labels, which is not a feature")->type_name("LABELS");
  add_run_flags(*app, *arguments->run);
  set_examples(*app, "tamis info table.csv");
  return {app, arguments->run, [arguments] { return run_info(*arguments); }};
}

}  // namespace tamis::app
