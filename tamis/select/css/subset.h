// The columns that css has chosen, and how it goes on from there: the path, and swaps after it.
#pragma once

#include <optional>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/select/css/css.h"
#include "tamis/select/css/residual.h"
#include "tamis/select/groups.h"

namespace tamis {

// Groups of columns enter as one; without groups each column is one.
class CssSubset {
 public:
  // A column is explained where so little of its variance is left: rounding of X'X comes near it.
  static constexpr double kExplained = 1e-10;

  // `length`: of the path, in groups.
  CssSubset(CssResidual& residual, const ColumnGroups& groups, const CssOptions& options, Index length,
            Context& context);

  // Groups that enter first; those that the others explain add nothing, but count.
  void force(std::vector<Index> groups);
  // The path: always the best of all, until there are enough.
  void grow();
  // For each column but the first `kept`: leave it out, and take what then adds most. How many were exchanged.
  Index swap(std::size_t kept);

  double share() const;     // of the variance, that is explained
  double least_r2() const;  // of a column on those chosen
  const std::vector<Index>& chosen() const { return chosen_; }
  const std::vector<double>& explained() const { return explained_; }

  // Groups: the chosen ones, then by gain, then by what they explain alone.
  std::vector<Index> order() const;

 private:
  using Vector = CssResidual::Vector;
  // By group; `tie`: the part of a gain that decides nothing.
  struct Gains {
    Vector size, tie;
  };

  // ||R_:j||^2 / R_jj
  double gain(Index j) const { return ratio(j, residual_.square(j), residual_.left(j)); }
  double ratio(Index j, double square, double left) const { return left > kExplained * whole_[j] ? square / left : 0; }
  double gain_of(Index group) const;
  double tie(Index j, double left) const;
  Gains open_gains() const;
  bool is_enough() const;
  Index best_of(const std::vector<Index>& groups, const Gains& gains) const;
  void count(Index group);
  void enter(Index j);
  void enter_group(Index group);

  // A = LQ
  struct RowFactors {
    Matrix l, q;
  };
  static RowFactors row_factors(const Matrix& a);
  bool swap_one(std::size_t place);
  Vector direction_of(std::size_t place);
  void replace_direction(Vector w, const Vector& by);

  CssResidual& residual_;
  const ColumnGroups& groups_;
  const CssOptions& options_;
  const Index length_;
  Context& context_;
  std::vector<char> is_chosen_;
  std::vector<Index> chosen_, entered_;  // groups; columns that entered, each of which added something
  Vector whole_, alone_;                 // R_jj of columns and gains of groups before the first step
  Vector explained_;                     // share of the variance after each group
  std::vector<Vector> basis_;            // U, for swaps
  std::optional<RowFactors> factors_;    // of U_S, where they were needed since the last swap
  double total_ = 0;
};

}  // namespace tamis
