#include "tamis/paper/reproduce_report.h"

#include "tamis/base/version.h"
#include "tamis/report/json.h"

namespace tamis {

namespace {

template <class Value, class Write>
void write_optional(Json& json, const char* name, const std::optional<Value>& value, Write write) {
  json.key(name);
  if (!value) {
    json.null();
    return;
  }
  json.begin_object();
  write(*value);
  json.end_object();
}

void write_number(Json& json, const char* name, const std::optional<double>& value) {
  json.key(name);
  value ? json.value(*value) : json.null();
}

// --- What was done ------------------------------------------------------------------------------------------------

void write_protocol(Json& json, const Protocol& protocol) {
  json.key("protocol").begin_object().member("version", kProtocolVersion).member("quick", protocol.quick);
  json.member("shares", protocol.shares).member("chosen_share", protocol.chosen_share);
  json.member("repeats", protocol.repeats).member("subsets", protocol.subsets).member("neighbors", protocol.neighbors);
  json.key("most_rows");
  protocol.most_rows > 0 ? json.value(protocol.most_rows) : json.null();
  json.member("figure2_beta", protocol.figure2);
  write_list(json, "axes", protocol.axes, [&](const GridAxis& axis) {
    json.member("method", axis.method).member("option", axis.option).member("values", axis.values);
  });
  json.end_object();
}

void write_set(Json& json, const ExperimentSet& set, const Protocol& protocol) {
  json.member("name", set.name).member("title", set.expected ? set.expected->title : set.name);
  json.member("rows", set.source.rows()).member("features", set.source.cols()).member("classes", set.class_count);
  json.member("dtype", name_of(set.dtype)).member("divided_by", set.dtype == DType::u8 ? 255 : 1);
  json.member("sha256", set.sha256).member("sizes", sizes_of(protocol, set.source.cols()));
  json.member("chosen_size", chosen_size(protocol, set.source.cols())).key("expected");
  if (set.expected == nullptr) {
    json.null();
    return;
  }
  const ExpectedSet& expected = *set.expected;
  json.begin_object().member("rows", expected.rows).member("paper_rows", expected.paper_rows);
  json.member("origin", expected.origin).member("limits", expected.limits).key("image").begin_object();
  json.member("rows", expected.image_rows).member("columns", expected.image_columns);
  json.member("order", expected.column_major ? "columns" : "rows").end_object().end_object();
}

void write_head(Json& json, const Reproduction& result) {
  json.member("tamis", kVersion).member("seed", result.seed).member("quick", result.protocol.quick);
  write_protocol(json, result.protocol);
  std::vector<std::string> names;
  for (const auto& method : result.methods) names.push_back(method.name);
  json.member("methods", names);
  write_list(json, "sets", result.sets, [&](const ExperimentSet& set) { write_set(json, set, result.protocol); });
}

// --- Tables -------------------------------------------------------------------------------------------------------

void write_value(Json& json, const MeanSd& value) { json.member("mean", value.mean).member("sd", value.sd); }

void write_measured(Json& json, const char* name, const std::optional<Measured>& measured) {
  write_optional(json, name, measured, [&](const Measured& one) {
    write_value(json, one.value);
    json.member("features", one.features).member("settings", one.cell->plan.settings);
    json.member("cell", one.cell->plan.id);
  });
}

void write_band(Json& json, const char* name, const std::optional<BesideRandom>& band) {
  write_optional(json, name, band, [&](const BesideRandom& one) {
    write_value(json, one.value);
    json.member("min", one.min).member("max", one.max).member("features", one.features);
    json.member("subsets", one.subsets).member("p", one.p).member("beats_random", one.beats_random);
  });
}

// The first columns of the measured subset's ranking, best first.
void write_selected(Json& json, const char* name, const std::optional<Measured>& measured) {
  json.key(name);
  if (!measured || measured->cell->ranking.empty()) {
    json.null();
    return;
  }
  const auto& ranking = measured->cell->ranking;
  json.value(std::vector<Index>(ranking.begin(), ranking.begin() + measured->features));
}

void write_grid_summary(Json& json, const TableRow& row) {
  json.member("evaluations", row.evaluations);
  write_measured(json, "label_best", row.best);
  write_number(json, "grid_median", row.best ? std::optional(row.median) : std::nullopt);
  write_number(json, "grid_worst", row.best ? std::optional(row.worst) : std::nullopt);
  write_band(json, "label_best_random", row.best_random);
  write_selected(json, "label_best_selected", row.best);
}

void write_row(Json& json, const TableRow& row) {
  json.member("set", row.set).member("method", row.method);
  write_grid_summary(json, row);
  write_list(json, "label_free_sizes", row.label_free, [&](const Measured& one) {
    json.member("features", one.features);
    write_value(json, one.value);
  });
  write_measured(json, "label_free", row.chosen);
  write_band(json, "label_free_random", row.chosen_random);
  write_selected(json, "label_free_selected", row.chosen);
  write_measured(json, "allfea", row.all);
  write_measured(json, "maxvar", row.max_variance);
  write_number(json, "gain", row.gain);
  write_number(json, "gain_error", row.gain_error);
  write_number(json, "label_free_gain", row.chosen_gain);
  write_number(json, "label_free_gain_error", row.chosen_gain_error);
  write_optional(json, "paper", row.paper,
                 [&](const PaperValue& value) { json.member("mean", value.mean).member("sd", value.sd); });
  write_number(json, "paper_gain", row.paper_gain);
}

void write_paper_all(Json& json, const Reproduction& result, Measure measure) {
  json.key("paper_allfea").begin_object();
  for (const auto& set : result.sets) {
    const auto value = paper_value(measure, set.name, kAllFeatures);
    write_optional(json, set.name.c_str(), value,
                   [&](const PaperValue& one) { json.member("mean", one.mean).member("sd", one.sd); });
  }
  json.end_object();
}

void write_table(Json& json, const char* name, const Reproduction& result, Measure measure) {
  json.key(name).begin_object();
  write_paper_all(json, result, measure);
  write_list(json, "rows", table_of(result, measure), [&](const TableRow& row) { write_row(json, row); });
  json.end_object();
}

// Not in the paper: guided, and the label-best of every method.
void write_guided(Json& json, const Reproduction& result, Measure measure) {
  write_list(json, measure == Measure::accuracy ? "acc" : "nmi", guided_rows(result, measure),
             [&](const GuidedRow& row) {
               json.member("set", row.set);
               write_measured(json, "clusters_unknown", row.unknown);
               write_measured(json, "clusters_given", row.told);
               write_measured(json, "allfea", row.all);
               json.key("label_best").begin_object();
               for (std::size_t m = 0; m < row.label_best.size(); ++m) {
                 write_measured(json, result.methods[m].name.c_str(), row.label_best[m]);
               }
               json.end_object();
             });
}

// --- Figures ------------------------------------------------------------------------------------------------------

void write_figure_points(Json& json, const char* name, const std::vector<FigurePoint>& points) {
  write_list(json, name, points, [&](const FigurePoint& point) {
    json.member("settings", point.settings);
    write_measured(json, "best", point.best);
    write_measured(json, "at_chosen_size", point.chosen);
  });
}

void write_convergence(Json& json, const Convergence& found) {
  const Cell& cell = *found.cell;
  json.member("settings", cell.plan.settings).member("status", name_of(cell.status));
  json.member("iterations", cell.iterations).member("paper_iterations", kPaperIterations);
  json.member("monotone", found.monotone).member("objective", cell.objective);
  write_list(json, "terms", cell.terms,
             [&](const Trace& term) { json.member("name", term.first).member("values", term.second); });
}

void write_paper_figures(Json& json, const Reproduction& result) {
  write_list(json, "figures", figures_of(result), [&](const Figures& figures) {
    json.member("set", figures.set);
    write_measured(json, "allfea", figures.all);
    write_list(json, "figure1", figures.sizes, [&](const Figure1Point& point) {
      json.member("features", point.features);
      write_measured(json, "best", point.best);
      write_measured(json, "label_free", point.label_free);
      write_band(json, "random", point.random);
    });
    write_figure_points(json, "figure2", figures.beta);
    write_figure_points(json, "figure3", figures.alpha_p);
    write_figure_points(json, "figure4", figures.beta_p);
    write_optional(json, "figure5", figures.convergence, [&](const Convergence& one) { write_convergence(json, one); });
  });
}

// --- Times --------------------------------------------------------------------------------------------------------

void write_run(Json& json, const Reproduction& result, const Machine& machine) {
  double cpu_seconds = 0.0;
  for (const auto& cell : result.cells) cpu_seconds += cell.cpu_seconds;
  json.key("run").begin_object().member("seconds", result.seconds).member("threads", result.threads);
  json.member("cells", result.cells.size()).member("cells_found", result.found).member("cpu_seconds", cpu_seconds);
  write_list(json, "by_method", spent_by_method(result), [&](const Spent& one) {
    json.member("set", one.set).member("method", one.method).member("cells", one.cells);
    json.member("seconds", one.seconds).member("cpu_seconds", one.cpu_seconds);
  });
  json.end_object().key("machine").begin_object().member("processor", machine.processor);
  json.member("cores", machine.cores).member("memory_bytes", machine.memory_bytes);
  json.member("system", machine.system).end_object();
}

}  // namespace

std::string cells_json(const Reproduction& result) {
  Json json;
  json.begin_object();
  write_head(json, result);
  write_list(json, "cells", result.cells, [&](const Cell& cell) { write_cell(json, cell); });
  return json.end_object().text() + "\n";
}

std::string report_json(const Reproduction& result, const Machine& machine) {
  Json json;
  json.begin_object();
  write_head(json, result);
  json.key("tables").begin_object();
  write_table(json, "acc", result, Measure::accuracy);
  write_table(json, "nmi", result, Measure::nmi);
  json.end_object().key("guided").begin_object();
  write_guided(json, result, Measure::accuracy);
  write_guided(json, result, Measure::nmi);
  json.end_object();
  write_paper_figures(json, result);
  write_run(json, result, machine);
  write_list(json, "cells", result.cells, [&](const Cell& cell) {
    json.member("seconds", cell.seconds).member("cpu_seconds", cell.cpu_seconds);
    write_cell(json, cell, false);
  });
  return json.end_object().text() + "\n";
}

}  // namespace tamis
