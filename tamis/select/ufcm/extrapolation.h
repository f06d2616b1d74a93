// A longer step the same way. The ascent is slow where the rows of W vanish one by one: an iteration leads from
// W_before to W, and the next ones go on in that direction. So
//
//   W(t) = (W + t (W - W_before R)) G^-1/2,  G so that W(t)'W(t) = I,
//
// is tried at t = 1, 3, 7, ... as long as the objective rises by more than a margin: what is left of a way that has
// come to its end is rounding. R is the rotation that brings W_before nearest to W. No pass over the data is needed: S
// W(t) follows from S W and S W_before.
#pragma once

#include <functional>

#include "tamis/linalg/eigen.h"

namespace tamis {

// `now`, or the best W(t) with its image. `objective` may use vectors and image.
RitzPairs extrapolated(RitzPairs before, RitzPairs now, double margin,
                       const std::function<double(const RitzPairs&)>& objective);

}  // namespace tamis
