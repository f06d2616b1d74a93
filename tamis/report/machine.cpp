#include "tamis/report/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

#include "tamis/base/parallel.h"

namespace tamis {

namespace {

// A line "model name : ..." of /proc/cpuinfo.
std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.processor = processor_name();
  machine.cores = available_cores();
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  if (pages > 0 && size > 0)
    machine.memory_bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size);
  utsname names{};
  if (uname(&names) == 0) machine.system = std::string(names.sysname) + " " + names.release + " " + names.machine;
  return machine;
}

}  // namespace tamis
