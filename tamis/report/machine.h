// The machine of a run, for reports.
#pragma once

#include <cstdint>
#include <string>

namespace tamis {

struct Machine {
  std::string processor;  // empty if unknown
  int cores = 1;          // available to this process
  std::uint64_t memory_bytes = 0;
  std::string system;  // "Linux 6.1 x86_64"
};
Machine this_machine();

}  // namespace tamis
