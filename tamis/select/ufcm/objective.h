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

// What the sparsity term counts as one: rows of W with the same number in `of`. A group that is a row by itself is
// sqrt(m) times the row of each of m = number[g] copies (copies.h); others have m = 1.
struct RowGroups {
  std::vector<Index> of;
  std::vector<double> number;
};
std::vector<double> squared_norms(const Matrix& w, const RowGroups& groups);  // ||W_g||^2

// R(W) = sum_g (||W_g||^2 + eps)^(p/2), of each copy by itself.
double row_sparsity(const Matrix& w, const RowGroups& groups, double p);

// D_ii = (p/2) (||W_g||^2 + eps)^(p/2 - 1), g the group of row i, Eq. 7: the tangent of the concave penalty at the
// current W.
std::vector<double> sparsity_weights(const Matrix& w, const RowGroups& groups, double p);

}  // namespace tamis
