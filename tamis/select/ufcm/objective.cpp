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

std::vector<double> squared_norms(const Matrix& w, const RowGroups& groups) {
  std::vector<double> out(groups.number.size());
  for (Index i = 0; i < w.rows(); ++i) out[groups.of[i]] += squared_row_norm(w, i);
  return out;
}

double row_sparsity(const Matrix& w, const RowGroups& groups, double p) {
  const std::vector<double> norms = squared_norms(w, groups);
  double sum = 0;
  for (std::size_t g = 0; g < norms.size(); ++g) {
    const double m = groups.number[g];
    sum += m * elementary::pow(norms[g] / m + kEps, p / 2);
  }
  return sum;
}

std::vector<double> sparsity_weights(const Matrix& w, const RowGroups& groups, double p) {
  const std::vector<double> norms = squared_norms(w, groups);
  std::vector<double> out;
  out.reserve(w.rows());
  for (Index i = 0; i < w.rows(); ++i) {
    const Index g = groups.of[i];
    out.push_back(p / 2 * elementary::pow(norms[g] / groups.number[g] + kEps, p / 2 - 1));
  }
  return out;
}

}  // namespace tamis
