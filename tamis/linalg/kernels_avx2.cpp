#include <cstdint>
#include <limits>
#include <type_traits>

#include "tamis/linalg/kernel_sets.h"

namespace tamis {

namespace avx2 {
inline constexpr Index kVectorBytes = 32, kRegisters = 16;
#include "tamis/linalg/kernels.inc"
}  // namespace avx2

const KernelsFor<double>& avx2_kernels_double() { return avx2::kTable<double>; }
const KernelsFor<float>& avx2_kernels_float() { return avx2::kTable<float>; }

}  // namespace tamis
