// The largest eigenpairs of a symmetric operator by block Davidson: Rayleigh-Ritz on a growing basis, expanded by
// (preconditioned) residuals, restarted when it is full. The start is always inside the basis, so the sum of the
// Ritz values never falls, however few steps are taken (Cauchy's interlacing).
#pragma once

#include <functional>
#include <vector>

#include "tamis/linalg/matrix.h"

namespace tamis {

// M V = apply(V, image(V)). `image` is the expensive linear part that is worth keeping with the vectors (S V of a
// scatter matrix); it may be empty, and then every image is a matrix without columns. `apply` is called again where M V
// is needed again; it may be empty where M V is the image itself.
struct SymmetricOperator {
  Index dim = 0;
  std::function<Matrix(const Matrix& v)> image;
  std::function<Matrix(const Matrix& v, const Matrix& image)> apply;
  // Turns residuals (columns) at the given Ritz values into better directions; may be empty.
  std::function<void(const std::vector<double>& values, Matrix& residuals)> precondition;
};

// Orthonormal vectors (columns) with their images and Ritz values, largest first.
struct RitzPairs {
  Matrix vectors;
  Matrix image;
  std::vector<double> values;
  std::vector<double> residuals;  // ||M v - value v||
  Index steps = 0;                // expansions of the basis
  bool converged = false;
};

struct DavidsonOptions {
  Index count = 1;           // eigenpairs wanted; the start may have more columns (a guard block)
  Index steps = 100;         // expansions of the basis at most
  Index basis = 0;           // columns of the basis at most; 0: four times the start
  double tolerance = 1e-10;  // stop when all residuals are below tolerance * ||M||
  double gain = 0;           // stop when a step raises the sum of values by less than gain * (what the first one did)
};

// Improves `start` (orthonormal columns, image filled or empty). The result has as many columns as the start.
// Memory: dim x (basis + 2 start) numbers, and as many as the basis again where there are images.
RitzPairs largest_eigenpairs(const SymmetricOperator& m, RitzPairs start, const DavidsonOptions& options);

}  // namespace tamis
