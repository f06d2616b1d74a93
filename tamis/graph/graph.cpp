#include "tamis/graph/graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tamis/base/elementary.h"
#include "tamis/base/error.h"
#include "tamis/data/passes/passes.h"
#include "tamis/graph/neighbors.h"

namespace tamis {

namespace {

// Up to this many rows the bandwidth is the mean over all pairs; above it over this many pairs.
constexpr Index kAllPairsRows = 4096;
constexpr Index kSampledPairs = 1 << 17;

// Edges of every row, in compressed rows.
struct Edges {
  std::vector<Index> offsets;  // rows + 1
  std::vector<std::int32_t> columns;
  std::vector<double> weights;
};

struct Edge {
  std::int32_t column;
  double weight;
};

// Sorts the edges of a row, and keeps the heavier of two between the same rows; the end of what is kept.
Edge* merge_row(Edge* first, Edge* last) {
  std::sort(first, last, [](const Edge& a, const Edge& b) {
    return a.column != b.column ? a.column < b.column : a.weight > b.weight;  // so that unique() keeps the heavier
  });
  last = std::unique(first, last, [](const Edge& a, const Edge& b) { return a.column == b.column; });
  return std::remove_if(first, last, [](const Edge& edge) { return !(edge.weight > 0); });
}

// Every edge in both of its rows; `starts` are where the rows begin.
std::vector<Edge> both_ways(const Edges& edges, std::vector<Index>& starts) {
  const std::size_t n = edges.offsets.size() - 1;
  starts.assign(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) starts[i + 1] += edges.offsets[i + 1] - edges.offsets[i];
  for (const std::int32_t column : edges.columns) ++starts[column + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<Edge> both(2 * edges.columns.size());
  std::vector<Index> next(starts.begin(), starts.end() - 1);
  for (std::size_t i = 0; i < n; ++i) {
    for (Index q = edges.offsets[i]; q < edges.offsets[i + 1]; ++q) {
      const std::int32_t j = edges.columns[q];
      both[next[i]++] = {j, edges.weights[q]};
      both[next[j]++] = {static_cast<std::int32_t>(i), edges.weights[q]};
    }
  }
  return both;
}

// W = max(W, W') from the edges of each row, without zeros.
void symmetrize(Edges edges, Graph& graph) {
  const std::size_t n = edges.offsets.size() - 1;
  std::vector<Index> starts;
  std::vector<Edge> both = both_ways(edges, starts);
  edges = Edges();
  graph.rows = static_cast<Index>(n);
  graph.offsets.assign(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    Edge* first = both.data() + starts[i];
    graph.offsets[i + 1] = graph.offsets[i] + (merge_row(first, both.data() + starts[i + 1]) - first);
  }
  graph.columns.reserve(graph.offsets[n]);
  graph.weights.reserve(graph.offsets[n]);
  graph.degree.assign(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    const Edge* edge = both.data() + starts[i];
    for (Index count = graph.offsets[i + 1] - graph.offsets[i]; count > 0; --count, ++edge) {
      graph.columns.push_back(edge->column);
      graph.weights.push_back(edge->weight);
      graph.degree[i] += edge->weight;
    }
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
  graph.sampled_bandwidth = samples_bandwidth(options, source.rows());
  return sampled_mean_distance(source, kSampledPairs, context) / found.unit;
}

}  // namespace

Option neighbors_option(Index& value) {
  return {.name = "neighbors",
          .python_name = "n_neighbors",
          .value = &value,
          .range = at_least(1),
          .help = "number of nearest neighbors of each row"};
}

Options describe(GraphOptions& o) {
  return {
      neighbors_option(o.neighbors),
      {.name = "bandwidth",
       .value = &o.bandwidth,
       .range = above(0),
       .help = "t of the heat kernel exp(-||xi - xj||^2 / (2 t^2))",
       .unset_text = "mean distance between rows"},
      {.name = "weights", .value = &o.weights, .choices = {"heat", "binary", "cosine"}, .help = "weights of the edges"},
      {.name = "recall",
       .value = &o.recall,
       .range = {.low = 0, .high = 1, .low_open = true},
       .help = "share of the nearest neighbors to be found in tables of more than 30000 rows; 1: all of them",
       .late = true},
  };
}

Graph binary_graph(Neighbors found, Index rows) {
  Graph graph;
  graph.neighbors = found.count;
  Edges edges{{0}, std::move(found.index), std::vector<double>(found.distance.size(), 1.0)};
  for (Index i = 0; i < rows; ++i) edges.offsets.push_back(edges.offsets.back() + found.count);
  symmetrize(std::move(edges), graph);
  return graph;
}

namespace {

NeighborSearch search_for(const GraphOptions& options) {
  NeighborSearch out;
  out.count = options.neighbors;
  out.recall = options.recall;
  out.exact_rows = options.exact_rows;
  return out;
}

}  // namespace

bool searches_cells(const GraphOptions& options, Index rows) { return search_for(options).in_cells(rows); }

bool samples_bandwidth(const GraphOptions& options, Index rows) {
  return options.weights == "heat" && !options.bandwidth && rows > kAllPairsRows;
}

Graph neighbor_graph(const Source& source, const GraphOptions& options, Context& context) {
  require(source.rows() >= 2, ErrorCode::bad_data, source.rows(), " row", source.rows() == 1 ? "" : "s",
          ", need at least 2 for a graph");
  require(source.rows() <= std::numeric_limits<std::int32_t>::max(), ErrorCode::resources, "a graph of ", source.rows(),
          " rows, need at most 2^31 - 1");
  const bool heat = options.weights == "heat", cosine = options.weights == "cosine";
  std::vector<char> zero;
  const Source seen = cosine ? unit_rows(source, zero, context) : source;
  NeighborSearch wanted = search_for(options);
  wanted.with_mean = heat && !options.bandwidth && !samples_bandwidth(options, source.rows());
  Neighbors found = nearest_neighbors(seen, wanted, context);

  Graph graph;
  graph.neighbors = found.count;
  graph.recall = found.recall;
  graph.cells = found.cells;
  graph.probes = found.probes;
  const double t = heat ? bandwidth_of(seen, options, found, graph, context) : 0.0;
  graph.bandwidth = t * found.unit;
  const auto weight = [&](Index i, Index j, double squared) {
    if (heat) return t > 0 ? elementary::exp(-squared / (2 * t * t)) : 1.0;
    if (!cosine) return 1.0;
    return zero[i] || zero[j] ? 0.0 : std::max(0.0, 1 - squared * found.unit * found.unit / 2);  // of unit rows
  };
  Edges edges{{0}, std::move(found.index), std::move(found.distance)};
  for (Index i = 0; i < source.rows(); ++i) {
    edges.offsets.push_back(edges.offsets.back() + found.count);
    for (Index q = edges.offsets[i]; q < edges.offsets[i + 1]; ++q) {
      edges.weights[q] = weight(i, edges.columns[q], edges.weights[q]);
    }
  }
  symmetrize(std::move(edges), graph);
  return graph;
}

Graph weighted_sum(std::span<const Graph> graphs, std::span<const double> by) {
  Graph out;
  out.rows = graphs.front().rows;
  out.neighbors = graphs.front().neighbors;
  out.offsets.assign(1, 0);
  std::vector<Edge> row;
  for (Index i = 0; i < out.rows; ++i) {
    row.clear();
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      for (Index q = graphs[g].offsets[i]; q < graphs[g].offsets[i + 1]; ++q) {
        row.push_back({graphs[g].columns[q], by[g] * graphs[g].weights[q]});
      }
    }
    std::stable_sort(row.begin(), row.end(), [](const Edge& a, const Edge& b) { return a.column < b.column; });
    double degree = 0;
    for (std::size_t k = 0; k < row.size(); ++k) {
      degree += row[k].weight;
      if (k > 0 && row[k].column == row[k - 1].column) {
        out.weights.back() += row[k].weight;
        continue;
      }
      out.columns.push_back(row[k].column);
      out.weights.push_back(row[k].weight);
    }
    out.offsets.push_back(static_cast<Index>(out.columns.size()));
    out.degree.push_back(degree);
  }
  return out;
}

std::vector<int> connected_parts(const Graph& graph) {
  std::vector<int> part(graph.rows, -1);
  std::vector<Index> open;
  int count = 0;
  for (Index start = 0; start < graph.rows; ++start) {
    if (part[start] >= 0) continue;
    open.assign(1, start);
    part[start] = count;
    while (!open.empty()) {
      const Index i = open.back();
      open.pop_back();
      for (Index q = graph.offsets[i]; q < graph.offsets[i + 1]; ++q) {
        const std::int32_t j = graph.columns[q];
        if (part[j] >= 0) continue;
        part[j] = count;
        open.push_back(j);
      }
    }
    ++count;
  }
  return part;
}

double modularity(const Graph& graph, const std::vector<int>& labels) {
  const int clusters = labels.empty() ? 0 : *std::max_element(labels.begin(), labels.end()) + 1;
  std::vector<double> degree(clusters);
  double inside = 0, total = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    degree[labels[i]] += graph.degree[i];
    total += graph.degree[i];
    for (Index q = graph.offsets[i]; q < graph.offsets[i + 1]; ++q) {
      if (labels[graph.columns[q]] == labels[i]) inside += graph.weights[q];
    }
  }
  if (total == 0) return 0;
  double expected = 0;
  for (const double sum : degree) expected += (sum / total) * (sum / total);
  return inside / total - expected;
}

}  // namespace tamis
