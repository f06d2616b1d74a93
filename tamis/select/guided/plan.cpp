#include <algorithm>

#include "tamis/graph/laplacian.h"
#include "tamis/graph/views.h"
#include "tamis/select/guided/alignment.h"
#include "tamis/select/guided/guided.h"

namespace tamis {

namespace {

constexpr Index kRowsPerCluster = 100;  // of a sample, where c is given
// A second at most, and some 60 MB.
constexpr Index kComparedRows = 1000;
constexpr Index kComparedCells = 4'000'000;

// Of the rows that are looked at.
Shape looked_at(const Shape& all, Index rows) {
  Shape out = all;
  out.rows = rows;
  out.entries *= out.n() / std::max(all.n(), 1.0);
  return out;
}

// Eigenvectors for the largest number of clusters that is tried.
Index most_clusters(const GuideOptions& options, Index rows) {
  const Index most = options.scales.empty() ? 2 : *std::ranges::max_element(options.scales);
  return std::max<Index>(2, std::min(std::max(most, 2 * options.clusters.value_or(0)), rows / 3));
}

// --- Costs, fitted to the peaks and times of bench/forecast.py -------------------------------------------------------

double path_numbers(const Shape& x) {
  constexpr double kWhole = 2.2, kLonger = 1.1;
  return x.cols <= kLongestPath ? kWhole * x.d() * x.d() : kLonger * static_cast<double>(kLongestPath) * x.d();
}

GraphOptions graph_options(const GuidedOptions& options) {
  GraphOptions out;
  out.neighbors = options.guide.neighbors;
  out.recall = 1;
  return out;
}

// The table in double, its rows in panels of float, and what each of the searches and of the tasks holds.
double shared_search_numbers(const Shape& x, const GuidedOptions& options, int threads) {
  constexpr double kPanels = 0.5, kRow = 28, kNeighbor = 2.5, kList = 1.5, kTile = 192;
  const double k = static_cast<double>(options.guide.neighbors);
  const double searches = options.evidence ? 6 : 2, lists = options.evidence ? 9 : 3;
  return (1 + kPanels) * x.n() * x.d() + x.n() * (searches * (kRow + kNeighbor * k) + lists * kList * k) +
         threads * kTile * (kTile + x.d());
}

void add_memory(const Shape& all, const Shape& x, const GuidedOptions& options, int threads, GuidedPlan& plan) {
  constexpr double kSparseSample = 1.7, kViews = 1.1, kSpectrum = 5.4, kBasis = 7.5, kEigenGuards = 6;
  constexpr double kSums = 25, kComparison = 4.2, kBuffers = 3e5;
  const GraphCost graph(x, graph_options(options), threads);
  const double cells = x.n() * x.d(), graphs = (options.evidence ? 8 : 3) * graph.kept;
  const Index clusters = most_clusters(options.guide, x.rows);
  const double basis = kBasis * x.n() * (static_cast<double>(clusters) + kEigenGuards);
  const double eigen = takes_whole_spectrum(x.rows, clusters) ? kSpectrum * x.n() * x.n() : basis;
  const auto compared = static_cast<double>(rows_compared(x.rows, x.cols));
  plan.kept += kBuffers;
  if (x.rows < all.rows) plan.kept += x.sparse ? kSparseSample * x.entries : x.width * cells;
  const double views = writes_views_out(x.rows, x.cols, x.sparse) ? kViews * cells : 0;
  const double searching = shares_views(x.rows, x.cols, x.sparse) ? shared_search_numbers(x, options, threads)
                                                                  : views + graph.searching - 2 * x.n() + graphs;
  plan.phases = {{"graphs", searching},
                 {"eigenvectors", graphs + eigen},
                 {"order of columns", path_numbers(x) + kSums * x.d()},
                 {"k-means on the selected columns", kComparison * compared * x.d()}};
}

// One pass over the table; graphs, eigenvectors and k-means of the rows that are looked at, for the guide and with
// evidence for one of each half of the columns; products of columns.
void add_time(const Shape& all, const Shape& x, const GuidedOptions& options, int threads, GuidedPlan& plan) {
  constexpr double kSharedSearches = 2, kGraphs = 3, kClustering = 4.5e-5, kColumn = 2e-5;
  const double guides = options.evidence ? 3 : 1, tables = options.evidence ? 2 : 1;
  const double searches = shares_views(x.rows, x.cols, x.sparse) ? kSharedSearches : kGraphs * tables;
  const double columns = std::min(static_cast<double>(kLongestPath), x.d());
  plan.passes = 1;
  plan.seconds = kStatisticsSeconds * all.entries / threads;
  plan.seconds += searches * GraphCost(x, graph_options(options), threads).seconds;
  plan.seconds += guides * kClustering * x.n() / threads;
  plan.seconds += 2 * x.entries * columns / kSquareFlops / threads + kColumn * x.d();
}

}  // namespace

Index rows_looked_at(const GuidedOptions& options, Index rows) {
  const Index clusters = options.guide.clusters.value_or(0);
  return std::min(rows, std::max(options.sample, kRowsPerCluster * std::min(clusters, rows)));
}

Index rows_compared(Index rows, Index cols) {
  return std::min({rows, kComparedRows, kComparedCells / std::max<Index>(cols, 1)});
}

GuidedPlan::GuidedPlan(const Shape& shape, const GuidedOptions& options, int threads)
    : Plan(shape, Code::everything, threads), rows(rows_looked_at(options, shape.rows)) {
  path = rows < shape.rows ? concat("sample of ", rows, " rows") : "all rows";
  const Shape looked = looked_at(shape, rows);
  add_memory(shape, looked, options, threads, *this);
  add_time(shape, looked, options, threads, *this);
}

}  // namespace tamis
