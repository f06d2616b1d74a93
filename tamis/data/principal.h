// The leading principal directions of a source: eigenvectors of S = Z'Z with the largest eigenvalues.
#pragma once

#include "tamis/base/context.h"
#include "tamis/data/passes.h"
#include "tamis/linalg/eigen.h"

namespace tamis {

enum class Accuracy { rough, full };

// At most `count` directions, fewer where the numerical rank of Z is smaller; values are eigenvalues of S.
// `rough` stops after a few passes: good enough to start from, not to define anything by.
RitzPairs principal_directions(const Centered& z, Index count, Accuracy accuracy, Context& context);

}  // namespace tamis
