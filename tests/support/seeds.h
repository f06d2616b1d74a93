// Random numbers of the tests. TAMIS_SEED_SWEEP=N gives every test other numbers than its own, one set for each N: what
// a test claims must not hinge on the seed it happens to use.
#pragma once

#include <cstdint>
#include <cstdlib>

#include "tamis/base/random.h"

namespace tamis::support {

inline Random seeded(std::uint64_t seed, std::uint64_t stream) {
  static const std::uint64_t sweep = [] {
    const char* value = std::getenv("TAMIS_SEED_SWEEP");
    return value == nullptr ? 0 : std::strtoull(value, nullptr, 10);
  }();
  return {seed + 1000003 * sweep, stream};
}

}  // namespace tamis::support
