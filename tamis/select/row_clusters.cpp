#include "tamis/select/row_clusters.h"

#include <algorithm>
#include <utility>

#include "tamis/data/passes/passes.h"
#include "tamis/data/passes/principal.h"

namespace tamis {

namespace {

// k-means sees the columns themselves up to so many, and so many numbers, else so many principal directions.
constexpr Index kDirectColumns = 256;
constexpr Index kPointCells = Index{1} << 25;
constexpr Index kDirections = 64;

Matrix points(const Source& source, Context& context) {
  const Index dims = components_for_clusters(source.rows(), source.cols());
  if (dims == 0) return gather(source, context);
  const Centered z(source, column_moments(source, context));
  Matrix found = principal_points(z, dims, Accuracy::rough, context);
  return found.cols() == 0 ? Matrix(source.rows(), 1) : std::move(found);
}

}  // namespace

Index components_for_clusters(Index rows, Index cols) {
  if (cols <= kDirectColumns && rows * cols <= kPointCells) return 0;
  return std::min(kDirections, std::max<Index>(8, kPointCells / rows));
}

KMeansResult cluster_rows(const Source& source, Index clusters, Index restarts, Context& context) {
  context.phase("k-means of the rows");
  KMeansOptions options;
  options.clusters = clusters;
  options.restarts = restarts;
  options.seed = context.seed;
  return kmeans(points(source, context), options, context);
}

}  // namespace tamis
