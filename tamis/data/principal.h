// The leading principal directions of a source: eigenvectors of S = Z'Z with the largest eigenvalues.
#pragma once

#include "tamis/base/context.h"
#include "tamis/data/passes.h"
#include "tamis/linalg/eigen.h"

namespace tamis {

enum class Accuracy { rough, full };

// At most `count` directions, fewer where the numerical rank of Z is smaller; values are eigenvalues of S.
// `rough` stops after a few passes: good enough to start from, not to define anything by.
// `guess` (d x any, may be empty) is where to start from where the directions are found by iteration.
RitzPairs principal_directions(const Centered& z, Index count, Accuracy accuracy, const Matrix& guess,
                               Context& context);

}  // namespace tamis
