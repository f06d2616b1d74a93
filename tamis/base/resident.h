// How much memory a piece of work took, by the resident set of this process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tamis {

// "VmRSS" now, or "VmHWM", the peak; unset where the system does not tell.
std::optional<std::uint64_t> resident_bytes(const std::string& field);

class ResidentGrowth {
 public:
  // Gives freed memory back to the system and forgets the peak so far, so that work before does not hide what follows.
  ResidentGrowth();
  // The peak since then beyond what was resident at the start; unset where the system does not tell.
  std::optional<std::uint64_t> bytes() const;

 private:
  std::optional<std::uint64_t> start_;
};

}  // namespace tamis
