// What a run is given besides data and options: threads, seed, memory budget, and the way back to the caller
// (progress, warnings, cancellation). The library never prints.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "tamis/base/parallel.h"
#include "tamis/base/progress.h"
#include "tamis/base/warning.h"

namespace tamis {

// Where a long run saves its state now and then, and finds that of an interrupted run.
class CheckpointStore {
 public:
  CheckpointStore() = default;
  virtual ~CheckpointStore() = default;
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;

  virtual std::string where() const = 0;  // for messages
  virtual std::optional<std::string> load() = 0;
  // Saved always, or only as often as that costs little.
  virtual void save(const std::function<std::string()>& state, bool always) = 0;
};

// What a process holds that is no data of ours: Python and its libraries are larger than this program.
struct ProcessMemory {
  double beyond_program = 0.0;  // bytes
  std::uint64_t peak = 0;       // bytes, so far
};

class Walk;

class Context {
 public:
  explicit Context(int threads = 0, std::uint64_t seed = 0);

  std::uint64_t seed = 0;
  std::uint64_t memory_limit = 0;                    // bytes, 0: no limit
  ProcessMemory process;                             // that forecasts count with
  std::function<void(const Progress&)> on_progress;  // called from the thread that made the context only
  std::chrono::milliseconds between_progress{100};   // except where a phase begins
  std::function<void(const Warning&)> on_warning;
  std::function<bool()> is_cancelled;  // polled between pieces of work
  // Whether somebody may have written to the input since it was opened; then a pass makes sure that nothing changed.
  std::function<bool()> input_touched;
  CheckpointStore* checkpoint = nullptr;  // of methods that can resume (method.h)

  ThreadPool& pool() { return *pool_; }
  int threads() const { return pool_->threads(); }

  // Begins a phase of the stage (Stage, below), or says how far it is. In tasks of other threads these do nothing.
  void phase(const std::string& name, const Steps& steps = {}, const std::string& detail = {});
  void share_done(const std::string& name, double share);    // of steps that take longer and longer
  void bytes_read(std::uint64_t done, std::uint64_t total);  // total 0: a pipe
  void rows_read(Index rows) { rows_read_ = rows; }          // of a file
  void warn(const Warning& warning);
  void check_cancelled();  // throws Error(interrupted); tells the progress where that is due

  void count_pass() { ++passes_; }
  Index passes() const { return passes_; }

 private:
  friend class UncountedPasses;
  friend class Stage;
  friend class Walk;
  bool shows_here() const { return on_progress && std::this_thread::get_id() == caller_; }
  void show_now();

  std::unique_ptr<ThreadPool> pool_;
  std::atomic<Index> passes_{0};
  const std::thread::id caller_ = std::this_thread::get_id();
  Progress at_;
  const Walk* walk_ = nullptr;  // the outermost
  Index rows_read_ = 0;
  std::chrono::steady_clock::time_point next_show_{};
};

// While this lives, progress is that of `name`, a part of the stage around it.
class Stage {
 public:
  Stage(Context& context, const std::string& name);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

 private:
  Context& context_;
  const bool shown_;
  Progress before_;
};

// While this lives, `rows` rows are gone through in tasks that take about equally long.
class Walk {
 public:
  Walk(Context& context, Index tasks, Index rows);
  ~Walk();
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

  void task_done() { done_.fetch_add(1, std::memory_order_relaxed); }  // by any thread
  Index rows() const { return rows_; }
  Index rows_done() const;

 private:
  Context& context_;
  const Index tasks_, rows_;
  const bool outermost_;
  std::atomic<Index> done_{0};
};

// pool().run(), counted.
template <class Task>
void walk_rows(Context& context, Index tasks, Index rows, Task task) {
  Walk walk(context, tasks, rows);
  context.pool().run(tasks, [&](Index i) {
    task(i);
    walk.task_done();
  });
}

// Gives a field (of a Context, mostly) the value back that it had when this was made.
template <class Field>
class Restored {
 public:
  explicit Restored(Field& field) : field_(field), before_(field) {}
  Restored(Field& field, Field meanwhile) : field_(field), before_(std::exchange(field, std::move(meanwhile))) {}
  ~Restored() { field_ = std::move(before_); }
  Restored(const Restored&) = delete;
  Restored& operator=(const Restored&) = delete;

  const Field& before() const { return before_; }

 private:
  Field& field_;
  Field before_;
};

// While this lives, passes are over something smaller than the data (a sample in memory, say), and are not counted.
class UncountedPasses {
 public:
  explicit UncountedPasses(Context& context) : context_(context), before_(context.passes()) {}
  ~UncountedPasses() { context_.passes_ = before_; }
  UncountedPasses(const UncountedPasses&) = delete;
  UncountedPasses& operator=(const UncountedPasses&) = delete;

 private:
  Context& context_;
  const Index before_;
};

}  // namespace tamis
