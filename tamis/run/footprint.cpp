#include "tamis/run/footprint.h"

#include <algorithm>
#include <cmath>

namespace tamis {

namespace {

// A peak is that of the largest phase, beside what is kept through all of them. The factors come from profiles of the
// heap; what the allocator keeps of freed memory is in them, fitted to the peaks of bench/forecast.py --random.
constexpr double kMargin = 1.05;      // a forecast below the peak is worse than one above it
constexpr double kStatistics = 30.0;  // of every column: moments, scales, scores and their order, names' places

// --- Phases that methods share --------------------------------------------------------------------------------------

// X'X, or XX' in its narrower panels: the sums of some panels are under way beside it.
double gram_numbers(double side, double panel, double leaves, const Shape& x) {
  panel = std::min(side, panel);
  return side * side + (3.0 * x.threads + 0.6 * std::log2(std::max(1.0, leaves))) * panel * (panel + 128.0);
}

double column_gram_numbers(const Shape& x) { return gram_numbers(x.d, 512.0, x.n / 2048.0, x); }
double row_gram_numbers(const Shape& x) { return gram_numbers(x.n, 256.0, x.d / 1024.0, x); }

// Products with X'X that need no row kept.
bool one_reading(const Shape& x) { return x.n > 4096.0 && x.d <= 4096.0; }

// Principal directions, w of them with the guards, of X'X, of XX', or of products with the data.
double directions_numbers(const Shape& x, double w, bool small_gram, bool few_rows) {
  if (small_gram && x.sparse) return 6.7 * x.d * x.d + 0.5 * 64.0 * std::min(x.n, 6144.0);
  if (small_gram) return std::max(column_gram_numbers(x), 2.0 * x.d * x.d);
  if (few_rows && x.sparse) return 3.2 * x.n * x.n + 2.0 * x.d * w + 1.7 * x.d * std::min(x.n, 64.0);
  if (few_rows && x.n <= 256.0) return 3.2 * x.n * x.n + 4.0 * x.d * w + 3e4;
  if (few_rows) return std::max(row_gram_numbers(x), x.n * x.n + 22.0 * x.n * w) + 6.0 * x.d * w;
  if (x.n < x.d) return 17.0 * x.n * w + (x.sparse ? 3.0 : 6.0) * x.d * w;
  const double sample = x.sparse || x.n < 4096.0 ? 0.0 : x.d * std::min({1024.0, 8.0 * (1 << 20) / x.d, x.n / 8.0});
  return std::max(19.0 * x.d * w + (one_reading(x) ? 0.0 : 2.5 * x.n * w), 1.45 * sample);
}

// Nearest rows: the tiles of each thread, or of sparse rows the entries twice more, in rows and in columns.
double neighbors_numbers(const Shape& x) {
  if (x.sparse) return 4.3 * x.entries + 2.0 * x.n * x.threads + 5.0 * x.d;
  const double tasks = std::min(x.threads, std::ceil(x.n / 256.0));
  const double tile = std::min(std::min(x.n, 768.0) * std::min(x.d, 1024.0), 700e3);
  const double share = x.n <= 4096.0 ? 1.75 : 0.9;  // up to there the mean of all distances is taken too
  return tasks * (share * tile + 1.2 * std::min(x.n, 256.0) * std::min(x.n, 512.0)) + 13.0 * x.d;
}

// The graph of the k nearest rows, while it is made.
double graph_numbers(const Shape& x, const Options& options) {
  return x.n * (7.5 * std::min(numeric(options, "neighbors", 5.0), x.n - 1.0) + 4.0);
}

// The smoothest eigenvectors of the graph: all of a small one, else a basis of c and some.
double eigenvector_numbers(const Shape& x, double c) { return x.n <= 512.0 ? 5.4 * x.n * x.n : 7.6 * x.n * (c + 6.0); }

// --- Methods --------------------------------------------------------------------------------------------------------

double ufcm_numbers(const Shape& x, const Options& options) {
  const UfcmPlan plan(x, options);
  const double n = x.n, d = x.d, m = plan.dims;
  const double squares = plan.gram ? d * d : 0.0;
  // Rows times W with what k-means keeps of them (small pieces are not given back), and bases of the eigen-solver.
  double most = n * (2.05 * m + 1.5) + std::min(1.5 * n * m, 2.5e5) + 9.5 * d * m;
  if (plan.scatter && !plan.gram) most = std::max(most, 15.0 * d * m + (one_reading(x) ? 0.0 : 2.5 * n * m));
  if (plan.exact) most = std::max(most, 7.5 * d * d + n * (m + 2.0));
  if (plan.gram) most = std::max(most, 1.17 * (column_gram_numbers(x) - squares));
  most = std::max(most, directions_numbers(x, m + 4.0, plan.small_gram, plan.few_rows));
  if (plan.sampled) most = std::max(most, 1.1 * d * std::min(16384.0, 8.0 * (1 << 20) / d));
  return squares + most + 2e5 * std::min(1.0, m / 40.0);
}

double smooth_numbers(const std::string& method, const Shape& x, const Options& options) {
  double graph = graph_numbers(x, options);
  if (method == "spec" && numeric(options, "function", 2.0) == 3.0) {
    graph += eigenvector_numbers(x, numeric(options, "clusters", 8.0));
  }
  return std::max(neighbors_numbers(x) + 2.0 * x.n, graph);
}

double mcfs_numbers(const Shape& x, const Options& options) {
  const McfsPlan plan(x, options);
  const double graph = graph_numbers(x, options) / 2.0;
  double paths = 0.5 * plan.clusters * plan.active * plan.active;
  if (plan.gram) {
    paths += 2.1 * x.d * x.d + std::min(x.d * x.d, 1e6);
  } else {
    paths += std::min(x.n, x.d) * plan.columns + 5.5 * x.d * plan.clusters;
  }
  return std::max(
      {neighbors_numbers(x) + 2.0 * x.n, 2.0 * graph, graph + eigenvector_numbers(x, plan.clusters), graph + paths});
}

// The rows that guided looks at, and the views of them that are written out for a graph; then the products of columns.
double guided_numbers(const Shape& all, const Options& options) {
  const Shape x = guided_shape(all, options);
  const double cells = x.n * x.d, sample = x.n < all.n ? (x.sparse ? 1.7 * x.entries : x.width * cells) : 0.0;
  const double view = x.sparse || cells > (1 << 24) ? 0.0 : 1.1 * cells;
  const double graphs = 3.0 * graph_numbers(x, options) / 2.0;
  const double eigen = x.n <= 512.0 ? 5.4 * x.n * x.n : 8.5 * x.n * 27.0;
  const double path = x.d <= 1100.0 ? 2.2 * x.d * x.d : 1.1 * 1100.0 * x.d;
  const double sums = 25.0 * x.d;
  const double agreement = 4.2 * std::min(std::min(x.n, 1000.0) * x.d, 4e6);
  return sample + std::max({view + neighbors_numbers(x) + graphs, graphs + eigen, path + sums, agreement}) + 3e5;
}

// Clusters of the rows, in their columns or in principal directions.
double row_clusters_numbers(const Shape& x) {
  const double most = 1 << 25;
  if (x.d <= 256.0 && x.n * x.d <= most) return 2.05 * x.n * x.d + std::min(0.9 * x.n * x.d, 2.5e5);
  const double w = std::min({std::min(64.0, std::max(8.0, most / x.n)) + 4.0, x.n, x.d});
  const bool few_rows = x.n < x.d && x.n <= (x.sparse ? 256.0 : 1024.0);
  return std::max(directions_numbers(x, w, false, few_rows), 2.2 * x.n * w);
}

// ndfs and rufs: clusters of the rows to start from, then systems of min(n, d) unknowns.
double systems_numbers(const std::string& method, const Shape& x, const Options& options) {
  const bool by_columns = x.d <= x.n, ndfs = method == "ndfs";
  const double c = numeric(options, "clusters", 8.0), side = std::min(x.n, x.d);
  const double graph = graph_numbers(x, options) / 2.0;
  const double squares = !ndfs ? 1.35 : by_columns ? 2.1 : 1.45;
  const double systems = squares * side * side + (ndfs ? 6.0 : 19.0) * (x.n + x.d) * c;
  double gram = by_columns ? column_gram_numbers(x) : row_gram_numbers(x);
  if (ndfs && x.sparse && !by_columns) gram += 2.0 * x.d * std::min({256.0, x.n, 2097152.0 / x.d});
  return 1.5e5 * std::min(1.0, c / 40.0) + std::max({neighbors_numbers(x) + 2.0 * x.n, 2.0 * graph,
                                                     graph + row_clusters_numbers(x), graph + systems, graph + gram});
}

}  // namespace

double numeric(const Options& options, const std::string& name, double otherwise) {
  for (const auto& option : options) {
    if (option.name != name) continue;
    if (const auto* value = std::get_if<Index*>(&option.value)) return static_cast<double>(**value);
    if (const auto* value = std::get_if<double*>(&option.value)) return **value;
    if (const auto* value = std::get_if<bool*>(&option.value)) return **value ? 1.0 : 0.0;
    if (const auto* value = std::get_if<std::optional<Index>*>(&option.value)) {
      return *value && **value ? static_cast<double>(***value) : otherwise;
    }
    if (const auto* value = std::get_if<std::optional<double>*>(&option.value)) {
      return *value && **value ? ***value : otherwise;
    }
  }
  return otherwise;
}

Shape guided_shape(const Shape& x, const Options& options) {
  const double clusters = numeric(options, "clusters", 0.0);
  const double rows = std::min(x.n, std::max(numeric(options, "sample", 4000.0), 100.0 * std::min(clusters, x.n)));
  return {rows, x.d, x.entries * rows / std::max(x.n, 1.0), x.sparse, x.threads, x.width};
}

UfcmPlan::UfcmPlan(const Shape& x, const Options& options)
    : clusters(numeric(options, "clusters", 8.0)),
      dims(std::min(numeric(options, "dims", std::max(1.0, clusters - 1.0)), x.d)),
      sampled(!x.sparse && x.n >= 262144.0) {
  const double alpha = numeric(options, "alpha", 1.0), products = dims * (sampled ? 12.0 : 40.0);
  const bool cheaper = x.n * x.d * x.d + 2.0 * x.d * x.d * products < 4.0 * x.n * x.d * products;
  scatter = alpha != 1.0;
  gram = scatter && !x.sparse && x.d <= 4096.0 && cheaper;
  exact = alpha > 1.0 && x.d <= 1024.0;
  small_gram = x.d <= std::min(256.0, x.n) || (sampled && x.d <= 1024.0);
  few_rows = x.n < x.d && x.n <= (x.sparse ? 256.0 : 1024.0);
}

McfsPlan::McfsPlan(const Shape& x, const Options& options)
    : clusters(numeric(options, "clusters", 8.0)), active(std::min({200.0, x.n, x.d})) {
  const double steps = clusters * active;
  columns = std::min(x.d, steps);
  gram = !x.sparse && x.d <= std::min(4096.0, 4.0 * steps) &&
         (x.d <= x.n || x.n * x.d + steps * active <= 2.0 * x.n * steps);
}

double footprint(const std::string& method, const Shape& x, const Options& options) {
  const double kept = kStatistics * x.d + (x.sparse ? 0.3 * x.entries + x.n : 0.0);
  const auto own = [&] {
    if (method == "maxvar") return 0.0;
    if (method == "ufcm") return ufcm_numbers(x, options);
    if (method == "guided") return guided_numbers(x, options);
    if (method == "lapscore" || method == "spec") return smooth_numbers(method, x, options);
    return method == "mcfs" ? mcfs_numbers(x, options) : systems_numbers(method, x, options);
  };
  return kMargin * (kept + own());
}

double program_footprint(const std::string& method, double threads) {
  const bool graph_alone = method == "lapscore" || method == "spec", systems = method == "ndfs" || method == "rufs";
  const double code = method == "maxvar" ? 7.7e6 : graph_alone ? 8.3e6 : systems ? 9.6e6 : 9.7e6;
  return code + 0.42e6 * threads;
}

}  // namespace tamis
