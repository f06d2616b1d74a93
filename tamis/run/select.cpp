#include "tamis/run/select.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "tamis/base/error.h"
#include "tamis/run/forecast.h"
#include "tamis/run/spelling.h"

namespace tamis {

namespace {

constexpr double kWideSpread = 100.0;  // of standard deviations, above which the largest columns decide alone

std::vector<char> mask(const std::vector<Index>& positions, Index count, const char* where) {
  std::vector<char> marked(static_cast<std::size_t>(count), 0);
  for (const Index j : positions) {
    require(j >= 0 && j < count, ErrorCode::usage, where, ": position ", j, ", need 0..", count - 1);
    marked[static_cast<std::size_t>(j)] = 1;
  }
  return marked;
}

std::vector<Index> positions_not_in(const std::vector<char>& marked) {
  std::vector<Index> rest;
  for (std::size_t j = 0; j < marked.size(); ++j) {
    if (!marked[j]) rest.push_back(static_cast<Index>(j));
  }
  return rest;
}

// The first k of the ranking, except that the included features are always among them.
std::vector<Index> pick(const std::vector<Index>& ranking, const std::vector<char>& included, Index k) {
  Index free = k;
  for (const char one : included) free -= one;
  require(free >= 0, ErrorCode::usage, "features = ", k, ", need at least the ", k - free, " included");
  std::vector<Index> selected;
  for (const Index j : ranking) {
    if (included[static_cast<std::size_t>(j)]) {
      selected.push_back(j);
    } else if (free > 0) {
      selected.push_back(j), --free;
    }
  }
  return selected;
}

void warn_of_spread(const ColumnMoments& moments, std::vector<std::string>& warnings, Context& context) {
  const double spread = deviation_spread(moments);
  if (!(spread > kWideSpread)) return;
  warnings.push_back(text("column standard deviations spread ", short_number(spread, 3),
                          "-fold, so the largest columns decide; consider --scale standard"));
  context.warn(warnings.back());
}

// Where every iteration was asked for, not converging is no surprise.
bool wants_every_iteration(const Options& options) {
  return std::any_of(options.begin(), options.end(), [](const Option& option) {
    const auto* value = std::get_if<double*>(&option.value);
    return option.name == "tolerance" && value != nullptr && **value == 0.0;
  });
}

void warn_of_stopping(const Method& method, const Options& options, Report& report, Context& context) {
  if (report.status != Status::max_iterations || wants_every_iteration(options)) return;
  report.warnings.push_back(
      text(method.name, ": not converged in ", report.iterations, " iterations; raise --iterations or --tolerance"));
  context.warn(report.warnings.back());
}

}  // namespace

SelectResult select_features(const Source& source, const Method& method, BoundMethod& bound,
                             const SelectRequest& request, Context& context) {
  const auto start = std::chrono::steady_clock::now();
  const auto excluded = mask(request.exclude, source.cols(), "exclude");
  const auto included = mask(request.include, source.cols(), "include");
  for (std::size_t j = 0; j < excluded.size(); ++j) {
    require(!(excluded[j] && included[j]), ErrorCode::usage, "feature ", j, " is both included and excluded, need one");
  }
  SelectResult result;
  result.available = positions_not_in(excluded);
  require(!result.available.empty(), ErrorCode::usage, "exclude: all ", source.cols(), " features, need to leave 1");
  const Index k = resolve_count(request.features, static_cast<Index>(result.available.size()));
  pick({}, included, k);  // refuse early what cannot be met
  if (!request.classes.empty()) bound.supervise(request.classes);
  if (request.features.count || request.features.fraction) bound.aim_at(k);

  const Source kept = request.exclude.empty() ? source : source.with_columns(result.available);
  require_memory(forecast(method.name, kept, bound.options(), context.threads()), context.memory_limit, method.name);
  const auto moments = column_moments(kept, context);
  result.constant = count_constant(moments);
  std::vector<std::string> warnings;
  if (request.scale == Scaling::none) warn_of_spread(moments, warnings, context);

  result.selection = bound.run(scaled(kept, request.scale, moments, context), context);
  auto& report = result.selection.report;
  report.warnings.insert(report.warnings.begin(), warnings.begin(), warnings.end());
  warn_of_stopping(method, bound.options(), report, context);
  report.passes = context.passes();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  result.scores.assign(static_cast<std::size_t>(source.cols()), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < result.available.size(); ++i) {
    result.scores[static_cast<std::size_t>(result.available[i])] = result.selection.scores[i];
  }
  for (const Index i : result.selection.ranking) {
    result.ranking.push_back(result.available[static_cast<std::size_t>(i)]);
  }
  result.selected = pick(result.ranking, included, k);
  return result;
}

}  // namespace tamis
