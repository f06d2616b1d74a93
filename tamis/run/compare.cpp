#include "tamis/run/compare.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "tamis/base/resident.h"
#include "tamis/run/doubts.h"
#include "tamis/run/select.h"

namespace tamis {

namespace {

constexpr Index kDefaultSizes[] = {20, 50, 100};

// The parts of a comparison, one stage each.
class Parts {
 public:
  Parts(Index count, Context& context) : count_(count), context_(context) {}

  void next(const std::string& name) {
    context_.check_cancelled();
    stage_.reset();
    stage_.emplace(context_, concat("compare, ", ++begun_, " of ", count_, name.empty() ? "" : ": ", name));
    context_.phase("");
  }

 private:
  Index count_;
  Context& context_;
  std::optional<Stage> stage_;
  Index begun_ = 0;
};

using Muted = Restored<std::function<void(const Warning&)>>;

Settings settings_for(const CompareRequest& request, const std::string& method) {
  const auto found = request.settings.find(method);
  return found == request.settings.end() ? Settings() : found->second;
}

class Comparer {
 public:
  Comparer(const Source& source, const CompareRequest& request, Context& context)
      : source_(source),
        request_(request),
        context_(context),
        // Refuses values that are not finite, and pages the data in before any method's memory is measured.
        scaled_(scaled(source, request.scale, column_moments(source, context), context)) {
    options_.clusters = request.clusters;
    options_.repeats = request.repeats;
    options_.subsets = request.subsets;
    options_.unit_rows = request.scale == Scaling::unit;
  }

  Comparison run() {
    std::vector<std::vector<Settings>> grids;
    Index count = static_cast<Index>(request_.sizes.size()) + 1;
    for (const auto& method : request_.methods) {
      grids.push_back(request_.grid ? combinations(grid_axes(method), method.name, settings_for(request_, method.name))
                                    : std::vector<Settings>());
      count += 1 + static_cast<Index>(grids.back().size());
    }
    Parts parts(count, context_);
    Comparison result;
    measure_bands(result, parts);
    for (std::size_t m = 0; m < request_.methods.size(); ++m) {
      const Method& method = request_.methods[m];
      parts.next({});
      result.methods.push_back(compare_one(method));
      for (const auto& settings : grids[m]) {
        parts.next("grid");
        result.methods.back().grid.push_back(run_setting(method, settings));
      }
    }
    return result;
  }

 private:
  // Random subsets and all features. One start a subset is enough, since their spread is what is looked for.
  void measure_bands(Comparison& result, Parts& parts) {
    EvaluateOptions single = options_;
    single.repeats = 1;
    for (const Index k : request_.sizes) {
      parts.next("random");
      random_.push_back(score_random_subsets(scaled_, request_.classes, k, single, context_));
      result.random.push_back(summary_of(random_.back()));
    }
    parts.next("allfea");
    result.all = score_all(scaled_, request_.classes, options_, result.notes, context_);
  }

  // On a source of its own, so that no method is spared the passes whose results an earlier one left behind.
  SelectResult rank(const Method& method, BoundMethod& bound) {
    std::vector<Index> every(source_.cols());
    std::iota(every.begin(), every.end(), 0);
    SelectRequest select;
    select.features.count = request_.sizes.back();
    select.scale = request_.scale;
    select.name = request_.name;
    SelectResult found = select_features(source_.with_columns(every), method, bound, select, context_);
    const auto first = found.ranking.begin();  // a method's own rule may have selected fewer
    found.selected.assign(first, first + request_.sizes.back());
    return found;
  }

  ComparedMethod compare_one(const Method& method) {
    ComparedMethod row;
    row.name = method.name;
    row.bound = bound_with(method, request_.clusters, settings_for(request_, method.name));
    row.failure = failure_of([&] {
      const ResidentGrowth growth;
      SelectResult found = rank(method, *row.bound);
      row.bytes = growth.bytes();
      row.seconds = found.selection.report.seconds;
      const auto scores = score_cuts(found.selected);
      for (std::size_t s = 0; s < scores.size(); ++s) {
        row.sizes.push_back({scores[s], p_value(random_[s], &SubsetScore::accuracy, scores[s].accuracy.mean)});
      }
      row.selected = std::move(found.selected);
      row.report = std::move(found.selection.report);
    });
    return row;
  }

  // Without warnings: they would be those of settings nobody asked for by name.
  GridRun run_setting(const Method& method, const Settings& settings) {
    const Muted muted(context_.on_warning, nullptr);
    GridRun run;
    run.settings = settings;
    Settings all = settings_for(request_, method.name);
    all.insert(settings.begin(), settings.end());
    run.failure = failure_of([&] {
      const auto found = rank(method, *bound_with(method, request_.clusters, all));
      run.status = found.selection.report.status;
      run.seconds = found.selection.report.seconds;
      run.sizes = score_cuts(found.selected);
    });
    return run;
  }

  // The first k of the selected features, for each size. Methods and settings that agree are measured once.
  std::vector<SubsetScore> score_cuts(const std::vector<Index>& selected) {
    std::vector<SubsetScore> scores;
    for (const Index k : request_.sizes) {
      std::vector<Index> cut(selected.begin(), selected.begin() + k);
      std::sort(cut.begin(), cut.end());
      auto known = measured_.find(cut);
      if (known == measured_.end()) {
        const auto score = score_subset(scaled_, request_.classes, cut, options_, 1, context_);
        known = measured_.emplace(std::move(cut), score).first;
      }
      scores.push_back(known->second);
    }
    return scores;
  }

  const Source& source_;
  const CompareRequest& request_;
  Context& context_;
  Source scaled_;
  EvaluateOptions options_;
  std::vector<std::vector<SubsetScore>> random_;        // one a subset, one list a size
  std::map<std::vector<Index>, SubsetScore> measured_;  // by increasing columns
};

void check_classes(const Source& source, const CompareRequest& request) {
  if (request.classes.empty()) {
    require(!request.grid, ErrorCode::usage, "compare: a grid without labels, need labels to score its settings");
    return;
  }
  require(static_cast<Index>(request.classes.size()) == source.rows(), ErrorCode::usage,
          "compare: ", request.classes.size(), " labels, need n = ", source.rows());
  const bool known = std::any_of(request.classes.begin(), request.classes.end(), [](int one) { return one >= 0; });
  require(known, ErrorCode::bad_data, "compare: no row has a label, need at least 1");
}

}  // namespace

std::vector<GridAxis> grid_axes(const Method& method) {
  std::vector<GridAxis> axes;
  for (const auto& [option, values] : method.grid) axes.push_back({method.name, option, values});
  return axes;
}

std::vector<Index> resolve_sizes(const std::vector<FeatureCount>& wanted, Index d) {
  std::set<Index> sizes;
  for (const auto& one : wanted) sizes.insert(resolve_count(one, d));
  if (wanted.empty()) {
    for (const Index size : kDefaultSizes) sizes.insert(std::min(size, d));
  }
  return {sizes.begin(), sizes.end()};
}

Matrix overlap(const std::vector<std::vector<Index>>& rankings, Index k) {
  const auto count = static_cast<Index>(rankings.size());
  std::vector<std::set<Index>> first;
  for (const auto& ranking : rankings) first.emplace_back(ranking.begin(), ranking.begin() + k);
  Matrix share(count, count);
  for (Index a = 0; a < count; ++a) {
    for (Index b = 0; b < count; ++b) {
      const auto& other = first[b];
      Index common = 0;
      for (const Index j : first[a]) common += other.contains(j) ? 1 : 0;
      share(a, b) = static_cast<double>(common) / static_cast<double>(k);
    }
  }
  return share;
}

GridSummary summary_of(const std::vector<GridRun>& grid, std::size_t size) {
  GridSummary summary;
  std::vector<double> accuracy;
  for (const auto& run : grid) {
    if (run.failure) continue;
    accuracy.push_back(run.sizes[size].accuracy.mean);
    if (accuracy.size() > 1 && accuracy.back() <= summary.best) continue;
    summary.best = accuracy.back();
    summary.best_settings = run.settings;
  }
  if (accuracy.empty()) return summary;
  summary.evaluations = static_cast<Index>(accuracy.size());
  summary.worst = *std::min_element(accuracy.begin(), accuracy.end());
  summary.median = median(accuracy);
  return summary;
}

void require_comparable(const Source& source, const CompareRequest& request) {
  const auto& sizes = request.sizes;
  require(!request.methods.empty(), ErrorCode::usage, "compare: 0 methods, need at least 1");
  require(!sizes.empty() && std::is_sorted(sizes.begin(), sizes.end()), ErrorCode::usage,
          "compare: need increasing numbers of features");
  require(sizes.front() >= 1 && sizes.back() <= source.cols(), ErrorCode::usage, "compare: ", OptionName{"features"},
          " = ", sizes.front() < 1 ? sizes.front() : sizes.back(), ", need 1..", source.cols());
  require(request.clusters >= 1 && request.clusters <= source.rows(), ErrorCode::usage,
          "compare: ", OptionName{"clusters"}, " = ", request.clusters, ", need 1..n = ", source.rows());
  require(request.repeats >= 1 && request.subsets >= 1, ErrorCode::usage, "compare: ", OptionName{"repeats"}, " = ",
          request.repeats, ", ", OptionName{"subsets"}, " = ", request.subsets, ", need x >= 1");
  check_classes(source, request);
  std::set<std::string> names;
  for (const auto& method : request.methods) {
    require(names.insert(method.name).second, ErrorCode::usage, "compare: method ", method.name, " twice, need once");
    bound_with(method, request.clusters, settings_for(request, method.name));  // refuses settings that cannot be
  }
  for (const auto& [name, settings] : request.settings) {
    require(names.contains(name), ErrorCode::usage, "compare: a setting of ", name, ", which is not compared");
  }
}

void keep_units(CompareRequest& request) {
  for (const auto& method : request.methods) {
    if (method.bind()->standardizes()) request.settings[method.name].try_emplace("standardize", "no");
  }
}

Comparison compare_methods(const Source& source, const CompareRequest& asked, Context& context) {
  require_comparable(source, asked);
  CompareRequest request = asked;
  if (asked.scale != Scaling::none) keep_units(request);
  ScaleAdvice advice{asked.scale, {}};
  if (asked.scale == Scaling::automatic) {
    const ColumnName name = [&](Index j) { return asked.name ? asked.name(j) : std::to_string(j); };
    advice = advise_scaling(source, column_moments(source, context), name);
  }
  request.scale = advice.scale;
  Comparison result = Comparer(source, request, context).run();
  result.scale = advice.scale, result.scale_reason = advice.reason;
  return result;
}

std::vector<Method> compared_by_default(const std::map<std::string, Settings>& settings) {
  std::vector<Method> out = methods();
  std::erase_if(out, [&](const Method& method) { return !method.same_as.empty() && !settings.contains(method.name); });
  return out;
}

}  // namespace tamis
