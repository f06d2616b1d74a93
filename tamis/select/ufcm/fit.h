// One fit of UFCM, on distinct columns that all vary, in the units of Z.
#pragma once

#include <string>
#include <vector>

#include "tamis/select/ufcm/clusters.h"
#include "tamis/select/ufcm/directions.h"
#include "tamis/select/ufcm/objective.h"
#include "tamis/select/ufcm/start.h"

namespace tamis {

class Fit {
 public:
  // `scatter` is not needed at alpha = 1, and null there.
  Fit(const UfcmTable& table, const UfcmOptions& options, const Scatter* scatter, Start start, Context& context)
      : z_(table.z),
        rows_(table.rows_of_w),
        trace_(table.trace),
        options_(options),
        context_(context),
        beta_(start.beta),
        clusters_(table.z, options, std::move(start.centers), context),
        directions_(options, scatter, row_steps(table, options, scatter), std::move(start.w)) {}

  // Algorithm 1 of the paper, from the iteration that comes next.
  void run();

  // Goes on where another fit of the same data and options was, one that began from a fit of a sample or not.
  // Error(bad_data) where the state is not one of those.
  void resume(const std::string& state, bool sampled);
  // Before the first iteration no objective tells what beta was.
  void require_beta(double wanted) const;
  Index next_iteration() const { return next_; }

  double beta() const { return beta_; }
  const Matrix& w() const { return directions_.w(); }
  Matrix g() const { return clusters_.means(w()); }                             // Eq. 11
  std::vector<double> merits() const { return directions_.merits(clusters_); }  // diag P, where exact
  const std::vector<int>& labels() const { return clusters_.labels(); }
  const std::vector<double>& objective() const { return objective_; }
  const std::vector<Terms>& terms() const { return terms_; }
  bool converged() const { return converged_; }

 private:
  void go_further();
  static std::optional<RowSteps> row_steps(const UfcmTable& table, const UfcmOptions& options, const Scatter* scatter) {
    if (!options.exact) return std::nullopt;
    return RowSteps(options.alpha, scatter, table.exact);
  }
  void keep_state();
  void show_progress(const std::string& detail);
  double stopping_margin() const;
  void finish_terms(double scatter);
  void record_objective();
  Terms terms_at(const RitzPairs& w) const;
  double magnitude_of(const Terms& terms) const { return terms.magnitude(options_.alpha, beta_); }

  // All that the iterations to come depend on besides data and options, and all that is reported.
  template <class Archive>
  void exchange(Archive& archive) {
    archive(next_), archive(beta_);
    directions_.exchange(archive);
    clusters_.exchange(archive);
    archive(objective_), archive(terms_);
  }
  std::string state();
  void require_sound_shapes(bool sampled) const;
  void require_sound_values(double given_beta) const;
  bool is_scale_free(double beta) const;

  const Centered& z_;
  const RowGroups& rows_;  // what counts as one in the sparsity term
  const double trace_;     // tr(S)
  const UfcmOptions& options_;
  Context& context_;
  Index next_ = 1;  // the iteration to come
  double beta_;
  Clusters clusters_;      // U, and G with it
  Directions directions_;  // W
  bool converged_ = false;
  std::vector<double> objective_;
  std::vector<Terms> terms_;
};

}  // namespace tamis
