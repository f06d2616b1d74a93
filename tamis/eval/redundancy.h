// How much the chosen features repeat each other.
#pragma once

#include "tamis/data/passes/passes.h"

namespace tamis {

// The mean absolute correlation over all pairs of the source's columns; 0 where there is no pair. A column without
// variation correlates with nothing. Memory: two n x 256 and one k x 256 piece; k^2 n operations.
double redundancy(const Source& source, Context& context);

// The correlations of all pairs of the source's columns, for few columns (k x k numbers): 1 on the diagonal, 0 for a
// column without variation.
Matrix correlations(const Source& source, Context& context);

}  // namespace tamis
