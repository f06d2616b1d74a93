#include "tamis/base/cpu.h"

#include <atomic>
#include <cstdlib>
#include <string>

#include "tamis/base/error.h"

namespace tamis {

namespace {

enum class Cpu { unknown, automatic, baseline };
std::atomic<Cpu> chosen = Cpu::unknown;

Cpu parse_cpu(const char* where, const std::string& wanted) {
  require(wanted == "auto" || wanted == "baseline", ErrorCode::usage, where, " = ", wanted, ", need auto or baseline");
  return wanted == "baseline" ? Cpu::baseline : Cpu::automatic;
}

Cpu cpu_of_environment() {
  const char* value = std::getenv(kCpuVariable);
  return parse_cpu(kCpuVariable, value == nullptr || *value == '\0' ? "auto" : value);
}

}  // namespace

bool cpu_is_baseline() {
  Cpu cpu = chosen.load(std::memory_order_relaxed);
  if (cpu == Cpu::unknown) chosen = cpu = cpu_of_environment();
  return cpu == Cpu::baseline;
}

void use_cpu(const std::string& wanted) { chosen = parse_cpu("cpu", wanted); }

}  // namespace tamis
