#include "tamis/select/plan.h"

#include <algorithm>
#include <cmath>

#include "tamis/graph/laplacian.h"
#include "tamis/select/row_clusters.h"

namespace tamis {

namespace {

// A peak is that of the largest phase, beside what is kept through all of them. The factors come from profiles of the
// heap; what the allocator keeps of freed memory is in them, fitted to the peaks of bench/forecast.py --random.
constexpr double kMargin = 1.05;       // a forecast below the peak is worse than one above it
constexpr double kColumnFacts = 30;    // of every column: moments, scales, scores and their order, names' places
constexpr double kSparseCopies = 0.3;  // of every entry of a sparse table

// Bytes of the program when the method has run on next to nothing.
constexpr double kBytesPerThread = 0.5e6;
double code_bytes(Code code) {
  switch (code) {
    case Code::moments: return 8.2e6;
    case Code::graphs: return 8.9e6;
    case Code::systems: return 10.3e6;
    case Code::everything: break;
  }
  return 10.1e6;
}

// A square matrix of sums over rows, made in panels.
double gram_numbers(double side, double widest_panel, double leaves, int threads) {
  constexpr double kUnderWay = 3, kTree = 0.6, kPadding = 128;  // panels of a thread, of a level of the tree; columns
  const double panel = std::min(side, widest_panel);
  return side * side + (kUnderWay * threads + kTree * std::log2(std::max(1.0, leaves))) * panel * (panel + kPadding);
}

// Nearest rows: the tiles of each thread, or of sparse rows the entries twice more, in rows and in columns.
double search_numbers(const Shape& x, double neighbors, int threads) {
  constexpr double kSparseEntries = 4.3, kSparseColumns = 5;
  if (x.sparse) return kSparseEntries * x.entries + 2 * x.n() * threads + kSparseColumns * x.d();
  constexpr double kTile = 192, kPanelCols = 512, kPackedCells = 1 << 24, kFloatCols = 4096;
  constexpr double kRowsOfAllPairs = 4096;  // up to there the mean of all distances is taken too, before the search
  constexpr double kTileRows = 768, kTileCols = 1024, kTileNumbers = 700e3, kTaskRows = 256, kTaskCols = 512;
  constexpr double kTilesOfAllPairs = 1.75, kDistances = 1.2, kColumns = 13, kRow = 5;
  const double width = x.d() > kFloatCols ? 1 : 0.5;
  const double tasks = std::min(static_cast<double>(threads), std::ceil(x.n() / kTile));
  const bool packed = x.n() * x.d() <= kPackedCells;
  const double part = x.d() <= 2 * kPanelCols ? x.d() : kPanelCols;
  const double panels = packed ? x.n() * x.d() : 2 * tasks * std::min(x.n(), kTile) * part;
  const double lists = x.n() * (2.5 * neighbors + 22 + kRow);
  const double searching = width * (panels + tasks * kTile * kTile) + lists;
  if (x.n() > kRowsOfAllPairs) return searching + kColumns * x.d();
  const double tile = std::min(std::min(x.n(), kTileRows) * std::min(x.d(), kTileCols), kTileNumbers);
  const double distances = std::min(x.n(), kTaskRows) * std::min(x.n(), kTaskCols);
  const double mean = tasks * (kTilesOfAllPairs * tile + kDistances * distances);
  constexpr double kNotReturned = 0.4;  // of what threads have freed
  return std::max(searching + kNotReturned * mean, mean) + kColumns * x.d();
}

// In cells: k-means of a sample, then a copy of the rows in float (sparse: the entries, and what 64 directions see of
// the rows) beside the lists of neighbors, and the visits of a wave of rows.
double cell_search_numbers(const Shape& x, double neighbors, int threads) {
  constexpr double kSample = 70, kDirections = 68, kSparseEntries = 2, kList = 1.5, kRow = 6, kVisits = 5e6,
                   kTask = 1e6;
  const double cells = std::sqrt(x.n()), lists = x.n() * (kList * neighbors + kRow);
  if (!x.sparse) {
    return std::max(kSample * cells * x.d(), 0.5 * x.n() * x.d() + kVisits + kTask * threads) + lists;
  }
  const PrincipalPath path = principal_path(x.rows, x.cols, true, false);
  const double few = x.n() * kDirections;
  return std::max(directions_numbers(x, path, kDirections, threads),
                  few + kSparseEntries * x.entries + kVisits + kTask * threads) +
         lists + 2 * few;
}

// Of rows that come in groups; every row is compared with that part of all. Where there are none it takes many times as
// long, up to all pairs.
double cell_search_seconds(const Shape& x, int threads) {
  constexpr double kPart = 0.03, kProduct = 2.2e-11, kPair = 5e-10, kRank = 1.2e-8, kSample = 512, kEntry = 4e-9;
  const double n = x.n(), d = std::max(x.d(), 1.0), cells = std::sqrt(n), few = x.sparse ? 64 : d;
  const double centers = (4 * few * kProduct + kRank) * n * cells + kSample * n * few * kProduct;
  if (x.sparse) {
    constexpr double kSparseProduct = 1.4e-9, kDirections = 60;
    const double pairs = kPart + kSample / n;
    return (kSparseProduct * x.entries * x.entries / d * pairs + kPair * n * n * pairs +
            kDirections * kEntry * x.entries + centers) /
           threads;
  }
  return (centers + kPart * n * n * (d * kProduct + kPair) + kEntry * x.entries) / threads;
}

// All products of rows; of sparse ones those of entries that share a column. Seconds of a product, a pair of rows, an
// entry, a row and a column.
double search_seconds(const Shape& x, int threads) {
  const double n = x.n(), d = std::max(x.d(), 1.0);
  if (x.sparse) {
    constexpr double kProduct = 1.4e-9, kPair = 3.3e-9, kEntry = 5e-7, kRow = 1.15e-5, kColumn = 2e-7;
    const double shared = (kProduct * x.entries * x.entries / d + kPair * n * n) / threads;
    return shared + kEntry * x.entries + kRow * n + kColumn * d;
  }
  constexpr double kProduct = 1.2e-11, kPair = 1e-9, kEntry = 1e-8, kRow = 5e-6, kColumn = 1e-7;
  return (kProduct * n * n * d + kPair * n * n + kEntry * x.entries) / threads + kRow * n + kColumn * d;
}

// What the directions of a Gram matrix of the rows take.
double row_directions_numbers(const Shape& x, double w, int threads) {
  constexpr double kWholeRows = 256, kDensePanel = 64;  // rows that are decomposed at once, made dense at once
  constexpr double kSpectrum = 3.2, kSparseColumns = 2, kSparsePanels = 1.7, kColumns = 4, kBuffers = 3e4;
  constexpr double kBasis = 22, kBasisColumns = 6;
  const double n = x.n(), d = x.d();
  if (x.sparse) return kSpectrum * n * n + kSparseColumns * d * w + kSparsePanels * d * std::min(n, kDensePanel);
  if (n <= kWholeRows) return kSpectrum * n * n + kColumns * d * w + kBuffers;
  return std::max(row_gram_numbers(x, threads), n * n + kBasis * n * w) + kBasisColumns * d * w;
}

double column_directions_numbers(const Shape& x, int threads) {
  constexpr double kSparseSpectrum = 6.7, kSparsePanels = 0.5 * 64, kPanelRows = 6144;
  if (x.sparse) return kSparseSpectrum * x.d() * x.d() + kSparsePanels * std::min(x.n(), kPanelRows);
  return std::max(column_gram_numbers(x, threads), 2 * x.d() * x.d());
}

}  // namespace

Shape shape_of(const TableSize& table) {
  Shape out;
  out.rows = table.rows, out.cols = table.cols, out.sparse = table.sparse;
  out.entries = static_cast<double>(table.entries);
  out.width = static_cast<double>(size_of(table.dtype)) / sizeof(double);
  return out;
}

Plan::Plan(const Shape& shape, Code code, int threads)
    : kept(kColumnFacts * shape.d() + (shape.sparse ? kSparseCopies * shape.entries + shape.n() : 0)),
      program(code_bytes(code) + kBytesPerThread * threads) {}

double Plan::peak_numbers() const {
  double most = 0;
  for (const Phase& phase : phases) most = std::max(most, phase.numbers);
  return kMargin * (kept + most);
}

double column_gram_numbers(const Shape& x, int threads) {
  constexpr double kWidest = 512, kLeafRows = 2048;
  return gram_numbers(x.d(), kWidest, x.n() / kLeafRows, threads);
}

double row_gram_numbers(const Shape& x, int threads) {
  constexpr double kWidest = 256, kLeafCols = 1024;
  return gram_numbers(x.n(), kWidest, x.d() / kLeafCols, threads);
}

bool reads_once(const Shape& x) {
  constexpr Index kFewRows = 2 * kBlockRows, kManyCols = 4096;  // of scatter_product() in data/passes
  return x.rows > kFewRows && x.cols <= kManyCols;
}

double directions_numbers(const Shape& x, PrincipalPath path, double w, int threads) {
  constexpr double kRowBasis = 17, kRowColumns = 6, kSparseRowColumns = 3;
  constexpr double kBasis = 19, kProjections = 2.5, kStartCopies = 1.45;
  const double n = x.n(), d = x.d();
  switch (path) {
    case PrincipalPath::gram: return column_directions_numbers(x, threads);
    case PrincipalPath::gram_of_rows: return row_directions_numbers(x, w, threads);
    case PrincipalPath::products_of_rows:
      return kRowBasis * n * w + (x.sparse ? kSparseRowColumns : kRowColumns) * d * w;
    case PrincipalPath::products: break;
  }
  const auto start = static_cast<double>(rows_to_start_from(x.rows, x.cols, x.sparse, static_cast<Index>(w)));
  return std::max(kBasis * d * w + (reads_once(x) ? 0 : kProjections * n * w), kStartCopies * d * start);
}

namespace {

constexpr double kEdge = 7.5, kGraphRow = 4;  // numbers of an edge and of a row, while a graph is made
constexpr double kEigenGuards = 6;            // vectors beside the wanted ones

}  // namespace

GraphCost::GraphCost(const Shape& x, const GraphOptions& options, int threads)
    : searching(search_numbers(x, static_cast<double>(std::min(options.neighbors, x.rows - 1)), threads) + 2 * x.n()),
      making(x.n() * (kEdge * static_cast<double>(std::min(options.neighbors, x.rows - 1)) + kGraphRow)),
      kept(making / 2),
      seconds(search_seconds(x, threads)) {
  if (options.given) {
    constexpr double kReadEdge = 6, kGivenEdge = 1.5, kGivenRow = 2, kOwnPasses = 2;  // of an edge: both directions
    const auto edges = static_cast<double>(options.given->columns.size());
    searching = kReadEdge * edges + kGivenRow * x.n();
    making = kept = kGivenEdge * edges + kGivenRow * x.n();
    seconds = 0;
    passes = kOwnPasses;
    return;
  }
  if (!searches_cells(options, x.rows)) return;
  searching = cell_search_numbers(x, static_cast<double>(options.neighbors), threads);
  seconds = cell_search_seconds(x, threads);
}

std::string graph_path(const GraphOptions& options, Index rows) {
  if (options.given) return "given graph";
  return (searches_cells(options, rows) ? "graph in cells, " : "graph, ") + options.weights + " weights" +
         (samples_bandwidth(options, rows) ? ", bandwidth from a sample of pairs" : "");
}

double eigenvector_numbers(Index rows, Index count) {
  const auto n = static_cast<double>(rows), c = static_cast<double>(count);
  constexpr double kSpectrum = 5.4, kBasis = 7.6;
  return takes_whole_spectrum(rows, count) ? kSpectrum * n * n : kBasis * n * (c + kEigenGuards);
}

double eigenvector_seconds(Index rows, Index count, int threads) {
  const auto n = static_cast<double>(rows), c = static_cast<double>(count);
  const double steps = (c + kEigenGuards) * (c + kEigenGuards);
  constexpr double kSpectrum = 4.8e-10, kStep = 4.5e-8;
  return (takes_whole_spectrum(rows, count) ? kSpectrum * n * n * n : kStep * n * steps) / threads;
}

double row_clusters_numbers(const Shape& x, int threads) {
  constexpr double kGuards = 4, kSmallBuffers = 2.5e5, kCopies = 2.05, kSmallCopies = 0.9, kPoints = 2.2;
  const double n = x.n(), cells = x.n() * x.d();
  const auto components = static_cast<double>(components_for_clusters(x.rows, x.cols));
  if (components == 0) return kCopies * cells + std::min(kSmallCopies * cells, kSmallBuffers);
  const double w = std::min({components + kGuards, n, x.d()});
  PrincipalPath path = principal_path(x.rows, x.cols, x.sparse, false);
  if (path == PrincipalPath::gram) path = PrincipalPath::products;  // rough ones are those of a sample
  return std::max(directions_numbers(x, path, w, threads), kPoints * n * w);
}

}  // namespace tamis
