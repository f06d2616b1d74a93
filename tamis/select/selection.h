// What every method returns.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tamis/base/types.h"
#include "tamis/linalg/matrix.h"

namespace tamis {

enum class Status { converged, max_iterations, direct };
const char* name_of(Status status);

// Named curves, one number an iteration, in a fixed order.
using Trace = std::pair<std::string, std::vector<double>>;
using Fact = std::pair<std::string, double>;

struct Report {
  Status status = Status::direct;  // direct: the method does not iterate
  Index iterations = 0;
  std::vector<double> objective;      // one number an iteration
  std::vector<Trace> terms;           // ufcm: scatter, within, sparsity
  std::string path;                   // how it was computed, a function of shape and options alone
  std::vector<Fact> resolved;         // what the data decided: ufcm: beta, sparsity, dims, clusters
  std::vector<std::string> warnings;  // one line each
  Index passes = 0;                   // over the data
  Index resumed_at = 0;               // the iteration at which a run before this one was taken up; 0: none
  double seconds = 0.0;
};

struct Selection {
  std::vector<double> scores;  // d, higher is better, always finite
  std::vector<Index> ranking;  // d, best first
  std::vector<int> clusters;   // cluster of each row, or empty
  Matrix components;           // W, d x d', or empty
  Matrix centers;              // G, c x d', or empty
  Report report;
};

// Positions by falling score. Scores closer than 1e-9 of the largest are ties, and ties go to the lower index.
std::vector<Index> rank_by_score(const std::vector<double>& scores);

}  // namespace tamis
