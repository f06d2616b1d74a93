// The leading principal directions of a source: eigenvectors of S = Z'Z with the largest eigenvalues.
#pragma once

#include "tamis/base/context.h"
#include "tamis/data/passes/passes.h"
#include "tamis/linalg/eigen.h"

namespace tamis {

// How far an iteration goes, by its number of steps at most: `rough` is good enough to start from, not to define
// anything by. `fixed` may define something: what comes out is a function of the table and the seed, whether the rows
// are dense or sparse, by whichever path, though it has not converged where the spectrum is flat.
enum class Accuracy { rough = 3, fixed = 4, full = 60 };

// By which side the directions are found: of Z'Z, of ZZ', or by products with the data on the shorter side. A function
// of the shape, and of whether Z'Z is known already.
enum class PrincipalPath { gram, gram_of_rows, products_of_rows, products };
PrincipalPath principal_path(Index rows, Index cols, bool sparse, bool scatter_known);
// Rows of a copy that an iteration over `width` columns of numbers starts from; 0: it starts from all.
Index rows_to_start_from(Index rows, Index cols, bool sparse, Index width);

// At most `count` directions, fewer where the numerical rank of Z is smaller; values are eigenvalues of S.
// `scatter` is S where it is known already, else empty.
RitzPairs principal_directions(const Centered& z, Index count, Accuracy accuracy, const Matrix& scatter,
                               Context& context);
// Z W (n x count or fewer) of such directions W.
Matrix principal_points(const Centered& z, Index count, Accuracy accuracy, Context& context);

}  // namespace tamis
