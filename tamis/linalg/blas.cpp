#include "tamis/linalg/blas.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <string>
#include <vector>

#include "tamis/base/cpu.h"
#include "tamis/base/error.h"
#include "tamis/linalg/portable.h"

#ifdef TAMIS_BLAS_WHEEL  // the OpenBLAS of the Python package index has a prefix of its own
#define dgemm_ scipy_dgemm_
#define sgemm_ scipy_sgemm_
#define dsyrk_ scipy_dsyrk_
#define ssyrk_ scipy_ssyrk_
#define dsyevd_ scipy_dsyevd_
#define dsyevr_ scipy_dsyevr_
#define dsytrd_ scipy_dsytrd_
#define dorgtr_ scipy_dorgtr_
#define dpotrf_ scipy_dpotrf_
#define dtrsm_ scipy_dtrsm_
#define openblas_set_num_threads scipy_openblas_set_num_threads
#define openblas_get_parallel scipy_openblas_get_parallel
#define openblas_get_config scipy_openblas_get_config
#define openblas_get_corename scipy_openblas_get_corename
#endif

extern "C" {
void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);
void sgemm_(const char*, const char*, const int*, const int*, const int*, const float*, const float*, const int*,
            const float*, const int*, const float*, float*, const int*);
void dsyrk_(const char*, const char*, const int*, const int*, const double*, const double*, const int*, const double*,
            double*, const int*);
void ssyrk_(const char*, const char*, const int*, const int*, const float*, const float*, const int*, const float*,
            float*, const int*);
void dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*, const int*,
             int*);
void dsyevr_(const char*, const char*, const char*, const int*, double*, const int*, const double*, const double*,
             const int*, const int*, const double*, int*, double*, double*, const int*, int*, double*, const int*, int*,
             const int*, int*);
void dsytrd_(const char*, const int*, double*, const int*, double*, double*, double*, double*, const int*, int*);
void dorgtr_(const char*, const int*, double*, const int*, const double*, double*, const int*, int*);
void dpotrf_(const char*, const int*, double*, const int*, int*);
void dtrsm_(const char*, const char*, const char*, const char*, const int*, const int*, const double*, const double*,
            const int*, double*, const int*);
// Only OpenBLAS has them; other libraries are single-threaded or told so by their own settings.
void openblas_set_num_threads(int) __attribute__((weak));
int openblas_get_parallel() __attribute__((weak));
char* openblas_get_config() __attribute__((weak));
char* openblas_get_corename() __attribute__((weak));
}

namespace tamis::blas {

void use_one_thread() {
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
}

// openblas_get_config: "OpenBLAS 0.3.34  DYNAMIC_ARCH ...", of which the first two words count.
std::string name() {
  if (cpu_is_baseline()) return "portable linear algebra";
  if (openblas_get_config == nullptr) return "BLAS of the system";
  const std::string all = openblas_get_config();
  const std::string core = openblas_get_corename == nullptr ? "" : concat(" on ", openblas_get_corename());
  return all.substr(0, all.find(' ', all.find(' ') + 1)) + core;
}

namespace {

// Said before main(), so that no pool of its own is ever used.
const bool single_thread = [] {
  use_one_thread();
  return true;
}();

// OpenBLAS built without threads shares its buffers without a lock: calls must then come one at a time.
std::unique_lock<std::mutex> one_at_a_time() {
  static std::mutex mutex;
  static const bool serial = openblas_get_parallel != nullptr && openblas_get_parallel() == 0;
  return serial ? std::unique_lock(mutex) : std::unique_lock<std::mutex>();
}

int narrow(Index value) {
  require(value <= 0x7fffffff, ErrorCode::resources, "matrix dimension ", value, " is over what BLAS takes");
  return static_cast<int>(value);
}

// Row-major C = op(A) op(B) is column-major C' = op(B)' op(A)', and the same memory read column by column is
// already transposed: swap the operands, keep the flags.
template <class T, class Fortran>
void gemm_swapped(Fortran f, bool trans_a, bool trans_b, Index m, Index n, Index k, T alpha, const T* a, Index lda,
                  const T* b, Index ldb, T beta, T* c, Index ldc) {
  if (m == 0 || n == 0) return;
  const char ta = trans_a ? 'T' : 'N', tb = trans_b ? 'T' : 'N';
  const int mi = narrow(m), ni = narrow(n), ki = narrow(k);
  const int la = narrow(lda), lb = narrow(ldb), lc = narrow(ldc);
  const auto lock = one_at_a_time();
  f(&tb, &ta, &ni, &mi, &ki, &alpha, b, &lb, a, &la, &beta, c, &lc);
}

template <class T, class Fortran>
void syrk_swapped(Fortran f, bool rows, Index n, Index k, const T* a, Index lda, T* c, Index ldc) {
  const T one = 1;
  const int ni = narrow(n), ki = narrow(k), la = narrow(lda), lc = narrow(ldc);
  const auto lock = one_at_a_time();
  f("L", rows ? "T" : "N", &ni, &ki, &one, a, &la, &one, c, &lc);
}

// dsyevd by divide and conquer; INFO > 0 means that it did not converge, which only NaN can cause.
void syevd(int n, double* a, double* values) {
  const auto lock = one_at_a_time();
  int info = 0, query = -1, integer_size = 0;
  double size = 0;
  dsyevd_("V", "U", &n, a, &n, values, &size, &query, &integer_size, &query, &info);
  std::vector<double> work(static_cast<std::size_t>(size));
  std::vector<int> iwork(integer_size);
  const int lwork = static_cast<int>(work.size()), liwork = static_cast<int>(iwork.size());
  dsyevd_("V", "U", &n, a, &n, values, work.data(), &lwork, iwork.data(), &liwork, &info);
  require(info == 0, ErrorCode::internal, "eigen-decomposition failed (dsyevd info ", info, ")");
}

void portable_eigen_largest(Index n, Index count, double* a, double* values, double* vectors) {
  std::vector<double> all(n);
  portable::eigen_all(n, a, all.data());
  std::copy(all.end() - count, all.end(), values);
  std::copy(a + (n - count) * n, a + n * n, vectors);
}

}  // namespace

void gemm(bool trans_a, bool trans_b, Index m, Index n, Index k, double alpha, const double* a, Index lda,
          const double* b, Index ldb, double beta, double* c, Index ldc) {
  if (cpu_is_baseline()) return portable::gemm(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  gemm_swapped(dgemm_, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void gemm(bool trans_a, bool trans_b, Index m, Index n, Index k, float alpha, const float* a, Index lda, const float* b,
          Index ldb, float beta, float* c, Index ldc) {
  if (cpu_is_baseline()) return portable::gemm(trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  gemm_swapped(sgemm_, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void syrk(bool rows, Index n, Index k, const double* a, Index lda, double* c, Index ldc) {
  if (cpu_is_baseline()) return portable::syrk(rows, n, k, a, lda, c, ldc);
  syrk_swapped(dsyrk_, rows, n, k, a, lda, c, ldc);
}
void syrk(bool rows, Index n, Index k, const float* a, Index lda, float* c, Index ldc) {
  if (cpu_is_baseline()) return portable::syrk(rows, n, k, a, lda, c, ldc);
  syrk_swapped(ssyrk_, rows, n, k, a, lda, c, ldc);
}

void eigen_all(Index n, double* a, double* values) {
  if (cpu_is_baseline()) return portable::eigen_all(n, a, values);
  if (n > 0) syevd(narrow(n), a, values);
}

void eigen_largest(Index n, Index count, double* a, double* values, double* vectors) {
  if (cpu_is_baseline()) return portable_eigen_largest(n, count, a, values, vectors);
  const int ni = narrow(n), low = narrow(n - count + 1);
  auto lock = one_at_a_time();
  std::vector<double> backup(a, a + n * n), all(n);
  std::vector<int> support(2 * count);
  const double zero = 0;
  int found = 0, info = 0, query = -1, integer_size = 0;
  double size = 0;
  dsyevr_("V", "I", "U", &ni, a, &ni, &zero, &zero, &low, &ni, &zero, &found, all.data(), vectors, &ni, support.data(),
          &size, &query, &integer_size, &query, &info);
  std::vector<double> work(static_cast<std::size_t>(size));
  std::vector<int> iwork(integer_size);
  const int lwork = static_cast<int>(work.size()), liwork = static_cast<int>(iwork.size());
  dsyevr_("V", "I", "U", &ni, a, &ni, &zero, &zero, &low, &ni, &zero, &found, all.data(), vectors, &ni, support.data(),
          work.data(), &lwork, iwork.data(), &liwork, &info);
  if (info == 0 && found == count) {
    std::copy(all.begin(), all.begin() + count, values);
    return;
  }
  // dsyevr can give up where dsyevd does not.
  if (lock) lock.unlock();
  syevd(ni, backup.data(), all.data());
  std::copy(all.end() - count, all.end(), values);
  std::copy(backup.end() - count * n, backup.end(), vectors);
}

// Q by columns is Q' by rows.
void tridiagonalize(Index n, double* a, double* diagonal, double* off) {
  if (n == 0) return;
  if (cpu_is_baseline()) return portable::tridiagonalize(n, a, diagonal, off);
  const int ni = narrow(n), query = -1;
  int info = 0;
  std::vector<double> scalars(n);
  double reduce = 0, form = 0;
  const auto lock = one_at_a_time();
  dsytrd_("L", &ni, a, &ni, diagonal, off, scalars.data(), &reduce, &query, &info);
  dorgtr_("L", &ni, a, &ni, scalars.data(), &form, &query, &info);
  std::vector<double> work(static_cast<std::size_t>(std::max(reduce, form)));
  const int size = static_cast<int>(work.size());
  dsytrd_("L", &ni, a, &ni, diagonal, off, scalars.data(), work.data(), &size, &info);
  require(info == 0, ErrorCode::internal, "tridiagonal reduction failed (dsytrd info ", info, ")");
  dorgtr_("L", &ni, a, &ni, scalars.data(), work.data(), &size, &info);
  require(info == 0, ErrorCode::internal, "tridiagonal reduction failed (dorgtr info ", info, ")");
}

// The lower triangle by rows is the upper one by columns: A = U'U with U = L'.
bool cholesky(Index n, double* a) {
  if (n == 0) return true;
  if (cpu_is_baseline()) return portable::cholesky(n, a);
  const int ni = narrow(n);
  int info = 0;
  const auto lock = one_at_a_time();
  dpotrf_("U", &ni, a, &ni, &info);
  require(info >= 0, ErrorCode::internal, "Cholesky factorization failed (dpotrf info ", info, ")");
  return info == 0 && std::isfinite(a[n * n - 1]);  // not every library stops at a NaN, but it reaches the last pivot
}

// B by rows is B' by columns: B' (U'U)^-1 = (B' U^-1) U'^-1.
void cholesky_solve(Index n, Index m, const double* l, double* b) {
  if (n == 0 || m == 0) return;
  if (cpu_is_baseline()) return portable::cholesky_solve(n, m, l, b);
  const int ni = narrow(n), mi = narrow(m);
  const double one = 1;
  const auto lock = one_at_a_time();
  dtrsm_("R", "U", "N", "N", &mi, &ni, &one, l, &ni, b, &mi);
  dtrsm_("R", "U", "T", "N", &mi, &ni, &one, l, &ni, b, &mi);
}

}  // namespace tamis::blas
