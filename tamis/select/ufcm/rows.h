// W of UFCM with at most k rows that are not 0 and without a penalty, at fixed U: the step of FSPCA (methods/fspca.h)
// with M = (1 - alpha) S + alpha B in the place of A.
//
//   P = MW (W'MW)^+ W'M;  C = the k largest of diag P;  W = the leading eigenvectors of M_CC
//
// Of groups of columns, C are the k groups with the largest sums of diag P.
//
// No step lowers tr(W'MW), since M has no negative eigenvalue for alpha <= 1.
#pragma once

#include <utility>
#include <vector>

#include "tamis/linalg/dense.h"
#include "tamis/linalg/eigen.h"
#include "tamis/select/groups.h"
#include "tamis/select/ufcm/clusters.h"
#include "tamis/select/ufcm/scatter.h"

namespace tamis {

// How many groups of rows W has, and which in any case.
struct ExactRows {
  ColumnGroups groups;
  Index k = 0;
  std::vector<Index> forced;  // groups
};

class RowSteps {
 public:
  // `scatter` is not needed at alpha = 1, and null there.
  RowSteps(double alpha, const Scatter* scatter, ExactRows exact)
      : alpha_(alpha), scatter_(scatter), exact_(std::move(exact)) {}

  // Steps from W until C stays. W may have more rows that are not 0 to begin with.
  void improve(const Clusters& clusters, RitzPairs& w) const;

  // Whether W has no more rows than it may.
  bool allows(const Matrix& w) const;

  // diag P
  std::vector<double> merits(const Clusters& clusters, const RitzPairs& w) const;

 private:
  Matrix times(const Clusters& clusters, const RitzPairs& w) const;  // M W
  std::vector<Index> best_columns(const std::vector<double>& merits) const;
  RitzPairs leading(const Clusters& clusters, const std::vector<Index>& columns, const RitzPairs& start) const;
  EigenPairs by_clusters(const Clusters& clusters, const std::vector<Index>& columns, Index count) const;
  EigenPairs by_matrix(const Clusters& clusters, const std::vector<Index>& columns, Index count) const;
  EigenPairs by_steps(const Clusters& clusters, const std::vector<Index>& columns, const RitzPairs& start) const;

  double alpha_;
  const Scatter* scatter_;
  ExactRows exact_;
};

// Rows of W that are not 0, increasing.
std::vector<Index> rows_in_use(const Matrix& w);

}  // namespace tamis
