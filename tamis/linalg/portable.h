// What blas.h promises, in plain C++: additions, multiplications, divisions and square roots in the order written here,
// so that every x86-64 machine computes the same bits. It serves the baseline CPU (cpu.h); a BLAS is several times
// faster. Arguments as in blas.h.
#pragma once

#include "tamis/base/types.h"

namespace tamis::portable {

template <class T>
void gemm(bool trans_a, bool trans_b, Index m, Index n, Index k, T alpha, const T* a, Index lda, const T* b, Index ldb,
          T beta, T* c, Index ldc);

template <class T>
void syrk(bool rows, Index n, Index k, const T* a, Index lda, T* c, Index ldc);

void eigen_all(Index n, double* a, double* values);
void tridiagonalize(Index n, double* a, double* diagonal, double* off);

bool cholesky(Index n, double* a);
void cholesky_solve(Index n, Index m, const double* l, double* b);

}  // namespace tamis::portable
