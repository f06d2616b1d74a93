#include "tamis/base/resident.h"

#include <fstream>
#include <string>

#if defined(__linux__) && defined(__GLIBC__)
#include <malloc.h>
#endif

namespace tamis {

namespace {

// Linux resets VmHWM to VmRSS when a 5 is written here (proc(5)).
bool forget_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5";
  file.close();
  return !file.fail();
}

}  // namespace

// A line "VmHWM:   1234 kB" of /proc/self/status.
std::optional<std::uint64_t> resident_bytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    std::uint64_t kilobytes = 0;
    if (word == field + ":" && status >> kilobytes) return kilobytes * 1024;
  }
  return std::nullopt;
}

ResidentGrowth::ResidentGrowth() {
#if defined(__linux__) && defined(__GLIBC__)
  malloc_trim(0);
#endif
  if (forget_peak()) start_ = resident_bytes("VmRSS");
}

std::optional<std::uint64_t> ResidentGrowth::bytes() const {
  const auto peak = resident_bytes("VmHWM");
  if (!start_ || !peak) return std::nullopt;
  return *peak > *start_ ? *peak - *start_ : 0;
}

}  // namespace tamis
