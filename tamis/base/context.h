// What a run is given besides data and options: threads, seed, memory budget, and the way back to the caller
// (progress, warnings, cancellation). The library never prints.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "tamis/base/parallel.h"
#include "tamis/base/warning.h"

namespace tamis {

struct Progress {
  std::string stage;      // e.g. "ufcm"
  double fraction = 0.0;  // 0 .. 1, an estimate
  std::string detail;     // e.g. "iteration 3, objective 12.5"
};

// Where a long run leaves its state now and then, and where it finds that of a run before it.
class Keeper {
 public:
  Keeper() = default;
  virtual ~Keeper() = default;
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  virtual std::string where() const = 0;  // for messages
  virtual std::optional<std::string> load() = 0;
  // Kept always, or only as often as that costs little.
  virtual void save(const std::function<std::string()>& state, bool always) = 0;
};

// What a process holds that is no data of ours: Python and its libraries are larger than this program.
struct ProcessMemory {
  double beyond_program = 0.0;  // bytes
  std::uint64_t peak = 0;       // bytes, so far
};

class Context {
 public:
  explicit Context(int threads = 0, std::uint64_t seed = 0);

  std::uint64_t seed = 0;
  std::uint64_t memory_limit = 0;                    // bytes, 0: no limit
  ProcessMemory process;                             // that forecasts count with
  std::function<void(const Progress&)> on_progress;  // called from the calling thread only
  std::function<void(const Warning&)> on_warning;
  std::function<bool()> is_cancelled;  // polled between pieces of work
  // Whether somebody may have written to the input since it was opened; then a pass makes sure that nothing changed.
  std::function<bool()> input_touched;
  Keeper* keeper = nullptr;  // of methods that can be taken up again (registry.h)

  ThreadPool& pool() { return *pool_; }
  int threads() const { return pool_->threads(); }

  void progress(const std::string& stage, double fraction, const std::string& detail = {});
  void warn(const Warning& warning);
  void check_cancelled();  // throws Error(interrupted)

  void count_pass() { ++passes_; }
  Index passes() const { return passes_; }

 private:
  friend class UncountedPasses;
  std::unique_ptr<ThreadPool> pool_;
  std::atomic<Index> passes_{0};
};

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
