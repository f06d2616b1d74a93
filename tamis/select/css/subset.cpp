#include "tamis/select/css/subset.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

#include "tamis/linalg/dense.h"
#include "tamis/select/selection.h"

namespace tamis {

namespace {

constexpr double kTie = 1e-9;        // of the best gain
constexpr double kRounding = 1e-13;  // of R_jj before the first step, times what R_jj and ||R_:j||^2 may be off by

// What a block of columns explains together: with R_GG = V diag(l) V', sum_t v_t'(R^2)_GG v_t / l_t, columns in units
// of their deviations. Eigenvalues that are no more than rounding are left out.
double gain_of_block(const CssResidual::Block& block, const std::vector<double>& whole) {
  const Index size = block.left.rows();
  Matrix left = block.left, square = block.square;
  for (Index a = 0; a < size; ++a) {
    for (Index b = 0; b < size; ++b) {
      const double unit = std::sqrt(whole[a] * whole[b]);
      left(a, b) /= unit, square(a, b) /= unit;
    }
  }
  const EigenPairs pairs = symmetric_eigen(std::move(left));
  const Matrix turned = product(square, pairs.vectors);
  double gain = 0;
  for (Index t = 0; t < size && pairs.values[t] > CssSubset::kExplained; ++t) {
    double along = 0;
    for (Index a = 0; a < size; ++a) along += pairs.vectors(a, t) * turned(a, t);
    gain += std::max(0.0, along) / pairs.values[t];
  }
  return gain;
}

}  // namespace

CssSubset::CssSubset(CssResidual& residual, const ColumnGroups& groups, const CssOptions& options, Index length,
                     Context& context)
    : residual_(residual),
      groups_(groups),
      options_(options),
      length_(length),
      context_(context),
      is_chosen_(static_cast<std::size_t>(groups.count()), 0) {
  if (groups.any()) residual.follow(groups);
  for (Index j = 0; j < residual.size(); ++j) whole_.push_back(residual.left(j));
  total_ = residual.trace();
  for (Index g = 0; g < groups.count(); ++g) alone_.push_back(gain_of(g));
}

void CssSubset::force(std::vector<Index> groups) {
  while (!groups.empty()) {
    const Index best = best_of(groups, open_gains());
    if (best < 0) break;
    enter_group(best);
    std::erase(groups, best);
  }
  for (const Index g : groups) count(g);
}

void CssSubset::grow() {
  std::vector<Index> all(alone_.size());
  std::iota(all.begin(), all.end(), 0);
  while (static_cast<Index>(chosen_.size()) < length_ && !is_enough()) {
    const Index best = best_of(all, open_gains());
    if (best < 0) break;
    enter_group(best);
    context_.check_cancelled();
    context_.phase("columns", {static_cast<double>(chosen_.size()), static_cast<double>(length_), true});
  }
}

bool CssSubset::is_enough() const {
  if (options_.variance && share() >= *options_.variance - kExplained) return true;
  return options_.r2 && least_r2() >= *options_.r2 - kExplained;
}

double CssSubset::share() const { return total_ > 0 ? std::clamp(1 - residual_.trace() / total_, 0.0, 1.0) : 1; }

double CssSubset::least_r2() const {
  double least = 1;
  for (std::size_t j = 0; j < whole_.size(); ++j) {
    if (whole_[j] > 0) least = std::min(least, 1 - residual_.left(static_cast<Index>(j)) / whole_[j]);
  }
  return std::max(0.0, least);
}

std::vector<Index> CssSubset::order() const {
  const Vector gains = open_gains().size;
  std::vector<Index> out = chosen_;
  for (const Index j : rank_by_score(gains)) {
    if (gains[j] > 0) out.push_back(j);
  }
  for (const Index j : rank_by_score(alone_)) {
    if (!is_chosen_[j] && gains[j] == 0) out.push_back(j);
  }
  return out;
}

double CssSubset::gain_of(Index group) const {
  const std::span<const Index> members = groups_.members(group);
  if (members.size() == 1) return gain(members.front());
  Vector whole;
  for (const Index j : members) whole.push_back(whole_[j]);
  return gain_of_block(residual_.block(group), whole);
}

// Where little of a column is left, its gain is a quotient of two small numbers.
double CssSubset::tie(Index j, double left) const {
  return left > kExplained * whole_[j] ? std::max(kTie, kRounding * whole_[j] / left) : kTie;
}

CssSubset::Gains CssSubset::open_gains() const {
  Gains out{Vector(alone_.size()), Vector(alone_.size(), kTie)};
  for (Index g = 0; g < groups_.count(); ++g) {
    out.size[g] = is_chosen_[g] ? 0 : gain_of(g);
    const std::span<const Index> members = groups_.members(g);
    if (members.size() == 1) out.tie[g] = tie(members.front(), residual_.left(members.front()));
  }
  return out;
}

// The best of `groups` (increasing) by gain, of ties that which explains most alone; -1 where none adds anything.
Index CssSubset::best_of(const std::vector<Index>& groups, const Gains& gains) const {
  double most = 0;
  for (const Index j : groups) most = std::max(most, gains.size[j] * (1 - (gains.tie[j] - kTie)));
  if (most <= 0) return -1;
  Index best = -1;
  for (const Index j : groups) {
    if (gains.size[j] < most - gains.tie[j] * most) continue;
    if (best < 0 || alone_[j] > alone_[best] + kTie * alone_[best]) best = j;
  }
  return best;
}

void CssSubset::count(Index group) {
  chosen_.push_back(group);
  is_chosen_[group] = 1;
  explained_.push_back(share());
}

void CssSubset::enter(Index j) {
  const Vector u = residual_.direction(j);
  residual_.add(-1, u, residual_.times(u));
  entered_.push_back(j);
  if (options_.swaps > 0) basis_.push_back(u);
  residual_.refresh_if_due(entered_);
}

// Its columns one after the other, always the one that adds most, until none adds anything.
void CssSubset::enter_group(Index group) {
  std::vector<Index> rest(groups_.members(group).begin(), groups_.members(group).end());
  while (!rest.empty()) {
    const auto best = std::ranges::max_element(rest, {}, [&](Index j) { return gain(j); });
    if (gain(*best) <= 0) break;
    enter(*best);
    rest.erase(best);
  }
  count(group);
}

}  // namespace tamis
