// The measures of lists of features, as `evaluate`, `demo` and `compare` print them.
#pragma once

#include <string>

#include "tamis/eval/evaluate.h"
#include "tamis/report/json.h"

namespace tamis::app {

// "features": ..., "accuracy": {...}, "nmi": {...}, "adjusted_rand": {...}, "redundancy": ... or null; without classes
// the number and the redundancy alone.
void write_measures(Json& json, const SubsetScore& score, bool classes_known = true);

// One line each: the list, all features, largest variance, random subsets; then how often random is as good.
std::string scores_table(const Evaluation& evaluation);
// {"given": ..., "all": ... or null, "max_variance": ..., "random": {...}}
void write_scores(Json& json, const Evaluation& evaluation, Index subsets);

}  // namespace tamis::app
