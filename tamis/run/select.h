// One selection from start to end, the same through every interface: leave out what is excluded, scale, run the method,
// and bring its ranking back to the columns of the table.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tamis/data/scale.h"
#include "tamis/run/agreement.h"
#include "tamis/run/features.h"
#include "tamis/run/forecast.h"
#include "tamis/run/representatives.h"
#include "tamis/run/stability/repeats.h"
#include "tamis/select/registry.h"

namespace tamis {

struct SelectRequest {
  FeatureCount features;  // how many to select
  Scaling scale = Scaling::none;
  std::vector<Index> include;   // always selected
  std::vector<Index> exclude;   // never seen by the method
  FeatureGroups groups;         // features that are chosen as one: `features` counts them, and what is included or
                                // excluded is so with its whole group; none: each by itself
  std::vector<int> classes;     // of the rows (-1: unlabeled), to supervise the method; empty: none
  std::vector<double> weights;  // of the rows, for a method that uses them (data/weights.h); empty: each counts once
  Matrix init;                  // n x clusters, >= 0: labels to start from; empty: those of the method
  // Of the rows, in place of the one that the method would make (graph/given.h); null: the method's own.
  std::shared_ptr<const Graph> connectivity = nullptr;
  bool evidence = false;  // p-values of the columns (evidence.h) for a method that has none of its own
  // |r| from which columns repeat each other, where the result says which do (representatives.h); unset: it does not.
  std::optional<double> redundancy;
  bool page = false;  // a page will be made of the result: the forecast has what that costs
  // How many runs the stability of the selection is measured by (stability/repeats.h): with the seeds from that of the
  // run on, or on half samples of the rows. At most one of them.
  std::optional<Index> seeds, resample;
  std::string checkpoint;  // a file for the state of a long run (checkpoint.h); empty: none
  // What columns are called in warnings, where a table is looked over for what is seldom meant (doubts.h); empty: it is
  // not, and columns go by their position.
  std::function<std::string(Index)> name;
};

struct SelectResult {
  std::vector<double> scores;             // d, higher is better, NaN where excluded
  std::vector<Index> ranking;             // the available features, best first
  std::vector<Index> selected;            // best first
  std::vector<Index> available;           // the columns the method saw, increasing
  std::vector<Index> groups;              // selected, best first, where the request has groups
  Index choices = 0;                      // what is counted: available features, or groups of them
  Index constant = 0;                     // of the available features
  Scaling scale = Scaling::none;          // as it was used
  std::string scale_reason;               // why, where the request left it open
  bool supervised = false;                // by the classes of the request
  std::vector<double> column_scale;       // what the available columns were multiplied by; empty: 1
  Forecast forecast;                      // of time, passes and memory, made before the run
  std::optional<Agreement> agreement;     // of k-means with the groups of the guide, where there is one
  std::optional<Redundancy> redundancy;   // of all features, by their positions; NaN and -1 where excluded
  std::optional<RepeatedRuns> stability;  // of the selection, where it was asked for
  Selection selection;                    // as the method returned it, over the available columns
};

// Values of the available columns at their places among all; NaN elsewhere.
std::vector<double> for_all_columns(const std::vector<double>& values, const SelectResult& result);

// What a run will cost: the method's plan, and what comes after it.
Plan plan_of_run(const BoundMethod& bound, const Shape& shape, const SelectRequest& request, int threads);

// The options of the method, but for those of a graph in whose place another is given.
Options options_in_use(BoundMethod& bound, const SelectRequest& request);

// The source with the weights of the request.
Source weighted(const Source& source, const SelectRequest& request);

// Columns are positions in `source`. Throws Error(usage) on a request that cannot be met, and what the method throws.
SelectResult select_features(const Source& source, const Method& method, BoundMethod& bound,
                             const SelectRequest& request, Context& context);

}  // namespace tamis
