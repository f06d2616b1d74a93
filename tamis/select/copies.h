// Exact copies among the columns of a table. A method whose W gives copies equal rows solves for one column of each
// group of m copies, times the root of their number:
//   x~ = sqrt(m) x and w~ = sqrt(m) w, so that X~W~ = XW, W~'W~ = W'W and X~X~' = XX'.
// Only sums over the rows of W see how many there are: sum_j ||w_j|| = sum_g sqrt(m_g) ||w~_g||.
#pragma once

#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/passes/passes.h"

namespace tamis {

struct Copies {
  std::vector<Index> group;    // of each column; groups are numbered in the order of their first columns
  std::vector<double> number;  // of each group: m
  std::vector<double> root;    // sqrt(m)

  Index columns() const { return static_cast<Index>(group.size()); }
  Index groups() const { return static_cast<Index>(number.size()); }
  bool any() const { return groups() < columns(); }
  std::vector<Index> firsts() const;  // the first column of each group
};

// One pass over the columns that share their moments with another one; none where there are no such columns.
Copies find_copies(const Source& source, const ColumnMoments& moments, Context& context);

}  // namespace tamis
