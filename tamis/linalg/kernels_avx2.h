// The AVX2 + FMA build of the kernels (kernels_avx2.cpp is compiled with those flags, and only on x86-64).
#pragma once

#include "tamis/linalg/kernels.h"

namespace tamis {

const KernelsFor<double>& avx2_kernels_double();
const KernelsFor<float>& avx2_kernels_float();

}  // namespace tamis
