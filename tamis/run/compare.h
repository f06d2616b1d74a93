// Every method side by side on one table: each ranks the features once, the wanted numbers of features are cut from
// that ranking, and each cut is measured in the same way, beside random features and all of them.
//
// With classes: k-means on the chosen features alone against the classes, as `evaluate` does it (eval/evaluate.h), and
// how many random subsets of the same size do as well. Without: redundancy and what the methods agree on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tamis/data/scale.h"
#include "tamis/eval/evaluate.h"
#include "tamis/run/features.h"
#include "tamis/run/settings.h"

namespace tamis {

// All methods but those that rank as another does by default: they are compared where they are asked for, or set.
std::vector<Method> compared_by_default(const std::map<std::string, Settings>& settings);

struct CompareRequest {
  std::vector<Method> methods = compared_by_default({});
  std::vector<Index> sizes;  // numbers of features, increasing
  Index clusters = 8;        // of every method that has the option, and of the k-means
  Scaling scale = Scaling::none;
  std::vector<int> classes;                  // of the rows (-1: unlabeled); empty: not known
  std::map<std::string, Settings> settings;  // of methods by name; all else is at its default
  Index repeats = 10;                        // single k-means starts of each measurement
  Index subsets = 20;                        // random ones of each size, of one k-means start each
  std::function<std::string(Index)> name;    // of columns in warnings, as in SelectRequest
  bool grid = false;                         // also run the settings of grid_axes(); needs classes
};

struct ComparedSize {
  SubsetScore score;
  double accuracy_p = 1.0;  // of the random subsets at least as good, see RandomBand
};

// One setting of the grid.
struct GridRun {
  Settings settings;
  std::optional<Failure> failure;
  Status status = Status::direct;
  double seconds = 0.0;
  std::vector<SubsetScore> sizes;
};

struct ComparedMethod {
  std::string name;
  std::unique_ptr<BoundMethod> bound;  // with the options it was run with
  std::optional<Failure> failure;      // the rest is empty then
  double seconds = 0.0;
  std::optional<std::uint64_t> bytes;  // resident memory beyond what was there; unset where the system does not tell
  Report report;
  std::vector<Index> selected;      // the largest size, best first
  std::vector<ComparedSize> sizes;  // as in the request
  std::vector<GridRun> grid;
};

struct Comparison {
  Scaling scale = Scaling::none;  // as it was used
  std::string scale_reason;       // why, where the request left it open
  std::vector<ComparedMethod> methods;
  std::vector<SubsetScore> random;  // over the subsets, one a size
  std::optional<SubsetScore> all;   // unset where the table is too large for it
  std::vector<std::string> notes;   // what was left out, and why
};

// The caller scales the columns its own way: methods that have a scale of their own (css) leave them as they are,
// unless their settings say otherwise. So it is wherever request.scale is not none.
void keep_units(CompareRequest& request);

// Throws Error(usage) and Error(bad_data) on a request that cannot be met, before anything is computed.
void require_comparable(const Source& source, const CompareRequest& request);
// Throws as above, and on data that no method could take; what one method throws is its failure.
Comparison compare_methods(const Source& source, const CompareRequest& request, Context& context);

// The wanted numbers of features, increasing, each once; 20, 50 and 100, but at most d, where none is given.
std::vector<Index> resolve_sizes(const std::vector<FeatureCount>& wanted, Index d);

// |A and B| / k for the first k features of each two rankings; two random sets share k / d on average.
Matrix overlap(const std::vector<std::vector<Index>>& rankings, Index k);

// The values tried with `grid`, all combinations of a method's axes.
std::vector<GridAxis> grid_axes(const Method& method);

// The accuracies over the grid's runs, for the size of that position.
struct GridSummary {
  Index evaluations = 0;  // settings that ran; best, median and worst are among so many
  double best = 0.0, median = 0.0, worst = 0.0;
  Settings best_settings;  // the first of the best
};
GridSummary summary_of(const std::vector<GridRun>& grid, std::size_t size);

}  // namespace tamis
