// The comparison that `evaluate` and `demo` print.
#pragma once

#include <string>

#include "tamis/eval/evaluate.h"
#include "tamis/run/json.h"

namespace tamis::app {

// One line each: the list, all features, largest variance, random subsets; then how often random is as good.
std::string scores_table(const Evaluation& evaluation, Index subsets);
// {"given": ..., "all": ... or null, "max_variance": ..., "random": {...}}
void write_scores(Json& json, const Evaluation& evaluation, Index subsets);

}  // namespace tamis::app
