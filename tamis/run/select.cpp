#include "tamis/run/select.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <new>
#include <numeric>
#include <optional>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/base/memory.h"
#include "tamis/base/sha256.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/base/version.h"
#include "tamis/run/checkpoint.h"
#include "tamis/run/doubts.h"
#include "tamis/select/direct.h"
#include "tamis/select/guided/guided.h"

namespace tamis {

namespace {

constexpr Index kLeastHalved = 4;  // rows

std::vector<char> mask(const std::vector<Index>& positions, Index count, const char* where) {
  std::vector<char> marked(count, 0);
  for (const Index j : positions) {
    require(j >= 0 && j < count, ErrorCode::usage, where, ": position ", j, ", need 0..", count - 1);
    marked[j] = 1;
  }
  return marked;
}

std::vector<Index> positions_not_in(const std::vector<char>& marked) {
  std::vector<Index> rest;
  rest.reserve(marked.size());
  for (Index j = 0; j < std::ssize(marked); ++j) {
    if (!marked[j]) rest.push_back(j);
  }
  return rest;
}

// Marked features, with all others of their groups.
std::vector<char> with_groups(const std::vector<char>& marked, const ColumnGroups& groups) {
  std::vector<char> out = marked;
  for (Index j = 0; j < groups.columns(); ++j) {
    if (!marked[j]) continue;
    for (const Index i : groups.members(groups.of(j))) out[i] = 1;
  }
  return out;
}

std::vector<Index> positions_in_mask(const std::vector<char>& marked) {
  std::vector<Index> out;
  for (Index j = 0; j < std::ssize(marked); ++j) {
    if (marked[j]) out.push_back(j);
  }
  return out;
}

// Includes and excludes whole groups, and says so.
void widen_to_groups(std::vector<Index>& positions, const char* where, const SelectRequest& request, Index count,
                     Context& context) {
  const ColumnGroups& groups = request.groups.groups;
  if (!groups.any() || positions.empty()) return;
  std::vector<Index> wide = positions_in_mask(with_groups(mask(positions, count, where), groups));
  if (wide.size() > positions.size()) {
    const std::size_t more = wide.size() - positions.size();
    context.warn(message(where, ": ", more,
                         more == 1 ? " more column of the same group is " : " more columns of the same groups are ",
                         where, "d"));
  }
  positions = std::move(wide);
}

// How many groups there are among the columns, and how many to take. A method without groups aims at columns: as many
// as the largest groups have.
Index columns_of_largest(const ColumnGroups& groups, Index k) {
  std::vector<std::size_t> sizes;
  for (Index g = 0; g < groups.count(); ++g) sizes.push_back(groups.members(g).size());
  std::sort(sizes.rbegin(), sizes.rend());
  return static_cast<Index>(std::accumulate(sizes.begin(), sizes.begin() + k, std::size_t{0}));
}

Index count_of_groups(const FeatureCount& wanted, const ColumnGroups& groups, Index choices) {
  require(!groups.any() || wanted.count.value_or(1) <= groups.count(), ErrorCode::usage, OptionName{"features"}, " = ",
          wanted.count.value_or(1), ", need 1..", groups.count(), ", the number of groups");
  return resolve_count(wanted, choices);
}

// Ranks groups for a method that ranks columns.
void rank_as_groups(const ColumnGroups& groups, Selection& found) {
  if (found.suggested) {
    const auto first = found.ranking.begin();
    found.suggested = static_cast<Index>(groups.in_order({first, first + *found.suggested}).size());
  }
  rank_groups_by_mean_square(groups, found);
}

// The first k of the ranking, except that the included features are always among them.
std::vector<Index> pick(const std::vector<Index>& ranking, const std::vector<char>& included, Index k) {
  Index free = k;
  for (const char one : included) free -= one;
  require(free >= 0, ErrorCode::usage, OptionName{"features"}, " = ", k, ", need at least ", k - free,
          ", the number of included features");
  std::vector<Index> selected;
  for (const Index j : ranking) {
    if (included[j]) {
      selected.push_back(j);
    } else if (free > 0) {
      selected.push_back(j), --free;
    }
  }
  return selected;
}

// Names of the available columns.
ColumnName name_in(const SelectRequest& request, const std::vector<Index>& available) {
  return [&](Index j) { return request.name ? request.name(available[j]) : std::to_string(available[j]); };
}

void use_graph(BoundMethod& bound, const Method& method, const SelectRequest& request) {
  if (!request.connectivity) return;
  require(bound.takes_graph(), ErrorCode::usage, MethodName{method.name}, " uses no graph of the rows, so that ",
          Flag{"connectivity"}, " would change nothing, need one of ", methods_that(&BoundMethod::takes_graph));
  bound.connect(request.connectivity);
}

// What is doubtful about the table as it stands, and about its units where they matter.
std::vector<Message> warnings_of(const Source& kept, const ColumnMoments& moments, const SelectRequest& request,
                                 std::optional<Scaling> cure_of_units, const std::vector<Index>& available,
                                 Context& context) {
  const ColumnName name = name_in(request, available);
  std::vector<Message> warnings;
  if (request.name) warnings = doubts(kept, moments, name, context);
  if (cure_of_units) {
    for (auto& line : doubts_of_units(kept, moments, name, *cure_of_units)) warnings.push_back(std::move(line));
  }
  for (const auto& line : warnings) context.warn(line);
  return warnings;
}

// maxvar after --scale standard, which makes all variances 1.
void warn_of_equal_scores(const Method& method, const SelectRequest& request, Index constant, Selection& selection,
                          Context& context) {
  constexpr double kTie = 1e-9;  // of the largest
  std::vector<double> scores = selection.scores;
  std::sort(scores.begin(), scores.end());
  scores.erase(scores.begin(), scores.begin() + constant);
  if (request.scale == Scaling::none || scores.size() < 2 || scores.back() - scores.front() > kTie * scores.back())
    return;
  selection.report.warnings.push_back(message(MethodName{method.name}, ": all columns score the same after ",
                                              Flag{"scale", name_of(request.scale)},
                                              ", so the first ones are taken; leave ", Flag{"scale"}, " out"));
  context.warn(selection.report.warnings.back());
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
  report.warnings.emplace_back(
      message(MethodName{method.name}, ": not converged in ", counted(report.iterations, "iteration"), "; raise ",
              Flag{"iterations"}, " or ", Flag{"tolerance"}),
      Warning::Kind::convergence);
  context.warn(report.warnings.back());
}

template <class T>
void add_bytes(Sha256& hash, const std::vector<T>& values) {
  hash.add(values.data(), values.size() * sizeof(T));
}

template <class T>
std::string digest_of(const std::vector<T>& values) {
  Sha256 hash;
  add_bytes(hash, values);
  return hash.finish();
}

// The statistics of all columns and some rows as they are: what changes in the data changes this, or the order of rows.
std::string data_key(const Source& source, const ColumnMoments& moments, Context& context) {
  constexpr Index kRows = 64;
  Sha256 hash;
  for (const auto* values : {&moments.mean, &moments.scatter, &moments.min, &moments.max}) add_bytes(hash, *values);
  const Matrix some = gather_rows(source, sample_rows(source.rows(), std::min(kRows, source.rows()), 0), context);
  hash.add(some.data(), some.size() * sizeof(double));
  return hash.finish();
}

// All that decides a run, a line each. Empty where no state is kept.
std::string checkpoint_key(const Method& method, const Options& options, std::optional<Index> aimed_at,
                           const SelectRequest& request, const Source& source, const ColumnMoments& moments,
                           Context& context) {
  if (request.checkpoint.empty()) return {};
  std::string key = concat("tamis=", kVersion, "\nmethod=", method.name, "\nrows=", source.rows(), "\ncolumns=");
  key += concat(source.cols(), "\nseed=", context.seed, "\nscale=", Flag{"scale", name_of(request.scale)}, '\n');
  for (const Option& option : options) key += concat(option.name, '=', value_text(option), '\n');
  if (aimed_at) key += concat("features=", *aimed_at, "\ninclude=", digest_of(request.include), '\n');
  if (request.groups.groups.any()) key += concat("groups=", digest_of(request.groups.groups.of()), '\n');
  if (const auto& graph = request.connectivity) {
    const std::string edges = concat(digest_of(graph->offsets), digest_of(graph->columns));
    key += concat("connectivity=", edges, digest_of(graph->weights), '\n');
  }
  if (source.weighted()) key += concat("sample_weight=", digest_of(source.weights()), '\n');
  return key + "supervise=" + digest_of(request.classes) + "\ndata=" + data_key(source, moments, context) + "\n";
}

// Keeps the state of the run while it lives, where that was asked for.
class Kept {
 public:
  Kept(const SelectRequest& request, const std::string& key, Context& context) : before_(context.checkpoint) {
    if (request.checkpoint.empty()) return;
    checkpoint_.emplace(request.checkpoint, key);
    context.checkpoint = &*checkpoint_;
  }

 private:
  std::optional<Checkpoint> checkpoint_;
  const Restored<CheckpointStore*> before_;
};

// Whether f says how many columns to take.
bool is_automatic(const FeatureCount& features, const Method& method, const BoundMethod& bound) {
  using enum FeatureCount::Otherwise;
  if (features.count || features.fraction || features.otherwise == all) return false;
  if (features.otherwise == by_method) return bound.chooses_count();
  require(!bound.aims(), ErrorCode::usage, OptionName{"features"}, " = auto: ", MethodName{method.name},
          " needs a number of features");
  return true;
}

// Where the given columns stand among `available`, both increasing.
std::vector<Index> positions_in(const std::vector<Index>& available, const std::vector<Index>& columns) {
  std::vector<Index> out;
  for (const Index j : columns) {
    out.push_back(std::lower_bound(available.begin(), available.end(), j) - available.begin());
  }
  return out;
}

// Whether what went wrong may come from numbers that are not those of the first pass: another process may write to a
// file whose rows are on disk, or mapped.
bool may_be_the_data(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    using enum ErrorCode;
    return error.code() == internal || error.code() == bad_data || error.code() == usage;
  } catch (const std::bad_alloc&) {
    return false;
  } catch (const std::exception&) {
    return true;
  }
}

// By another pass: throws Error(bad_data) where numbers are not finite now, by row and column, or others than before.
void require_unchanged(const Source& source, const ColumnMoments& before, Context& context) {
  std::vector<Index> every(source.cols());
  std::iota(every.begin(), every.end(), 0);
  const ColumnMoments now = column_moments(source.with_columns(every), context);  // what the source remembers is not
  require(now.mean == before.mean && now.scatter == before.scatter, ErrorCode::bad_data,
          "the data changed while they were being read; make sure that nothing writes to the file");
}

// What find_redundancy() says of the available columns, by positions among all.
Redundancy spread_redundancy(Redundancy found, const SelectResult& result) {
  const auto position = [&](Index i) { return i < 0 ? i : result.available[i]; };
  for (auto& group : found.groups) {
    for (Index& member : group) member = position(member);
  }
  if (found.r2.empty()) return found;
  std::vector<Index> representative(result.scores.size(), -1);
  for (std::size_t i = 0; i < result.available.size(); ++i) {
    representative[result.available[i]] = position(found.representative[i]);
  }
  found.representative = std::move(representative);
  found.r2 = for_all_columns(found.r2, result);
  found.correlation = for_all_columns(found.correlation, result);
  return found;
}

// How many columns are selected: k, or what the guide says, and no more than the method's own rule.
Index selected_count(const SelectResult& result, bool automatic, Index k, Index least) {
  const Selection& found = result.selection;
  Index count = !automatic ? k : found.suggested ? *found.suggested : found.guidance->suggested;
  if (result.selection.limit) count = std::min(count, *result.selection.limit);
  return std::max(count, least);
}

Selection run_on_unchanged(BoundMethod& bound, const Source& source, const Source& kept, const ColumnMoments& moments,
                           Context& context) {
  try {
    Selection found = bound.run(source, context);
    if (context.input_touched && context.input_touched()) require_unchanged(kept, moments, context);
    return found;
  } catch (...) {
    if (may_be_the_data(std::current_exception())) require_unchanged(kept, moments, context);
    throw;
  }
}

}  // namespace

std::vector<double> for_all_columns(const std::vector<double>& values, const SelectResult& result) {
  std::vector<double> out(result.scores.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < values.size(); ++i) out[result.available[i]] = values[i];
  return out;
}

namespace {

// Of report/select_view.h and report/cluster_profile.h: correlations, means by cluster and a sample of the rows.
void add_page_cost(const Shape& shape, Index selected, int threads, Plan& plan) {
  constexpr double kRows = 5000, kColumns = 200, kDescribed = 2000, kClusters = 30, kPasses = 4;
  const double sampled = 2 * std::min(kRows, shape.n()) * std::min(kColumns, static_cast<double>(selected));
  plan.phases.push_back({"page", sampled + kClusters * std::min(kDescribed, shape.d()) + shape.n()});
  plan.seconds += kPasses * kStatisticsSeconds * shape.entries / threads;
}

}  // namespace

Plan plan_of_run(const BoundMethod& bound, const Shape& shape, const SelectRequest& request, int threads) {
  constexpr double kWeightNumbers = 5;    // of a row: its weight and the root of it, here and where points are
  constexpr Index kOftenSuggested = 200;  // columns, where nobody knows the number yet
  Plan plan = bound.plan(shape, threads);
  add_repeats(bound, shape, request, threads, plan);
  const FeatureCount& wanted = request.features;
  Index k = wanted.count ? std::min(*wanted.count, shape.cols) : resolve_count(wanted, shape.cols);
  const bool automatic = wanted.otherwise == FeatureCount::Otherwise::automatic ||
                         (wanted.otherwise == FeatureCount::Otherwise::by_method && bound.chooses_count());
  if (!wanted.count && !wanted.fraction && automatic) k = std::min(k, kOftenSuggested);
  if (!request.weights.empty()) plan.kept += kWeightNumbers * shape.n();
  if (request.page) add_page_cost(shape, k, threads, plan);
  if (request.redundancy) add_cost(RedundancyWork(shape, k), shape, k, threads, plan);
  return plan;
}

namespace {

// Where the limit has room for the run alone, it does without the report on redundancy.
Forecast forecast_within_memory(const BoundMethod& bound, const Source& source, SelectRequest& request,
                                Context& context) {
  const auto whole = [&] {
    return forecast(plan_of_run(bound, shape_of(source), request, context.threads()), source.size(), context.process);
  };
  const Forecast wanted = whole();
  const std::uint64_t budget = memory_budget(context);
  if (!request.redundancy || wanted.peak_bytes <= budget) return wanted;
  const auto threshold = std::exchange(request.redundancy, std::nullopt);
  const Forecast least = whole();
  if (least.peak_bytes > budget) {
    request.redundancy = threshold;
    return wanted;
  }
  context.warn(message(OptionName{"redundancy"}, " was left out: it takes about ", size_text(wanted.peak_bytes),
                       " of memory, the limit is ", size_text(budget)));
  return least;
}

// Those who do not know of weights would give the result of other data.
void require_use_of_weights(const Source& source, const Method& method, const BoundMethod& bound,
                            const SelectRequest& request) {
  if (!source.weighted() && request.weights.empty()) return;
  const Flag weights{"sample-weight"};
  require(method.weighs, ErrorCode::usage, MethodName{method.name}, " does not use ", weights, ", need ",
          methods_that(&Method::weighs));
  require(!is_automatic(request.features, method, bound), ErrorCode::usage, OptionName{"features"},
          " = auto: the guide ", "does not use ", weights, ", need a number of features");
  require(!request.evidence, ErrorCode::usage, "evidence: the guide does not use ", weights, ", need one of them");
}

// Classes and a label matrix, for methods that take them.
void begin_as_asked(BoundMethod& bound, const Method& method, const SelectRequest& request) {
  if (!request.classes.empty()) {
    require(bound.takes_classes(), ErrorCode::usage, MethodName{method.name}, " does not use labels, need ",
            methods_that(&BoundMethod::takes_classes));
    bound.supervise(request.classes);
  }
  if (!request.init.empty()) {
    require(bound.takes_init(), ErrorCode::usage, MethodName{method.name}, " does not take initial labels, need ",
            methods_that(&BoundMethod::takes_init));
    bound.start_from(request.init);
  }
}

// The columns that the method may see.
std::vector<Index> available_columns(const SelectRequest& request, Index count) {
  const auto excluded = mask(request.exclude, count, "exclude");
  const auto included = mask(request.include, count, "include");
  for (Index j = 0; j < count; ++j) {
    if (!excluded[j] || !included[j]) continue;
    fail(ErrorCode::usage, "feature ", request.name ? concat("'", printable(request.name(j)), "'") : std::to_string(j),
         " is both included and excluded, need one");
  }
  std::vector<Index> available = positions_not_in(excluded);
  require(!available.empty(), ErrorCode::usage, "exclude: all ", count, " features are excluded, need at least 1 left");
  return available;
}

// One selection, step by step: each uses what those before it found.
class SingleRun {
 public:
  SingleRun(const Source& source, const Method& method, BoundMethod& bound, const SelectRequest& asked,
            Context& context)
      : source_(source), method_(method), bound_(bound), request_(asked), context_(context) {}

  SelectResult run() {
    const Stopwatch watch(context_);
    const Stage stage(context_, method_.name);
    check_request();
    count_choices();
    bind_request();
    look_over();
    run_method();
    add_guidance();
    add_warnings();
    bring_back();
    pick_columns();
    add_agreement();
    add_redundancy();
    Report& report = result_.selection.report;
    report.passes = context_.passes();
    report.seconds = watch.seconds();
    return std::move(result_);
  }

 private:
  void check_request() {
    require(request_.checkpoint.empty() || method_.resumes, ErrorCode::usage, "checkpoint: ", method_.name,
            " cannot be resumed, need ", methods_that(&Method::resumes));
    const ColumnGroups& given = request_.groups.groups;
    require(!given.given() || given.columns() == source_.cols(), ErrorCode::usage, "groups of ", given.columns(),
            " features, need ", source_.cols());
    widen_to_groups(request_.exclude, "exclude", request_, source_.cols(), context_);
    widen_to_groups(request_.include, "include", request_, source_.cols(), context_);
    require_use_of_weights(source_, method_, bound_, request_);
    result_.available = available_columns(request_, source_.cols());
    automatic_ = is_automatic(request_.features, method_, bound_);
    require_seeds(request_, method_, automatic_);
  }

  // What is counted, columns or groups of them; which are taken in any case, and how many.
  void count_choices() {
    // Without groups none are made: for many columns they would take more memory than some methods do.
    groups_ = request_.groups.groups.among(result_.available);
    result_.choices = groups_.given() ? groups_.count() : std::ssize(result_.available);
    included_ = positions_in(result_.available, request_.include);
    taken_.assign(result_.choices, 0);
    for (const Index j : included_) taken_[groups_.given() ? groups_.of(j) : j] = 1;
    k_ = count_of_groups(request_.features, groups_, result_.choices);
    pick({}, taken_, k_);  // refuse early what cannot be met
    require_redundancy(request_.redundancy);
  }

  void bind_request() {
    if (request_.scale != Scaling::none) bound_.keep_units();
    result_.supervised = !request_.classes.empty();
    begin_as_asked(bound_, method_, request_);
    use_graph(bound_, method_, request_);
    ranks_groups_ = groups_.any() && !bound_.takes_groups();
    if (groups_.any()) bound_.group(groups_);
    if (request_.features.count || request_.features.fraction) {
      bound_.aim_at(ranks_groups_ ? columns_of_largest(groups_, k_) : k_);
    }
    bound_.force(included_);
  }

  // What the run will cost, the first pass, and what it says of the columns and of their units.
  void look_over() {
    kept_ = request_.exclude.empty() ? source_ : source_.with_columns(result_.available);
    result_.forecast = forecast_within_memory(bound_, kept_, request_, context_);
    require_memory(result_.forecast, memory_budget(context_), method_.name);
    context_.phase("moments of the columns");
    bound_.draw(kept_, context_);
    moments_ = column_moments(kept_, context_);
    result_.constant = count_constant(moments_);
    if (request_.scale == Scaling::automatic) {
      const ScaleAdvice advice = advise_scaling(kept_, moments_, name_in(request_, result_.available));
      request_.scale = advice.scale, result_.scale_reason = advice.reason;
      if (method_.scores_are_variances && advice.scale == Scaling::standard) {
        request_.scale = Scaling::none;
        result_.scale_reason = concat(method_.name, " compares variances, which standard makes equal");
      }
    }
    result_.scale = request_.scale;
    std::optional<Scaling> cure_of_units;
    if (request_.scale == Scaling::none && !bound_.standardizes()) {
      cure_of_units = method_.scores_are_variances ? Scaling::minmax : Scaling::standard;
    }
    doubts_ = warnings_of(kept_, moments_, request_, cure_of_units, result_.available, context_);
  }

  void run_method() {
    const auto aimed_at = bound_.aims() ? std::optional(k_) : std::nullopt;
    state_.emplace(request_, checkpoint_key(method_, bound_.options(), aimed_at, request_, kept_, moments_, context_),
                   context_);
    seen_ = scaled(kept_, request_.scale, moments_, context_);
    result_.column_scale = seen_.column_scale();
    result_.selection = run_on_unchanged(bound_, seen_, kept_, moments_, context_);
    if (ranks_groups_) rank_as_groups(groups_, result_.selection);
  }

  // Of a method that has no guide of its own, where the number of columns or the evidence comes from one.
  void add_guidance() {
    Selection& found = result_.selection;
    const bool undecided = automatic_ && !found.suggested;
    if (found.guidance || !(undecided || request_.evidence)) return;
    const Stage guiding(context_, "guide");
    GuidedOptions guided;
    guided.evidence = request_.evidence;
    if (groups_.any()) guided.groups = groups_;
    found.guidance = guide_along(seen_, found.ranking, guided, context_);
  }

  void add_warnings() {
    Report& report = result_.selection.report;
    report.warnings.insert(report.warnings.begin(), doubts_.begin(), doubts_.end());
    warn_of_stopping(method_, bound_.options(), report, context_);
    warn_of_equal_scores(method_, request_, result_.constant, result_.selection, context_);
  }

  // From the available columns to all of the table.
  void bring_back() {
    result_.scores.resize(source_.cols());
    result_.scores = for_all_columns(result_.selection.scores, result_);
    for (const Index i : result_.selection.ranking) result_.ranking.push_back(result_.available[i]);
  }

  void pick_columns() {
    const Index least = std::count(taken_.begin(), taken_.end(), char{1});
    const Index count = selected_count(result_, automatic_, k_, least);
    const auto& ranking = result_.selection.ranking;
    std::vector<Index> picked = pick(groups_.given() ? groups_.in_order(ranking) : ranking, taken_, count);
    if (groups_.given()) picked = groups_.expand(picked);
    for (const Index i : picked) result_.selected.push_back(result_.available[i]);
    const ColumnGroups& given = request_.groups.groups;
    if (given.given()) result_.groups = given.in_order(result_.selected);
  }

  void add_agreement() {
    auto& guidance = result_.selection.guidance;
    if (!guidance) return;
    result_.agreement = agreement_with_groups(*guidance, positions_in(result_.available, result_.selected), context_);
    guidance->looked_at = {};
  }

  void add_redundancy() {
    if (!request_.redundancy) return;
    const std::vector<Index> selected = positions_in(result_.available, result_.selected);
    result_.redundancy = spread_redundancy(
        find_redundancy(seen_, result_.selection.ranking, selected, *request_.redundancy, context_), result_);
  }

  const Source& source_;
  const Method& method_;
  BoundMethod& bound_;
  SelectRequest request_;
  Context& context_;
  SelectResult result_;

  bool automatic_ = false;       // the method or the guide says how many columns to take
  ColumnGroups groups_;          // of the available columns
  bool ranks_groups_ = false;    // the method ranks columns, and the run ranks their groups
  std::vector<Index> included_;  // among the available columns
  std::vector<char> taken_;      // of each choice: whether it is included
  Index k_ = 0;

  Source kept_, seen_;  // the available columns, as they are and as the method sees them
  ColumnMoments moments_;
  std::vector<Message> doubts_;
  std::optional<Kept> state_;
};

}  // namespace

Options options_in_use(BoundMethod& bound, const SelectRequest& request) {
  Options out = bound.options();
  if (!request.connectivity) return out;
  GraphOptions graph;
  for (const Option& unused : describe(graph)) {
    std::erase_if(out, [&](const Option& option) { return option.name == unused.name; });
  }
  return out;
}

Source weighted(const Source& source, const SelectRequest& request) {
  return request.weights.empty() ? source : source.with_weights(request.weights);
}

SelectResult select_features(const Source& given, const Method& method, BoundMethod& bound,
                             const SelectRequest& request, Context& context) {
  const Source source = weighted(given, request);
  const Stopwatch watch(context);
  require_repeats(request);
  require(!request.resample || source.rows() >= kLeastHalved, ErrorCode::usage, Flag{"resample"}, " needs at least ",
          kLeastHalved, " rows, so that half of them are 2; the table has ", source.rows());
  SelectResult result = SingleRun(source, method, bound, request, context).run();
  if (!wants_repeats(request)) return result;
  result.stability = repeat(source, method, bound, request, result, context);
  auto& report = result.selection.report;
  report.passes = context.passes();
  report.seconds = watch.seconds();
  return result;
}

}  // namespace tamis
