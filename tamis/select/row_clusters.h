// k-means on the rows of a table: where the methods that learn labels begin.
#pragma once

#include "tamis/base/context.h"
#include "tamis/cluster/kmeans.h"
#include "tamis/data/source.h"

namespace tamis {

// How many principal components stand for rows that are too long or too many; 0: the rows themselves will do.
Index components_for_clusters(Index rows, Index cols);

// Clusters the rows themselves, or where they are too long or too many their leading principal components.
KMeansResult cluster_rows(const Source& source, Index clusters, Index restarts, Context& context);

}  // namespace tamis
