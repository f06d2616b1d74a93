// Which CPU results are computed for: this one, by the fastest code there is for it, or any x86-64 machine, by code
// that gives the same bits on all of them (portable kernels and linear algebra, elementary functions of our own).
#pragma once

#include <string>

namespace tamis {

inline constexpr const char* kCpuVariable = "TAMIS_CPU";

// What use_cpu() said or, before any such call, the environment variable TAMIS_CPU: auto (also where it is not set) or
// baseline. Error(usage) where the variable is neither.
bool cpu_is_baseline();

// `wanted`: auto or baseline, else Error(usage). To be called before anything is computed.
void use_cpu(const std::string& wanted);

}  // namespace tamis
