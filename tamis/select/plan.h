// How a method will go about a table, before any of it is read: the path that it takes, and what that costs. The path
// is a function of shape and options; threads change the cost alone. A run takes its decisions from its plan, its
// report names the path, and a forecast (run/forecast.h) sums the costs.
//
// A run plans for the columns that vary, which a forecast does not know yet: it plans for all of them.
#pragma once

#include <string>
#include <vector>

#include "tamis/data/passes/principal.h"
#include "tamis/data/source.h"
#include "tamis/graph/graph.h"

namespace tamis {

struct Shape {
  Index rows = 0, cols = 0;
  double entries = 0;  // stored numbers
  bool sparse = false;
  double width = 1;  // of a stored number, in units of 8 bytes

  double n() const { return static_cast<double>(rows); }
  double d() const { return static_cast<double>(cols); }
};
Shape shape_of(const TableSize& table);
inline Shape shape_of(const Source& source) { return shape_of(source.size()); }

// A part of a run, and how many numbers of 8 bytes it holds besides what is held throughout.
struct Phase {
  const char* name;
  double numbers;
};

// What a method touches of the program.
enum class Code { moments, graphs, systems, everything };

struct Plan {
  Plan(const Shape& shape, Code code, int threads);

  std::string path;           // Report::path
  double kept;                // numbers beyond the table that are held throughout
  std::vector<Phase> phases;  // one after the other, so that the largest makes the peak
  double seconds = 0;
  double passes = 0;  // over the data
  double program;     // bytes: pages of code, stacks, and what BLAS takes

  double peak_numbers() const;  // with what the allocator holds on to
};

// --- What methods share: memory in numbers of 8 bytes, time in seconds -----------------------------------------------

// Flops a second and thread on the machine of bench/forecast.py, to whose times all costs here are fitted. A core of
// another machine differs by less than the number of iterations does.
inline constexpr double kSkinnyFlops = 1.6e10;      // products with a few columns
inline constexpr double kSparseSkinnyFlops = 4e9;   // and of sparse rows
inline constexpr double kSquareFlops = 4e10;        // products of large matrices
inline constexpr double kStatisticsSeconds = 3e-9;  // an entry: one pass for the moments
inline constexpr double kSmallPieces = 40;          // clusters or directions from which small buffers stop growing

// X'X and XX': the sums of some panels are under way beside them.
double column_gram_numbers(const Shape& shape, int threads);
double row_gram_numbers(const Shape& shape, int threads);

// k columns of X'X of sparse rows: pairs of entries in a row, and the sums of blocks.
double sparse_gram_seconds(const Shape& shape, double k);

// Products with X'X that need no row kept between reading it and multiplying by it again.
bool reads_once(const Shape& shape);

// The first directions, `width` of them with the guards.
double directions_numbers(const Shape& shape, PrincipalPath path, double width, int threads);

// The graph of nearest rows: while they are searched, while it is made, and as it is. One that is given is there
// throughout, and takes no search.
struct GraphCost {
  GraphCost(const Shape& shape, const GraphOptions& options, int threads);
  double searching, making, kept;
  double seconds;
  double passes = 5;
};
// "graph in cells, heat weights", "given graph"
std::string graph_path(const GraphOptions& options, Index rows);

// The smoothest eigenvectors of a graph.
double eigenvector_numbers(Index rows, Index count);
double eigenvector_seconds(Index rows, Index count, int threads);

// Clusters of the rows (row_clusters.h).
double row_clusters_numbers(const Shape& shape, int threads);

}  // namespace tamis
