#include "tamis/paper/cells.h"

#include <algorithm>

#include "tamis/base/sha256.h"
#include "tamis/base/version.h"
#include "tamis/report/json_reader.h"

namespace tamis {

namespace {

void write_key(Json& json, const CellKey& key) {
  json.begin_object().member("tamis", kVersion).member("protocol", kProtocolVersion).member("set", key.set);
  json.member("sha256", key.sha256).member("rows", key.rows).member("clusters", key.clusters);
  json.member("method", key.method).member("options", key.options).member("sizes", key.sizes);
  json.member("repeats", key.repeats).member("subsets", key.subsets).member("seed", key.seed).end_object();
}

class Planner {
 public:
  Planner(const ExperimentSet& set, const Protocol& protocol, std::uint64_t seed) : protocol_(protocol) {
    base_.set = set.name;
    base_.sha256 = set.sha256;
    base_.rows = set.source.rows();
    base_.clusters = set.class_count;
    base_.repeats = protocol.repeats;
    base_.seed = seed;
    sizes_ = sizes_of(protocol, set.source.cols());
    features_ = set.source.cols();
  }

  void plan_controls() {
    add(kAllFeatures, {}, {}, {features_}, 0);
    for (const Index size : sizes_) add(kRandomFeatures, {}, {}, {size}, protocol_.subsets);
  }

  void plan_method(const Method& method) {
    add_run(method, {}).label_free = true;
    for (const auto& settings : grid_settings(protocol_, method.name)) add_run(method, settings).grid = true;
    for (const auto& settings : figure_settings(protocol_, method.name)) add_run(method, settings).figure = true;
  }

  void plan_guided() {
    const Method& guided = find_method(kGuided);
    for (const Settings& settings : {Settings{}, Settings{{"clusters", std::to_string(base_.clusters)}}}) {
      add_run(guided, settings, {}).own_size = true;
    }
  }

  std::vector<PlannedCell> cells;

 private:
  PlannedCell& add_run(const Method& method, const Settings& settings) { return add_run(method, settings, sizes_); }

  PlannedCell& add_run(const Method& method, const Settings& settings, const std::vector<Index>& sizes) {
    Settings with_graph = settings;
    if (find_option(method.bind()->options(), "neighbors")) {
      with_graph["neighbors"] = std::to_string(protocol_.neighbors);
    }
    Settings options;
    const auto bound = bound_with(method, base_.clusters, with_graph);
    for (const auto& option : bound->options()) options[option.name] = value_text(option);
    return add(method.name, settings, std::move(options), sizes, 0);
  }

  PlannedCell& add(const std::string& method, const Settings& settings, Settings options, std::vector<Index> sizes,
                   Index subsets) {
    PlannedCell cell;
    cell.key = base_;
    cell.key.method = method;
    cell.key.options = std::move(options);
    cell.key.sizes = std::move(sizes);
    cell.key.subsets = subsets;
    cell.settings = settings;
    // By the set's own bytes too: JSON has one spelling for all bytes that are no UTF-8.
    cell.id = sha256(key_text(cell.key) + cell.key.set);
    const auto same = std::find_if(cells.begin(), cells.end(), [&](const auto& one) { return one.id == cell.id; });
    if (same == cells.end()) return cells.emplace_back(std::move(cell));
    if (same->settings.empty()) same->settings = settings;
    return *same;
  }

  const Protocol& protocol_;
  CellKey base_;
  std::vector<Index> sizes_;
  Index features_ = 0;
};

std::vector<double> over_starts(const SubsetScore& score, double StartScore::*measure) {
  std::vector<double> values;
  for (const auto& start : score.starts) values.push_back(start.*measure);
  return values;
}

void write_score(Json& json, const SubsetScore& score) {
  json.member("features", score.features).member("acc", over_starts(score, &StartScore::accuracy));
  json.member("nmi", over_starts(score, &StartScore::nmi)).member("ari", over_starts(score, &StartScore::rand));
  json.member("redundancy", score.redundancy);
}

SubsetScore read_score(const JsonValue& value, Index repeats) {
  SubsetScore score;
  score.features = value.at("features").index();
  const auto accuracy = value.at("acc").numbers(), nmi = value.at("nmi").numbers(), rand = value.at("ari").numbers();
  const auto count = static_cast<std::size_t>(repeats);
  require(accuracy.size() == count && nmi.size() == count && rand.size() == count, ErrorCode::bad_data, "cell: need ",
          repeats, " starts");
  for (std::size_t r = 0; r < count; ++r) score.starts.push_back({accuracy[r], nmi[r], rand[r]});
  if (!value.at("redundancy").is_null()) score.redundancy = value.at("redundancy").number();
  summarize_starts(score);
  return score;
}

Status parse_status(const std::string& name) {
  for (const Status status : {Status::converged, Status::max_iterations, Status::direct}) {
    if (name_of(status) == name) return status;
  }
  fail(ErrorCode::bad_data, "cell: status = ", name);
}

// Every column once.
void check_ranking(const std::vector<Index>& ranking, Index features) {
  std::vector<char> seen(features, 0);
  for (const Index j : ranking) {
    require(j >= 0 && j < features && !seen[j], ErrorCode::bad_data, "cell: ranking");
    seen[j] = 1;
  }
  require(ranking.size() == seen.size(), ErrorCode::bad_data, "cell: ranking");
}

void check_sizes(const Cell& cell, Index features) {
  const CellKey& key = cell.plan.key;
  if (cell.plan.own_size) {
    const bool sound = cell.scores.size() == 1 && cell.scores[0].features >= 1 && cell.scores[0].features <= features;
    require(sound, ErrorCode::bad_data, "cell: need 1 subset");
    return;
  }
  const auto expected = key.subsets > 0 ? static_cast<std::size_t>(key.subsets) : key.sizes.size();
  require(cell.scores.size() == expected, ErrorCode::bad_data, "cell: need ", expected, " subsets");
  for (std::size_t s = 0; s < expected; ++s) {
    require(cell.scores[s].features == key.sizes[key.subsets > 0 ? 0 : s], ErrorCode::bad_data, "cell: sizes");
  }
}

Cell read_cell(const JsonValue& file, const PlannedCell& plan, Index features) {
  const JsonValue& value = file.at("cell");
  require(value.at("id").string() == plan.id, ErrorCode::bad_data, "cell: another one's");
  Cell cell;
  cell.plan = plan;
  cell.seconds = file.at("seconds").number();
  cell.cpu_seconds = file.at("cpu_seconds").number();
  cell.status = parse_status(value.at("status").string());
  cell.iterations = value.at("iterations").index();
  cell.path = value.at("path").string();
  for (const auto& fact : value.at("resolved").array()) {
    cell.resolved.emplace_back(fact.at("name").string(), fact.at("value").number());
  }
  cell.objective = value.at("objective").numbers();
  for (const auto& term : value.at("terms").array()) {
    cell.terms.emplace_back(term.at("name").string(), term.at("values").numbers());
  }
  cell.warnings = value.at("warnings").strings();
  cell.ranking = value.at("ranking").indices();
  if (!cell.ranking.empty()) check_ranking(cell.ranking, features);
  for (const auto& score : value.at("subsets").array()) cell.scores.push_back(read_score(score, plan.key.repeats));
  check_sizes(cell, features);
  return cell;
}

constexpr std::string_view kFileStart = "{\"sha256\": \"", kFileNext = "\", ";
constexpr std::size_t kHexDigits = 64;

}  // namespace

std::string key_text(const CellKey& key) {
  Json json;
  write_key(json, key);
  return json.text();
}

std::vector<PlannedCell> plan_cells(const ExperimentSet& set, const Protocol& protocol,
                                    const std::vector<Method>& methods, bool guided, std::uint64_t seed) {
  Planner planner(set, protocol, seed);
  planner.plan_controls();
  for (const auto& method : methods) planner.plan_method(method);
  if (guided) planner.plan_guided();
  return std::move(planner.cells);
}

void write_cell(Json& json, const Cell& cell, bool with_ranking) {
  json.member("id", cell.plan.id).key("key");
  write_key(json, cell.plan.key);
  json.member("settings", cell.plan.settings);
  json.member("grid", cell.plan.grid).member("label_free", cell.plan.label_free).member("figure", cell.plan.figure);
  json.member("own_size", cell.plan.own_size);
  if (cell.failure) {
    json.member("error", cell.failure->reason.text());
    return;
  }
  json.member("status", name_of(cell.status)).member("iterations", cell.iterations).member("path", cell.path);
  write_list(json, "resolved", cell.resolved,
             [&](const Fact& fact) { json.member("name", fact.first).member("value", fact.second); });
  json.member("objective", cell.objective);
  write_list(json, "terms", cell.terms,
             [&](const Trace& term) { json.member("name", term.first).member("values", term.second); });
  json.member("warnings", cell.warnings);
  if (with_ranking) json.member("ranking", cell.ranking);
  write_list(json, "subsets", cell.scores, [&](const SubsetScore& score) { write_score(json, score); });
}

std::string cell_file_text(const Cell& cell) {
  Json json;
  json.begin_object()
      .member("seconds", cell.seconds)
      .member("cpu_seconds", cell.cpu_seconds)
      .key("cell")
      .begin_object();
  write_cell(json, cell);
  json.end_object().end_object();
  const std::string rest = json.text().substr(1) + "\n";  // less its bracket, which the checksum stands behind
  return concat(kFileStart, sha256(rest), kFileNext, rest);
}

std::optional<Cell> parse_cell_file(std::string_view file, const PlannedCell& plan, Index features) {
  const std::size_t start = kFileStart.size() + kHexDigits + kFileNext.size();
  if (file.size() < start || !file.starts_with(kFileStart)) return std::nullopt;
  if (file.substr(kFileStart.size() + kHexDigits, kFileNext.size()) != kFileNext) return std::nullopt;
  if (file.substr(kFileStart.size(), kHexDigits) != sha256(file.substr(start))) return std::nullopt;
  try {
    return read_cell(parse_json(file, "cell"), plan, features);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace tamis
