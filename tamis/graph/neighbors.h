// The nearest rows of every row: squared Euclidean distance, the row itself not counted, ties to the smaller index.
// Products in blocks bound the distances; where these bounds leave it open distances are computed, from differences.
//
// exact     all pairs of rows, each once: n^2 d / 2 multiplications (sparse: the sum over columns of squared counts,
// and
//           n^2 comparisons). Memory: n k pairs, n shortlists, and a copy of the rows in float or a few blocks of them.
// in cells  rows are divided into about sqrt(n) cells by k-means of a sample, and each row is compared with the rows of
//           the cells nearest to it: as many as reach the wanted recall on a sample of rows whose neighbors are known.
//           Memory: besides n k pairs a copy of the rows in float (sparse: of the entries, and n x 64).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/source.h"

namespace tamis {

struct Neighbors {
  Index count = 0;                      // k, at most n - 1
  std::vector<std::int32_t> index;      // n x k, nearest first
  std::vector<double> distance;         // their squared distances, in unit^2
  double unit = 1.0;                    // 1 unless the data are far from 1
  std::optional<double> mean_distance;  // over all n^2 pairs (the row with itself included), in unit; where asked for
  double recall = 1;                    // the share of the nearest rows that were found, on a sample of rows
  Index cells = 0, probes = 0;          // of a search in cells: how many there are, and each row is compared with
};

struct NeighborSearch {
  Index count = 5;         // k
  double recall = 1;       // to be reached; 1: exact
  Index exact_rows = 0;    // up to this many rows the search is exact whatever the recall
  bool with_mean = false;  // of all distances; exact searches only

  bool in_cells(Index rows) const { return recall < 1 && rows > exact_rows; }
};

Neighbors nearest_neighbors(const Source& source, const NeighborSearch& wanted, Context& context);

// The mean distance over `pairs` pairs of rows, drawn by the seed; natural units.
double sampled_mean_distance(const Source& source, Index pairs, Context& context);

}  // namespace tamis
