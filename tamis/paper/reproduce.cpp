#include "tamis/paper/reproduce.h"

#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>
#include <numeric>
#include <thread>

#include "tamis/base/text/progress_line.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/passes/passes.h"
#include "tamis/run/forecast.h"
#include "tamis/run/select.h"

namespace tamis {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// That this thread has computed for so far.
double thread_cpu_seconds() {
  timespec time{};
  return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0
             ? static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec)
             : 0.0;
}

// What a subset of columns gives, each subset measured once: settings often agree on one.
class Scorer {
 public:
  explicit Scorer(const ExperimentSet& set) : set_(set) {}

  SubsetScore score(const std::vector<Index>& columns, const EvaluateOptions& options, Context& context) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = known_.find(columns); known != known_.end()) return known->second;
    }
    const SubsetScore found = score_subset(set_.source, set_.classes, columns, options, 1, context);
    const std::lock_guard lock(mutex_);
    return known_.emplace(columns, found).first->second;
  }

 private:
  const ExperimentSet& set_;
  std::mutex mutex_;
  std::map<std::vector<Index>, SubsetScore> known_;
};

EvaluateOptions evaluate_options(const CellKey& key) {
  EvaluateOptions options;
  options.clusters = key.clusters;
  options.repeats = key.repeats;
  options.subsets = std::max<Index>(1, key.subsets);
  return options;
}

// --- One cell -----------------------------------------------------------------------------------------------------

Settings settings_of(const PlannedCell& plan) {
  Settings settings = plan.settings;
  const auto neighbors = plan.key.options.find("neighbors");
  if (neighbors != plan.key.options.end()) settings["neighbors"] = neighbors->second;
  return settings;
}

// Every column is ranked, towards no number of them: a method that works towards one (mcfs) takes its default, and
// guided chooses.
void rank_and_score(const ExperimentSet& set, Cell& cell, Scorer& scorer, Context& context) {
  const CellKey& key = cell.plan.key;
  const Method& method = find_method(key.method);
  const auto bound = bound_with(method, key.clusters, settings_of(cell.plan));
  SelectResult found = select_features(set.source, method, *bound, {}, context);
  Report& report = found.selection.report;
  const auto score = [&](std::vector<Index> cut) {
    std::sort(cut.begin(), cut.end());
    cell.scores.push_back(scorer.score(cut, evaluate_options(key), context));
  };
  for (const Index size : key.sizes) score({found.ranking.begin(), found.ranking.begin() + size});
  if (cell.plan.own_size) score(found.selected);
  cell.ranking = std::move(found.ranking);
  cell.status = report.status;
  cell.iterations = report.iterations;
  cell.path = report.path;
  cell.resolved = std::move(report.resolved);
  cell.objective = std::move(report.objective);
  cell.terms = std::move(report.terms);
  for (const Warning& warning : report.warnings) cell.warnings.push_back(warning.text());
}

void score_everything(const ExperimentSet& set, Cell& cell, Scorer& scorer, Context& context) {
  std::vector<Index> every(set.source.cols());
  std::iota(every.begin(), every.end(), 0);
  cell.scores = {scorer.score(every, evaluate_options(cell.plan.key), context)};
}

Cell compute_cell(const ExperimentSet& set, const PlannedCell& plan, Scorer& scorer, Context& context) {
  const auto start = Clock::now();
  const double cpu_start = thread_cpu_seconds();
  Cell cell;
  cell.plan = plan;
  cell.failure = failure_of([&] {
    if (plan.key.method == kAllFeatures) {
      score_everything(set, cell, scorer, context);
    } else if (plan.key.method == kRandomFeatures) {
      cell.scores =
          score_random_subsets(set.source, set.classes, plan.key.sizes.front(), evaluate_options(plan.key), context);
    } else {
      rank_and_score(set, cell, scorer, context);
    }
  });
  cell.seconds = seconds_since(start);
  cell.cpu_seconds = thread_cpu_seconds() - cpu_start;
  return cell;
}

// Rough, to begin with the long ones and to tell the time left.
double expected_seconds(const ExperimentSet& set, const PlannedCell& plan) {
  constexpr double kFlops = 1e10, kLloydSteps = 30.0;
  const CellKey& key = plan.key;
  double columns = 0.0;
  for (const Index size : key.sizes) columns += static_cast<double>(size);
  const double starts = static_cast<double>(key.repeats * std::max<Index>(1, key.subsets));
  double seconds =
      2.0 * static_cast<double>(key.rows) * columns * static_cast<double>(key.clusters) * starts * kLloydSteps / kFlops;
  if (key.method != kAllFeatures && key.method != kRandomFeatures) {
    const auto bound = bound_with(find_method(key.method), key.clusters, settings_of(plan));
    seconds += forecast(bound->plan(shape_of(set.source), 1), set.source.size(), {}).seconds;
  }
  return seconds;
}

// --- All of them --------------------------------------------------------------------------------------------------

struct Job {
  const ExperimentSet* set;
  Scorer* scorer;
  Cell* cell;
  double weight;  // expected seconds
};

class Runner {
 public:
  Runner(std::vector<Job> jobs, CellStore& store, Context& context)
      : jobs_(std::move(jobs)), store_(store), context_(context), caller_(std::this_thread::get_id()) {
    std::stable_sort(jobs_.begin(), jobs_.end(), [](const Job& a, const Job& b) { return a.weight > b.weight; });
    for (const auto& job : jobs_) total_ += job.weight;
  }

  void run() {
    try {
      context_.pool().run(static_cast<Index>(jobs_.size()), [this](Index i) { run_one(jobs_[i]); });
    } catch (...) {
      std::rethrow_exception(first_error_);
    }
  }

 private:
  // An error stops the cells of the other threads too, and they must not hide it behind being stopped.
  void run_one(Job& job) {
    try {
      Context inner(1, context_.seed);
      inner.memory_limit = context_.memory_limit;
      inner.is_cancelled = [this] { return stopped_ || (context_.is_cancelled && context_.is_cancelled()); };
      if (std::this_thread::get_id() == caller_) {
        inner.on_progress = [&](const Progress&) { show(job.cell->plan.key); };
      }
      inner.check_cancelled();
      *job.cell = compute_cell(*job.set, job.cell->plan, *job.scorer, inner);
      if (!job.cell->failure) store_.save(*job.cell);
      const std::lock_guard lock(mutex_);
      done_ += job.weight;
      ++finished_;
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!first_error_) first_error_ = std::current_exception();
      stopped_ = true;
      throw;
    }
  }

  void show(const CellKey& key) {
    const std::lock_guard lock(mutex_);
    const double share = total_ > 0.0 ? done_ / total_ : 0.0;
    std::string left;
    if (finished_ > 0) left = "about " + duration_text(seconds_since(start_) * (1.0 - share) / share) + " left; ";
    context_.phase("runs", {static_cast<double>(finished_), static_cast<double>(jobs_.size()), false, false},
                   concat(left, key.set, " ", key.method));
  }

  std::vector<Job> jobs_;
  CellStore& store_;
  Context& context_;
  std::thread::id caller_;
  Clock::time_point start_ = Clock::now();
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  double done_ = 0.0, total_ = 0.0;
  Index finished_ = 0;
  std::exception_ptr first_error_;
};

void require_all_there(const ReproduceRequest& request) {
  const auto missing = missing_sets(request);
  require(missing.empty(), ErrorCode::bad_data, printable(request.folder, 200), ": missing ", listed(missing),
          "; see 'tamis datasets' for their sources");
}

void require_each_once(std::vector<std::string> names, const char* what) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  require(twice == names.end(), ErrorCode::usage, "reproduce: ", what, " ",
          twice == names.end() ? "" : in_quotes(*twice), " twice, need once");
}

void check(const ReproduceRequest& request) {
  require(!request.methods.empty(), ErrorCode::usage, "reproduce: 0 methods, need at least 1");
  std::vector<std::string> methods;
  for (const auto& method : request.methods) methods.push_back(method.name);
  require_each_once(methods, "method");
  require_each_once(request.names, "data");
  require_all_there(request);
}

}  // namespace

std::vector<std::string> missing_sets(const ReproduceRequest& request) {
  std::vector<std::string> missing;
  for (const auto& name : request.names) {
    if (!file_exists(path_of_set(request.folder, name))) missing.push_back(name);
  }
  return missing;
}

ExperimentSet sampled_down(const ExperimentSet& set, Index most_rows, Context& context) {
  if (most_rows == 0 || set.source.rows() <= most_rows) return set;
  const auto rows = sample_rows(set.source.rows(), most_rows, context.seed);
  ExperimentSet smaller = set;
  smaller.source = source_over(gather_rows(set.source, rows, context));
  smaller.classes.clear();
  for (const Index i : rows) smaller.classes.push_back(set.classes[i]);
  return smaller;
}

Cell compute_cell(const ExperimentSet& set, const PlannedCell& plan, Context& context) {
  Scorer scorer(set);
  return compute_cell(set, plan, scorer, context);
}

std::vector<ExperimentSet> read_sets(const ReproduceRequest& request, Context& context) {
  const Stage stage(context, "reproduce");
  check(request);
  std::vector<ExperimentSet> sets;
  for (const auto& name : request.names) {
    context.phase("reading " + name);
    const ExperimentSet set = read_experiment_set(request.folder, name, context);
    try {
      column_moments(set.source, context);  // refuses values that are not finite
    } catch (const Error& error) {
      if (error.code() != ErrorCode::bad_data) throw;
      fail(error.code(), path_of_set(request.folder, name), ": ", error.message());
    }
    sets.push_back(sampled_down(set, request.protocol.most_rows, context));
  }
  return sets;
}

Reproduction reproduce(const ReproduceRequest& request, std::vector<ExperimentSet> sets, CellStore& store,
                       Context& context, const std::function<void(Index, Index)>& planned) {
  const auto start = Clock::now();
  const Stage stage(context, "reproduce");
  Reproduction result;
  result.protocol = request.protocol;
  result.methods = request.methods;
  result.seed = context.seed;
  result.threads = context.threads();
  result.sets = std::move(sets);
  for (const auto& set : result.sets) {
    for (auto& plan : plan_cells(set, request.protocol, request.methods, request.guided, context.seed)) {
      result.cells.emplace_back().plan = std::move(plan);
    }
  }
  std::map<std::string, std::unique_ptr<Scorer>> scorers;
  std::vector<Job> jobs;
  auto cell = result.cells.begin();
  for (const auto& set : result.sets) {
    auto& scorer = scorers[set.name] = std::make_unique<Scorer>(set);
    for (; cell != result.cells.end() && cell->plan.key.set == set.name; ++cell) {
      context.check_cancelled();
      if (auto found = store.load(cell->plan, set.source.cols())) {
        *cell = std::move(*found);
        ++result.found;
      } else {
        jobs.push_back({&set, scorer.get(), &*cell, expected_seconds(set, cell->plan)});
      }
    }
  }
  if (planned) planned(static_cast<Index>(result.cells.size()), result.found);
  Runner(std::move(jobs), store, context).run();
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace tamis
