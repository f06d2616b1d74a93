// UFCM's objective and its plain dense algorithm, written from the paper in the most naive way.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "tamis/linalg/dense.h"
#include "tests/support/checks.h"

namespace tamis::support {

inline constexpr double kEps = 1e-10;

struct UfcmTerms {
  double scatter = 0, within = 0, sparsity = 0;
  double objective(double alpha, double beta) const { return scatter - alpha * within - beta * sparsity; }
  double magnitude(double alpha, double beta) const { return std::abs(scatter) + alpha * within + beta * sparsity; }
};

inline std::vector<Index> varying_columns(const Matrix& x) {
  std::vector<Index> out;
  for (Index j = 0; j < x.cols(); ++j) {
    for (Index i = 1; i < x.rows(); ++i) {
      if (x(i, j) != x(0, j)) {
        out.push_back(j);
        break;
      }
    }
  }
  return out;
}

// tr(W'SW), ||ZW - UG||^2 with G the means, sum_i (||w^i||^2 + eps)^(p/2); over the columns that vary.
inline UfcmTerms ufcm_terms(const Matrix& x, const Matrix& w, const std::vector<int>& clusters, double p) {
  const LongMatrix y = times(centered(x), widened(w));
  const Index c = *std::max_element(clusters.begin(), clusters.end()) + 1;
  LongMatrix means(c, y.cols());
  std::vector<long double> counts(static_cast<std::size_t>(c));
  for (Index i = 0; i < y.rows(); ++i) {
    const int k = clusters[static_cast<std::size_t>(i)];
    ++counts[static_cast<std::size_t>(k)];
    for (Index j = 0; j < y.cols(); ++j) means(k, j) += y(i, j);
  }
  UfcmTerms out;
  long double scatter = 0, within = 0;
  for (Index i = 0; i < y.rows(); ++i) {
    const int k = clusters[static_cast<std::size_t>(i)];
    for (Index j = 0; j < y.cols(); ++j) {
      const long double delta = y(i, j) - means(k, j) / counts[static_cast<std::size_t>(k)];
      scatter += y(i, j) * y(i, j);
      within += delta * delta;
    }
  }
  for (const Index i : varying_columns(x)) {
    double norm = 0;
    for (Index k = 0; k < w.cols(); ++k) norm += w(i, k) * w(i, k);
    out.sparsity += std::pow(norm + kEps, p / 2);
  }
  out.scatter = static_cast<double>(scatter);
  out.within = static_cast<double>(within);
  return out;
}

// beta = b tr(W0'SW0) / sum_i ||w0^i||^p.
inline double scale_free_beta(const Matrix& x, Index dims, double sparsity, double p) {
  const LongMatrix z = centered(x);
  const EigenPairs pca = symmetric_eigen(narrowed(times(transposed(z), z)));
  double scatter = 0, norms = 0;
  for (Index k = 0; k < dims; ++k) scatter += pca.values[static_cast<std::size_t>(k)];
  for (Index i = 0; i < x.cols(); ++i) {
    double norm = 0;
    for (Index k = 0; k < dims; ++k) norm += pca.vectors(i, k) * pca.vectors(i, k);
    norms += std::pow(norm, p / 2);
  }
  return sparsity * scatter / norms;
}

// The paper's algorithm for given classes: every W is the exact dense solution, from the PCA start.
inline double supervised_objective(const Matrix& x, const std::vector<int>& classes, Index dims, double alpha,
                                   double beta, double p, int iterations) {
  const LongMatrix z = centered(x);
  const Matrix s = narrowed(times(transposed(z), z));
  const Index c = *std::max_element(classes.begin(), classes.end()) + 1, d = x.cols();
  LongMatrix sums(c, d);
  std::vector<long double> counts(static_cast<std::size_t>(c));
  for (Index i = 0; i < x.rows(); ++i) {
    const int k = classes[static_cast<std::size_t>(i)];
    ++counts[static_cast<std::size_t>(k)];
    for (Index j = 0; j < d; ++j) sums(k, j) += z(i, j);
  }
  for (Index k = 0; k < c; ++k) {
    for (Index j = 0; j < d; ++j) sums(k, j) /= std::sqrt(std::max(counts[static_cast<std::size_t>(k)], 1.0L));
  }
  const Matrix between = narrowed(times(transposed(sums), sums));
  Matrix w = first_columns(symmetric_eigen(s).vectors, dims);
  for (int t = 0; t < iterations; ++t) {
    Matrix m(d, d);
    for (Index i = 0; i < m.size(); ++i) m.data()[i] = (1 - alpha) * s.data()[i] + alpha * between.data()[i];
    for (Index i = 0; i < d; ++i) {
      double norm = 0;
      for (Index k = 0; k < dims; ++k) norm += w(i, k) * w(i, k);
      m(i, i) -= beta * p / 2 * std::pow(norm + kEps, p / 2 - 1);
    }
    w = first_columns(symmetric_eigen(m).vectors, dims);
  }
  return ufcm_terms(x, w, classes, p).objective(alpha, beta);
}

}  // namespace tamis::support
