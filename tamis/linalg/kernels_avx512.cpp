#include <cstdint>
#include <limits>
#include <type_traits>

#include "tamis/linalg/kernel_sets.h"

namespace tamis {

namespace avx512 {
inline constexpr Index kVectorBytes = 64, kRegisters = 32;
#include "tamis/linalg/kernels.inc"
}  // namespace avx512

const KernelsFor<double>& avx512_kernels_double() { return avx512::kTable<double>; }
const KernelsFor<float>& avx512_kernels_float() { return avx512::kTable<float>; }

}  // namespace tamis
