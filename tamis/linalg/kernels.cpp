#include "tamis/linalg/kernels.h"

#include <cstdint>
#include <limits>
#include <type_traits>

#include "tamis/base/cpu.h"
#include "tamis/linalg/kernels_avx2.h"

namespace tamis {

namespace plain {
inline constexpr Index kVectorBytes = 16;
#include "tamis/linalg/kernels.inc"
}  // namespace plain

namespace {
bool has_avx2() {
#if defined(TAMIS_HAVE_AVX2)
  static const bool supported = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return supported && !cpu_is_baseline();
#else
  return false;
#endif
}
}  // namespace

const char* kernels_in_use() { return has_avx2() ? "AVX2" : "portable"; }

template <>
const KernelsFor<double>& portable_kernels<double>() {
  return plain::kTable<double>;
}
template <>
const KernelsFor<float>& portable_kernels<float>() {
  return plain::kTable<float>;
}

template <>
const KernelsFor<double>& kernels<double>() {
#if defined(TAMIS_HAVE_AVX2)
  if (has_avx2()) return avx2_kernels_double();
#endif
  return portable_kernels<double>();
}
template <>
const KernelsFor<float>& kernels<float>() {
#if defined(TAMIS_HAVE_AVX2)
  if (has_avx2()) return avx2_kernels_float();
#endif
  return portable_kernels<float>();
}

}  // namespace tamis
