// What every method returns.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tamis/base/types.h"
#include "tamis/base/warning.h"
#include "tamis/data/source.h"
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
  std::vector<double> objective;  // one number an iteration
  std::vector<Trace> terms;       // ufcm: scatter, within, sparsity
  std::string path;               // how it was computed, a function of shape and options alone
  std::vector<Fact> resolved;     // what the data decided: ufcm: beta, sparsity, dims, clusters
  std::vector<Warning> warnings;
  Index passes = 0;      // over the data
  Index resumed_at = 0;  // the iteration at which a run before this one was taken up; 0: none
  double seconds = 0.0;
};

// What became of a run of guided UFCM.
enum class Outcome { columns_found, narrow, no_structure };

// What guided UFCM says of a table besides the order of its columns (guided.h).
struct Guidance {
  std::vector<double> share;         // x'Px / x'x of each column; 0 where it does not vary
  std::vector<double> evidence;      // p-value of each column; 1 where it does not vary; empty: not computed
  std::vector<double> alignment;     // f along the path
  double chance = 0, deviation = 0;  // of the share of a column of noise
  Index passed = 0;                  // columns that may enter
  Index suggested = 0;               // columns worth taking
  Index rows = 0;                    // that were looked at
  Index parts = 1;                   // connected parts of the graph of rows
  std::array<double, 3> graph_weights{}, modularity{};
  Outcome outcome = Outcome::columns_found;
  Source looked_at;         // these rows, as the method saw them
  std::vector<int> groups;  // of these rows: the partition that goes best with the guide
};

struct Selection {
  std::vector<double> scores;  // d, higher is better, always finite
  std::vector<Index> ranking;  // d, best first
  double flat = 0;             // score of a column without variation, from which those of groups are measured
  std::vector<int> clusters;   // cluster of each row, or empty
  Matrix components;           // W, d x d', or empty
  Matrix centers;              // G, c x d', or empty
  std::optional<Guidance> guidance;
  std::optional<Index> suggested;  // how many columns are worth taking, where the method says so itself
  std::optional<Index> limit;      // a rule of the method was met by the first so many columns: no more are selected
  Report report;
};

// (d - rank + 1) / d for methods that are an order; 0 after the first `varying` columns of it.
std::vector<double> scores_of_order(const std::vector<Index>& order, std::size_t varying);

// Positions by falling score. Scores closer than 1e-9 of the largest are ties, and ties go to the lower index.
std::vector<Index> rank_by_score(const std::vector<double>& scores);

}  // namespace tamis
