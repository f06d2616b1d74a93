// The nearest rows of every row, exactly: products in blocks say which rows may be near, and only those distances are
// computed from differences. Squared Euclidean distance, the row itself not counted, ties to the smaller index.
//
// Work: n^2 d multiplications (sparse: the sum over columns of squared counts, and n^2 comparisons).
// Memory: n k pairs and a few blocks of rows.
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
};

Neighbors nearest_neighbors(const Source& source, Index count, bool with_mean, Context& context);

// The mean distance over `pairs` pairs of rows, drawn by the seed; natural units.
double sampled_mean_distance(const Source& source, Index pairs, Context& context);

}  // namespace tamis
