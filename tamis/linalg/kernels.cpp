#include "tamis/linalg/kernels.h"

#include <cstdint>
#include <limits>
#include <type_traits>

#include "tamis/base/cpu.h"
#include "tamis/linalg/kernels_avx2.h"

// The plain build passes vectors wider than its registers between inlined functions only.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace tamis {

namespace plain {
#include "tamis/linalg/kernels.inc"
}  // namespace plain

namespace {
bool has_avx2() {
#if defined(TAMIS_HAVE_AVX2)
  static const bool yes = !cpu_is_baseline() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return yes;
#else
  return false;
#endif
}
}  // namespace

const char* kernels_in_use() { return has_avx2() ? "AVX2" : "portable"; }

#if defined(TAMIS_HAVE_AVX2)
template <>
const KernelsFor<double>& kernels<double>() {
  return has_avx2() ? avx2_kernels_double() : plain::kTable<double>;
}
template <>
const KernelsFor<float>& kernels<float>() {
  return has_avx2() ? avx2_kernels_float() : plain::kTable<float>;
}
#else
template <>
const KernelsFor<double>& kernels<double>() {
  return plain::kTable<double>;
}
template <>
const KernelsFor<float>& kernels<float>() {
  return plain::kTable<float>;
}
#endif

}  // namespace tamis
