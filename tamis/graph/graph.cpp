#include "tamis/graph/graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/data/passes.h"
#include "tamis/graph/neighbors.h"

namespace tamis {

namespace {

// Up to this many rows the bandwidth is the mean over all pairs; above it over this many pairs.
constexpr Index kAllPairsRows = 4096;
constexpr Index kSampledPairs = 1 << 17;

struct Edge {
  std::int32_t column;
  double weight;
};

// W = max(W, W') from the edges of each row, without zeros.
void symmetrize(const std::vector<std::vector<Edge>>& edges, Graph& graph) {
  std::vector<std::vector<Edge>> both = edges;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    for (const Edge& edge : edges[i]) {
      both[static_cast<std::size_t>(edge.column)].push_back({static_cast<std::int32_t>(i), edge.weight});
    }
  }
  graph.rows = static_cast<Index>(edges.size());
  graph.offsets = {0};
  graph.degree.assign(edges.size(), 0.0);
  for (std::size_t i = 0; i < both.size(); ++i) {
    auto& row = both[i];
    // The heavier of two edges first, so that unique() keeps it.
    std::sort(row.begin(), row.end(), [](const Edge& a, const Edge& b) {
      return a.column != b.column ? a.column < b.column : a.weight > b.weight;
    });
    row.erase(std::unique(row.begin(), row.end(), [](const Edge& a, const Edge& b) { return a.column == b.column; }),
              row.end());
    for (const Edge& edge : row) {
      if (!(edge.weight > 0)) continue;
      graph.columns.push_back(edge.column);
      graph.weights.push_back(edge.weight);
      graph.degree[i] += edge.weight;
    }
    graph.offsets.push_back(static_cast<Index>(graph.columns.size()));
  }
}

// Rows to unit length; rows of zeros stay, and are marked.
Source unit_rows(const Source& source, std::vector<char>& zero, Context& context) {
  std::vector<double> factors = row_squared_norms(source, context);
  zero.assign(factors.size(), 0);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    zero[i] = factors[i] > 0 && std::isfinite(factors[i]) ? 0 : 1;
    factors[i] = zero[i] ? 1.0 : 1.0 / std::sqrt(factors[i]);
  }
  return source.with_row_scale(factors);
}

// t in units of the distances.
double bandwidth_of(const Source& source, const GraphOptions& options, const Neighbors& found, Graph& graph,
                    Context& context) {
  if (options.bandwidth) return *options.bandwidth / found.unit;
  if (found.mean_distance) return *found.mean_distance;
  graph.sampled_bandwidth = true;
  return sampled_mean_distance(source, kSampledPairs, context) / found.unit;
}

}  // namespace

Options describe(GraphOptions& o) {
  const double inf = std::numeric_limits<double>::infinity();
  return {
      {"neighbors", "n_neighbors", &o.neighbors, {1, inf}, {}, "nearest rows that a row is joined to", ""},
      {"bandwidth",
       "bandwidth",
       &o.bandwidth,
       {0, inf, true, false},
       {},
       "t of the heat kernel exp(-||xi - xj||^2 / (2 t^2))",
       "mean distance between rows"},
      {"weights", "weights", &o.weights, {}, {"heat", "binary", "cosine"}, "weights of the edges", ""},
  };
}

Graph neighbor_graph(const Source& source, const GraphOptions& options, Context& context) {
  require(source.rows() >= 2, ErrorCode::bad_data, source.rows(), " row", source.rows() == 1 ? "" : "s",
          ", need at least 2 for a graph");
  require(source.rows() <= std::numeric_limits<std::int32_t>::max(), ErrorCode::resources, "a graph of ", source.rows(),
          " rows, need at most 2^31 - 1");
  const bool heat = options.weights == "heat", cosine = options.weights == "cosine";
  std::vector<char> zero;
  const Source seen = cosine ? unit_rows(source, zero, context) : source;
  const bool all_pairs = heat && !options.bandwidth && source.rows() <= kAllPairsRows;
  const Neighbors found = nearest_neighbors(seen, options.neighbors, all_pairs, context);

  Graph graph;
  graph.neighbors = found.count;
  const double t = heat ? bandwidth_of(seen, options, found, graph, context) : 0.0;
  graph.bandwidth = t * found.unit;
  const auto weight = [&](std::size_t i, std::size_t j, double squared) {
    if (heat) return t > 0 ? std::exp(-squared / (2 * t * t)) : 1.0;
    if (!cosine) return 1.0;
    return zero[i] || zero[j] ? 0.0 : std::max(0.0, 1 - squared * found.unit * found.unit / 2);  // of unit rows
  };
  std::vector<std::vector<Edge>> edges(static_cast<std::size_t>(source.rows()));
  const auto k = static_cast<std::size_t>(found.count);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    for (std::size_t q = i * k; q < (i + 1) * k; ++q) {
      edges[i].push_back({found.index[q], weight(i, static_cast<std::size_t>(found.index[q]), found.distance[q])});
    }
  }
  symmetrize(edges, graph);
  return graph;
}

Graph graph_of(const Matrix& w) {
  std::vector<std::vector<Edge>> edges(static_cast<std::size_t>(w.rows()));
  for (Index i = 0; i < w.rows(); ++i) {
    for (Index j = 0; j < w.cols(); ++j) {
      if (i != j) edges[static_cast<std::size_t>(i)].push_back({static_cast<std::int32_t>(j), w(i, j)});
    }
  }
  Graph graph;
  symmetrize(edges, graph);
  return graph;
}

}  // namespace tamis
