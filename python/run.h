// A call of the core from Python: the GIL is released while it works; Ctrl-C, a progress bar and errors find their way
// back.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "python/arrays.h"
#include "tamis/base/context.h"
#include "tamis/base/error.h"
#include "tamis/base/text/progress_line.h"

namespace tamis::python {

class Run {
 public:
  // `progress` is None or is called as progress(stage, fraction, line), some times a second: the fraction of the phase
  // that runs, None where nobody knows, and all there is to say in one line.
  Run(int threads, std::uint64_t seed, std::uint64_t memory, nb::object progress);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Context& context() { return context_; }
  const std::vector<Warning>& warnings() const { return warnings_; }  // each once

  // Calls work() without the GIL. What Python raised meanwhile (KeyboardInterrupt, an error of `progress`) is raised
  // again in the place of the Error that it caused.
  template <class Work>
  auto without_gil(Work work) {
    try {
      auto result = [&] {
        const nb::gil_scoped_release release;
        return work();
      }();
      raise_pending();  // raised too late for the work to notice
      return result;
    } catch (const Error&) {
      raise_pending();
      throw;
    }
  }

 private:
  bool is_cancelled();
  void show(const Progress& progress);
  bool is_due(std::chrono::steady_clock::time_point& next, std::chrono::milliseconds pause) const;
  void keep_pending();
  void raise_pending();

  Context context_;
  std::vector<Warning> warnings_;
  nb::object progress_;
  ProgressLine line_;
  std::thread::id caller_ = std::this_thread::get_id();
  std::atomic<bool> cancelled_{false};
  std::chrono::steady_clock::time_point next_check_{}, next_show_{};
  PyObject *pending_type_ = nullptr, *pending_value_ = nullptr, *pending_trace_ = nullptr;
};

// ValueError, OSError, MemoryError, KeyboardInterrupt or RuntimeError, by the code; `NoVariation`, a ValueError, of the
// module.
void register_errors(nb::module_& module);

}  // namespace tamis::python
