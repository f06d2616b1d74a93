// The CPU that the command computes for, and what --version says of it.
#pragma once

#include <string>

namespace tamis::app {

// `wanted`: auto, baseline, or empty for what TAMIS_CPU says (tamis/base/cpu.h). OpenBLAS has chosen its code when
// main() begins, so where it chose another one the program starts again with the same words and another environment,
// and this does not return. To be called before anything was read or written.
void use_cpu(const std::string& wanted);

// The commit that was built; empty where it is not known. cmake/Commit.cmake defines it.
const char* commit();

// "tamis 1.2.3", and a line of what decides the last bits: the compiler, BLAS and its core, the kernels in use, and the
// commit.
std::string version_text();

}  // namespace tamis::app
