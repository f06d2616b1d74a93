// Distances of rows from their differences, in double: what every search of nearest rows ends with.
#pragma once

#include <vector>

#include "tamis/data/passes/passes.h"

namespace tamis {

// Sums in eight lanes: the order of the columns decides the bits, and nothing else.
inline double squared_difference(const double* a, const double* b, Index d) {
  double lanes[8] = {};
  Index j = 0;
  for (; j + 8 <= d; j += 8) {
    for (Index lane = 0; lane < 8; ++lane) lanes[lane] += (a[j + lane] - b[j + lane]) * (a[j + lane] - b[j + lane]);
  }
  for (; j < d; ++j) lanes[0] += (a[j] - b[j]) * (a[j] - b[j]);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

// Of rows a and b in compressed rows; entries that are not stored are 0.
inline double squared_difference(const Entries& rows, Index a, Index b) {
  Index i = rows.offsets[a], j = rows.offsets[b];
  const Index i_end = rows.offsets[a + 1], j_end = rows.offsets[b + 1];
  double sum = 0;
  while (i < i_end || j < j_end) {
    const bool left = j == j_end || (i < i_end && rows.columns[i] <= rows.columns[j]);
    const bool right = i == i_end || (j < j_end && rows.columns[j] <= rows.columns[i]);
    const double delta = (left ? rows.values[i] : 0.0) - (right ? rows.values[j] : 0.0);
    sum += delta * delta;
    i += left ? 1 : 0;
    j += right ? 1 : 0;
  }
  return sum;
}

// Of rows of a dense Z; the first row is kept for the next call.
class DenseDistance {
 public:
  explicit DenseDistance(const Centered& z) : z_(z), own_(z.cols()), other_(own_.size()) {}
  double operator()(Index i, Index j) {
    if (i != held_) load_rows(z_, i, 1, own_.data());
    held_ = i;
    load_rows(z_, j, 1, other_.data());
    return squared_difference(own_.data(), other_.data(), z_.cols());
  }

 private:
  const Centered& z_;
  std::vector<double> own_, other_;
  Index held_ = -1;
};

// Of rows of a sparse Z.
class SparseDistance {
 public:
  explicit SparseDistance(const Entries& rows) : rows_(rows) {}
  double operator()(Index i, Index j) const { return squared_difference(rows_, i, j); }

 private:
  const Entries& rows_;
};

}  // namespace tamis
