#include "tamis/linalg/portable.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "tamis/base/elementary.h"
#include "tamis/base/error.h"
#include "tamis/linalg/kernels.h"

namespace tamis::portable {

namespace {

// Blocks that stay in the caches. An entry of C is one chain of additions over the whole depth, however it is cut.
constexpr Index kRows = 256, kDepth = 256, kColumns = 48;

// C (m x n) += alpha op(A) op(B) for n <= kColumns; with `diagonal` >= 0 only entries right of it: j >= i - diagonal.
template <class T>
void add_columns(bool trans_a, bool trans_b, Index m, Index n, Index k, T alpha, const T* a, Index lda, const T* b,
                 Index ldb, T* c, Index ldc, Index diagonal = -1) {
  const Index width = (n + kWidthStep<T> - 1) / kWidthStep<T> * kWidthStep<T>;
  const Index row_step = trans_a ? 1 : lda, depth_step = trans_a ? lda : 1;
  std::vector<T> v(std::min(k, kDepth) * width), sum(std::min(m, kRows) * width);
  for (Index k0 = 0; k0 < k; k0 += kDepth) {
    const Index depth = std::min(kDepth, k - k0);
    for (Index q = 0; q < depth; ++q) {
      for (Index j = 0; j < n; ++j) v[q * width + j] = alpha * (trans_b ? b[j * ldb + k0 + q] : b[(k0 + q) * ldb + j]);
    }
    for (Index i0 = 0; i0 < m; i0 += kRows) {
      const Index rows = std::min(kRows, m - i0);
      for (Index i = 0; i < rows; ++i) std::copy_n(c + (i0 + i) * ldc, n, sum.data() + i * width);
      kernels<T>(KernelSet::portable)
          .skinny_product(rows, depth, a + i0 * row_step + k0 * depth_step, row_step, depth_step, v.data(), width,
                          sum.data(), nullptr, 0);
      for (Index i = 0; i < rows; ++i) {
        const Index first = diagonal < 0 ? 0 : std::clamp<Index>(i0 + i - diagonal, 0, n);
        std::copy(sum.data() + i * width + first, sum.data() + i * width + n, c + (i0 + i) * ldc + first);
      }
    }
  }
}

}  // namespace

template <class T>
void gemm(bool trans_a, bool trans_b, Index m, Index n, Index k, T alpha, const T* a, Index lda, const T* b, Index ldb,
          T beta, T* c, Index ldc) {
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) c[i * ldc + j] = beta == 0 ? T(0) : beta * c[i * ldc + j];
  }
  for (Index j = 0; j < n; j += kColumns) {
    add_columns(trans_a, trans_b, m, std::min(kColumns, n - j), k, alpha, a, lda, b + (trans_b ? j * ldb : j), ldb,
                c + j, ldc);
  }
}

template <class T>
void syrk(bool rows, Index n, Index k, const T* a, Index lda, T* c, Index ldc) {
  for (Index j = 0; j < n; j += kColumns) {
    const Index count = std::min(kColumns, n - j);
    add_columns(!rows, rows, j + count, count, k, T(1), a, lda, a + (rows ? j * lda : j), lda, c + j, ldc, j);
  }
}

template void gemm(bool, bool, Index, Index, Index, double, const double*, Index, const double*, Index, double, double*,
                   Index);
template void gemm(bool, bool, Index, Index, Index, float, const float*, Index, const float*, Index, float, float*,
                   Index);
template void syrk(bool, Index, Index, const double*, Index, double*, Index);
template void syrk(bool, Index, Index, const float*, Index, float*, Index);

namespace {

void add_multiple(Index n, double by, const double* x, double* y) {
  if (by != 0) kernels<double>(KernelSet::portable).axpy(n, by, x, y);
}

// H = I - scale v v' with H x = (off, 0, ..., 0)'. x becomes v.
struct Reflection {
  double off = 0, scale = 0;
};

Reflection reflect(Index n, double* x) {
  double largest = 0, square = 0;
  for (Index i = 0; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
  if (largest == 0) return {};
  for (Index i = 0; i < n; ++i) square += (x[i] / largest) * (x[i] / largest);
  const double norm = largest * std::sqrt(square), off = x[0] > 0 ? -norm : norm;
  const double head = x[0] - off;  // no cancellation: both have the same sign
  for (Index i = 1; i < n; ++i) x[i] /= head;
  x[0] = 1;
  return {off, -head / off};
}

// A -= v w' + w v', w = p - s/2 (p'v) v, p = s A v: the part of H A H that H = I - s v v' leaves to do.
void reflect_both_sides(Index n, double s, const double* v, double* a, Index lda, std::vector<double>& w) {
  std::fill_n(w.begin(), n, 0.0);
  for (Index i = 0; i < n; ++i) add_multiple(n, s * v[i], a + i * lda, w.data());
  double inner = 0;
  for (Index i = 0; i < n; ++i) inner += w[i] * v[i];
  add_multiple(n, -s / 2 * inner, v, w.data());
  for (Index i = 0; i < n; ++i) {
    add_multiple(n, -v[i], w.data(), a + i * lda);
    add_multiple(n, -w[i], v, a + i * lda);
  }
}

// Q = H_0 H_1 ..., from the last to the first: H_k leaves the first k + 1 rows and columns alone. Row k of `v` is v_k.
std::vector<double> product_of_reflections(Index n, const std::vector<double>& v, const std::vector<double>& scale) {
  std::vector<double> q(n * n), t(n);
  for (Index i = 0; i < n; ++i) q[i * n + i] = 1;
  for (Index k = n - 3; k >= 0; --k) {
    const Index first = k + 1, left = n - first;
    std::fill(t.begin(), t.end(), 0.0);
    for (Index i = first; i < n; ++i) add_multiple(left, v[k * n + i], &q[i * n + first], &t[first]);
    for (Index i = first; i < n; ++i) add_multiple(left, -scale[k] * v[k * n + i], &t[first], &q[i * n + first]);
  }
  return q;
}

// One step of the implicit QL method on the unreduced rows l..m of T, by rotations that also turn the rows of Z.
void ql_step(Index l, Index m, Index n, double* d, double* e, double* z) {
  const double half = (d[l + 1] - d[l]) / (2 * e[l]), root = elementary::portable::hypot(half, 1);
  double g = d[m] - d[l] + e[l] / (half + (half < 0 ? -root : root));  // d[m] - Wilkinson's shift
  double s = 1, c = 1, p = 0;
  for (Index i = m - 1; i >= l; --i) {
    const double f = s * e[i], b = c * e[i], r = elementary::portable::hypot(f, g);
    e[i + 1] = r;
    if (r == 0) {  // T splits here
      d[i + 1] -= p;
      e[m] = 0;
      return;
    }
    s = f / r, c = g / r;
    g = d[i + 1] - p;
    const double t = (d[i] - g) * s + 2 * c * b;
    p = s * t;
    d[i + 1] = g + p;
    g = c * t - b;
    double *here = z + i * n, *next = here + n;
    for (Index k = 0; k < n; ++k) {
      const double above = here[k], below = next[k];
      next[k] = s * above + c * below;
      here[k] = c * above - s * below;
    }
  }
  d[l] -= p;
  e[l] = g;
  e[m] = 0;
}

// T = S diag(d) S' for the tridiagonal T of d and e (n numbers, the last unused); Z becomes S'Z.
void diagonalize(Index n, double* d, double* e, double* z) {
  constexpr double kUlp = std::numeric_limits<double>::epsilon();
  constexpr int kMostSteps = 80;  // two or three are usual
  double size = 0;                // of the rows so far: what is below its rounding is zero
  for (Index l = 0; l < n; ++l) {
    size = std::max(size, std::abs(d[l]) + std::abs(e[l]));
    for (int step = 0;; ++step) {
      Index m = l;
      while (m + 1 < n && std::abs(e[m]) > kUlp / 2 * size) ++m;
      if (m == l) break;
      require(step < kMostSteps, ErrorCode::internal, "eigen-decomposition failed (QL)");
      ql_step(l, m, n, d, e, z);
    }
  }
}

void sort_rising(Index n, double* values, double* vectors) {
  std::vector<Index> order(n);
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [values](Index i, Index j) { return values[i] < values[j]; });
  const std::vector<double> old_values(values, values + n), old(vectors, vectors + n * n);
  for (Index i = 0; i < n; ++i) {
    values[i] = old_values[order[i]];
    std::copy_n(old.data() + order[i] * n, n, vectors + i * n);
  }
}

}  // namespace

void tridiagonalize(Index n, double* a, double* diagonal, double* off) {
  std::vector<double> v(n * n), scale(n), w(n);
  for (Index k = 0; k + 1 < n; ++k) {
    const Index first = k + 1, left = n - first;
    diagonal[k] = a[k * n + k];
    if (left == 1) {
      off[k] = a[k * n + first];
      break;
    }
    std::copy_n(a + k * n + first, left, &v[k * n + first]);
    const Reflection h = reflect(left, &v[k * n + first]);
    off[k] = h.off, scale[k] = h.scale;
    if (h.scale != 0) reflect_both_sides(left, h.scale, &v[k * n + first], a + first * n + first, n, w);
  }
  if (n > 0) diagonal[n - 1] = a[n * n - 1];
  const std::vector<double> q = product_of_reflections(n, v, scale);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) a[i * n + j] = q[j * n + i];
  }
}

void eigen_all(Index n, double* a, double* values) {
  double largest = 0;
  for (Index i = 0; i < n * n; ++i) largest = std::max(largest, std::abs(a[i]));
  require(std::isfinite(largest), ErrorCode::internal, "eigen-decomposition failed (not finite)");
  int exponent = 0;  // a power of two brings the largest entry near 1, so that no square overflows
  std::frexp(largest, &exponent);
  for (Index i = 0; i < n * n; ++i) a[i] = std::ldexp(a[i], -exponent);
  std::vector<double> off(n);
  tridiagonalize(n, a, values, off.data());
  diagonalize(n, values, off.data(), a);
  sort_rising(n, values, a);
  for (Index i = 0; i < n; ++i) values[i] = std::ldexp(values[i], exponent);
}

bool cholesky(Index n, double* a) {
  std::vector<double> column(n);
  for (Index k = 0; k < n; ++k) {
    const double pivot = std::sqrt(a[k * n + k]);
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
    a[k * n + k] = pivot;
    for (Index i = k + 1; i < n; ++i) column[i] = a[i * n + k] /= pivot;
    for (Index i = k + 1; i < n; ++i) add_multiple(i - k, -column[i], &column[k + 1], a + i * n + k + 1);
  }
  return true;
}

void cholesky_solve(Index n, Index m, const double* l, double* b) {
  const auto divide = [m, b](Index i, double by) {
    for (Index k = 0; k < m; ++k) b[i * m + k] /= by;
  };
  for (Index i = 0; i < n; ++i) {  // L Y = B
    for (Index j = 0; j < i; ++j) add_multiple(m, -l[i * n + j], b + j * m, b + i * m);
    divide(i, l[i * n + i]);
  }
  for (Index i = n - 1; i >= 0; --i) {  // L'X = Y
    divide(i, l[i * n + i]);
    for (Index j = 0; j < i; ++j) add_multiple(m, -l[i * n + j], b + i * m, b + j * m);
  }
}

}  // namespace tamis::portable
