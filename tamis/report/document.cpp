#include "tamis/report/document.h"

#include <sys/resource.h>

#include <algorithm>
#include <map>
#include <type_traits>

#include "tamis/base/error.h"
#include "tamis/base/resident.h"
#include "tamis/base/version.h"
#include "tamis/data/weights.h"
#include "tamis/report/cluster_profile.h"
#include "tamis/report/json_reader.h"
#include "tamis/report/verdict.h"
#include "tamis/run/forecast.h"

namespace tamis {

namespace {

const Fact* find_fact(const Report& report, const std::string& name) {
  const auto found = std::find_if(report.resolved.begin(), report.resolved.end(),
                                  [&](const Fact& fact) { return fact.first == name; });
  return found == report.resolved.end() ? nullptr : &*found;
}

void write_option(Json& json, const Option& option, const Report& report) {
  json.key(option.name);
  if (const Fact* fact = find_fact(report, option.name)) {
    json.value(fact->second);
    return;
  }
  std::visit(
      [&](const auto* value) {
        using Value = std::remove_cvref_t<decltype(*value)>;
        if constexpr (std::is_same_v<Value, std::optional<double>> || std::is_same_v<Value, std::optional<Index>>) {
          *value ? json.value(**value) : json.null();
        } else {
          json.value(*value);
        }
      },
      option.value);
}

void write_request(Json& json, const SelectionRecord& record) {
  json.key("options").begin_object().member("features", record.result.selected.size());
  write_options(json, record.options, record.result.selection.report);
  write_scale(json, record.result.scale, record.result.scale_reason, record.table);
  json.member("seed", record.seed).member("threads", record.threads);
  if (record.request.seeds) json.member("seeds", *record.request.seeds);
  if (record.request.resample) json.member("resample", *record.request.resample);
  if (record.request.connectivity) json.member("connectivity", record.request.connectivity->origin);
  json.member_if(record.memory_limit > 0, "memory", record.memory_limit);
  json.member("include", record.request.include).member("exclude", record.request.exclude);
  json.member("supervised", !record.request.classes.empty());
  if (const auto& weights = record.request.weights; !weights.empty()) {
    json.key("sample_weight").begin_object().member("rows", count_weighted(weights));
    json.member("total", total_weight(weights)).end_object();
  }
  json.end_object();
}

void write_data(Json& json, const SelectionRecord& record) {
  const Store& store = record.table.source.store();
  json.key("data").begin_object().member("path", record.table.path).member("rows", store.rows());
  json.member("features", record.table.source.cols())
      .member("named", !record.table.names.empty())
      .member_if(!record.id_column.empty(), "id", record.id_column);
  json.member("format", record.table.format);
  json.member("sparse", store.sparse()).member("dtype", name_of(store.dtype())).member("stored", store.nonzeros());
  json.member("bytes", store.table_bytes()).member("storage", store.in_memory() ? "memory" : "disk");
  json.member("constant", record.result.constant);
  write_reading(json, record.table);
  json.end_object();
}

const char* outcome_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::narrow: return "kept whole: narrow";
    case Outcome::no_structure: return "no structure found";
    case Outcome::columns_found: break;
  }
  return "columns found";
}

void write_agreement(Json& json, const std::optional<Agreement>& agreement) {
  if (!agreement) {
    json.null();
    return;
  }
  json.begin_object().member("rows", agreement->rows).member("selected", agreement->selected);
  json.member("all", agreement->all).end_object();
}

void write_guidance(Json& json, const SelectResult& result) {
  const Guidance& guidance = *result.selection.guidance;
  json.member("share", for_all_columns(guidance.share, result)).key("evidence");
  guidance.evidence.empty() ? json.null() : json.value(for_all_columns(guidance.evidence, result));
  json.member("alignment", guidance.alignment).key("guide").begin_object();
  json.member("outcome", outcome_text(guidance.outcome)).member("suggested", guidance.suggested);
  json.member("passed", guidance.passed).member("chance", guidance.chance).member("deviation", guidance.deviation);
  json.member("graph_weights", std::vector<double>(guidance.graph_weights.begin(), guidance.graph_weights.end()));
  json.member("modularity", std::vector<double>(guidance.modularity.begin(), guidance.modularity.end()));
  json.key("agreement");
  write_agreement(json, result.agreement);
  json.member("parts", guidance.parts).member("verdict", verdict(result)).end_object();
}

void write_redundancy(Json& json, const SelectResult& result) {
  json.key("redundancy");
  if (!result.redundancy) {
    json.null();
    return;
  }
  const Redundancy& found = *result.redundancy;
  const bool measured = !found.r2.empty();
  json.begin_object().member("threshold", found.threshold).key("r2");
  measured ? json.value(found.r2) : json.null();
  json.key("representative");
  if (measured) {
    json.begin_array();
    for (const Index j : found.representative) j < 0 ? json.null() : json.value(j);
    json.end_array();
  } else {
    json.null();
  }
  json.key("correlation");
  measured ? json.value(found.correlation) : json.null();
  json.key("groups").begin_array();
  for (const auto& group : found.groups) json.value(group);
  json.end_array().member("rows", found.rows).key("note");
  found.note.empty() ? json.null() : json.value(found.note);
  json.end_object();
}

void write_ranks(Json& json, const char* name, const std::vector<Index>& ranks) {
  json.key(name).begin_array();
  for (const Index rank : ranks) rank < 0 ? json.null() : json.value(rank);
  json.end_array();
}

// Only where it was asked for.
void write_stability(Json& json, const SelectResult& result) {
  if (!result.stability) return;
  const RepeatedRuns& found = *result.stability;
  json.key("stability").begin_object().member("by", found.resampled ? "resample" : "seeds");
  json.member("runs", found.runs).member("rows", found.rows).member("counts", found.counts);
  json.member("frequency", found.frequency);
  write_ranks(json, "rank_low", found.rank_low);
  write_ranks(json, "rank_high", found.rank_high);
  json.member("mean_rank", found.mean_rank).member("consensus", found.consensus).key("index");
  if (found.index) {
    json.value(found.index->value).member("variance", found.index->variance);
    json.member("interval", std::vector<double>{found.index->low, found.index->high}).end_object();
  } else {
    json.null().key("variance").null().key("interval").null().end_object();
  }
}

// The selected groups of features, best first.
void write_groups(Json& json, const SelectionRecord& record) {
  const FeatureGroups& given = record.request.groups;
  if (!given.groups.given()) return;
  write_list(json, "groups", record.result.groups, [&](Index group) {
    const std::span<const Index> all = given.groups.members(group);
    const std::vector<Index> members(all.begin(), all.end());
    json.member("name", given.names[group]).member("selected", members);
    json.member("score", record.result.scores[members.front()]);
  });
}

void write_report(Json& json, const SelectionRecord& record) {
  const Report& report = record.result.selection.report;
  json.key("report").begin_object().member("status", name_of(report.status)).member("iterations", report.iterations);
  json.member("objective", report.objective).key("terms").begin_object();
  for (const auto& [name, values] : report.terms) json.member(name, values);
  json.end_object()
      .member("resumed_at", report.resumed_at)
      .member("path", report.path)
      .member("seconds", report.seconds)
      .member("passes", report.passes);
  json.member("peak_bytes", record.peak_bytes).member("seed", record.seed).key("resolved").begin_object();
  for (const auto& [name, value] : report.resolved) json.member(name, value);
  json.end_object().member("warnings", record.warnings);
  if (const auto& guidance = record.result.selection.guidance) json.member("sampled_rows", guidance->rows);
  json.end_object();
}

// Version 0.1 did not say whether the table had names.
bool has_names(const JsonValue& document, Index schema, const std::vector<std::string>& names,
               const std::vector<Index>& selected) {
  if (schema > 1) return document.at("data").at("named").boolean();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != concat("f", selected[i])) return true;
  }
  return false;
}

EarlierSelection columns_of_document(const JsonValue& document, Index schema, const std::string& where) {
  const std::vector<Index> selected = document.at("selected").indices();
  const std::vector<std::string> names = document.at("names").strings();
  require(!selected.empty() && selected.size() == names.size(), ErrorCode::bad_data, where, ": ", selected.size(),
          " selected columns and ", names.size(), " names, need as many of both and at least 1");
  EarlierSelection found;
  found.features = document.at("data").at("features").index();
  const bool named = has_names(document, schema, names, selected);
  std::map<Index, std::string> by_position;
  for (std::size_t i = 0; i < selected.size(); ++i) by_position[selected[i]] = names[i];
  require(by_position.size() == selected.size() && by_position.begin()->first >= 0 &&
              by_position.rbegin()->first < found.features,
          ErrorCode::bad_data, where, ": selected columns need to be different positions in 0..", found.features - 1);
  for (auto& [position, name] : by_position) {
    found.positions.push_back(position);
    if (named) found.names.push_back(std::move(name));
  }
  if (schema > 1 && !document.at("data").at("id").is_null()) found.id_column = document.at("data").at("id").string();
  return found;
}

}  // namespace

void write_scale(Json& json, Scaling scale, const std::string& reason, const Table& table) {
  json.member("scale", name_of(scale)).member_if(!reason.empty(), "scale_reason", reason);
  json.member("counts", table.as_read.has_value());
}

void write_reading(Json& json, const Table& table) {
  json.key("reading").begin_object();
  for (const auto& [name, value] : table.read_with) {
    value.empty() ? json.member(name, true) : json.member(name, value);
  }
  json.end_object();
}

void write_options(Json& json, const Options& options, const Report& report) {
  for (const auto& option : options) write_option(json, option, report);
}

std::string selection_json(const SelectionRecord& record) {
  const auto& result = record.result;
  std::vector<std::string> names;
  for (const Index j : result.selected) names.push_back(feature_name(record.table, j));
  Json json;
  json.begin_object().member("tamis", kVersion).member("schema", kSchema).member("method", record.method.name);
  write_request(json, record);
  write_data(json, record);
  json.member("selected", result.selected).member("columns", columns_of_file(record.table, result.selected));
  json.member("names", names).member("scores", result.scores).member("verdict", verdict(result));
  write_groups(json, record);
  if (result.selection.guidance) write_guidance(json, result);
  write_redundancy(json, result);
  write_stability(json, result);
  json.member_if(!result.selection.clusters.empty(), "clusters", result.selection.clusters);
  const Forecast& expected = result.forecast;
  json.key("forecast").begin_object().member("seconds", expected.seconds).member("passes", expected.passes);
  json.member("peak_bytes", expected.peak_bytes).end_object();
  write_report(json, record);
  return json.end_object().text() + "\n";
}

EarlierSelection read_selection(std::string_view json, const std::string& where, Budget* budget) {
  constexpr const char* kNeed =
      "not a selection, need the selection.json of 'tamis select -o', or what it prints with --json";
  const auto need = [&](bool condition, const auto&... what) {
    require(condition, ErrorCode::bad_data, where, ": ", what...);
  };
  const std::size_t first = json.find_first_not_of(" \t\r\n");
  need(first != std::string_view::npos && json[first] == '{', kNeed);  // a table, say
  const JsonValue document = parse_json(json, where, budget);
  need(document.object().contains("method") && document.object().contains("selected"), kNeed);
  const auto& members = document.object();
  const Index schema = members.contains("schema") ? members.at("schema").index() : 1;
  need(schema >= 1 && schema <= kSchema, "schema ", schema, ", this version of tamis reads 1..", kSchema);
  return columns_of_document(document, schema, where);
}

std::vector<Index> group_numbers(const SelectResult& result) {
  std::vector<Index> out(result.scores.size(), 0);
  if (!result.redundancy) return out;
  Index number = 0;
  for (const auto& group : result.redundancy->groups) {
    ++number;
    for (const Index j : group) out[j] = number;
  }
  return out;
}

namespace {

// ",representative,r2,group": empty for a selected or constant column, and for one in no group.
std::string redundancy_cells(const Redundancy& found, Index group, Index j) {
  std::string out;
  if (!found.r2.empty()) {
    const Index representative = found.representative[j];
    const bool represented = representative >= 0;
    out += represented ? concat(",", representative, ",", number_text(found.r2[j])) : std::string(",,");
  }
  return out + (group > 0 ? concat(",", group) : std::string(","));
}

// Where features are in groups of their own, `group` is the name of that one.
std::string redundancy_header(const std::optional<Redundancy>& found, bool grouped) {
  if (!found) return {};
  return concat(found->r2.empty() ? "" : ",representative,r2", grouped ? ",redundancy_group" : ",group");
}

// ",frequency,rank_low,rank_high"
std::string stability_cells(const RepeatedRuns& found, Index j) {
  return concat(",", number_text(found.frequency[j]), ",", found.rank_low[j], ",", found.rank_high[j]);
}

}  // namespace

void write_ranking(const SelectionRecord& record, FileWriter& out) {
  const auto& result = record.result;
  std::vector<char> selected(result.scores.size(), 0);
  for (const Index j : result.selected) selected[j] = 1;
  const auto& guidance = result.selection.guidance;
  const std::vector<double> share = guidance ? for_all_columns(guidance->share, result) : std::vector<double>();
  const std::vector<double> evidence = guidance ? for_all_columns(guidance->evidence, result) : std::vector<double>();
  const bool judged = guidance && !guidance->evidence.empty();
  const std::vector<Index> group = group_numbers(result);
  const FeatureGroups& given = record.request.groups;
  const bool grouped = given.groups.given();
  out.write(concat(kRankingHeader, guidance ? ",share" : "", judged ? ",evidence" : "",
                   redundancy_header(result.redundancy, grouped), grouped ? ",group" : "",
                   result.stability ? ",frequency,rank_low,rank_high" : "", ",column\n"));
  for (std::size_t rank = 0; rank < result.ranking.size(); ++rank) {
    const Index j = result.ranking[rank];
    std::string line = std::to_string(rank + 1) + ',' + std::to_string(j) + ',';
    line += csv_cell(feature_name(record.table, j)) + ',' + number_text(result.scores[j]);
    line += selected[j] ? ",1" : ",0";
    if (guidance) line += ',' + number_text(share[j]);
    if (judged) line += ',' + number_text(evidence[j]);
    if (result.redundancy) line += redundancy_cells(*result.redundancy, group[j], j);
    if (grouped) line += ',' + csv_cell(given.names[given.groups.of(j)]);
    if (result.stability) line += stability_cells(*result.stability, j);
    out.write(line + ',' + std::to_string(record.table.column(j)) + '\n');
  }
}

void write_clusters(const SelectionRecord& record, FileWriter& out) {
  const Table& table = record.table;
  const std::vector<int> clusters = known_clusters(record.result, table.source.rows(), record.seed);
  const bool named = !table.row_ids.empty();
  out.write(concat(kClustersHeader, named ? ",id\n" : "\n"));
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    std::string line = concat(i, ",", clusters[i] < 0 ? std::string() : std::to_string(clusters[i]));
    if (named) line += "," + csv_cell(table.row_ids[i]);
    out.write(line + "\n");
  }
}

// If the system does not report the peak of this program, that of the process, which may have run another one before.
std::uint64_t peak_resident_bytes() {
  if (const auto peak = resident_bytes("VmHWM")) return *peak;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
#ifdef __APPLE__
  constexpr std::uint64_t kUnit = 1;
#else
  constexpr std::uint64_t kUnit = 1024;
#endif
  return static_cast<std::uint64_t>(usage.ru_maxrss) * kUnit;
}

}  // namespace tamis
