#include "python/run.h"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "tamis/linalg/blas.h"

namespace tamis::python {

namespace {

using std::chrono::milliseconds;
constexpr milliseconds kBetweenChecks{50};  // taking the GIL costs, and two seconds are promised
constexpr milliseconds kBetweenShows{100};
constexpr std::size_t kLineWidth = 79;

PyObject* exception_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
    case ErrorCode::bad_data: return PyExc_ValueError;
    case ErrorCode::io: return PyExc_OSError;
    case ErrorCode::resources: return PyExc_MemoryError;
    case ErrorCode::interrupted: return PyExc_KeyboardInterrupt;
    case ErrorCode::internal:
    case ErrorCode::not_converged: break;
  }
  return PyExc_RuntimeError;
}

nb::object readable(const Error& error) {
  const std::string& text = error.message().text();
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

}  // namespace

Run::Run(int threads, std::uint64_t seed, std::uint64_t memory, nb::object progress)
    : context_(threads, seed), progress_(std::move(progress)) {
  blas::require_pinned();
  blas::use_one_thread();
  context_.memory_limit = memory;
  context_.is_cancelled = [this] { return is_cancelled(); };
  context_.on_warning = [this](const Message& message) {
    if (std::find(warnings_.begin(), warnings_.end(), message) == warnings_.end()) warnings_.push_back(message);
  };
  if (!progress_.is_none()) context_.on_progress = [this](const Progress& at) { show(at); };
}

Run::~Run() {
  Py_XDECREF(pending_type_);
  Py_XDECREF(pending_value_);
  Py_XDECREF(pending_trace_);
}

bool Run::is_due(std::chrono::steady_clock::time_point& next, milliseconds pause) const {
  const auto now = std::chrono::steady_clock::now();
  if (now < next) return false;
  next = now + pause;
  return true;
}

// Signals are Python's, whose handlers run in its main thread only; asked from another thread, it has none.
bool Run::is_cancelled() {
  if (cancelled_) return true;
  if (std::this_thread::get_id() != caller_ || !is_due(next_check_, kBetweenChecks)) return false;
  const nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) keep_pending();
  return cancelled_;
}

void Run::show(const Progress& at) {
  const std::string line = line_.text(at, std::chrono::steady_clock::now(), kLineWidth);
  if (cancelled_ || !is_due(next_show_, kBetweenShows)) return;
  const nb::gil_scoped_acquire gil;
  try {
    const double fraction = at.fraction();
    progress_(at.stage, fraction < 0 ? nb::object(nb::none()) : nb::object(nb::float_(fraction)), line);
  } catch (nb::python_error& error) {
    error.restore();
    keep_pending();
  }
}

void Run::keep_pending() {
  PyErr_Fetch(&pending_type_, &pending_value_, &pending_trace_);
  cancelled_ = true;
}

void Run::raise_pending() {
  if (pending_type_ == nullptr) return;
  PyErr_Restore(std::exchange(pending_type_, nullptr), std::exchange(pending_value_, nullptr),
                std::exchange(pending_trace_, nullptr));
  throw nb::python_error();
}

void register_errors(nb::module_& module) {
  static PyObject* const no_variation = PyErr_NewExceptionWithDoc(
      "tamis.NoVariation", "Every column of the table is constant.", PyExc_ValueError, nullptr);
  module.attr("NoVariation") = nb::handle(no_variation);
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const NoVariation& error) {
      PyErr_SetObject(no_variation, readable(error).ptr());
    } catch (const Error& error) {
      PyErr_SetObject(exception_for(error.code()), readable(error).ptr());
    }
  });
}

}  // namespace tamis::python
