#include "app/cpu.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "tamis/base/cpu.h"
#include "tamis/base/error.h"
#include "tamis/base/version.h"
#include "tamis/linalg/blas.h"
#include "tamis/linalg/kernels.h"

namespace tamis::app {

namespace {

// The process as it was started: Python's command begins with the words of the interpreter.
[[noreturn]] void start_again() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<char*> argv;
  for (std::size_t at = 0; at < words.size(); at = words.find('\0', at) + 1) argv.push_back(words.data() + at);
  argv.push_back(nullptr);
  execv("/proc/self/exe", argv.data());
  fail(ErrorCode::io, "cpu: cannot start again by /proc/self/exe: ", std::strerror(errno));
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

}  // namespace

void use_cpu(const std::string& wanted) {
  require(wanted.empty() || wanted == "auto" || wanted == "baseline", ErrorCode::usage, "cpu = ", wanted,
          ", need auto or baseline");
  const bool baseline = wanted.empty() ? cpu_is_baseline() : wanted == "baseline";
  if (baseline == cpu_is_baseline() && (!baseline || blas::core() == blas::kBaselineCore)) return;
  if (!baseline) {
    unsetenv(kCpuVariable);
    unsetenv(blas::kCoreVariable);
    start_again();
  }
  const char* asked = std::getenv(blas::kCoreVariable);
  if (cpu_is_baseline() && asked != nullptr && std::string(asked) == blas::kBaselineCore) blas::require_pinned();
  setenv(kCpuVariable, "baseline", 1);
  setenv(blas::kCoreVariable, blas::kBaselineCore, 1);
  start_again();
}

std::string version_text() {
  const std::string core = blas::core();
  return concat("tamis ", kVersion, "\n", compiler(), ", ", blas::name(), core.empty() ? "" : " on ", core, ", ",
                kernels_in_use(), " kernels", *commit() != 0 ? ", commit " : "", commit());
}

}  // namespace tamis::app
