// Rows divided into cells around centers, and the search of nearest rows within them.
#pragma once

#include <cstdint>
#include <vector>

#include "tamis/data/passes/passes.h"
#include "tamis/graph/neighbors.h"

namespace tamis {

// Points that are compared by one product.
inline constexpr Index kPointsAtOnce = 128;

// Cells of nearby rows, none much larger than the others: a large one is cut in several with the same center.
struct Cells {
  Matrix centers;
  std::vector<double> square;      // of the centers
  std::vector<Index> offsets;      // of the cells, one more than there are
  std::vector<std::int32_t> rows;  // of the first cell, of the second ...; rising in each
  std::vector<std::int32_t> cell;  // of every row

  Index count() const { return static_cast<Index>(square.size()); }
  Index size(Index k) const { return offsets[k + 1] - offsets[k]; }
};

// The points that cells are made of: the rows themselves, or of sparse ones what a few directions see of them.
class CellPoints {
 public:
  CellPoints(const Centered& z, Context& context);
  Index rows() const { return z_.rows(); }
  Index dims() const { return z_.source().sparse() ? few_.cols() : z_.cols(); }
  void load(Index row, double* to) const;

 private:
  const Centered& z_;
  Matrix few_;
};

Cells divide(const CellPoints& points, Context& context);

// Squared distances of points (one a row) to the centers, less the points' own squares: rows of `to`.
void center_distances(const Cells& cells, const Matrix& points, Matrix& to);

// Fills `out` (its lists have their size, and nothing in them); false where cells save too little against all pairs,
// and nothing was searched.
bool search_cells(const Centered& z, double recall, Neighbors& out, Context& context);

}  // namespace tamis
