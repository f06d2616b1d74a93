// Swaps: a chosen column is left out, and the one that then adds most takes its place.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tamis/linalg/blas.h"
#include "tamis/linalg/dense.h"
#include "tamis/select/css/subset.h"

namespace tamis {

namespace {

constexpr double kSwapGain = 1e-9;    // of all variance: a smaller one is not worth a swap
constexpr double kRightAngle = 1e-9;  // a larger cosine is not rounding, nor is a larger part of a length

// of += by * direction, over `count` numbers
void move_along(const double* direction, double by, Index count, double* of) {
  for (Index t = 0; t < count; ++t) of[t] += by * direction[t];
}

// Whether w has length 1 and is at right angles to the rows of A but that of i.
bool is_apart_from_others(const Matrix& a, Index i, const std::vector<double>& w) {
  if (!(std::abs(CssResidual::dot(w, w) - 1) <= kRightAngle)) return false;
  for (Index s = 0; s < a.rows(); ++s) {
    double along = 0, whole = 0;
    for (Index t = 0; t < a.cols(); ++t) along += a(s, t) * w[t], whole += a(s, t) * a(s, t);
    if (s != i && !(std::abs(along) <= kRightAngle * std::sqrt(whole))) return false;
  }
  return true;
}

// A^-1 e_i = Q'y, Ly = e_i, of length 1, for A = LQ. The substitution leaves Ly - e_i small beside |L||y|, so that the
// result is at right angles to the other rows of A to rounding.
std::vector<double> column_of_inverse(const Matrix& l, const Matrix& q, Index i) {
  const Index k = l.rows();
  std::vector<double> y(k), out(k);
  y[i] = 1;
  for (Index s = i + 1; s < k; ++s) {
    y[s] = -std::inner_product(l.row(s) + i, l.row(s) + s, y.begin() + i, 0.0) / l(s, s);
  }
  const double norm = std::sqrt(CssResidual::dot(y, y));
  for (Index s = i; s < k; ++s) move_along(q.row(s), y[s] / norm, k, out.data());
  return out;
}

}  // namespace

// A = LQ for a square A, by Gram and Schmidt; each row twice, so that Q is orthogonal to rounding however close the
// rows of A are to each other. Empty where a row is no more than rounding away from those above it.
CssSubset::RowFactors CssSubset::row_factors(const Matrix& a) {
  const Index k = a.rows();
  const double rounding = static_cast<double>(k) * std::numeric_limits<double>::epsilon();
  RowFactors out{Matrix(k, k), a};
  for (Index s = 0; s < k; ++s) {
    double* row = out.q.row(s);
    const double whole = std::sqrt(std::inner_product(row, row + k, row, 0.0));
    for (int round = 0; round < 2; ++round) {
      for (Index t = 0; t < s; ++t) {
        const double along = std::inner_product(row, row + k, out.q.row(t), 0.0);
        move_along(out.q.row(t), -along, k, row);
        out.l(s, t) += along;
      }
    }
    const double own = std::sqrt(std::inner_product(row, row + k, row, 0.0));
    if (!(own > rounding * whole)) return {};
    for (Index t = 0; t < k; ++t) row[t] /= own;
    out.l(s, s) = own;
  }
  return out;
}

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

// With U (d x k) of UU' = X'QQ'X: without column i, R grows by uu', u = U w, where w is the unit vector at right angles
// to the rows of U_S but that of i, and ||u||^2 is what i adds to the others.
bool CssSubset::swap_one(std::size_t place) {
  const Vector w = direction_of(place);
  if (w.empty()) return false;
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
  factors_.reset();
  context_.check_cancelled();
  return true;
}

// w = U_S'M e_i / sqrt(M_ii), M = (X_S'X_S)^-1 = (U_S U_S')^-1, which squares the condition of U_S; where that takes
// too many digits, by its factors. Empty where these cannot tell either.
CssSubset::Vector CssSubset::direction_of(std::size_t place) {
  const auto k = static_cast<Index>(basis_.size());
  Matrix at_chosen(k, k);  // U_S
  for (Index s = 0; s < k; ++s) {
    for (Index t = 0; t < k; ++t) at_chosen(s, t) = basis_[t][chosen_[s]];
  }
  Matrix gram = product_transposed_right(at_chosen, at_chosen), solution(k, 1);
  solution(static_cast<Index>(place), 0) = 1;
  if (blas::cholesky(k, gram.data())) {
    blas::cholesky_solve(k, 1, gram.data(), solution.data());
    const double root = std::sqrt(solution(static_cast<Index>(place), 0));
    Vector w(basis_.size());
    for (Index s = 0; s < k; ++s) {
      for (Index t = 0; t < k; ++t) w[t] += at_chosen(s, t) * solution(s, 0) / root;
    }
    if (is_apart_from_others(at_chosen, static_cast<Index>(place), w)) return w;
  }
  if (!factors_) factors_ = row_factors(at_chosen);
  return factors_->l.empty() ? Vector() : column_of_inverse(factors_->l, factors_->q, static_cast<Index>(place));
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
