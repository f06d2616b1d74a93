// Columns that are chosen as one: the indicators of one variable, the readings of one sensor.
#pragma once

#include <span>
#include <vector>

#include "tamis/base/types.h"
#include "tamis/select/selection.h"

namespace tamis {

class ColumnGroups {
 public:
  ColumnGroups() = default;  // none: every column is a group of its own
  // A number for each column; columns with the same number are one group. Groups are numbered anew, in the order of
  // their first columns.
  explicit ColumnGroups(const std::vector<Index>& numbers);
  static ColumnGroups each(Index columns);  // every column by itself

  bool given() const { return !of_.empty(); }
  bool any() const { return count() < columns(); }  // whether some group has two columns
  Index columns() const { return static_cast<Index>(of_.size()); }
  Index count() const { return count_; }
  Index of(Index column) const { return of_[column]; }
  const std::vector<Index>& of() const { return of_; }
  std::span<const Index> members(Index group) const {  // increasing
    if (starts_.empty()) return {&of_[group], 1};
    return {&members_[starts_[group]], static_cast<std::size_t>(starts_[group + 1] - starts_[group])};
  }
  double pairs() const;  // sum of squared sizes

  // The groups of some columns (increasing), by their places among these.
  ColumnGroups among(const std::vector<Index>& columns) const;
  // Groups in the order in which their first columns come.
  std::vector<Index> in_order(const std::vector<Index>& columns) const;
  // The columns of groups, one group after the other.
  std::vector<Index> expand(const std::vector<Index>& groups) const;

 private:
  std::vector<Index> of_;
  Index count_ = 0;
  std::vector<Index> members_;  // group by group; empty where each column is by itself, column j being group j
  std::vector<Index> starts_;   // of the groups among them
};

// The groups of `count` columns: those given, or each column by itself.
ColumnGroups groups_or_columns(const ColumnGroups& groups, Index count);

// The groups of columns that are included in any case.
struct ForcedGroups {
  std::vector<Index> varying;  // as `some` numbers them, increasing
  Index constant = 0;          // how many others: none of their columns is kept, but they count
};
// `some`: the groups of the columns `kept`.
ForcedGroups forced_among(const ColumnGroups& all, const ColumnGroups& some, const std::vector<Index>& kept,
                          const std::vector<Index>& columns);

// The order of all groups: first `order`, of the groups of the columns `kept`, which `some` numbers; then the others.
std::vector<Index> order_among_all(const std::vector<Index>& order, const ColumnGroups& some, const ColumnGroups& all,
                                   const std::vector<Index>& kept);

// Sums of values over each group.
std::vector<double> sums_of_groups(const ColumnGroups& groups, const std::vector<double>& values);

// Ranks groups by score (ties to the lower first column), and gives every column the score of its group.
void rank_groups(const ColumnGroups& groups, const std::vector<double>& scores, Selection& out);

// Groups as an order, (g - rank + 1) / g of g groups, 0 after the first `varying`.
void order_groups(const ColumnGroups& groups, const std::vector<Index>& order, std::size_t varying, Selection& out);

// For a method that scores columns one by one: the root of the mean square of a group's scores, measured from that of a
// column without variation (Selection::flat).
void rank_groups_by_mean_square(const ColumnGroups& groups, Selection& out);

}  // namespace tamis
