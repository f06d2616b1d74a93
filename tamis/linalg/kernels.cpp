#include "tamis/linalg/kernels.h"

#include <cstdint>
#include <limits>
#include <type_traits>

#include "tamis/base/cpu.h"
#include "tamis/linalg/kernel_sets.h"

namespace tamis {

namespace plain {
inline constexpr Index kVectorBytes = 16, kRegisters = 16;
#include "tamis/linalg/kernels.inc"
}  // namespace plain

bool cpu_has(KernelSet set) {
  switch (set) {
    case KernelSet::portable: return true;
#if defined(TAMIS_HAVE_AVX2)
    case KernelSet::avx2: {
      static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
      return has;
    }
#endif
#if defined(TAMIS_HAVE_AVX512)
    case KernelSet::avx512: {
      static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                              __builtin_cpu_supports("fma");
      return has;
    }
#endif
    default: return false;
  }
}

KernelSet kernels_in_use() {
  static const KernelSet best = cpu_has(KernelSet::avx512) ? KernelSet::avx512
                                : cpu_has(KernelSet::avx2) ? KernelSet::avx2
                                                           : KernelSet::portable;
  return cpu_is_baseline() ? KernelSet::portable : best;
}

const char* name_of(KernelSet set) {
  switch (set) {
    case KernelSet::avx512: return "AVX-512";
    case KernelSet::avx2: return "AVX2";
    default: return "portable";
  }
}

template <>
const KernelsFor<double>& kernels<double>(KernelSet set) {
#if defined(TAMIS_HAVE_AVX512)
  if (set == KernelSet::avx512) return avx512_kernels_double();
#endif
#if defined(TAMIS_HAVE_AVX2)
  if (set == KernelSet::avx2) return avx2_kernels_double();
#endif
  return plain::kTable<double>;
}

template <>
const KernelsFor<float>& kernels<float>(KernelSet set) {
#if defined(TAMIS_HAVE_AVX512)
  if (set == KernelSet::avx512) return avx512_kernels_float();
#endif
#if defined(TAMIS_HAVE_AVX2)
  if (set == KernelSet::avx2) return avx2_kernels_float();
#endif
  return plain::kTable<float>;
}

}  // namespace tamis
