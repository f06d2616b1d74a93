// The few inner loops that BLAS does not have, compiled for the plain machine, for AVX2 + FMA and for AVX-512,
// and chosen once at start. Everything else is written on top of these and of BLAS.
#pragma once

#include "tamis/base/types.h"

namespace tamis {

// Points are packed in panels of this many rows, dimension by dimension, so that one vector holds one dimension
// of neighboring rows.
inline constexpr Index kPanel = 16;

// Columns of a skinny product come in whole vectors.
template <class T>
inline constexpr Index kWidthStep = 32 / static_cast<Index>(sizeof(T));

// Columns of a few rows: x_ij = (data[i * row_step + j] - center[j]) * scale[j]. No center is 0, no scale is 1.
struct RowsOfColumns {
  const void* data;
  DType dtype;
  Index row_step, rows, cols;
  const double *center, *scale;
};
// Where their statistics go, one number a column.
struct ColumnSums {
  double *mean, *scatter, *low, *high;
};

// Lower bounds of the squared distances of one row to `count` others, from their products: own + parts[j] - factor
// factors[j] (products[j] + more[j]). Null: factors of 1, nothing more.
template <class T>
struct DistanceBounds {
  Index count;
  const T *products, *more;
  T own;
  const T* parts;
  T factor;
  const T* factors;
};

template <class T>
struct KernelsFor {
  // out[i * out_step + j] = x_ij.
  void (*center_rows)(const RowsOfColumns& x, T* out, Index out_step);
  // For each row of `panels` panels of m dimensions: label = argmin_k (norm[k] + y.g_k), best = that minimum.
  // Callers pass g = -2 center and norm = ||center||^2. Ties go to the lower k.
  void (*nearest)(const T* points, Index panels, Index m, const T* g, const T* norm, Index k, T* best,
                  std::int32_t* label);
  // One step of k-means++ for `count` candidate centers (g, norm as above): for each candidate t
  //   out[t * panels * kPanel + i] = min(current[i], max(0, square[i] + norm[t] + y_i.g_t)),  cost[t] = their sum,
  // where square[i] = ||y_i||^2. Rows of the last panel past the end have current = 0.
  void (*candidates)(const T* points, Index panels, Index m, const T* g, const T* norm, Index count, const T* square,
                     const T* current, T* out, double* cost);
  // C (rows x width) += A (rows x depth) V (depth x width), a_ik = a[i * row_step + k * depth_step]; width must be a
  // multiple of kWidthStep<T>. For few columns, where packing A would cost as much as the product. Memory at `ahead`
  // (may be null), `ahead_step` bytes for each row and step of the depth, is asked for meanwhile.
  void (*skinny_product)(Index rows, Index depth, const T* a, Index row_step, Index depth_step, const T* v, Index width,
                         T* c, const char* ahead, Index ahead_step);
  // y (width) += sum_k values[k] V[columns[k]], and C[columns[k]] += values[k] t (width) for all k: a row of a sparse
  // matrix times V, and its transpose. Rows of V and C have `width` numbers, a multiple of kWidthStep<T>.
  void (*sparse_gather)(Index count, const T* values, const std::int32_t* columns, const T* v, Index width, T* y);
  void (*sparse_scatter)(Index count, const T* values, const std::int32_t* columns, const T* t, Index width, T* c);
  // The positions, rising, of values[j] <= max(limit, limits[j]); returns how many. `found` has room for all of them.
  Index (*find_below)(Index count, const T* values, T limit, const T* limits, std::int32_t* found);
  // Products of the rows of a panel (points.h) with those of `count` others, `panel_step` numbers apart, over `depth`
  // dimensions: row i of the panel with row j of the others goes to out[i * out_step + j], or is added to it.
  void (*panel_products)(const T* panel, const T* others, Index panel_step, Index count, Index depth, bool add, T* out,
                         Index out_step);
  // The positions, rising, of bounds that are at most max(limit, limits[j]), and these bounds; returns how many.
  Index (*find_near)(const DistanceBounds<T>& bounds, T limit, const T* limits, std::int32_t* found, T* found_bounds);
  // y (m) += a x (m).
  void (*axpy)(Index m, T a, const T* x, T* y);
  // mean_j = sum_i x_ij / rows and scatter_j = sum_i (x_ij - mean_j)^2, row by row, with the same bits in every build;
  // low and high take the least and the largest of what they hold and the x_ij. Of f32 or f64; the rows after these are
  // fetched meanwhile.
  void (*column_sums)(const RowsOfColumns& x, const ColumnSums& out);
};

// `portable` has the same bits on every machine.
enum class KernelSet { portable, avx2, avx512 };
bool cpu_has(KernelSet set);
KernelSet kernels_in_use();
const char* name_of(KernelSet set);

// The CPU must have them.
template <class T>
const KernelsFor<T>& kernels(KernelSet set = kernels_in_use());
template <>
const KernelsFor<double>& kernels<double>(KernelSet set);
template <>
const KernelsFor<float>& kernels<float>(KernelSet set);

}  // namespace tamis
