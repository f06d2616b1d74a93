// W of UFCM: the leading eigenvectors of M = (1 - alpha) S + alpha B - beta D, Eq. 14, improved from where they were.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tamis/linalg/eigen.h"
#include "tamis/select/ufcm/clusters.h"
#include "tamis/select/ufcm/rows.h"
#include "tamis/select/ufcm/scatter.h"

namespace tamis {

class Directions {
 public:
  // `scatter` is not needed at alpha = 1, and null there. `steps`: where W has k rows (rows.h).
  Directions(const UfcmOptions& options, const Scatter* scatter, std::optional<RowSteps> steps, RitzPairs start);

  // `weights` is the diagonal of D.
  void update(const Clusters& clusters, double beta, const std::vector<double>& weights);

  // A longer step in the direction of the last update, where that raises `objective`, a function of W and S W, by more
  // than `margin`.
  void extrapolate(double margin, const std::function<double(const RitzPairs&)>& objective);

  const Matrix& w() const { return w_.vectors; }
  const RitzPairs& pairs() const { return w_; }
  bool knows_scatter() const { return scatter_ != nullptr; }
  double scatter() const;  // tr(W'SW)
  bool has_exact_rows() const { return !steps_ || steps_->allows(w_.vectors); }
  std::vector<double> merits(const Clusters& clusters) const { return steps_->merits(clusters, w_); }

  // What the iterations to come depend on; and Error(bad_data) where it is not that of a fit of d columns.
  template <class Archive>
  void exchange(Archive& archive) {
    archive(w_.vectors), archive(w_.image);
  }
  void require_sound_shapes(Index d) const;
  void require_sound_values() const;

 private:
  bool takes_longer_steps(Index rows) const;
  bool solve_exactly(const SymmetricOperator& m);
  void drop_null_directions(Index rows);

  const UfcmOptions& options_;
  const Scatter* const scatter_;
  const std::optional<RowSteps> steps_;
  Matrix whole_scatter_;  // S, where W is solved for exactly
  RitzPairs w_;           // with the image S W, where S is needed
  RitzPairs before_;      // as they were before the last update, where longer steps may follow
};

}  // namespace tamis
