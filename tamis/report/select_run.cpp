#include "tamis/base/text/spelling.h"
#include "tamis/base/version.h"
#include "tamis/data/weights.h"
#include "tamis/report/select_view.h"
#include "tamis/report/verdict.h"
#include "tamis/run/stability/repeats.h"

namespace tamis {

namespace {

using enum page::Column::Kind;

constexpr std::size_t kShownLeftOut = 500;

std::string resolved_value(const SelectView& view, const Option& option) {
  for (const auto& [fact, value] : view.selection.report.resolved) {
    if (fact == option.name) return short_number(value);
  }
  return value_text(option);
}

page::Table option_table(const SelectView& view) {
  page::Table table;
  table.title = "Options used";
  table.columns = {{"option"}, {"value"}, {"meaning"}};
  table.sortable = false;
  const auto add = [&](const std::string& option, const std::string& value, const std::string& help) {
    table.rows.push_back({option, value, help});
  };
  add("features", std::to_string(view.result.selected.size()), "number of selected features");
  for (const auto& option : view.record.options) add(option.name, resolved_value(view, option), option.help);
  if (const auto& graph = view.record.request.connectivity) {
    add("connectivity", page::file_text(graph->origin), "graph of the rows, in place of one of nearest rows");
  }
  add("scale", name_of(view.result.scale), "scaling of columns or rows before ranking");
  add("seed", std::to_string(view.record.seed), "seed of all random numbers");
  add("threads", std::to_string(view.record.threads), "number of threads; the result does not depend on it");
  return table;
}

}  // namespace

page::Section left_out_section(const SelectView& view) {
  page::Table table;
  table.title = "Columns";
  table.columns = {{"name"}, {"why"}};
  std::size_t count = 0;
  const auto add = [&](const std::string& column, const std::string& why) {
    if (count++ < kShownLeftOut) table.rows.push_back({page::name_cell(column), why});
  };
  for (const auto& column : view.record.table.excluded_columns) {
    const std::string why = column == view.options.id_column            ? "row identifiers"
                            : view.record.weight_column == column       ? "sample weights"
                            : view.record.table.labels.contains(column) ? "labels"
                                                                        : "text";
    add(column, why + "; not a feature");
  }
  for (const Index j : view.record.request.exclude)
    add(feature_name(view.record.table, j), "excluded on request; not seen by the method");
  for (Index i = 0; i < static_cast<Index>(view.result.available.size()); ++i) {
    if (!view.moments.varies(i))
      add(feature_name(view.record.table, view.result.available[at(i)]), "constant; ranked last");
  }
  if (count == 0) return {"Excluded and constant columns", {page::Text{"None: every column varies and was ranked."}}};
  if (count > table.rows.size()) table.caption = concat("The first ", table.rows.size(), " of ", count, ".");
  return {"Excluded and constant columns", {table}};
}

page::Section run_section(const SelectView& view) {
  const Report& report = view.selection.report;
  const Store& store = view.record.table.source.store();
  page::Facts facts;
  const auto add = [&](const std::string& key, const std::string& value) { facts.facts.emplace_back(key, value); };
  add("data", concat(page::file_text(view.record.table.path), ": ", counted(view.record.table.source.rows(), "row"),
                     " x ", counted(view.record.table.source.cols(), "feature"), ", ", view.record.table.format, ", ",
                     store.sparse() ? "sparse " : "", name_of(store.dtype())));
  add("method",
      concat(view.record.method.name, ": ", view.record.method.summary, " (", view.record.method.reference, ")"));
  if (!view.record.request.weights.empty()) add("sample weights", weights_text(view.record.request.weights));
  if (!report.path.empty()) add("path", report.path);
  add("status", status_text(report));
  if (!report.objective.empty()) add("objective", short_number(report.objective.back(), 10));
  if (view.result.stability) add("stability", stability_text(view.result));
  add("time", concat(short_number(report.seconds, 3), " s, ", counted(report.passes, "pass"), " over the data"));
  add("memory", concat(size_text(view.record.peak_bytes), " peak, whole process"));
  add("machine", page::machine_text());
  add("version", concat("tamis ", kVersion));
  return {"The run", {facts, option_table(view)}};
}

}  // namespace tamis
