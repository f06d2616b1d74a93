// Norms and sums that the steps of RUFS share. Used by rufs_*.cpp only.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tamis/linalg/dense.h"
#include "tamis/select/rufs/rufs_steps.h"

namespace tamis::rufs_algebra {

inline constexpr double kGain = 1e-6;  // the G and F steps end where one of theirs gains less than this part of J
inline constexpr double kKink = 1e-3;  // rows shorter than this part of the mean are taken as quadratic by a direction
inline constexpr double kTiny = std::numeric_limits<double>::min();

inline double norm_of_row(const Matrix& a, Index i) {
  double sum = 0;
  for (Index k = 0; k < a.cols(); ++k) sum += a(i, k) * a(i, k);
  return std::sqrt(sum);
}

inline double sum_of_row_norms(const Matrix& a) {
  double sum = 0;
  for (Index i = 0; i < a.rows(); ++i) sum += norm_of_row(a, i);
  return sum;
}

// ||W||_21 of all copies.
inline double sparsity_of(const RufsProblem& problem, const Matrix& w) {
  double sum = 0;
  for (Index j = 0; j < w.rows(); ++j) sum += problem.roots[j] * norm_of_row(w, j);
  return sum;
}

// A += factor B.
inline void add(double factor, const Matrix& b, Matrix& a) {
  for (Index i = 0; i < a.size(); ++i) a.data()[i] += factor * b.data()[i];
}

// A + factor B.
inline Matrix combined(const Matrix& a, double factor, const Matrix& b) {
  Matrix out = a;
  add(factor, b, out);
  return out;
}

inline double norm(const Matrix& a) { return std::sqrt(squared_norm(a)); }

// ||A - B||
inline double distance(const Matrix& a, const Matrix& b) {
  double sum = 0;
  for (Index i = 0; i < a.size(); ++i) sum += (a.data()[i] - b.data()[i]) * (a.data()[i] - b.data()[i]);
  return std::sqrt(sum);
}

// ||(GF - X)_i||; its square may round below 0.
inline std::vector<double> residual_norms(const RufsProblem& problem, const Matrix& g, const Matrix& xf,
                                          const Matrix& ff) {
  const Matrix gff = product(g, ff);
  std::vector<double> out(problem.squares);
  for (Index i = 0; i < g.rows(); ++i) {
    double& square = out[i];
    for (Index k = 0; k < g.cols(); ++k) square += g(i, k) * (gff(i, k) - 2 * xf(i, k));
    square = std::sqrt(std::max(square, 0.0));
  }
  return out;
}

inline double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

// G'G - I.
inline Matrix departure(const Matrix& g) {
  Matrix out = product_transposed_left(g, g);
  for (Index k = 0; k < out.rows(); ++k) out(k, k) -= 1;
  return out;
}

inline std::vector<double> column_norms(const Matrix& f) {
  std::vector<double> out(f.cols());
  for (Index k = 0; k < f.rows(); ++k) {
    for (Index j = 0; j < f.cols(); ++j) out[j] += f(k, j) * f(k, j);
  }
  for (double& value : out) value = std::sqrt(value);
  return out;
}

// sum_j ||f_j|| of all copies.
inline double sum_of_column_norms(const RufsProblem& problem, const Matrix& f) {
  const std::vector<double> norms = column_norms(f);
  double sum = 0;
  for (std::size_t j = 0; j < norms.size(); ++j) sum += problem.roots[j] * norms[j];
  return sum;
}

inline std::vector<double> column_dots(const Matrix& a, const Matrix& b) {
  std::vector<double> out(a.cols());
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index k = 0; k < a.cols(); ++k) out[k] += a(i, k) * b(i, k);
  }
  return out;
}

}  // namespace tamis::rufs_algebra
