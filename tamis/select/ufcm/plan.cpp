#include "tamis/select/ufcm/plan.h"

#include <algorithm>
#include <cmath>

#include "tamis/select/ufcm/schedule.h"

namespace tamis {

namespace {

// --- Decisions -----------------------------------------------------------------------------------------------------

Index sample_size(const Shape& x, const UfcmOptions& options) {
  if (x.sparse || x.rows < kSchedule.sample_from) return 0;
  const Index rows = std::min(kSchedule.sample_rows, kSchedule.sample_cells / std::max<Index>(1, x.cols));
  const Index least = std::max(kSchedule.sample_least, kSchedule.sample_rows_per_cluster * options.clusters);
  return rows >= least ? rows : 0;
}

// Which is less work, with as many products as a fit is expected to take.
ScatterPath choose_scatter_path(const Shape& x, const UfcmOptions& options, Index dims, Index sample) {
  if (options.alpha == 1) return ScatterPath::centroids;
  if (x.sparse || x.cols > kSchedule.largest_gram) return ScatterPath::products;
  const Index products = sample > 0 ? kSchedule.products_after_sample : kSchedule.products;
  const double n = x.n(), d = x.d(), columns = static_cast<double>(dims * products);
  const double with_gram = n * d * d + 2 * d * d * columns, with_products = 4 * n * d * columns;
  return with_gram < with_products ? ScatterPath::gram : ScatterPath::products;
}

std::string path_name(const UfcmPlan& plan, const UfcmOptions& options) {
  std::string name = plan.scatter == ScatterPath::centroids ? "centroids"
                     : plan.scatter == ScatterPath::gram    ? "gram"
                                                            : "products";
  if (options.exact) name += ", exact";
  if (plan.sample > 0) name += concat(", from a sample of ", plan.sample, " rows");
  return name;
}

// --- Costs, fitted to the peaks and times of bench/forecast.py --random ----------------------------------------------

constexpr double kGuards = 4;  // directions beside the wanted ones

// Rows times W with what k-means keeps of them (small pieces are not given back), and bases of the eigen-solver.
double iteration_numbers(const Shape& x, double m) {
  constexpr double kProjections = 2.05, kLabels = 1.5, kSmallProjections = 1.5, kSmallMost = 2.5e5, kBases = 11.5;
  return x.n() * (kProjections * m + kLabels) + std::min(kSmallProjections * x.n() * m, kSmallMost) +
         kBases * x.d() * m;
}

void add_memory(const Shape& x, const UfcmOptions& options, int threads, UfcmPlan& plan) {
  constexpr double kSmallBuffers = 2e5, kImages = 15, kKeptProjections = 2.5, kSolvers = 7.5, kPanels = 1.17;
  constexpr double kSampleCopies = 1.1;
  const double n = x.n(), d = x.d(), m = static_cast<double>(plan.dims);
  const bool gram = plan.scatter == ScatterPath::gram;
  plan.kept += (gram ? d * d : 0) + kSmallBuffers * std::min(1.0, m / kSmallPieces);
  plan.phases = {{"iterations", iteration_numbers(x, m)},
                 {"first directions", directions_numbers(x, plan.principal, m + kGuards, threads)}};
  if (plan.scatter == ScatterPath::products) {
    plan.phases.push_back({"products", kImages * d * m + (reads_once(x) ? 0 : kKeptProjections * n * m)});
  }
  if (solves_exactly(options, x.cols)) plan.phases.push_back({"eigenvectors", kSolvers * d * d + n * (m + 2)});
  if (gram) plan.phases.push_back({"gram", kPanels * (column_gram_numbers(x, threads) - d * d)});
  if (plan.sample > 0) plan.phases.push_back({"sample", kSampleCopies * d * static_cast<double>(plan.sample)});
}

// The first W: from X'X, from XX', or by an iteration.
void add_start(const Shape& x, UfcmPlan& plan) {
  constexpr double kSteps = 6, kStepsOfFewRows = 40;
  const bool gram = plan.scatter == ScatterPath::gram || plan.principal == PrincipalPath::gram;
  const bool of_rows = plan.principal == PrincipalPath::gram_of_rows;
  if (gram && !x.sparse) plan.seconds += x.entries * x.d() / kSquareFlops;
  if (of_rows && !x.sparse) plan.seconds += x.entries * x.n() / kSquareFlops;
  if (gram || of_rows) {
    plan.passes += of_rows ? 3 : 1;
    return;
  }
  const double steps = x.rows < x.cols ? kStepsOfFewRows : kSteps;
  const double flops = x.sparse ? kSparseSkinnyFlops : kSkinnyFlops;
  plan.seconds += 4 * steps * x.entries * (static_cast<double>(plan.dims) + kGuards) / flops;
  plan.passes += steps * (x.rows < x.cols ? 2 : 1);
}

// Iterations that a fit takes, 2 to 50 by the data: at alpha = 1, elsewhere, after a fit of a sample.
// The objective converges linearly: a tolerance of half the digits more takes half as many again.
double expected_iterations(const UfcmOptions& options, const UfcmPlan& plan) {
  constexpr double kCentroids = 7, kScatter = 10, kNear = 4;
  const auto most = static_cast<double>(options.iterations);
  const double usual = plan.sample > 0 ? kNear : plan.scatter == ScatterPath::centroids ? kCentroids : kScatter;
  if (options.tolerance <= 0) return most;
  const double digits = std::log(std::min(options.tolerance, 0.5)) / std::log(UfcmOptions().tolerance);
  return std::min(usual * std::max(1.0, digits), most);
}

// k-means on rows of m numbers and on a sample of them. Many clusters of many rows take many steps.
double kmeans_seconds(const Shape& x, double m, double c, double rounds) {
  constexpr double kDistance = 1.9e-9, kStart = 1.5e-8, kClustersOfFewSteps = 5;
  const bool many = !x.sparse && x.rows >= kSchedule.sample_from;
  const double steps = many ? std::max(1.0, c / kClustersOfFewSteps) : 1;
  return rounds * kDistance * x.n() * m * c * steps +
         kStart * std::min(x.n(), static_cast<double>(kSchedule.restart_rows)) * m * c;
}

void add_time(const Shape& x, const UfcmOptions& options, int threads, UfcmPlan& plan) {
  constexpr double kProductEntry = 2e-10, kRow = 1e-7, kSparseEntry = 1.8e-7, kGramEntry = 6e-10;
  constexpr double kRound = 1e-3, kRoundColumn = 1.6e-7, kRoundOrthogonal = 8e-9, kRoundSolve = 8e-11;
  constexpr double kImagePasses = 5, kImageFlops = 12, kImageGuards = 3;
  const double iterations = expected_iterations(options, plan), rounds = iterations + 1;
  const double n = x.n(), d = x.d(), m = static_cast<double>(plan.dims), c = static_cast<double>(options.clusters);
  plan.passes = 1 + 2 * iterations;
  add_start(x, plan);
  if (plan.scatter == ScatterPath::products) {
    const double flops = x.sparse ? kSparseSkinnyFlops : kSkinnyFlops;
    plan.seconds += kImageFlops * rounds * x.entries * (m + kImageGuards) / flops;
    plan.passes += kImagePasses * iterations;
  }
  plan.seconds += rounds * (kProductEntry * x.entries * (m + kImageGuards) + kRow * n);
  plan.seconds += kmeans_seconds(x, m, c, rounds) + (x.sparse ? kSparseEntry * x.entries : 0);
  if (plan.scatter == ScatterPath::gram) plan.seconds += kGramEntry * rounds * d * d * m;
  plan.seconds /= threads;
  const double solve = solves_exactly(options, x.cols) ? kRoundSolve * d * d * d : 0;
  plan.seconds += rounds * (kRound + kRoundColumn * d * m + kRoundOrthogonal * d * m * m + solve);
}

// The steps with k rows: X'X of k columns, eigenvectors of it, and a product with S a step.
void add_rows(const Shape& x, const UfcmOptions& options, int threads, UfcmPlan& plan) {
  constexpr double kSolvers = 7.5, kStepsOfRows = 3;
  constexpr double kSolve = 8e-11;  // seconds, times k^3
  if (!options.exact || plan.scatter == ScatterPath::centroids) return;
  Shape some = x;
  some.cols = std::min(options.features.value_or(x.cols), x.cols);
  some.entries *= some.d() / std::max(1.0, x.d());
  const double k = some.d(), steps = kStepsOfRows * expected_iterations(options, plan);
  const bool formed = some.cols <= kSchedule.exact_columns;
  plan.passes += 2 * steps;
  plan.seconds += 4 * steps * x.entries * static_cast<double>(plan.dims) / kSkinnyFlops / threads;
  if (!formed) return;
  if (plan.scatter == ScatterPath::products) {
    plan.phases.push_back({"products of k columns", column_gram_numbers(some, threads)});
    plan.seconds += steps * some.entries * k / kSquareFlops / threads;
  }
  plan.phases.push_back({"eigenvectors of k columns", kSolvers * k * k + x.n() * (static_cast<double>(plan.dims) + 2)});
  plan.seconds += steps * kSolve * k * k * k;
}

}  // namespace

Index wanted_dims(const UfcmOptions& options, Index varying) {
  const Index rows = options.exact && !options.groups.any() ? options.features.value_or(varying) : varying;
  if (options.dims) return std::min({*options.dims, varying, rows});
  return std::max<Index>(1, std::min({options.clusters - 1, varying - 1, rows}));
}

bool solves_exactly(const UfcmOptions& options, Index cols) {
  return !options.exact && options.alpha > 1 && cols <= kSchedule.exact_columns;
}

UfcmPlan::UfcmPlan(const Shape& shape, const UfcmOptions& options, int threads)
    : Plan(shape, Code::everything, threads),
      dims(wanted_dims(options, shape.cols)),
      sample(sample_size(shape, options)),
      scatter(choose_scatter_path(shape, options, dims, sample)),
      principal(principal_path(shape.rows, shape.cols, shape.sparse, scatter == ScatterPath::gram)) {
  path = path_name(*this, options);
  add_memory(shape, options, threads, *this);
  add_time(shape, options, threads, *this);
  add_rows(shape, options, threads, *this);
}

}  // namespace tamis
