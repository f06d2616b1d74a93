// What distinguishes the clusters of rows: the means of the best features in each, and a sample of the rows for
// pictures. Everything is in the units of the table.
//
// One pass for the means, c x 2000 numbers, and one or two for the sample: 5000 rows of 200 selected features at most.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tamis/data/passes/passes.h"
#include "tamis/linalg/matrix.h"
#include "tamis/run/select.h"

namespace tamis {

// The cluster of each row; -1 where it is not known, as that of rows that a guide has not looked at. Empty: there are
// no clusters.
std::vector<int> known_clusters(const SelectResult& result, Index rows, std::uint64_t seed);

// Five quantiles of the values in one cluster; NaN where it has none.
using Quantiles = std::array<double, 5>;  // 5, 25, 50, 75 and 95 %

struct ClusterProfile {
  std::vector<Index> sizes;             // rows in each cluster, as far as they are known
  Index known = 0;                      // rows whose cluster is known
  std::vector<Index> features;          // described, best first: columns of the table
  Matrix means;                         // features x clusters, of rows by their weights; NaN where a cluster has none
  std::vector<double> mean, deviation;  // of each feature, over all rows

  std::vector<Index> rows;       // the sample, increasing
  std::vector<int> row_cluster;  // of the sample
  Matrix map;                    // the sample in two dimensions
  bool by_components = false;    // of XW, else of the standardized selected features
  double explained = 0.0;        // share of the variance of XW, or of these features, that the map shows
  std::vector<Index> spread_of;  // the first selected features
  std::vector<std::vector<Quantiles>> quantiles;  // of each of them, by cluster; in the sample

  Index clusters() const { return static_cast<Index>(sizes.size()); }
  // (mean in the cluster - mean) / deviation, 0 where the feature does not vary.
  double standardized(std::size_t feature, Index cluster) const;
};

// `kept` has the available columns, `moments` are theirs; `clusters` of the rows, two at least, -1: not known.
// `every_feature`: the means of all features, not of the best 2000.
ClusterProfile profile_clusters(const Source& kept, const ColumnMoments& moments, const SelectResult& result,
                                const std::vector<int>& clusters, bool every_feature, Context& context);

// "high in cluster 2 (mean 5.1), low in 3 (0.2)", of a described feature.
std::string difference_text(const ClusterProfile& profile, std::size_t feature);
// A digit from 0 to f for each cluster: the means from the smallest to the largest; '-' where a cluster is empty.
std::string strip_of(const ClusterProfile& profile, std::size_t feature);

}  // namespace tamis
