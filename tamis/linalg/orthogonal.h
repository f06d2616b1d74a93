// Orthonormal bases of a few long columns.
#pragma once

#include <span>
#include <vector>

#include "tamis/linalg/matrix.h"

namespace tamis {

// An orthonormal basis of the part of span(P) that is orthogonal to the orthonormal columns of Q (which may have
// none). Directions that drown in rounding are dropped, so the result may have fewer columns than P.
Matrix orthonormal_complement(const Matrix& q, Matrix p);
// The same for Q = [blocks[0], blocks[1], ...].
Matrix orthonormal_complement(std::span<const Matrix> blocks, Matrix p);
// An orthonormal basis of span(P).
Matrix orthonormalized(Matrix p);

// Rows of W by pivoted QR, in blocks: always the row with the largest part outside of the span of those taken in this
// block, until no row has any; then a new block begins with the rows that are left. A row that nearly repeats another
// so comes a block later. At most `count` rows that are not 0 (1e-9 of the longest); ties to the lower index.
std::vector<Index> pivoted_rows(const Matrix& w, Index count);

}  // namespace tamis
