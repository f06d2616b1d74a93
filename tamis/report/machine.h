// What a run was made on, for reports.
#pragma once

#include <cstdint>
#include <string>

namespace tamis {

struct Machine {
  std::string processor;  // empty where the system does not tell
  int cores = 1;          // this process may use
  std::uint64_t memory_bytes = 0;
  std::string system;  // "Linux 6.1 x86_64"
};
Machine this_machine();

}  // namespace tamis
