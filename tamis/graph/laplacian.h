// The Laplacian of a graph as an operator, and its smoothest eigenvectors.
#pragma once

#include <vector>

#include "tamis/base/context.h"
#include "tamis/graph/graph.h"
#include "tamis/linalg/matrix.h"

namespace tamis {

// D^-1/2; 0 for a row without a neighbor, or with weights that are hardly more than 0 (in all below 2.2e-308).
std::vector<double> inverse_roots(const Graph& graph);

// plain: L = D - W; normalized: Ln = I - D^-1/2 W D^-1/2.
enum class Laplacian { plain, normalized };

Matrix laplacian_times(const Graph& graph, Laplacian kind, const Matrix& v, Context& context);

// Orthonormal eigenvectors (columns) of Ln with their eigenvalues, smallest first.
struct Spectrum {
  Matrix vectors;
  std::vector<double> values;
};

// Whether `count` of them come from the whole spectrum of a matrix of all rows, not from an iteration.
bool takes_whole_spectrum(Index rows, Index count);

// The `count` smallest, after the trivial one, sqrt(degree), is deflated explicitly. Where eigenvalues coincide
// (a graph in several parts) the basis is fixed by the seed alone, not by rounding.
// Residuals are below `tolerance`.
Spectrum smoothest_eigenvectors(const Graph& graph, Index count, Context& context, double tolerance);
// As far as the graph is worth it: where a few neighbors may be missing, vectors need not be exact to ten digits.
Spectrum smoothest_eigenvectors(const Graph& graph, Index count, Context& context);
// sqrt(degree) / ||.||, the trivial one, as one column.
Matrix trivial_eigenvector(const Graph& graph);

}  // namespace tamis
