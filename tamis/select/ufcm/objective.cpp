#include "tamis/select/ufcm/objective.h"

#include <cmath>

#include "tamis/base/elementary.h"

namespace tamis {

namespace {

double squared_row_norm(const Matrix& w, Index i) {
  double norm = 0;
  for (Index k = 0; k < w.cols(); ++k) norm += w(i, k) * w(i, k);
  return norm;
}

}  // namespace

double Terms::magnitude(double alpha, double beta) const {
  return std::abs(scatter) + alpha * within + beta * sparsity;
}

double row_sparsity(const Matrix& w, const std::vector<double>& copies, double p) {
  double sum = 0;
  for (Index i = 0; i < w.rows(); ++i) {
    const double m = copies[i];
    sum += m * elementary::pow(squared_row_norm(w, i) / m + kEps, p / 2);
  }
  return sum;
}

std::vector<double> sparsity_weights(const Matrix& w, const std::vector<double>& copies, double p) {
  std::vector<double> out;
  for (Index i = 0; i < w.rows(); ++i) {
    const double m = copies[i];
    out.push_back(p / 2 * elementary::pow(squared_row_norm(w, i) / m + kEps, p / 2 - 1));
  }
  return out;
}

}  // namespace tamis
