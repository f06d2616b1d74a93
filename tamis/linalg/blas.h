// The thin shim over BLAS and LAPACK: row-major, one name for float and double, and always one thread, since our
// own pool does the threading and a multi-threaded BLAS does not repeat its last bits.
#pragma once

#include <string>

#include "tamis/base/types.h"

namespace tamis::blas {

// So it is from the start; for a caller whose process holds others that may have changed it (Python's threadpoolctl).
void use_one_thread();

// What is in use: "OpenBLAS 0.3.34 on Zen" or, for the baseline CPU (cpu.h), "portable linear algebra" (portable.h).
std::string name();

// C (m x n) = alpha op(A) op(B) + beta C, all row-major with the given leading dimensions.
void gemm(bool trans_a, bool trans_b, Index m, Index n, Index k, double alpha, const double* a, Index lda,
          const double* b, Index ldb, double beta, double* c, Index ldc);
void gemm(bool trans_a, bool trans_b, Index m, Index n, Index k, float alpha, const float* a, Index lda, const float* b,
          Index ldb, float beta, float* c, Index ldc);

// C (n x n, upper triangle) += A'A for A (k x n); with `rows` C (k x k) += AA'.
void syrk(bool rows, Index n, Index k, const double* a, Index lda, double* c, Index ldc);
void syrk(bool rows, Index n, Index k, const float* a, Index lda, float* c, Index ldc);

// All eigenpairs of the symmetric n x n matrix `a` (destroyed), values rising; vectors overwrite `a`, one a row.
void eigen_all(Index n, double* a, double* values);
// The `count` largest, values rising; `a` is destroyed; vectors (count x n), one a row.
void eigen_largest(Index n, Index count, double* a, double* values, double* vectors);

// A = Q T Q' for the symmetric n x n matrix `a`, T with the given diagonal (n) and the one beside it (n - 1); Q'
// overwrites `a`.
void tridiagonalize(Index n, double* a, double* diagonal, double* off);

// A = LL' for the symmetric n x n matrix `a`, whose lower triangle L overwrites; the triangle above the diagonal is
// neither read nor written. False where a pivot is not positive, and L is then unfinished.
bool cholesky(Index n, double* a);
// B (n x m) = (LL')^-1 B.
void cholesky_solve(Index n, Index m, const double* l, double* b);

}  // namespace tamis::blas
