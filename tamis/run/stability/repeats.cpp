#include "tamis/run/stability/repeats.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/base/memory.h"
#include "tamis/base/random.h"
#include "tamis/base/text/spelling.h"
#include "tamis/data/passes/sample.h"
#include "tamis/graph/given.h"
#include "tamis/run/select.h"

namespace tamis {

namespace {

constexpr std::uint64_t kHalfStream = 0x68616c66;  // its own stream of the seed
constexpr double kMostRuns = 0.8;                  // a column that so many of the runs select is chosen by most of them

void require_count(const std::optional<Index>& count, const char* name) {
  require(!count || (*count >= 2 && *count <= kMostRepeats), ErrorCode::usage, OptionName{name}, " = ",
          count.value_or(0), ", need 2..", kMostRepeats);
}

Index repeats_of(const SelectRequest& request) { return request.seeds ? *request.seeds : request.resample.value_or(0); }

// The request of one more run over the columns that the first one saw.
SelectRequest again(const SelectRequest& request, const SelectResult& first) {
  SelectRequest out = request;
  out.seeds.reset(), out.resample.reset(), out.redundancy.reset();
  out.name = nullptr;  // whose warnings the first run gave
  out.evidence = out.page = false;
  out.weights.clear();  // those of the source
  out.exclude.clear();
  if (out.groups.groups.given()) out.groups.groups = request.groups.groups.among(first.available);
  out.scale = first.scale;
  for (Index& j : out.include) j = std::ranges::lower_bound(first.available, j) - first.available.begin();
  return out;
}

// The same for some of the rows.
SelectRequest on_rows(const SelectRequest& request, const std::vector<Index>& rows) {
  SelectRequest out = request;
  out.classes.clear();
  if (!request.classes.empty()) {
    for (const Index i : rows) out.classes.push_back(request.classes[i]);
  }
  if (request.connectivity) out.connectivity = graph_among(*request.connectivity, rows);
  if (request.init.empty()) return out;
  out.init = Matrix(static_cast<Index>(rows.size()), request.init.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(request.init.row(rows[i]), request.init.cols(), out.init.row(static_cast<Index>(i)));
  }
  return out;
}

TableSize half_size(const Source& source) {
  TableSize size = source.size();
  size.rows /= 2, size.entries /= 2;
  size.in_memory = true;
  size.table_bytes = size.resident_bytes = bytes_of_table(size.rows, size.entries, size.sparse, size.dtype);
  return size;
}

// Whether the limit has room for a half sample in memory beside the table, and for a run on it. Its rows are copied one
// by one before they are put together, and the allocator keeps what they took.
bool fits_in_memory(const Source& source, const BoundMethod& bound, Context& context) {
  constexpr std::uint64_t kRowOverhead = 48;  // bytes
  const TableSize half = half_size(source);
  const Forecast need = forecast(bound.plan(shape_of(half), context.threads()), half, context.process);
  const std::uint64_t copies = half.table_bytes + static_cast<std::uint64_t>(half.rows) * kRowOverhead;
  return need.peak_bytes + copies + source.size().resident_bytes <= memory_budget(context);
}

Source half_sample(const Source& source, const std::vector<Index>& rows, bool in_memory, Context& context) {
  if (auto there = take_rows_there(source, rows)) return *there;
  context.phase("taking half of the rows");
  return in_memory ? take_rows(source, rows, context) : take_rows_to_disk(source, rows, context);
}

// What another run says about itself is that run's affair; who gave up is the caller's.
template <class Work>
auto naming_run(const std::string& which, Work work) {
  try {
    return work();
  } catch (const NoVariation& error) {
    throw NoVariation(message(which, ": ", error.message()));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::interrupted) throw;
    fail(error.code(), which, ": ", error.message());
  }
}

class Repeater {
 public:
  Repeater(const Source& source, const Method& method, const BoundMethod& bound, const SelectRequest& request,
           const SelectResult& first, Context& context)
      : kept_(request.exclude.empty() ? source : source.with_columns(first.available)),
        method_(method),
        bound_(bound),
        request_(again(request, first)),
        context_(context) {}

  Choice seed(Index number, Index runs) {
    const std::uint64_t seed = context_.seed + static_cast<std::uint64_t>(number);
    const Restored<std::uint64_t> meanwhile(context_.seed, seed);
    return run(concat("seed ", number + 1, " of ", runs), [&] { return select(kept_, request_); });
  }

  Choice half(Index number, Index runs) {
    const UncountedPasses uncounted(context_);
    const std::vector<Index> rows = half_of_rows(kept_.rows(), context_.seed, number);
    return run(concat("half sample ", number + 1, " of ", runs),
               [&] { return select(half_sample(kept_, rows, in_memory(), context_), on_rows(request_, rows)); });
  }

 private:
  Choice run(const std::string& which, const std::function<SelectResult()>& work) {
    const Stage stage(context_, which);
    const SelectResult result = naming_run(which, work);
    return choice_of(result.ranking, result.selected);
  }

  SelectResult select(const Source& source, const SelectRequest& request) {
    const auto bound = bound_.copy();
    return select_features(source, method_, *bound, request, context_);
  }

  bool in_memory() {
    if (!in_memory_) in_memory_ = fits_in_memory(kept_, bound_, context_);
    return *in_memory_;
  }

  const Source kept_;
  const Method& method_;
  const BoundMethod& bound_;
  const SelectRequest request_;
  Context& context_;
  std::optional<bool> in_memory_;
};

// By the positions of all features.
template <class Value>
void spread_values(std::vector<Value>& values, const SelectResult& result, Value nothing) {
  std::vector<Value> out(result.scores.size(), nothing);
  for (std::size_t i = 0; i < values.size(); ++i) out[result.available[i]] = values[i];
  values = std::move(out);
}

RepeatedRuns spread_runs(Stability found, const SelectResult& result) {
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  spread_values(found.frequency, result, kNothing);
  spread_values(found.mean_rank, result, kNothing);
  spread_values(found.rank_low, result, Index{-1});
  spread_values(found.rank_high, result, Index{-1});
  for (Index& j : found.consensus) j = result.available[j];
  return {std::move(found)};
}

std::vector<Index> positions_among(const std::vector<Index>& available, std::vector<Index> columns) {
  for (Index& j : columns) j = std::ranges::lower_bound(available, j) - available.begin();
  return columns;
}

std::vector<char> forced_among(const SelectResult& first, const SelectRequest& request) {
  std::vector<Index> include = request.include;
  const ColumnGroups& groups = request.groups.groups;
  if (groups.any()) {
    for (const Index j : request.include) {
      include.insert(include.end(), groups.members(groups.of(j)).begin(), groups.members(groups.of(j)).end());
    }
  }
  std::vector<char> forced(first.available.size(), 0);
  for (const Index j : positions_among(first.available, include)) forced[j] = 1;
  return forced;
}

}  // namespace

std::vector<Index> half_of_rows(Index rows, std::uint64_t seed, Index number) {
  return draw_rows(rows, rows / 2, Random(seed, kHalfStream).bits(static_cast<std::uint64_t>(number)));
}

bool wants_repeats(const SelectRequest& request) { return request.seeds || request.resample; }

void require_repeats(const SelectRequest& request) {
  require_count(request.seeds, "seeds");
  require_count(request.resample, "resample");
  require(!request.seeds || !request.resample, ErrorCode::usage, Flag{"seeds"}, " and ", Flag{"resample"},
          ": need one of them, not both");
  require(!wants_repeats(request) || request.checkpoint.empty(), ErrorCode::usage, Flag{"checkpoint"},
          " does not cover the runs of ", Flag{request.seeds ? "seeds" : "resample"}, ": need one of them, not both");
}

void require_seeds(const SelectRequest& request, const Method& method, bool automatic) {
  require(!request.seeds || method.seeded || automatic, ErrorCode::usage, MethodName{method.name},
          " does not depend on the seed, so ", Flag{"seeds"}, " would say nothing; use ",
          Flag{"resample", std::to_string(request.seeds.value_or(0))});
}

void add_repeats(const BoundMethod& bound, const Shape& shape, const SelectRequest& request, int threads, Plan& plan) {
  constexpr double kChoice = 5.0 / 8;  // of a column: its rank and whether it is selected
  const auto runs = static_cast<double>(repeats_of(request));
  if (!wants_repeats(request)) return;
  plan.kept += kChoice * runs * shape.d();
  if (request.seeds) {
    plan.seconds *= runs, plan.passes *= runs;
    return;
  }
  Shape half = shape;
  half.rows = std::max<Index>(1, shape.rows / 2);
  half.entries = shape.entries / 2;
  plan.seconds += runs * (bound.plan(half, threads).seconds + kStatisticsSeconds * shape.entries);
  plan.passes += runs;
}

RepeatedRuns repeat(const Source& source, const Method& method, const BoundMethod& bound, const SelectRequest& request,
                    const SelectResult& first, Context& context) {
  const Restored<std::function<void(const Warning&)>> quiet(context.on_warning, {});
  const Index runs = repeats_of(request);
  const bool resampled = request.resample.has_value();
  Repeater repeater(source, method, bound, request, first, context);
  std::vector<Choice> choices;
  if (!resampled) {
    choices.push_back(
        choice_of(positions_among(first.available, first.ranking), positions_among(first.available, first.selected)));
  }
  while (static_cast<Index>(choices.size()) < runs) {
    const auto run = static_cast<Index>(choices.size());
    choices.push_back(resampled ? repeater.half(run, runs) : repeater.seed(run, runs));
    if (resampled) context.count_pass();
  }
  RepeatedRuns out = spread_runs(stability_of(choices, forced_among(first, request)), first);
  out.resampled = resampled;
  out.rows = resampled ? source.rows() / 2 : source.rows();
  return out;
}

std::string stability_text(const SelectResult& result) {
  const RepeatedRuns& found = *result.stability;
  const std::string what = found.resampled ? " half samples" : " seeds";
  if (found.same && !found.resampled) {
    return concat("all ", found.runs, what, " give the same ranking and select the same columns");
  }
  const auto most = static_cast<Index>(std::ceil(kMostRuns * static_cast<double>(found.runs)));
  const auto often = std::ranges::count_if(result.selected, [&](Index j) {
    return std::llround(found.frequency[j] * static_cast<double>(found.runs)) >= most;
  });
  const std::string runs =
      most < found.runs ? concat("at least ", most, " of ", found.runs) : concat("all ", found.runs);
  const std::string out = concat(often, " of ", counted(std::ssize(result.selected), "selected column"),
                                 often == 1 ? " is" : " are", " chosen by ", runs, what);
  if (!found.index) return out + "; Nogueira's index needs columns that are left out";
  const auto hundredths = [](double value) { return short_number(std::round(100 * value) / 100 + 0.0, 2); };
  return concat(out, "; Nogueira's index ", hundredths(found.index->value), " [", hundredths(found.index->low), ", ",
                hundredths(found.index->high), "]");
}

}  // namespace tamis
