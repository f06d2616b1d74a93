#include "tamis/run/forecast.h"

#include <algorithm>
#include <cmath>

#include "tamis/base/error.h"
#include "tamis/run/spelling.h"

namespace tamis {

namespace {

constexpr double kProgramBytes = 14.0 * (1 << 20);  // the program itself with its BLAS, measured
constexpr double kThreadBytes = 2.0 * (1 << 20);    // stacks and tiles of a thread
constexpr double kFlopsPerSecond = 5e9;             // of a core, in the passes
constexpr double kIterations = 10.0;                // that most runs take

double numeric(const Options& options, const std::string& name, double otherwise) {
  for (const auto& option : options) {
    if (option.name != name) continue;
    if (const auto* value = std::get_if<Index*>(&option.value)) return static_cast<double>(**value);
    if (const auto* value = std::get_if<double*>(&option.value)) return **value;
    if (const auto* value = std::get_if<std::optional<Index>*>(&option.value)) {
      return *value && **value ? static_cast<double>(***value) : otherwise;
    }
    if (const auto* value = std::get_if<std::optional<double>*>(&option.value)) {
      return *value && **value ? ***value : otherwise;
    }
  }
  return otherwise;
}

struct Shape {
  double n, d, entries;  // stored numbers
  bool sparse;
};

struct Cost {
  double numbers = 0.0;  // of 8 bytes, beyond the data
  double flops = 0.0;
};

// UFCM keeps n (d' + 2) + 6 d d' numbers and, for d <= n and alpha != 1, a d x d matrix (ufcm.h); finding the principal
// directions takes three times that for a while (measured on 100 x 20000 ... 200000 x 64). Its passes use every stored
// entry d' times, an iteration costs two of them and the k-means restarts on n x d' points.
Cost ufcm_cost(const Shape& x, const Options& options) {
  const double c = numeric(options, "clusters", 8.0);
  const double dims = std::min(numeric(options, "dims", std::max(1.0, c - 1.0)), x.d);
  const bool square = x.d <= x.n && numeric(options, "alpha", 1.0) != 1.0;
  const double restarts = numeric(options, "restarts", 1.0);
  const double directions = 2.0 * x.entries * (dims + 10.0) * 8.0;
  const double iteration =
      4.0 * x.entries * dims + 2.0 * x.n * dims * c * restarts * 10.0 + (square ? 2.0 * x.d * x.d * dims : 0.0);
  Cost cost;
  cost.numbers = x.n * (dims + 8.0) + 18.0 * x.d * dims + (square ? x.d * x.d : 0.0) + 4.0 * (x.n + x.d);
  cost.flops = directions + (square ? x.n * x.d * x.d : 0.0) + kIterations * iteration;
  return cost;
}

// The graph of nearest rows: some 20 numbers an edge while it is made, two blocks of rows a thread (sparse: the entries
// twice more, in rows and in columns), and all products of rows, which BLAS does several times faster than the passes.
Cost graph_cost(const Shape& x, const Options& options, int threads) {
  constexpr double kBlasSpeed = 6.0, kBlockRows = 768.0, kBlockCells = 8.0 * (1 << 20);
  Cost cost;
  cost.numbers = x.n * (20.0 * numeric(options, "neighbors", 5.0) + 30.0);
  cost.numbers += x.sparse ? 3.0 * x.entries + 2.0 * x.n * threads
                           : threads * (std::min(kBlockRows * x.d, kBlockCells) + 256.0 * 512.0);
  cost.flops = x.sparse ? 2.0 * x.entries * x.entries / std::max(x.d, 1.0) + 3.0 * x.n * x.n
                        : 2.0 * x.n * x.n * x.d / kBlasSpeed + 3.0 * x.n * x.n;
  return cost;
}

// What comes after the graph: eigenvectors of it, and systems of min(n, d) unknowns in ndfs and rufs.
Cost after_graph_cost(const std::string& method, const Shape& x, const Options& options) {
  const double c = numeric(options, "clusters", 8.0), side = std::min(x.n, x.d);
  Cost cost;
  cost.flops = 4.0 * x.entries;
  if (method == "spec" || method == "mcfs") {
    cost.numbers = 8.0 * x.n * (c + 8.0);
    cost.flops += 2000.0 * x.n * (c + 8.0);
  }
  if (method == "mcfs" && x.d <= x.n) {
    cost.numbers += 3.0 * x.d * x.d;
    cost.flops += x.n * x.d * x.d;
  }
  if (method == "ndfs" || method == "rufs") {
    cost.numbers = 4.0 * side * side + 12.0 * (x.n + x.d) * c;
    cost.flops += 20.0 * (side * side * side + 8.0 * x.entries * c) + x.entries * side;
  }
  return cost;
}

}  // namespace

Forecast forecast(const std::string& method, const Source& source, const Options& options, int threads) {
  const auto n = static_cast<double>(source.rows()), d = static_cast<double>(source.cols());
  const double entries = source.sparse() ? static_cast<double>(source.store().nonzeros()) : n * d;
  const Shape shape{n, d, entries, source.sparse()};
  Cost cost;
  if (method == "maxvar") {
    cost = {8.0 * d * threads, 4.0 * entries};
  } else if (method == "ufcm") {
    cost = ufcm_cost(shape, options);
  } else {
    const Cost graph = graph_cost(shape, options, threads), rest = after_graph_cost(method, shape, options);
    cost = {graph.numbers + rest.numbers, graph.flops + rest.flops};
  }
  Forecast result;
  result.data_bytes = source.store().resident_bytes();
  result.peak_bytes =
      result.data_bytes + static_cast<std::uint64_t>(8.0 * cost.numbers + kProgramBytes + kThreadBytes * threads);
  // Buffers take up to a sixteenth of what they are allowed (disk_store.cpp).
  result.least_bytes = source.store().in_memory() ? result.peak_bytes : result.peak_bytes / 15 * 16 + 16;
  result.seconds = cost.flops / (kFlopsPerSecond * static_cast<double>(threads));
  return result;
}

void require_memory(const Forecast& need, std::uint64_t limit, const std::string& where) {
  require(need.peak_bytes <= limit, ErrorCode::resources, where, ": needs about ", size_text(need.peak_bytes),
          " of memory, the limit is ", size_text(limit), "; the least that would do is --memory ", need.least_bytes);
}

}  // namespace tamis
