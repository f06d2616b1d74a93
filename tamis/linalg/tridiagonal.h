// Ridge systems of one matrix and many ridges, in no more memory than the matrix.
#pragma once

#include <vector>

#include "tamis/linalg/matrix.h"

namespace tamis {

// A = Q T Q' for a symmetric positive semi-definite A, T tridiagonal: a system with A + r I then takes two products
// with Q, whatever r is.
class Tridiagonal {
 public:
  Tridiagonal() = default;
  explicit Tridiagonal(Matrix a);

  // V = (A + r I)^-1 B and, where it is asked for, A V. r > 0; one below the rounding of A is taken as that.
  Matrix solve(double r, const Matrix& b, Matrix* image = nullptr) const;
  Index size() const { return q_.rows(); }

 private:
  void solve_tridiagonal(double r, Matrix& b) const;
  Matrix times_tridiagonal(const Matrix& y) const;

  Matrix q_;  // Q'
  std::vector<double> diagonal_, off_;
  double rounding_ = 0;  // of A
};

}  // namespace tamis
