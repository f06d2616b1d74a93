// The compiled module tamis._core: the core's calls, as plain as they are. What Python people expect of them
// (estimators, data frames, warnings) is made of them in Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "app/command.h"
#include "app/version.h"
#include "python/arrays.h"
#include "python/comparison.h"
#include "python/fitted.h"
#include "python/methods.h"
#include "python/remote.h"
#include "python/row_sink.h"
#include "python/run.h"
#include "python/spelling.h"
#include "python/tables.h"
#include "tamis/base/text/nearest.h"
#include "tamis/base/version.h"
#include "tamis/eval/evaluate.h"
#include "tamis/eval/metrics.h"
#include "tamis/eval/redundancy.h"
#include "tamis/graph/given.h"
#include "tamis/report/document.h"
#include "tamis/report/verdict.h"
#include "tamis/run/apply.h"
#include "tamis/run/compare.h"
#include "tamis/run/features.h"
#include "tamis/run/forecast.h"
#include "tamis/run/output.h"
#include "tamis/run/select.h"

namespace tamis::python {
namespace {

nb::dict report_of(const Report& report, const Options& options, const Speller& speller) {
  nb::dict terms, resolved;
  for (const auto& [name, values] : report.terms) terms[name.c_str()] = to_array(values);
  for (const auto& [name, value] : report.resolved) {
    const Option* option = find_option(options, name);
    resolved[(option != nullptr ? option->in_python() : name).c_str()] = value;
  }
  nb::dict out;
  out["status"] = name_of(report.status);
  out["iterations"] = report.iterations;
  out["objective"] = to_array(report.objective);
  out["terms"] = terms;
  out["path"] = report.path;
  out["resolved"] = resolved;
  out["warnings"] = spelled(report.warnings, speller);
  out["passes"] = report.passes;
  out["seconds"] = report.seconds;
  return out;
}

// What the guide says, of all columns; None where there is no guide.
nb::object guidance_of(const SelectResult& result) {
  if (!result.selection.guidance) return nb::none();
  const Guidance& guidance = *result.selection.guidance;
  nb::list words, weights, modularity;
  for (const auto& sentence : verdict(result)) words.append(to_text(sentence));
  for (const double weight : guidance.graph_weights) weights.append(weight);
  for (const double one : guidance.modularity) modularity.append(one);
  nb::dict out;
  out["share"] = to_array(for_all_columns(guidance.share, result));
  out["evidence"] =
      guidance.evidence.empty() ? nb::none() : nb::object(to_array(for_all_columns(guidance.evidence, result)));
  out["alignment"] = to_array(guidance.alignment);
  out["suggested"] = guidance.suggested;
  out["passed"] = guidance.passed;
  out["chance"] = guidance.chance;
  out["deviation"] = guidance.deviation;
  out["graph_weights"] = weights;
  out["modularity"] = modularity;
  out["parts"] = guidance.parts;
  out["sampled_rows"] = guidance.rows;
  out["agreement"] = nb::none();
  if (const auto& agreement = result.agreement) {
    nb::dict parts;
    parts["rows"] = agreement->rows;
    parts["selected"] = agreement->selected;
    parts["all"] = agreement->all;
    out["agreement"] = parts;
  }
  out["verdict"] = words;
  return out;
}

// Which columns repeat which; None where nobody asked.
nb::object redundancy_of(const SelectResult& result) {
  if (!result.redundancy) return nb::none();
  const Redundancy& found = *result.redundancy;
  const bool measured = !found.r2.empty();
  nb::list groups;
  for (const auto& group : found.groups) groups.append(to_array(std::vector<Index>(group)));
  nb::dict out;
  out["threshold"] = found.threshold;
  out["r2"] = measured ? nb::object(to_array(std::vector<double>(found.r2))) : nb::none();
  out["representative"] = measured ? nb::object(to_array(std::vector<Index>(found.representative))) : nb::none();
  out["correlation"] = measured ? nb::object(to_array(std::vector<double>(found.correlation))) : nb::none();
  out["groups"] = groups;
  out["rows"] = found.rows;
  out["note"] = to_text(found.note);
  return out;
}

// How stable the selection is; None where nobody asked.
nb::object stability_of(const SelectResult& result) {
  if (!result.stability) return nb::none();
  const RepeatedRuns& found = *result.stability;
  nb::dict out;
  out["by"] = found.resampled ? "resample" : "seeds";
  out["runs"] = found.runs;
  out["rows"] = found.rows;
  out["counts"] = to_array(std::vector<Index>(found.counts));
  out["frequency"] = to_array(std::vector<double>(found.frequency));
  out["rank_low"] = to_array(std::vector<Index>(found.rank_low));
  out["rank_high"] = to_array(std::vector<Index>(found.rank_high));
  out["mean_rank"] = to_array(std::vector<double>(found.mean_rank));
  out["consensus"] = to_array(std::vector<Index>(found.consensus));
  const auto& index = found.index;
  out["index"] = index ? nb::object(nb::float_(index->value)) : nb::none();
  out["variance"] = index ? nb::object(nb::float_(index->variance)) : nb::none();
  out["interval"] = index ? nb::object(nb::make_tuple(index->low, index->high)) : nb::none();
  out["text"] = to_text(stability_text(result));
  return out;
}

// The selected groups of features, best first; None where there are no groups.
nb::object groups_of(const SelectResult& result, const FeatureGroups& given) {
  if (!given.groups.given()) return nb::none();
  nb::list out;
  for (const Index group : result.groups) {
    const std::span<const Index> members = given.groups.members(group);
    nb::dict one;
    one["name"] = to_text(given.names[group]);
    one["selected"] = to_array(std::vector<Index>(members.begin(), members.end()));
    one["score"] = result.scores[members.front()];
    out.append(one);
  }
  return out;
}

FeatureGroups feature_groups(const std::optional<std::vector<std::string>>& groups,
                             const std::optional<std::vector<std::string>>& names) {
  if (!groups) return {};
  Table table;  // for the names of features that are groups by themselves
  if (names) table.names = *names;
  return groups_by_name(*groups, table);
}

nb::dict result_of(SelectResult result, const FeatureGroups& groups, const Options& options, const Speller& speller) {
  nb::dict out;
  out["groups"] = groups_of(result, groups);
  out["report"] = report_of(result.selection.report, options, speller);
  out["warnings"] = spelled_with_kinds(result.selection.report.warnings, speller);
  out["guidance"] = guidance_of(result);
  out["redundancy"] = redundancy_of(result);
  out["stability"] = stability_of(result);
  out["scores"] = to_array(std::move(result.scores));
  out["ranking"] = to_array(std::move(result.ranking));
  out["selected"] = to_array(std::move(result.selected));
  const bool clustered = !result.selection.clusters.empty();
  out["scale"] = name_of(result.scale);
  out["scale_reason"] = to_text(result.scale_reason);
  out["clusters"] = clustered ? to_array(std::move(result.selection.clusters)) : nb::none();
  out["column_scale"] = result.column_scale.empty() ? nb::none() : to_array(std::move(result.column_scale));
  out["components"] = to_array(std::move(result.selection.components));
  out["centers"] = to_array(std::move(result.selection.centers));
  return out;
}

nb::dict select(const std::string& method_name, const nb::object& data, const nb::dict& values,
                const nb::object& features, const std::string& scale, const std::vector<Index>& include,
                const std::vector<Index>& exclude, const std::optional<Classes>& classes, const nb::object& init,
                std::uint64_t seed, int threads, std::uint64_t memory, const nb::object& progress,
                const nb::dict& words, const std::optional<std::vector<std::string>>& names,
                const std::optional<double>& redundancy, const std::optional<Index>& seeds,
                const std::optional<Index>& resample, const std::optional<std::vector<std::string>>& groups,
                const nb::object& connectivity, const nb::object& weights) {
  const Method& method = find_method(method_name);
  const std::shared_ptr<BoundMethod> bound = method.bind();
  const Speller speller = python_names(words);
  return speaking(speller, [&] {
    SelectRequest request;
    request.features = feature_count(features);
    request.scale = parse_scaling(scale);
    request.include = include;
    request.exclude = exclude;
    request.name = names_or_positions(names);
    request.redundancy = redundancy;
    request.seeds = seeds;
    request.resample = resample;
    request.groups = feature_groups(groups, names);
    request.classes = classes_of(classes);
    set_options(*bound, values, method.name);
    if (!init.is_none()) request.init = matrix_of(init);
    if (!weights.is_none()) request.weights = doubles_of(weights);
    Run run(threads, seed, memory, progress);
    const Source source = source_of(data);
    const auto graph = connectivity.is_none() ? std::nullopt : std::optional<Source>(source_of(connectivity));
    SelectResult result = run.without_gil([&] {
      if (graph) request.connectivity = graph_of_weights(*graph, "connectivity", run.context());
      return select_features(source, method, *bound, request, run.context());
    });
    const std::vector<std::string> warnings = warning_texts(result.selection.report.warnings, run.warnings(), speller);
    const Context& used = run.context();
    Fitted fitted{&method, bound, request, result, used.seed, used.threads(), used.memory_limit, warnings};
    nb::dict out = result_of(std::move(result), request.groups, bound->options(), speller);
    out["fitted"] = nb::cast(std::move(fitted));
    return out;
  });
}

template <double (*measure)(const std::vector<int>&, const std::vector<int>&)>
double agreement(const Classes& truth, const Classes& clusters) {
  require(truth.size() == clusters.size(), ErrorCode::usage, truth.size(), " classes and ", clusters.size(),
          " clusters, need as many");
  return measure(classes_of(truth), classes_of(clusters));
}

double mean_correlation(const nb::object& data, const std::vector<Index>& features, int threads) {
  Run run(threads, 0, 0, nb::none());
  const Source source = source_of(data).with_columns(features);
  return run.without_gil([&] { return redundancy(source, run.context()); });
}

nb::dict read_selection_document(const nb::bytes& text, const std::string& where) {
  const EarlierSelection found = read_selection({text.c_str(), text.size()}, where);
  nb::list names;
  for (const auto& name : found.names) names.append(to_text(name));
  nb::dict out;
  out["positions"] = nb::cast(found.positions);
  out["names"] = names;
  out["features"] = found.features;
  out["id_column"] = to_text(found.id_column);
  return out;
}

nb::list peek_column_names(const nb::bytes& path) {
  Run run(1, 0, 0, nb::none());
  nb::list names;
  for (const auto& name : peek_names(std::string(path.c_str(), path.size()), {}, run.context())) {
    names.append(to_text(name));
  }
  return names;
}

std::vector<Index> find_columns(const std::vector<Index>& positions, const std::vector<std::string>& names,
                                Index features, const std::string& where, const std::vector<std::string>& table_names,
                                Index table_features, const std::vector<std::string>& left_out) {
  return find_selected({positions, names, features, {}}, {where, table_names, table_features, left_out});
}

// Only how many columns there are matters, not what they hold.
Source columns_alone(std::size_t count) {
  const auto zeros = std::make_shared<std::vector<std::int8_t>>(count, 0);
  DenseView view;
  view.data = zeros->data(), view.dtype = DType::i8;
  view.rows = 1, view.cols = static_cast<Index>(count);
  view.row_stride = view.cols, view.col_stride = 1;
  return Source(make_dense_store(view, zeros));
}

std::vector<Index> named_features(const std::vector<std::string>& words, const std::vector<std::string>& names,
                                  const std::string& where) {
  if (words.empty()) return {};
  Table table;
  table.names = names;
  table.source = columns_alone(names.size());
  return resolve_features({words}, table, where);
}

int run_command(const std::vector<nb::bytes>& words, const nb::object& reader, const nb::object& saver) {
  std::vector<std::string> kept;
  for (const auto& word : words) kept.emplace_back(word.c_str(), word.size());
  std::vector<char*> argv;
  for (auto& word : kept) argv.push_back(word.data());
  argv.push_back(nullptr);
  const ForeignReader foreign = foreign_reader(reader);
  const app::FigureSaver figures = figure_saver(saver);
  const ProcessMemory process = process_memory();
  const nb::gil_scoped_release release;
  return app::run_command(static_cast<int>(kept.size()), argv.data(), foreign, figures, process);
}

void register_defaults(nb::module_& m) {
  const CompareRequest comparing;
  m.attr("default_repeats") = comparing.repeats;
  m.attr("default_subsets") = comparing.subsets;
  m.attr("default_redundancy") = kRedundant;
}

void register_runs(nb::module_& m) {
  using namespace nb::literals;
  const CompareRequest comparing;  // for its defaults
  const EvaluateOptions evaluating;
  m.def("select", &python::select, "method"_a, "data"_a, "options"_a, "features"_a.none() = nb::none(),
        "scale"_a = "none", "include"_a = std::vector<Index>(), "exclude"_a = std::vector<Index>(),
        "classes"_a.none() = nb::none(), "init"_a.none() = nb::none(), "seed"_a = 0, "threads"_a = 0, "memory"_a = 0,
        "progress"_a.none() = nb::none(), "words"_a = nb::dict(), "names"_a.none() = nb::none(),
        "redundancy"_a.none() = nb::none(), "seeds"_a.none() = nb::none(), "resample"_a.none() = nb::none(),
        "groups"_a.none() = nb::none(), "connectivity"_a.none() = nb::none(), "weights"_a.none() = nb::none(),
        "One selection, as `tamis select` does it. With `names` (empty: there are none) it warns about doubtful "
        "columns. `groups`: one for each feature, '' where it is a group by itself. `connectivity`: a graph of the "
        "rows.");
  m.def("compare", &compare, "data"_a, "methods"_a, "features"_a, "clusters"_a, "scale"_a = "none",
        "classes"_a.none() = nb::none(), "settings"_a = nb::dict(), "repeats"_a = comparing.repeats,
        "grid"_a = comparing.grid, "seed"_a = 0, "threads"_a = 0, "memory"_a = 0, "progress"_a.none() = nb::none(),
        "words"_a = nb::dict(), "names"_a.none() = nb::none(), "Methods side by side, as `tamis compare`.");
  m.def("evaluate", &evaluate, "data"_a, "classes"_a, "features"_a, "clusters"_a, "repeats"_a = evaluating.repeats,
        "subsets"_a = evaluating.subsets, "seed"_a = 0, "threads"_a = 0, "progress"_a.none() = nb::none(),
        "words"_a = nb::dict(), "What a list of features is worth, as `tamis evaluate`.");
}

void register_measures(nb::module_& m) {
  using namespace nb::literals;
  m.def("clustering_accuracy", &agreement<&clustering_accuracy>, "truth"_a, "clusters"_a);
  m.def("normalized_mutual_info", &agreement<&normalized_mutual_info>, "truth"_a, "clusters"_a);
  m.def("adjusted_rand", &agreement<&adjusted_rand>, "truth"_a, "clusters"_a);
  m.def("redundancy", &mean_correlation, "data"_a, "features"_a, "threads"_a = 0);
}

void register_tables(nb::module_& m) {
  using namespace nb::literals;
  m.def("read", &python::read, "path"_a, "array"_a = "X", "header"_a = "auto", "id_column"_a = "",
        "labels"_a = std::vector<std::string>(), "text_columns"_a = std::vector<std::string>(), "transpose"_a = false,
        "on_disk"_a = false, "missing"_a = "refuse", "thousands"_a = "", "format"_a = "", "skip"_a = 0,
        "reader"_a.none() = nb::none(), "memory"_a = 0, "words"_a = nb::dict(),
        "A table of any format that the core or `reader` reads.");
  m.def("without_missing", &python::without_missing, "data"_a, "missing"_a, "names"_a = std::vector<std::string>(),
        "words"_a = nb::dict(),
        "An array without its missing values, as `--missing` drops or fills them in: X, the columns and the rows that "
        "are left (None: all), and a note.");
  m.def("read_selection", &read_selection_document, "text"_a, "where"_a,
        "The columns of a selection.json: positions, names (empty if the table had none), features, id_column.");
  m.def(
      "complete_result",
      [](const nb::bytes& folder) {
        complete_result({folder.c_str(), folder.size()});
      },
      "folder"_a, "Completes a result that a killed run had committed to the folder.");
  m.def("peek_names", &peek_column_names, "path"_a,
        "The names in the first line of a CSV file; empty for other formats and where there are none.");
  m.def("find_columns", &find_columns, "positions"_a, "names"_a, "features"_a, "where"_a, "table_names"_a,
        "table_features"_a, "left_out"_a = std::vector<std::string>(),
        "The positions of the selected columns in another table, as `tamis apply` finds them.");
  m.def("named_features", &named_features, "words"_a, "names"_a, "where"_a,
        "The positions of columns by name or pattern, as `--include` and `--exclude` find them.");
  m.def("did_you_mean", &did_you_mean, "word"_a, "names"_a,
        "What a message adds where one of the names is close to the word (; did you mean 'x'?), else nothing.");
}

}  // namespace
}  // namespace tamis::python

NB_MODULE(_core, m) {
  namespace nb = nanobind;
  using namespace nb::literals;
  using namespace tamis::python;

  m.doc() = "The compiled core of tamis.";
  m.attr("version") = tamis::kVersion;
  register_defaults(m);
  register_errors(m);
  register_remote(m);
  register_disk_rows(m);
  register_fitted(m);

  m.def("version_text", &tamis::app::version_text, "What `tamis --version` prints.");
  m.def("methods", &describe_methods, "Every method with its options: name, type, default, range, help.");
  register_runs(m);
  register_measures(m);
  register_tables(m);
  m.def("run_command", &run_command, "words"_a, "reader"_a, "saver"_a.none() = nb::none(),
        "The command; the process is its own.");
}
