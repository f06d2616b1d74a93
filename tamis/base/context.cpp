#include "tamis/base/context.h"

#include "tamis/base/error.h"

namespace tamis {

Context::Context(int threads, std::uint64_t seed_value)
    : seed(seed_value), pool_(std::make_unique<ThreadPool>(threads)) {}

void Context::progress(const std::string& stage, double fraction, const std::string& detail) {
  if (on_progress) on_progress({stage, fraction, detail});
}

void Context::warn(const Warning& warning) {
  if (on_warning) on_warning(warning);
}

void Context::check_cancelled() {
  if (is_cancelled && is_cancelled()) fail(ErrorCode::interrupted, "interrupted");
}

}  // namespace tamis
