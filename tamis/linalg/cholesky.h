// Solves systems with a symmetric positive definite matrix.
#pragma once

#include "tamis/linalg/matrix.h"

namespace tamis {

// A = LL'. A matrix that rounding has left without positive pivots is lifted: A + lift I, with the lift of the order of
// that rounding, n ulp max_i a_ii, or ten times that as often as it takes.
class Cholesky {
 public:
  Cholesky() = default;
  // Error(bad_data) where A is far from positive definite, or not finite.
  explicit Cholesky(Matrix a);

  Matrix solve(Matrix b) const;  // A^-1 B
  Index size() const { return l_.rows(); }
  double lift() const { return lift_; }  // 0 but for singular matrices

 private:
  Matrix l_;  // in and below the diagonal
  double lift_ = 0;
};

}  // namespace tamis
