// Tables in which rows stand several times.
#pragma once

#include <algorithm>
#include <vector>

#include "tests/support/tables.h"

namespace tamis::support {

// 0 to 3, with zeros among them, the first among these.
inline std::vector<double> whole_weights(Index rows) {
  std::vector<double> out;
  for (Index i = 0; i < rows; ++i) out.push_back(static_cast<double>((i * 7 + i / 5) % 4));
  return out;
}

inline std::vector<Index> repeated_rows(const std::vector<double>& weights) {
  std::vector<Index> out;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    out.insert(out.end(), static_cast<std::size_t>(weights[i]), static_cast<Index>(i));
  }
  return out;
}

inline Matrix repeated(const Matrix& a, const std::vector<double>& weights) {
  const std::vector<Index> rows = repeated_rows(weights);
  Matrix out(static_cast<Index>(rows.size()), a.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) std::copy_n(a.row(rows[i]), a.cols(), out.row(static_cast<Index>(i)));
  return out;
}

template <class T>
std::vector<T> repeated(const std::vector<T>& values, const std::vector<double>& weights) {
  std::vector<T> out;
  for (const Index row : repeated_rows(weights)) out.push_back(values[static_cast<std::size_t>(row)]);
  return out;
}

inline Matrix identity(Index size) {
  Matrix out(size, size);
  for (Index i = 0; i < size; ++i) out(i, i) = 1;
  return out;
}

}  // namespace tamis::support
