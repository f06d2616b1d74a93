// The leading principal directions of a source: eigenvectors of S = Z'Z with the largest eigenvalues.
#pragma once

#include "tamis/base/context.h"
#include "tamis/data/passes/passes.h"
#include "tamis/linalg/eigen.h"

namespace tamis {

// How far an iteration goes, by its number of steps at most: `rough` is good enough to start from, not to define
// anything by.
enum class Accuracy { rough = 3, full = 60 };

// At most `count` directions, fewer where the numerical rank of Z is smaller; values are eigenvalues of S.
// `scatter` is S where it is known already, else empty.
RitzPairs principal_directions(const Centered& z, Index count, Accuracy accuracy, const Matrix& scatter,
                               Context& context);
// Z W (n x count or fewer) of such directions W.
Matrix principal_points(const Centered& z, Index count, Accuracy accuracy, Context& context);

}  // namespace tamis
