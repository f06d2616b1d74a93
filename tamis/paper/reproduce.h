// The paper's experiments: every cell of every set, computed in parallel, kept as soon as it is finished, and found
// again by the next run. The outcome is a function of the data, the seed, the protocol and the version alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tamis/paper/cell_store.h"
#include "tamis/paper/cells.h"
#include "tamis/paper/experiments.h"

namespace tamis {

struct ReproduceRequest {
  std::string folder;              // of the data
  std::vector<std::string> names;  // of the sets
  Protocol protocol;
  std::vector<Method> methods = paper_methods();
  bool guided = true;  // a block beside the paper's tables: guided, which chooses its own number of columns
};

struct Reproduction {
  Protocol protocol;
  std::vector<Method> methods;
  std::uint64_t seed = 0;
  std::vector<ExperimentSet> sets;  // as they were used: sampled down where the protocol says so
  std::vector<Cell> cells;          // of the first set, of the second, ...; within each as planned
  Index found = 0;                  // cells that an earlier run had finished
  int threads = 1;
  double seconds = 0.0;  // of this run
};

// The names of the sets whose files are not there.
std::vector<std::string> missing_sets(const ReproduceRequest& request);

// Throws Error(bad_data) naming all the missing sets, before anything is read, and what reading throws.
std::vector<ExperimentSet> read_sets(const ReproduceRequest& request, Context& context);

// Computes what the store has not. What one method cannot do is its cell's failure. `planned`, where given, is told how
// many cells there are and how many were found.
Reproduction reproduce(const ReproduceRequest& request, std::vector<ExperimentSet> sets, CellStore& store,
                       Context& context, const std::function<void(Index, Index)>& planned = {});

// At most so many rows, drawn by the seed from all stretches of the set.
ExperimentSet sampled_down(const ExperimentSet& set, Index most_rows, Context& context);

// One cell in this thread; the store is not asked.
Cell compute_cell(const ExperimentSet& set, const PlannedCell& plan, Context& context);

}  // namespace tamis
