// Swaps: a chosen column is left out, and the one that then adds most takes its place.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/linalg/blas.h"
#include "tamis/linalg/dense.h"
#include "tamis/select/css/subset.h"

namespace tamis {

namespace {

constexpr double kSwapGain = 1e-9;  // of all variance: a smaller one is not worth a swap

}  // namespace

Index CssSubset::swap(std::size_t kept) {
  Index swapped = 0;
  if (chosen_.size() == whole_.size() || entered_.size() < chosen_.size()) return 0;
  for (Index round = 0; round < options_.swaps; ++round) {
    Index now = 0;
    for (std::size_t place = kept; place < chosen_.size(); ++place) now += swap_one(place) ? 1 : 0;
    swapped += now;
    residual_.refresh(chosen_);
    if (now == 0) break;
  }
  if (swapped > 0 && !explained_.empty()) explained_.back() = share();
  return swapped;
}

// With U (d x k) of UU' = X'QQ'X and M = (X_S'X_S)^-1: without column i, R grows by uu', u = U w, w = U_S'M e_i /
// sqrt(M_ii), and ||u||^2 is what i adds to the others.
bool CssSubset::swap_one(std::size_t place) {
  const Vector w = direction_of(place);
  Vector u(whole_.size());
  for (std::size_t t = 0; t < basis_.size(); ++t) {
    for (std::size_t j = 0; j < u.size(); ++j) u[j] += w[t] * basis_[t][j];
  }
  const Vector ru = residual_.times(u);
  const double own = CssResidual::dot(u, u);
  Gains gains{Vector(whole_.size()), Vector(whole_.size())};
  for (std::size_t j = 0; j < whole_.size(); ++j) {
    const auto at = static_cast<Index>(j);
    const double left = residual_.left(at) + u[j] * u[j];
    const double square = residual_.square(at) + 2 * u[j] * ru[j] + u[j] * u[j] * own;
    gains.size[j] = is_chosen_[j] ? 0 : ratio(at, square, left);
    gains.tie[j] = tie(at, left);
  }
  std::vector<Index> all(whole_.size());
  std::iota(all.begin(), all.end(), 0);
  const Index best = best_of(all, gains);
  if (best < 0 || gains.size[best] <= own + kSwapGain * total_) return false;
  residual_.add(1, u, ru);
  const Vector entering = residual_.direction(best);
  residual_.add(-1, entering, residual_.times(entering));
  replace_direction(w, entering);
  is_chosen_[chosen_[place]] = 0, is_chosen_[best] = 1;  // here a group is a column
  chosen_[place] = entered_[place] = best;
  context_.check_cancelled();
  return true;
}

CssSubset::Vector CssSubset::direction_of(std::size_t place) const {
  const auto k = static_cast<Index>(basis_.size());
  Matrix at_chosen(k, k);  // U_S
  for (Index s = 0; s < k; ++s) {
    for (Index t = 0; t < k; ++t) at_chosen(s, t) = basis_[t][chosen_[s]];
  }
  Matrix gram = product_transposed_right(at_chosen, at_chosen), solution(k, 1);
  solution(static_cast<Index>(place), 0) = 1;
  require(blas::cholesky(k, gram.data()), ErrorCode::internal, "css: dependent columns among the chosen ones");
  blas::cholesky_solve(k, 1, gram.data(), solution.data());
  const double root = std::sqrt(solution(static_cast<Index>(place), 0));
  Vector w(basis_.size());
  for (Index s = 0; s < k; ++s) {
    for (Index t = 0; t < k; ++t) w[t] += at_chosen(s, t) * solution(s, 0) / root;
  }
  return w;
}

// Reflects U so that its last column is U w (w of length 1), and puts `by` there.
void CssSubset::replace_direction(Vector w, const Vector& by) {
  w.back() -= 1;
  const double norm = CssResidual::dot(w, w);
  if (norm > 0) {
    for (std::size_t j = 0; j < whole_.size(); ++j) {
      double along = 0;
      for (std::size_t t = 0; t < w.size(); ++t) along += basis_[t][j] * w[t];
      for (std::size_t t = 0; t < w.size(); ++t) basis_[t][j] -= 2 * along / norm * w[t];
    }
  }
  basis_.back() = by;
}

}  // namespace tamis
