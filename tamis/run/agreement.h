// How far k-means goes along with the groups that a guide found: on the selected columns, and on all of them.
//
// It measures what a selection keeps of the guide. It says little about labels that the guide does not follow
// (docs/guided.md has what it predicts, measured).
#pragma once

#include <optional>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/select/selection.h"

namespace tamis {

// Normalized mutual information of single k-means++ starts with the groups shown, on average.
struct Agreement {
  Index rows = 0;       // that were clustered
  double selected = 0;  // on the selected columns
  double all = 0;       // on all columns
};

// `selected`: columns of the source that was guided. Unset where there is nothing to compare: one group, all columns
// selected, no structure, or a table so wide that its rows would not do in a few megabytes.
std::optional<Agreement> agreement_with_groups(const Guidance& guidance, std::vector<Index> selected, Context& context);

}  // namespace tamis
