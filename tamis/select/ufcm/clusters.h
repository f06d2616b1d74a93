// U of UFCM: k-means on Z W (Eq. 15), with what follows from it: U'U, U'Z, the means G (Eq. 11) and the between-class
// scatter B = Z'U (U'U)^-1 U'Z. Rows with weights count as often in each: U'U has the weights of the clusters.
#pragma once

#include <vector>

#include "tamis/cluster/kmeans.h"
#include "tamis/data/passes/passes.h"
#include "tamis/select/ufcm/ufcm.h"

namespace tamis {

class Clusters {
 public:
  // `centers` of a fit of a sample that came before, in the space of the first W; empty where there was none.
  Clusters(const Centered& z, const UfcmOptions& options, Matrix centers, Context& context);

  // Z W, as k-means takes it.
  Points<double> points(const Matrix& w) const;

  // U for the points Z W: the best of the previous U, refined, and of k-means from new starts. True where a new start
  // won by more than `margin`; where margin > 0 nothing but that changes U.
  bool update(const Points<double>& points, const Matrix& w, Index iteration, double margin);

  Matrix means(const Matrix& v) const;          // (U'U)^-1 U'Z V; rows of empty clusters are 0
  double between(const Matrix& w) const;        // tr(W'BW)
  Matrix between_times(const Matrix& v) const;  // B V

  // F_C of B = F'F, F = (U'U)^-1/2 U'Z, for the columns C; c x |C|.
  Matrix factor(const std::vector<Index>& columns) const;

  const std::vector<int>& labels() const { return labels_; }
  double moved() const { return moved_; }  // rows that the last update gave another cluster, by their weights
  double total() const { return total_; }  // of all weights: n, where there are none
  bool after_sample() const { return !start_centers_.empty(); }

  // What the iterations to come depend on; and Error(bad_data) where it is not that of a fit of these data: after so
  // many iterations, and with so much scatter in the columns together.
  template <class Archive>
  void exchange(Archive& archive) {
    archive(start_centers_), archive(sums_), archive(counts_), archive(labels_);
  }
  void require_sound_shapes(Index dims, bool sampled) const;
  void require_sound_values(bool begun, double trace) const;

 private:
  double smallest_weight() const;
  bool try_restarts(const Points<double>& points, const KMeansOptions& options, double margin, KMeansResult& best);
  void move_to(const std::vector<int>& labels, const Matrix& w);
  Index first_restarts() const;

  const Centered& z_;
  const Centered rows_;  // of Z without their weights, where they have any
  const std::vector<double>& weights_;
  const double total_;
  const UfcmOptions& options_;
  Context& context_;
  Matrix start_centers_;
  Matrix sums_;                 // U'Z, c x d
  std::vector<double> counts_;  // U'U
  std::vector<int> labels_;     // -1 before the first iteration
  bool free_rows_;              // whose class is not given
  double moved_ = 0;
};

}  // namespace tamis
