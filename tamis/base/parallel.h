// A small thread pool. Work is cut into tasks by shape alone, never by the number of threads, and every
// reduction is merged along a fixed tree (data/passes/reduce.h), so results have the same bits at any thread count.
#pragma once

#include <functional>
#include <memory>

#include "tamis/base/types.h"

namespace tamis {

class ThreadPool {
 public:
  // `threads` counts the calling thread; 0 means all cores.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const;

  // Calls task(0) ... task(count - 1), each once, and returns when all are done. The first exception stops the
  // hand-out of further tasks and is rethrown here. A call from inside a task runs in that task's thread.
  void run(Index count, const std::function<void(Index)>& task);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The number of cores this process may use.
int available_cores();

}  // namespace tamis
