// The guide of guided UFCM: what the rows say about their groups before any column is chosen.
//
//   P = sum_q weight_q U_q (U_q'U_q)^-1 U_q'
//
// the cluster projector of UFCM (Eq. 11 put into Eq. 5), averaged over clusterings of a graph of the rows at several
// numbers of clusters. P is n x n and never formed: x'Px = sum_q weight_q sum_k (sum of x over cluster k)^2 / size_k.
//
//   graphs    three graphs of nearest rows, 0/1: of X, of X with unit deviations of columns, of X with unit rows;
//             A = sum_g w_g A_g, w_g in proportion to Q_g^2, Q_g the best modularity of a spectral clustering of A_g
//   U_q       k-means on the unit rows of the first c eigenvectors of D^-1/2 A D^-1/2, for every scale c and run
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/passes/passes.h"
#include "tamis/graph/graph.h"

namespace tamis {

struct GuideOptions {
  std::optional<Index> clusters;  // c where it is known: half of the weight goes to c/2, c and 2c
  Index neighbors = 5;            // of a row in each graph
  Index runs = 4;                 // k-means runs a scale
  std::vector<Index> scales = {3, 5, 8, 13, 21};
};

struct Partition {
  std::vector<int> labels;   // of each row
  std::vector<Index> sizes;  // of each cluster, none empty
  double weight = 0;         // in P
};

struct Guide {
  Index rows = 0;
  std::vector<Partition> partitions;                    // weights sum to 1
  std::array<double, 3> graph_weights{}, modularity{};  // of the graphs of X, of unit deviations, of unit rows
  Index parts = 1;                                      // connected parts of A
};

// Whether views of the rows are written out as numbers that need no more scaling: the search reads them often.
bool writes_views_out(Index rows, Index cols, bool sparse);

// The graphs of X, of unit deviations and of unit rows.
using GuideGraphs = std::array<Graph, 3>;
// Of all columns, and where `half` (0 or 1 for every column, both of them) is not empty of either half. Every column of
// `source` must vary.
std::vector<GuideGraphs> guide_graphs(const Source& source, const std::vector<char>& half, const GuideOptions& options,
                                      Context& context);

Guide make_guide(const GuideGraphs& graphs, const GuideOptions& options, Context& context);

// Mean and deviation of the share x'Px / x'x of a centered column of independent noise.
struct Chance {
  double mean = 0, deviation = 0;
};
Chance chance(const Guide& guide);

// The eigenvalues of HPH, H = I - 11'/n, that are not 0; all others of its n - 1 are.
std::vector<double> guide_eigenvalues(const Guide& guide);

// x_j'Px_j of every column of Z.
std::vector<double> guided_scatter(const Guide& guide, const Centered& z, Context& context);

// The clustering that agrees best with P; ties: the one with fewer clusters, the earlier.
std::size_t best_partition(const Guide& guide);

}  // namespace tamis
