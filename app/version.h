// What --version says.
#pragma once

#include <string>

namespace tamis::app {

// "tamis 1.2.3", and a line of what decides the last bits: the compiler, BLAS and its core, and the kernels in use.
std::string version_text();

}  // namespace tamis::app
