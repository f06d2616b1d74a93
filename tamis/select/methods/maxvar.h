// Maximum variance: score_j = variance of column j (n - 1). What every other method must beat.
//
// Passes over X: one. Memory: 6 d numbers.
#pragma once

#include "tamis/base/context.h"
#include "tamis/base/options.h"
#include "tamis/data/source.h"
#include "tamis/select/method.h"
#include "tamis/select/plan.h"
#include "tamis/select/selection.h"

namespace tamis {

struct MaxVarOptions {};

struct MaxVarPlan : Plan {
  MaxVarPlan(const Shape& shape, const MaxVarOptions& options, int threads);
};

Options describe(MaxVarOptions& options);
Method maxvar_method();
Selection maxvar(const Source& source, const MaxVarOptions& options, Context& context);

}  // namespace tamis
