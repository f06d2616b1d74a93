// Orthonormal bases of a few long columns.
#pragma once

#include <span>

#include "tamis/linalg/matrix.h"

namespace tamis {

// An orthonormal basis of the part of span(P) that is orthogonal to the orthonormal columns of Q (which may have
// none). Directions that drown in rounding are dropped, so the result may have fewer columns than P.
Matrix orthonormal_complement(const Matrix& q, Matrix p);
// The same for Q = [blocks[0], blocks[1], ...].
Matrix orthonormal_complement(std::span<const Matrix> blocks, Matrix p);
// An orthonormal basis of span(P).
Matrix orthonormalized(Matrix p);

}  // namespace tamis
