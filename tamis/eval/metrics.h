// How well a clustering agrees with known classes. Every measure is blind to the numbering of either side, and
// leaves out rows whose class is -1 on either side.
#pragma once

#include <vector>

#include "tamis/linalg/matrix.h"

namespace tamis {

// The share of rows hit under the best one-to-one map of clusters to classes (Kuhn-Munkres on the contingency table).
double clustering_accuracy(const std::vector<int>& truth, const std::vector<int>& clusters);

// Mutual information / sqrt(H(truth) H(clusters)), the geometric mean of Strehl & Ghosh (2002). Other codes divide by
// the maximum or the arithmetic mean; figures are not comparable. A one-cluster side gives 0, two of them 1.
double normalized_mutual_info(const std::vector<int>& truth, const std::vector<int>& clusters);

// The Rand index corrected for chance (Hubert & Arabie, 1985): 1 for equal partitions, about 0 for unrelated ones.
double adjusted_rand(const std::vector<int>& truth, const std::vector<int>& clusters);

// The column given to each row so that the sum of weights is largest; -1 for rows left over where there are more
// rows than columns. O(min^2 max).
std::vector<Index> best_assignment(const BasicMatrix<Index>& weights);

}  // namespace tamis
