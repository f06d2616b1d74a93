#include "tamis/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif

#include "tamis/base/error.h"

namespace tamis {

namespace {
// True in a thread that is running a task: a nested run() must not wait for its own pool.
thread_local bool inside_task = false;
}  // namespace

struct ThreadPool::State {
  explicit State(int thread_count) : threads(thread_count) {}

  // Hands out tasks until none is left or one has failed.
  void work() {
    const bool outer = inside_task;
    inside_task = true;
    for (Index i = next++; i < count; i = next++) {
      try {
        (*task)(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        next = count;
      }
    }
    inside_task = outer;
  }

  void worker(const std::stop_token& stop) {
    Index seen = 0;
    std::unique_lock lock(mutex);
    while (true) {
      wake.wait(lock, [&] { return generation != seen || stop.stop_requested(); });
      if (stop.stop_requested()) return;
      seen = generation;
      lock.unlock();
      work();
      lock.lock();
      if (--busy == 0) done.notify_one();
    }
  }

  // Before the first tasks; those that there are stay where one cannot be had.
  void start_workers() {
    try {
      while (static_cast<int>(workers.size()) < threads - 1) {
        workers.emplace_back([this](const std::stop_token& stop) { worker(stop); });
      }
    } catch (const std::system_error& refused) {
      fail(ErrorCode::resources, OptionName{"threads"}, " = ", threads, ": only ", workers.size() + 1,
           " could be started: ", refused.code().message());
    }
  }

  const int threads;
  std::mutex calls;  // one run() at a time
  std::mutex mutex;
  std::condition_variable wake, done;
  Index generation = 0;
  int busy = 0;
  std::atomic<Index> next{0};
  Index count = 0;
  const std::function<void(Index)>* task = nullptr;
  std::exception_ptr error;
  std::vector<std::jthread> workers;  // started by the first run() that needs them
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>(threads > 0 ? threads : available_cores())) {}

ThreadPool::~ThreadPool() {
  for (auto& worker : state_->workers) worker.request_stop();
  { const std::lock_guard lock(state_->mutex); }
  state_->wake.notify_all();
  state_->workers.clear();
}

int ThreadPool::threads() const { return state_->threads; }

void ThreadPool::run(Index count, const std::function<void(Index)>& task) {
  if (count <= 0) return;
  State& s = *state_;
  if (inside_task || s.threads == 1 || count == 1) {
    for (Index i = 0; i < count; ++i) task(i);
    return;
  }
  const std::lock_guard call(s.calls);
  {
    const std::lock_guard lock(s.mutex);
    s.start_workers();
    s.next = 0;
    s.count = count;
    s.task = &task;
    s.error = nullptr;
    s.busy = static_cast<int>(s.workers.size());
    ++s.generation;
  }
  s.wake.notify_all();
  s.work();
  std::unique_lock lock(s.mutex);
  s.done.wait(lock, [&] { return s.busy == 0; });
  if (s.error) std::rethrow_exception(s.error);
}

int available_cores() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace tamis
