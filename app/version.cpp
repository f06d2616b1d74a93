#include "app/version.h"

#include "tamis/base/error.h"
#include "tamis/base/version.h"
#include "tamis/linalg/blas.h"
#include "tamis/linalg/kernels.h"

namespace tamis::app {

namespace {

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "GCC " __VERSION__;
#endif
}

}  // namespace

std::string version_text() {
  return concat("tamis ", kVersion, "\n", compiler(), ", ", blas::name(), ", ", name_of(kernels_in_use()), " kernels",
                *commit() != 0 ? ", commit " : "", commit());
}

}  // namespace tamis::app
