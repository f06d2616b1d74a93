// What tests ask of results: the error a call ends with, equal bits, closeness, and naive twins of linear algebra.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tamis/base/error.h"
#include "tamis/data/source.h"
#include "tamis/linalg/matrix.h"

namespace tamis::support {

inline constexpr double kUlp = std::numeric_limits<double>::epsilon();

// The call must throw Error(code) whose message is one line with every given piece in it.
template <class Call>
void expect_error(ErrorCode code, const std::vector<std::string>& pieces, Call call) {
  try {
    call();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    for (const std::string& piece : pieces)
      EXPECT_NE(message.find(piece), std::string::npos) << message << " lacks " << piece;
    return;
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception: " << error.what();
    return;
  }
  ADD_FAILURE() << "no error, wanted one with code " << static_cast<int>(code);
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
bool same_bits(const BasicMatrix<T>& a, const BasicMatrix<T>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (a.empty() || std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(T)) == 0);
}

template <class A, class B>
double largest_difference(const std::vector<A>& a, const std::vector<B>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(difference <= worst)) worst = difference;  // NaN stays
  }
  return worst;
}

template <class A, class B>
double largest_difference(const BasicMatrix<A>& a, const BasicMatrix<B>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return std::numeric_limits<double>::infinity();
  double worst = 0;
  for (Index i = 0; i < a.size(); ++i) {
    const double difference =
        std::abs(static_cast<double>(static_cast<long double>(a.data()[i]) - static_cast<long double>(b.data()[i])));
    if (!(difference <= worst)) worst = difference;
  }
  return worst;
}

template <class T>
double largest(const BasicMatrix<T>& a) {
  double worst = 0;
  for (Index i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(static_cast<double>(a.data()[i])));
  return worst;
}

inline double largest(const std::vector<double>& a) {
  double worst = 0;
  for (const double value : a) worst = std::max(worst, std::abs(value));
  return worst;
}

inline bool all_finite(const std::vector<double>& a) {
  return std::all_of(a.begin(), a.end(), [](double value) { return std::isfinite(value); });
}

// --- Naive twins in long double ----------------------------------------------------------------------------------

using LongMatrix = BasicMatrix<long double>;

template <class T>
LongMatrix widened(const BasicMatrix<T>& a) {
  LongMatrix out(a.rows(), a.cols());
  for (Index i = 0; i < a.size(); ++i) out.data()[i] = static_cast<long double>(a.data()[i]);
  return out;
}

template <class T>
BasicMatrix<T> transposed(const BasicMatrix<T>& a) {
  BasicMatrix<T> out(a.cols(), a.rows());
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) out(j, i) = a(i, j);
  }
  return out;
}

inline LongMatrix times(const LongMatrix& a, const LongMatrix& b) {
  LongMatrix out(a.rows(), b.cols());
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index k = 0; k < a.cols(); ++k) {
      for (Index j = 0; j < b.cols(); ++j) out(i, j) += a(i, k) * b(k, j);
    }
  }
  return out;
}

inline Matrix narrowed(const LongMatrix& a) {
  Matrix out(a.rows(), a.cols());
  for (Index i = 0; i < a.size(); ++i) out.data()[i] = static_cast<double>(a.data()[i]);
  return out;
}

// The columns minus their means.
inline LongMatrix centered(const Matrix& a) {
  LongMatrix out = widened(a);
  for (Index j = 0; j < a.cols(); ++j) {
    long double mean = 0;
    for (Index i = 0; i < a.rows(); ++i) mean += out(i, j);
    mean /= static_cast<long double>(a.rows());
    for (Index i = 0; i < a.rows(); ++i) out(i, j) -= mean;
  }
  return out;
}

// ||I - V'V||_max / (n ulp) for the columns of V.
inline double orthogonality_ratio(const Matrix& v) {
  const LongMatrix product = times(transposed(widened(v)), widened(v));
  long double worst = 0;
  for (Index i = 0; i < product.rows(); ++i) {
    for (Index j = 0; j < product.cols(); ++j) {
      worst = std::max(worst, std::abs(product(i, j) - (i == j ? 1.0L : 0.0L)));
    }
  }
  return static_cast<double>(worst) / (static_cast<double>(std::max<Index>(v.rows(), 1)) * kUlp);
}

}  // namespace tamis::support
