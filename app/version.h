// What --version says.
#pragma once

#include <string>

namespace tamis::app {

// The commit that was built; empty where it is not known. cmake/Commit.cmake defines it.
const char* commit();
const char* commit_date();  // "2026-01-31"

// "tamis 1.2.3", and a line of what decides the last bits: the compiler, BLAS and its core, the kernels in use, and the
// commit.
std::string version_text();

}  // namespace tamis::app
