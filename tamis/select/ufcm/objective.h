// The terms of UFCM's objective, and the weights D that stand for its sparsity in an iteration.
#pragma once

#include <vector>

#include "tamis/linalg/matrix.h"

namespace tamis {

inline constexpr double kEps = 1e-10;  // smooths the norm of a row of W, and so makes the ascent exact at zero rows

struct Terms {
  double scatter = 0, within = 0, sparsity = 0;  // tr(W'SW), ||ZW - UG||^2, R(W)

  // tr(W'SW) - alpha ||ZW - UG||^2 - beta R(W), as (1 - alpha) tr(W'SW) + alpha tr(W'BW) - beta R(W): at alpha = 1 the
  // scatter need not be known.
  double objective(double alpha, double beta) const {
    return (1 - alpha) * scatter + alpha * (scatter - within) - beta * sparsity;
  }
  double magnitude(double alpha, double beta) const;
};

// R(W) = sum_i (||w^i||^2 + eps)^(p/2), where row i of `w` is sqrt(m_i) times the row of each of m_i = copies[i]
// columns (copies.h).
double row_sparsity(const Matrix& w, const std::vector<double>& copies, double p);

// D_ii = (p/2) (||w^i||^2 + eps)^(p/2 - 1), Eq. 7: the tangent of the concave penalty at the current W.
std::vector<double> sparsity_weights(const Matrix& w, const std::vector<double>& copies, double p);

}  // namespace tamis
