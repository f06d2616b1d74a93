#include "tamis/run/forecast.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "tamis/base/error.h"
#include "tamis/run/resident.h"
#include "tamis/run/spelling.h"

namespace tamis {

namespace {

// Measured on one machine (bench/forecast.py); a core of another differs by less than the number of iterations does.
constexpr double kProgramBytes = 9.0 * (1 << 20);  // the program itself with its BLAS
constexpr double kThreadBytes = 0.5 * (1 << 20);   // stacks and tiles of a thread
constexpr double kSlack = 1.06;                    // what the allocator holds back
constexpr double kStartSeconds = 0.01;
constexpr double kPassFlops = 1.3e10;    // a second and thread, in skinny products
constexpr double kBlasFlops = 3e10;      // in square ones
constexpr double kKMeansFlops = 8e9;     // in distances to centres
constexpr double kAlgebraFlops = 8e9;    // in tall bases, by one thread
constexpr double kFirstBytes = 2.5e9;    // a second, read for the first time
constexpr double kAgainBytes = 6e9;      // from disk in later passes, while others compute
constexpr double kIterations = 6.0;      // that most runs of ufcm take
constexpr double kIterationsNear = 3.0;  // after a fit of a sample

std::atomic<double> program_bytes = kProgramBytes;
std::atomic<std::uint64_t> peak_before = 0;  // of reading

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
  double threads;
};

struct Cost {
  double numbers = 0.0;  // of 8 bytes, beyond the data
  double seconds = 0.0;
  double passes = 0.0;
};

// How ufcm.cpp, scatter.cpp and principal.cpp go about a shape.
struct UfcmPlan {
  UfcmPlan(const Shape& x, const Options& options)
      : clusters(numeric(options, "clusters", 8.0)),
        dims(std::min(numeric(options, "dims", std::max(1.0, clusters - 1.0)), x.d)),
        sampled(!x.sparse && x.n >= 262144.0),
        iterations(sampled ? kIterationsNear : kIterations) {
    const double products = dims * (sampled ? 12.0 : 40.0);
    const bool cheaper = x.n * x.d * x.d + 2.0 * x.d * x.d * products < 4.0 * x.n * x.d * products;
    scatter = numeric(options, "alpha", 1.0) != 1.0;
    gram = scatter && !x.sparse && x.d <= 4096.0 && cheaper;
    small_gram = x.d <= std::min(256.0, x.n) || (sampled && x.d <= 1024.0);
    few_rows = x.n < x.d && x.n <= 1024.0;
  }
  double clusters, dims;
  bool sampled;
  double iterations;
  bool scatter = false, gram = false, small_gram = false, few_rows = false;
};

// Z W twice and what k-means keeps of every row; the eigen-solver's basis; X'X with some of its sums under way; the
// sample that the first directions start from.
double ufcm_numbers(const Shape& x, const UfcmPlan& plan) {
  double numbers = x.n * (2.0 * plan.dims + 2.0) + 12.0 * x.d * (plan.dims + 1.0) + 4.0 * x.d;
  const double panel = std::min(x.d, 512.0);
  if (plan.gram || plan.small_gram) numbers += x.d * x.d + 2.0 * panel * panel;
  if (plan.few_rows) numbers += 2.0 * x.n * x.n;
  const bool starts = !x.sparse && x.n >= 4096.0 && x.n >= x.d && !plan.small_gram;
  if (starts) numbers += x.d * std::min({1024.0, 8.0 * (1 << 20) / x.d, x.n / 8.0});
  const double sample = plan.sampled ? x.d * std::min(16384.0, 8.0 * (1 << 20) / x.d) : 0.0;
  return std::max(numbers, sample * 1.2);
}

Cost ufcm_cost(const Shape& x, const Options& options) {
  const UfcmPlan plan(x, options);
  const double steps = x.n < x.d ? 40.0 : 6.0, narrow = plan.dims + 4.0;
  const double square = plan.few_rows ? x.n * x.entries : x.entries * x.d;  // flops of one Gram matrix
  Cost cost;
  cost.numbers = ufcm_numbers(x, plan);
  double products = 4.0 * x.entries * plan.dims * plan.iterations, blas = 0.0;
  cost.passes = 1.0 + 2.0 * plan.iterations;
  if (plan.small_gram || plan.few_rows || plan.gram) {
    blas += square;
    cost.passes += plan.few_rows ? 3.0 : 1.0;
  } else {
    products += steps * 4.0 * x.entries * narrow;
    cost.passes += steps * (x.n < x.d ? 2.0 : 1.0);
  }
  if (plan.scatter && !plan.gram) {
    products += 16.0 * x.entries * plan.dims * plan.iterations;
    cost.passes += 5.0 * plan.iterations;
  }
  const double distances = 2.0 * plan.dims * plan.clusters * plan.iterations;
  const double restarts = numeric(options, "restarts", 10.0) * 10.0;
  const double kmeans = distances * (3.0 * plan.clusters * x.n + restarts * std::min(x.n, 8192.0) / 3.0);
  const double algebra = 45.0 * x.d * 9.0 * plan.dims * plan.dims * plan.iterations;
  cost.seconds =
      (products / kPassFlops + blas / kBlasFlops + kmeans / kKMeansFlops) / x.threads + algebra / kAlgebraFlops;
  return cost;
}

double tile_numbers(const Shape& x) { return x.threads * (std::min(768.0 * x.d, 550e3) + 256.0 * 512.0); }

// The graph of nearest rows, and while it is made the tiles of each thread (sparse: the entries twice more, in rows and
// in columns); all products of rows.
Cost graph_cost(const Shape& x, const Options& options) {
  const double edges = numeric(options, "neighbors", 5.0);
  Cost cost;
  cost.numbers = x.n * (4.0 * edges + 10.0);
  cost.numbers += x.sparse ? 3.0 * x.entries + 2.0 * x.n * x.threads : tile_numbers(x);
  const double flops = x.sparse ? 2.0 * x.entries * x.entries / std::max(x.d, 1.0) + 3.0 * x.n * x.n
                                : 2.0 * x.n * x.n * x.d / 6.0 + 3.0 * x.n * x.n;
  cost.seconds = flops / (5e9 * x.threads);
  cost.passes = 5.0;
  return cost;
}

// What comes after the graph: eigenvectors of it, regressions, and systems of min(n, d) unknowns in ndfs and rufs.
Cost after_graph_cost(const std::string& method, const Shape& x, const Options& options) {
  const double c = numeric(options, "clusters", 8.0), side = std::min(x.n, x.d);
  Cost cost;
  double flops = 4.0 * x.entries;
  if (method == "spec" || method == "mcfs") {
    // The tiles are gone when the eigenvectors come; the regressions of mcfs come on top.
    const double vectors = 6.0 * x.n * (c + 8.0);
    cost.numbers = method == "mcfs" || x.sparse ? vectors : std::max(0.0, vectors - tile_numbers(x));
    flops += 2000.0 * x.n * (c + 8.0);
  }
  if (method == "mcfs" && x.d <= x.n) {
    cost.numbers += 3.0 * x.d * x.d;
    flops += x.n * x.d * x.d;
  } else if (method == "mcfs") {
    cost.numbers += 200.0 * x.n * c;
    flops += 1500.0 * x.entries;
    cost.passes = 400.0;
  }
  if (method == "ndfs" || method == "rufs") {
    cost.numbers = 3.0 * side * side + 12.0 * (x.n + x.d) * c;
    const double rounds = method == "rufs" ? 40.0 : 20.0;
    flops += rounds * (side * side * side + 8.0 * x.entries * c) + x.entries * side;
    cost.passes = method == "rufs" ? 500.0 : 50.0;
  }
  cost.seconds = flops / (5e9 * x.threads);
  return cost;
}

Cost cost_of(const std::string& method, const Shape& x, const Options& options) {
  if (method == "maxvar") return {8.0 * x.d * x.threads, 4.0 * x.entries / (kPassFlops * x.threads), 1.0};
  if (method == "ufcm") return ufcm_cost(x, options);
  const Cost graph = graph_cost(x, options), rest = after_graph_cost(method, x, options);
  return {graph.numbers + rest.numbers, graph.seconds + rest.seconds, graph.passes + rest.passes};
}

}  // namespace

void count_program_as_it_is() {
  if (const auto now = resident_bytes("VmRSS")) program_bytes = std::max(kProgramBytes, static_cast<double>(*now));
  if (const auto peak = resident_bytes("VmHWM")) peak_before = *peak;
}

Forecast forecast(const std::string& method, const Source& source, const Options& options, int threads) {
  const auto n = static_cast<double>(source.rows()), d = static_cast<double>(source.cols());
  const Store& store = source.store();
  const double entries = source.sparse() ? static_cast<double>(store.nonzeros()) : n * d;
  const Cost cost = cost_of(method, {n, d, entries, source.sparse(), static_cast<double>(threads)}, options);
  Forecast result;
  result.data_bytes = store.resident_bytes();
  const double own = 8.0 * cost.numbers + program_bytes + kThreadBytes * threads;
  result.peak_bytes = static_cast<std::uint64_t>(kSlack * (static_cast<double>(result.data_bytes) + own));
  result.peak_bytes = std::max<std::uint64_t>(result.peak_bytes, peak_before);
  result.passes = cost.passes;
  const auto bytes = static_cast<double>(store.table_bytes());
  result.seconds = kStartSeconds + cost.seconds + bytes / kFirstBytes;
  if (!store.in_memory()) result.seconds += cost.passes * bytes / kAgainBytes;
  return result;
}

std::uint64_t limit_for(std::uint64_t peak_bytes) { return peak_bytes + peak_bytes / 64; }

void require_memory(const Forecast& need, std::uint64_t limit, const std::string& where) {
  require(need.peak_bytes <= limit, ErrorCode::resources, where, ": needs about ", size_text(need.peak_bytes),
          " of memory, the limit is ", size_text(limit), "; the least that would do is --memory ",
          limit_for(need.peak_bytes));
}

}  // namespace tamis
