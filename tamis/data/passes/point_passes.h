// Passes over points (points.h) in memory or left where the rows are: what k-means asks of them. They read no rows of
// the table, and are not counted as passes over the data.
#pragma once

#include <cstdint>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/passes/passes.h"
#include "tamis/data/points.h"

namespace tamis {

// Z W as points. Where the rows of Z live elsewhere they stay with them. One pass over the data.
Points<double> project(const Centered& z, const Matrix& w, Context& context);

// The given rows (increasing) of points, here.
Points<double> take_points(const Points<double>& points, const std::vector<Index>& rows, Context& context);

// The cluster of each row: here, or left with the points.
struct RowLabels {
  struct Moved {
    Index row, label;
  };
  std::vector<std::int32_t> values;
  LeftRows there;
  std::vector<Moved> moved;  // since they were left there

  bool empty() const { return values.empty() && there.store == nullptr; }
  void set(Index row, std::int32_t label);
};

// The labels of all `rows`, here.
std::vector<int> gather_labels(const RowLabels& labels, Index rows, Index clusters, Context& context);

// Sums of the points of each cluster, times their weights, and the numbers of those that have any; or what changes
// them: empty where nothing does.
struct ClusterSums {
  ClusterSums() = default;
  ClusterSums(Index c, Index m) : points(c, m), counts(c) {}

  void take(ClusterSums& change);  // adds it, and leaves it at 0

  template <class Archive>
  void exchange(Archive& archive) {
    archive(points), archive(counts), archive(changed);
    check();
  }
  void check() const;  // Error(internal) where numbers of rows are larger than any

  Matrix points;
  std::vector<Index> counts;
  Index changed = 0;  // rows
};

// Sums by given labels (-1: in no cluster), which are left with the points.
template <class T>
ClusterSums sum_clusters(const Points<T>& points, Index clusters, RowLabels& labels, Context& context);

// Centers as the kernels take them: -2 center, and ||center||^2.
template <class T>
struct KernelCenters {
  std::vector<T> g, norm;
};

// Gives each point the label of its nearest center, or the one that is fixed (not -1), and returns what that changes in
// the sums. `labels` without any: all were in no cluster. `changes` is work space that can be used again.
template <class T>
ClusterSums assign_points(const Points<T>& points, const KernelCenters<T>& centers, const RowLabels& fixed,
                          RowLabels& labels, std::vector<ClusterSums>& changes, Context& context);

struct FarPoint {
  template <class Archive>
  void exchange(Archive& archive) {
    archive(row), archive(label), archive(distance), archive(point);
  }

  Index row = -1;
  std::int32_t label = -1;
  double distance = 0;
  std::vector<double> point;
};

// The point that is farthest, and by more than `least`, from the center of its own cluster, where that may lose it and
// it is not fixed.
template <class T>
FarPoint farthest_point(const Points<T>& points, const Matrix& centers, const std::vector<char>& may_lose, double least,
                        const RowLabels& fixed, const RowLabels& labels, Context& context);

}  // namespace tamis
