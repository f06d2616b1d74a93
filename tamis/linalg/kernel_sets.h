// The builds of the kernels for CPUs with AVX2 and FMA, and with AVX-512: kernels_avx2.cpp and kernels_avx512.cpp are
// compiled with those flags, and only on x86-64.
#pragma once

#include "tamis/linalg/kernels.h"

namespace tamis {

const KernelsFor<double>& avx2_kernels_double();
const KernelsFor<float>& avx2_kernels_float();
const KernelsFor<double>& avx512_kernels_double();
const KernelsFor<float>& avx512_kernels_float();

}  // namespace tamis
