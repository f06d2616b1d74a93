// Means of clusters of rows, and the cluster that a row is nearest to.
#pragma once

#include <vector>

#include "tamis/data/passes/passes.h"

namespace tamis {

// The weights of the rows of each of `count` clusters together: their number, where rows have no weights. -1: no
// cluster.
std::vector<double> cluster_weights(const std::vector<double>& weights, const std::vector<int>& clusters, Index count);

// c x d: the (weighted) mean of the rows of each cluster, in the source's scaling; NaN where it is empty. One pass, and
// one for the moments of the columns where they are not known yet.
Matrix cluster_means(const Source& source, const std::vector<int>& clusters, Context& context);

// Nearest of c means m_k in the metric (x - m)'A(x - m): the largest of (x - center)'v_k - offset_k, the first of equal
// ones, with v_k = A (m_k - center) and offset_k = v_k'(m_k - center) / 2.
struct NearestMean {
  std::vector<double> center;  // d
  Matrix directions;           // d x c: v_k
  std::vector<double> offset;  // c; infinite for clusters that no row shall have
};
// The cluster of each row. One pass.
std::vector<int> nearest_clusters(const Source& source, const NearestMean& rule, Context& context);

}  // namespace tamis
