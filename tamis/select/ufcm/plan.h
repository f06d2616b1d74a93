// How UFCM goes about a shape: all that is decided before the data are looked at.
#pragma once

#include "tamis/select/plan.h"
#include "tamis/select/ufcm/ufcm.h"

namespace tamis {

// What S = X'X is needed for: nothing where alpha = 1 (B alone stands in M); else it is formed, or multiplied by.
enum class ScatterPath { centroids, gram, products };

// d' = min(c - 1, rank): more directions than that are arbitrary at alpha = 1; d' = d would give every score 1.
Index wanted_dims(const UfcmOptions& options, Index varying);

// Whether W is solved for, not improved step by step (directions.cpp says why).
bool solves_exactly(const UfcmOptions& options, Index cols);

struct UfcmPlan : Plan {
  UfcmPlan(const Shape& shape, const UfcmOptions& options, int threads);

  Index dims;    // d', before the rank is known
  Index sample;  // rows of a fit that comes first; 0: none, the whole is as quick
  ScatterPath scatter;
  PrincipalPath principal;  // of the first W
};

}  // namespace tamis
