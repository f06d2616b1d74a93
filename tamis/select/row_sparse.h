// W with at most k rows that are not 0 (fspca, and ufcm with `exact`): which rows these are, and what columns score.
#pragma once

#include <vector>

#include "tamis/base/types.h"

namespace tamis {

// `forced`, and the others with the largest merits, k in all; increasing.
std::vector<Index> largest_of(const std::vector<double>& merits, Index k, const std::vector<Index>& forced = {});

// The norms of the rows of W, given their squares, in `columns`, at least 1e-4; the others come below by their merits.
std::vector<double> row_sparse_scores(const std::vector<double>& squares, const std::vector<Index>& columns,
                                      const std::vector<double>& merits);

}  // namespace tamis
