// Which CPU results are computed for: this one, by the quickest code there is for it, or any x86-64 machine, by code
// that gives the same bits on all of them. The environment variable TAMIS_CPU says so: auto (where it is not set) or
// baseline.
#pragma once

namespace tamis {

inline constexpr const char* kCpuVariable = "TAMIS_CPU";

// Read once, at the first call. Error(usage) where the variable is neither.
bool cpu_is_baseline();

}  // namespace tamis
