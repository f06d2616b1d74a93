// Symmetric matrices with a known spectrum, and the LAPACK-style ratios that eigenpairs must meet.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tamis/linalg/dense.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis::support {

// Random orthonormal columns, by Gram-Schmidt in long double.
inline Matrix random_orthonormal(Index rows, Index cols, std::uint64_t seed) {
  LongMatrix q = widened(random_matrix(rows, cols, seed));
  for (int round = 0; round < 2; ++round) {
    for (Index k = 0; k < cols; ++k) {
      for (Index before = 0; before <= k; ++before) {
        long double dot = 0;
        for (Index i = 0; i < rows; ++i) dot += q(i, k) * q(i, before);
        for (Index i = 0; i < rows; ++i)
          q(i, k) = before == k ? q(i, k) / std::sqrt(dot) : q(i, k) - dot * q(i, before);
      }
    }
  }
  return narrowed(q);
}

// Q diag(values) Q' for Q a product of four random reflections, exactly symmetric.
inline Matrix with_spectrum(const std::vector<double>& values, std::uint64_t seed) {
  const auto n = static_cast<Index>(values.size());
  LongMatrix a(n, n);
  for (Index k = 0; k < n; ++k) a(k, k) = values[static_cast<std::size_t>(k)];
  for (std::uint64_t round = 0; round < 4; ++round) {
    const LongMatrix h = widened(random_matrix(n, 1, seed * 10 + round));
    long double square = 0;
    for (Index i = 0; i < n; ++i) square += h(i, 0) * h(i, 0);
    // A := (I - 2 hh'/h'h) A (I - 2 hh'/h'h), each side in turn.
    for (int side = 0; side < 2; ++side) {
      const LongMatrix ha = times(transposed(h), a);
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) a(i, j) -= 2 * h(i, 0) * ha(0, j) / square;
      }
      a = transposed(a);
    }
  }
  Matrix out = narrowed(a);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < i; ++j) out(i, j) = out(j, i);
  }
  return out;
}

inline Matrix symmetric_part(Matrix a) {
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < i; ++j) a(i, j) = a(j, i);
  }
  return a;
}

struct Kind {
  std::string name;
  Matrix a;
};

// Kinds of symmetric n x n matrices, after LAPACK's test generator.
inline std::vector<Kind> kinds(Index n) {
  std::vector<Kind> out;
  const auto spectrum = [&](const std::string& name, auto value, std::uint64_t seed) {
    std::vector<double> values(static_cast<std::size_t>(n));
    for (Index k = 0; k < n; ++k) values[static_cast<std::size_t>(k)] = value(k, n);
    out.push_back({name, with_spectrum(values, seed)});
  };
  const auto part = [](Index k, Index of) {
    return of > 1 ? static_cast<double>(k) / static_cast<double>(of - 1) : 0.0;
  };
  out.push_back({"zero", Matrix(n, n)});
  Matrix identity(n, n);
  for (Index i = 0; i < n; ++i) identity(i, i) = 1;
  out.push_back({"identity", identity});
  out.push_back({"random", symmetric_part(random_matrix(n, n, 11))});
  Matrix large = symmetric_part(random_matrix(n, n, 12)), small = large;
  for (Index i = 0; i < large.size(); ++i) {
    large.data()[i] *= 1e120;
    small.data()[i] *= 1e-120;
  }
  out.push_back({"random, large", large});
  out.push_back({"random, small", small});
  spectrum(
      "evenly spaced", [&](Index k, Index m) { return 1 - 0.99 * part(k, m); }, 13);
  spectrum(
      "graded 1..1e-12", [&](Index k, Index m) { return std::pow(10.0, -12 * part(k, m)); }, 14);
  spectrum(
      "graded, signs", [&](Index k, Index m) { return (k % 2 ? -1 : 1) * std::pow(10.0, -12 * part(k, m)); }, 15);
  spectrum(
      "clustered at 1", [](Index k, Index m) { return k < m - 1 ? 1 + 1e-10 * static_cast<double>(k) : 1e-6; }, 16);
  spectrum(
      "pairs", [](Index k, Index m) { return static_cast<double>(m - k / 2); }, 17);
  spectrum(
      "close pairs",
      [](Index k, Index m) { return static_cast<double>(m - k / 2) + 1e-9 * static_cast<double>(k % 2); }, 18);
  spectrum(
      "five fold", [](Index k, Index) { return 1.0 / static_cast<double>(1 + k / 5); }, 19);
  spectrum(
      "rank 3", [](Index k, Index) { return k < 3 ? 3.0 - static_cast<double>(k) : 0.0; }, 20);
  spectrum(
      "negative", [&](Index k, Index m) { return -1 - part(k, m); }, 21);
  spectrum(
      "one large", [](Index k, Index) { return k == 0 ? 1e8 : 1 / static_cast<double>(k); }, 22);
  return out;
}

inline double one_norm(const Matrix& a) {
  double norm = 0;
  for (Index i = 0; i < a.rows(); ++i) {
    double sum = 0;
    for (Index j = 0; j < a.cols(); ++j) sum += std::abs(a(i, j));
    norm = std::max(norm, sum);
  }
  return norm;
}

// max_k ||A v_k - lambda_k v_k|| / (||A|| n ulp).
inline double residual_ratio(const Matrix& a, const std::vector<double>& values, const Matrix& v, Index count) {
  const double norm = one_norm(a);
  if (norm == 0) return 0;
  const LongMatrix av = times(widened(a), widened(v));
  long double worst = 0;
  for (Index k = 0; k < count; ++k) {
    long double sum = 0;
    for (Index i = 0; i < a.rows(); ++i) {
      const long double r = (av(i, k) - static_cast<long double>(values[static_cast<std::size_t>(k)]) * v(i, k)) / norm;
      sum += r * r;
    }
    worst = std::max(worst, std::sqrt(sum));
  }
  return static_cast<double>(worst) / (static_cast<double>(a.rows()) * kUlp);
}

}  // namespace tamis::support
