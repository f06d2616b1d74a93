#include "tamis/select/methods/spec.h"

#include <algorithm>
#include <cmath>

#include "tamis/graph/given.h"
#include "tamis/graph/laplacian.h"
#include "tamis/graph/smoothness.h"
#include "tamis/linalg/dense.h"
#include "tamis/select/direct.h"

namespace tamis {

namespace {

constexpr double kRoughest = -2;      // no phi1 or phi2 is larger than 2
constexpr double kFlatSpectrum = -1;  // of a column without variation, by function 3

// ||D^1/2 f||^2 = f'Df in unit^2, from the scatter around the weighted mean.
double weighted_square(const Smoothness& smooth, std::size_t j) {
  const double mean = smooth.mean[j] / smooth.unit;
  return smooth.scatter[j] + mean * mean * smooth.total_degree;
}

// phi3: (fh'xi_k)^2 from one product Z'(D^1/2 xi); xi is orthogonal to D^1/2 1, so the centre drops out.
std::vector<double> spectral_scores(const Source& source, const ColumnMoments& moments, const Graph& graph,
                                    const Smoothness& smooth, Index count, Context& context) {
  const Spectrum spectrum = smoothest_eigenvectors(graph, count, context);
  std::vector<double> roots;
  for (const double degree : graph.degree) roots.push_back(std::sqrt(degree));
  Matrix weighted = spectrum.vectors;
  scale_rows(roots, weighted);
  std::vector<double> out(source.cols());
  if (weighted.cols() == 0) return out;
  const Matrix products = multiply_transposed(Centered(source, moments), weighted, context);
  for (std::size_t j = 0; j < out.size(); ++j) {
    for (Index k = 0; k < products.cols(); ++k) {
      const double overlap = products(static_cast<Index>(j), k);
      out[j] += (2 - spectrum.values[k]) * overlap * overlap / weighted_square(smooth, j);
    }
  }
  return out;
}

}  // namespace

Options describe(SpecOptions& o) {
  const Options own = {
      {.name = "clusters",
       .python_name = "n_clusters",
       .value = &o.clusters,
       .range = at_least(1),
       .help = "number of clusters c; function 3 uses c - 1 eigenvectors"},
      {.name = "function", .value = &o.function, .range = {1, 3}, .help = "ranking function: 1, 2 or 3"},
  };
  return join(own, describe(o.graph));
}

SpecPlan::SpecPlan(const Shape& shape, const SpecOptions& options, int threads) : Plan(shape, Code::graphs, threads) {
  const GraphCost graph(shape, options.graph, threads);
  path = graph_path(options.graph, shape.rows) + ", function " + std::to_string(options.function);
  const bool spectral = options.function == 3;
  const double eigenvectors = spectral ? eigenvector_numbers(shape.rows, options.clusters) : 0;
  phases = {{"nearest rows", graph.searching}, {"graph", graph.making + eigenvectors}};
  seconds = graph.seconds + (spectral ? eigenvector_seconds(shape.rows, options.clusters, threads) : 0);
  passes = graph.passes;
}

Selection spec(const Source& source, const SpecOptions& options, Context& context) {
  const Stopwatch watch(context);
  require_valid(options, "spec");
  require_fitting(options.graph, source.rows(), "spec");
  require(options.clusters <= source.rows(), ErrorCode::usage, MethodName{"spec"}, ": ", OptionName{"clusters"}, " = ",
          options.clusters, ", need 1..n = ", source.rows());
  const SpecPlan plan(shape_of(source), options, context.threads());
  context.phase("moments of the columns");
  const ColumnMoments moments = checked_moments(source, context);
  const auto joined = graph_of_rows(source, options.graph, context);
  const Graph& graph = *joined;
  const Smoothness smooth = column_smoothness(source, moments, graph, context);
  std::vector<double> scores(source.cols());
  if (options.function == 3) {
    scores = spectral_scores(source, moments, graph, smooth, options.clusters - 1, context);
  }
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const bool varies = moments.varies(static_cast<Index>(j)) && smooth.scatter[j] > 0;
    if (options.function == 3) {
      if (!varies) scores[j] = kFlatSpectrum;
      continue;
    }
    const double size = options.function == 1 ? weighted_square(smooth, j) : smooth.scatter[j];
    scores[j] = varies ? std::max(kRoughest, -smooth.roughness[j] / size) : kRoughest;
  }
  Selection out = direct_selection(std::move(scores), plan, watch);
  out.flat = options.function == 3 ? kFlatSpectrum : kRoughest;
  report_graph(graph, options.graph, out.report);
  return out;
}

Method spec_method() {
  return {
      .name = "spec",
      .python_name = "SPEC",
      .summary = "agreement with the spectrum of a nearest-neighbor graph",
      .formula =
          "-phi1 = -fh'Ln fh, -phi2 = -phi1 / (1 - (fh'v)^2), phi3 = sum_k (2 - lambda_k) (fh'xi_k)^2, fh = D^1/2 "
          "f / ||.||",
      .reference = "Zhao & Liu: Spectral Feature Selection for Supervised and Unsupervised Learning. ICML 2007",
      .bind = bind<SpecOptions, SpecPlan, spec>,
      .in_paper = true,
      .same_as = "lapscore",
      .grid = {{"neighbors", {"3", "5", "10"}}, {"function", {"1", "2", "3"}}},
  };
}

}  // namespace tamis
