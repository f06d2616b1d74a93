#include "tamis/run/forecast.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "tamis/base/error.h"
#include "tamis/base/resident.h"
#include "tamis/base/text/spelling.h"
#include "tamis/run/footprint.h"

namespace tamis {

namespace {

constexpr double kFreshBytes = 6.2e6;  // of the program that another process holds already when the command begins

// Measured on one machine and fitted to the times of bench/forecast.py --random; a core of another differs by less than
// the number of iterations does.
constexpr double kStartSeconds = 0.008;
constexpr double kProducts = 1.6e10, kSparseProducts = 4e9;     // flops a second and thread, in skinny products
constexpr double kSquares = 4e10;                               // in square ones
constexpr double kFirstBytes = 2.5e9;                           // a second, read for the first time
constexpr double kAgainBytes = 1.2e10;                          // from disk in later passes, while others compute
constexpr double kIterations = 7.0, kScatterIterations = 10.0;  // of ufcm, alpha 1 or not: 2 to 50, by the data
constexpr double kIterationsNear = 4.0;                         // after a fit of a sample

std::atomic<double> beyond_program = 0.0;    // what else the process holds
std::atomic<std::uint64_t> peak_before = 0;  // of reading

struct Cost {
  double seconds = 0.0;
  double passes = 0.0;
};

Cost ufcm_cost(const Shape& x, const Options& options) {
  const UfcmPlan plan(x, options);
  const double iterations = plan.sampled ? kIterationsNear : plan.scatter ? kScatterIterations : kIterations;
  const double rounds = iterations + 1.0, n = x.n, d = x.d, m = plan.dims, c = plan.clusters;
  const double flops = x.sparse ? kSparseProducts : kProducts;
  Cost cost{0.0, 1.0 + 2.0 * iterations};
  if (!x.sparse && (plan.small_gram || plan.gram)) cost.seconds += x.entries * d / kSquares;
  if (!x.sparse && plan.few_rows) cost.seconds += x.entries * n / kSquares;
  if (plan.small_gram || plan.few_rows || plan.gram) {
    cost.passes += plan.few_rows ? 3.0 : 1.0;
  } else {
    const double steps = n < d ? 40.0 : 6.0;
    cost.seconds += 4.0 * steps * x.entries * (m + 4.0) / flops;
    cost.passes += steps * (n < d ? 2.0 : 1.0);
  }
  if (plan.scatter && !plan.gram) {
    cost.seconds += 12.0 * rounds * x.entries * (m + 3.0) / flops;
    cost.passes += 5.0 * iterations;
  }
  // Rows times W, k-means on them and on a sample of them, and the eigen-solver's bases. Many clusters of many rows
  // take many steps.
  const double kmeans = 1.9e-9 * n * m * c * (plan.sampled ? std::max(1.0, c / 5.0) : 1.0);
  cost.seconds += rounds * (2e-10 * x.entries * (m + 3.0) + 1e-7 * n + kmeans);
  cost.seconds += 1.5e-8 * std::min(n, 8192.0) * m * c + (x.sparse ? 1.8e-7 * x.entries : 0.0);
  if (plan.gram) cost.seconds += 6e-10 * rounds * d * d * m;
  cost.seconds /= x.threads;
  cost.seconds += rounds * (1e-3 + 1.6e-7 * d * m + 8e-9 * d * m * m + (plan.exact ? 8e-11 * d * d * d : 0.0));
  return cost;
}

// The graph of nearest rows: all products of rows.
Cost graph_cost(const Shape& x) {
  const double n = x.n, d = std::max(x.d, 1.0);
  if (x.sparse) {
    const double shared = (1.4e-9 * x.entries * x.entries / d + 3.3e-9 * n * n) / x.threads;
    return {shared + 5e-7 * x.entries + 1.15e-5 * n + 2e-7 * d, 5.0};
  }
  return {(4.5e-11 * n * n * d + 1e-9 * n * n + 5.3e-8 * x.entries) / x.threads + 2.2e-5 * n + 1e-7 * d, 5.0};
}

double eigenvector_seconds(const Shape& x, double c) {
  return (x.n <= 512.0 ? 4.8e-10 * x.n * x.n * x.n : 4.5e-8 * x.n * (c + 6.0) * (c + 6.0)) / x.threads;
}

// Paths of regressions: from X'X, or with a pass over the data for every step.
Cost paths_cost(const Shape& x, const Options& options) {
  const McfsPlan plan(x, options);
  const double a = plan.active, steps = plan.clusters * a;
  Cost cost{eigenvector_seconds(x, plan.clusters) + 1.2e-9 * steps * a * a + 3.3e-8 * steps * x.d, 0.0};
  if (plan.gram) {
    cost.seconds += x.entries * x.d / (kSquares * x.threads);
  } else if (x.n < x.d) {
    cost.seconds += 7.6e-11 * a * x.entries * plan.clusters / x.threads + 1.2e-9 * steps * a * x.n;
    cost.passes = 2.0 * a;
  }
  return cost;
}

// Systems of min(n, d) unknowns, again in every iteration; how many rufs takes depends on the data.
Cost systems_cost(const std::string& method, const Shape& x, const Options& options) {
  const double c = numeric(options, "clusters", 8.0), side = std::min(x.n, x.d), both = x.n + x.d;
  if (method == "rufs") return {2.3e-9 * x.entries * side / x.threads + 2.7e-7 * both * c * c + 1e-4 * x.n, 500.0};
  const double grams = (x.sparse ? 1.07e-8 : 9.6e-10) * x.entries * side + 1e-10 * side * side * side;
  return {grams / x.threads + 5e-7 * both * c + 3e-7 * side * side, 45.0};
}

// One pass over the table; graphs, eigenvectors and k-means of the rows that are looked at, for the guide and with
// evidence for one of each half of the columns; products of columns.
Cost guided_cost(const Shape& all, const Options& options) {
  const Shape x = guided_shape(all, options);
  const double guides = numeric(options, "evidence", 1.0) != 0.0 ? 3.0 : 1.0, shares = guides == 3.0 ? 2.0 : 1.0;
  const double graphs = 3.0 * shares * graph_cost(x).seconds;
  const double clustering = guides * 1.1e-4 * x.n / x.threads;
  const double columns = std::min(1100.0, x.d), path = 2.0 * x.entries * columns / kSquares / x.threads;
  return {3e-9 * all.entries / all.threads + graphs + clustering + path + 2e-5 * x.d, 1.0};
}

Cost cost_of(const std::string& method, const Shape& x, const Options& options) {
  if (method == "guided") return guided_cost(x, options);
  if (method == "maxvar") return {3e-9 * x.entries / x.threads + 5e-7 * x.d, 1.0};
  if (method == "ufcm") return ufcm_cost(x, options);
  const Cost graph = graph_cost(x);
  if (method == "lapscore") return graph;
  if (method == "spec") {
    const bool spectral = numeric(options, "function", 2.0) == 3.0;
    return {graph.seconds + (spectral ? eigenvector_seconds(x, numeric(options, "clusters", 8.0)) : 0.0), graph.passes};
  }
  const Cost rest = method == "mcfs" ? paths_cost(x, options) : systems_cost(method, x, options);
  return {graph.seconds + rest.seconds, graph.passes + rest.passes};
}

// Readers of sparse tables hold the values twice for a moment; a column takes 4 bytes, the place of a row 8.
double sparse_reading_bytes(double table, const Shape& x) { return table - 4.0 * x.entries - 8.0 * x.n; }

}  // namespace

void count_program_as_it_is() {
  if (const auto now = resident_bytes("VmRSS")) beyond_program = std::max(0.0, static_cast<double>(*now) - kFreshBytes);
  if (const auto peak = resident_bytes("VmHWM")) peak_before = *peak;
}

Forecast forecast(const std::string& method, const TableSize& table, const Options& options, int threads) {
  const Shape shape{static_cast<double>(table.rows),    static_cast<double>(table.cols),
                    static_cast<double>(table.entries), table.sparse,
                    static_cast<double>(threads),       static_cast<double>(size_of(table.dtype)) / 8.0};
  const Cost cost = cost_of(method, shape, options);
  Forecast result;
  result.data_bytes = table.resident_bytes;
  const double program = program_footprint(method, shape.threads) + beyond_program;
  double own = 8.0 * footprint(method, shape, options);
  if (table.sparse && table.in_memory)
    own = std::max(own, sparse_reading_bytes(static_cast<double>(result.data_bytes), shape));
  result.peak_bytes = result.data_bytes + static_cast<std::uint64_t>(program + own);
  result.peak_bytes = std::max<std::uint64_t>(result.peak_bytes, peak_before);
  result.passes = cost.passes;
  const auto bytes = static_cast<double>(table.table_bytes);
  result.seconds = kStartSeconds + cost.seconds + bytes / kFirstBytes;
  if (!table.in_memory) result.seconds += cost.passes * bytes / kAgainBytes;
  return result;
}

std::string limit_text(std::uint64_t peak_bytes) {
  std::string size = size_text(peak_bytes + peak_bytes / 64);
  std::erase(size, ' ');
  return size;
}

void require_memory(const Forecast& need, std::uint64_t limit, const std::string& where) {
  require(need.peak_bytes <= limit, ErrorCode::resources, where, ": needs about ", size_text(need.peak_bytes),
          " of memory, the limit is ", size_text(limit), "; rerun with --memory ", limit_text(need.peak_bytes));
}

}  // namespace tamis
