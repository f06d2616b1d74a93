// What a run is given besides data and options: threads, seed, memory budget, and the way back to the caller
// (progress, warnings, cancellation). The library never prints.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tamis/base/parallel.h"

namespace tamis {

struct Progress {
  std::string stage;      // e.g. "ufcm"
  double fraction = 0.0;  // 0 .. 1, an estimate
  std::string detail;     // e.g. "iteration 3, objective 12.5"
};

class Context {
 public:
  explicit Context(int threads = 0, std::uint64_t seed = 0);

  std::uint64_t seed = 0;
  std::uint64_t memory_limit = 0;                      // bytes, 0: no limit
  std::function<void(const Progress&)> on_progress;    // called from the calling thread only
  std::function<void(const std::string&)> on_warning;  // one line each
  std::function<bool()> is_cancelled;                  // polled between pieces of work

  ThreadPool& pool() { return *pool_; }
  int threads() const { return pool_->threads(); }

  void progress(const std::string& stage, double fraction, const std::string& detail = {});
  void warn(const std::string& message);
  void check_cancelled();  // throws Error(interrupted)

  void count_pass() { ++passes_; }
  Index passes() const { return passes_; }

 private:
  std::unique_ptr<ThreadPool> pool_;
  std::atomic<Index> passes_{0};
};

}  // namespace tamis
