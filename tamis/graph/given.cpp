#include "tamis/graph/given.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/base/memory.h"
#include "tamis/base/text/quote.h"
#include "tamis/data/passes/passes.h"
#include "tamis/data/table.h"

namespace tamis {

namespace {

constexpr Index kDenseAtOnce = 64;         // of a dense matrix
constexpr double kRounding = 1e-6;         // of weights in float
constexpr std::uint64_t kEdgeBytes = 12;   // a column and a weight
constexpr std::uint64_t kSparseTimes = 3;  // entries, while they are gathered, beside those of the table

void require_weight(double weight, const std::string& where, Index row, Index column) {
  require(weight >= 0 && std::isfinite(weight), ErrorCode::bad_data, where, ": row ", row, ", column ", column, ": ",
          weight, ", need finite weights >= 0");
}

void add_edge(Graph& graph, Index column, double weight) {
  graph.columns.push_back(static_cast<std::int32_t>(column));
  graph.weights.push_back(weight);
}

Graph dense_edges(const Source& w, const std::string& where, Context& context) {
  Budget budget(context, where);
  Graph graph;
  graph.offsets.assign(1, 0);
  for (Index first = 0; first < w.rows(); first += kDenseAtOnce) {
    context.check_cancelled();
    std::vector<Index> rows(std::min(kDenseAtOnce, w.rows() - first));
    std::iota(rows.begin(), rows.end(), first);
    const Matrix some = gather_rows(w, rows, context);
    for (Index i = 0; i < some.rows(); ++i) {
      for (Index j = 0; j < some.cols(); ++j) {
        if (some(i, j) == 0 || first + i == j) continue;
        require_weight(some(i, j), where, first + i, j);
        grow(graph.columns, 1, budget);
        grow(graph.weights, 1, budget);
        add_edge(graph, j, some(i, j));
      }
      graph.offsets.push_back(static_cast<Index>(graph.columns.size()));
    }
  }
  return graph;
}

Graph sparse_edges(const Source& w, const std::string& where, Context& context) {
  const auto stored = static_cast<std::uint64_t>(w.store().nonzeros());
  require_memory(context, where, w.store().resident_bytes() + kSparseTimes * kEdgeBytes * stored);
  const Entries entries = gather_entries({w, std::vector<double>(w.cols()), 1.0}, context);
  Graph graph;
  graph.columns.reserve(entries.columns.size());
  graph.weights.reserve(entries.values.size());
  graph.offsets.assign(1, 0);
  for (Index i = 0; i < w.rows(); ++i) {
    for (Index q = entries.offsets[i]; q < entries.offsets[i + 1]; ++q) {
      const Index j = entries.columns[q];
      if (entries.values[q] == 0 || i == j) continue;
      require_weight(entries.values[q], where, i, j);
      add_edge(graph, j, entries.values[q]);
    }
    graph.offsets.push_back(static_cast<Index>(graph.columns.size()));
  }
  return graph;
}

double weight_between(const Graph& graph, Index i, Index j) {
  const auto first = graph.columns.begin() + graph.offsets[i], last = graph.columns.begin() + graph.offsets[i + 1];
  const auto found = std::lower_bound(first, last, static_cast<std::int32_t>(j));
  return found == last || *found != j ? 0.0 : graph.weights[found - graph.columns.begin()];
}

[[noreturn]] void refuse_asymmetry(const Graph& graph, const std::string& where, Index i, Index j) {
  fail(ErrorCode::bad_data, where, ": row ", i, ", column ", j, ": ", weight_between(graph, i, j), ", but row ", j,
       ", column ", i, ": ", weight_between(graph, j, i),
       ", need a symmetric matrix: the larger of the two, W.maximum(W.T), or their mean");
}

// Gives both weights of every edge the larger one. Columns rise, so the reverse edges of row after row are met in the
// order in which they stand.
void require_symmetry(Graph& graph, const std::string& where) {
  std::vector<Index> next(graph.offsets.begin(), graph.offsets.end() - 1);
  for (Index i = 0; i < graph.rows; ++i) {
    if (next[i] < graph.offsets[i + 1] && graph.columns[next[i]] < i) {  // not met from the earlier row
      refuse_asymmetry(graph, where, i, graph.columns[next[i]]);
    }
    for (Index q = next[i]; q < graph.offsets[i + 1]; ++q) {
      const Index j = graph.columns[q], back = next[j];
      if (back == graph.offsets[j + 1] || graph.columns[back] > i) refuse_asymmetry(graph, where, i, j);
      if (graph.columns[back] < i) refuse_asymmetry(graph, where, j, graph.columns[back]);
      const double larger = std::max(graph.weights[q], graph.weights[back]);
      if (std::abs(graph.weights[q] - graph.weights[back]) > kRounding * larger) refuse_asymmetry(graph, where, i, j);
      graph.weights[q] = graph.weights[back] = larger;
      ++next[j];
    }
  }
}

void measure_degrees(Graph& graph) {
  graph.degree.assign(graph.rows, 0.0);
  for (Index i = 0; i < graph.rows; ++i) {
    for (Index q = graph.offsets[i]; q < graph.offsets[i + 1]; ++q) graph.degree[i] += graph.weights[q];
  }
}

}  // namespace

std::shared_ptr<const Graph> graph_of_weights(const Source& w, const std::string& where, Context& context) {
  require(w.rows() == w.cols(), ErrorCode::bad_data, where, ": ", w.rows(), " x ", w.cols(),
          ", need a row and a column for each row of the table");
  require(w.rows() <= std::numeric_limits<std::int32_t>::max(), ErrorCode::resources, where, ": a graph of ", w.rows(),
          " rows, need at most 2^31 - 1");
  const UncountedPasses uncounted(context);
  Graph graph = w.sparse() ? sparse_edges(w, where, context) : dense_edges(w, where, context);
  graph.rows = w.rows();
  graph.origin = where;
  require(!graph.columns.empty(), ErrorCode::bad_data, where, ": no weight above 0 off the diagonal, need an edge");
  require_symmetry(graph, where);
  measure_degrees(graph);
  return std::make_shared<const Graph>(std::move(graph));
}

std::shared_ptr<const Graph> read_graph(const std::string& path, Context& context) {
  const Stage stage(context, "reading " + path.substr(path.rfind('/') + 1));
  const Table table = read_table(path, {}, context);
  return graph_of_weights(table.source, path == "-" ? "standard input" : printable(path, path.size()), context);
}

std::shared_ptr<const Graph> graph_among(const Graph& graph, const std::vector<Index>& rows) {
  std::vector<Index> place(graph.rows, -1);
  for (std::size_t i = 0; i < rows.size(); ++i) place[rows[i]] = static_cast<Index>(i);
  Graph out;
  out.rows = static_cast<Index>(rows.size());
  out.origin = graph.origin;
  out.offsets.assign(1, 0);
  for (const Index i : rows) {
    for (Index q = graph.offsets[i]; q < graph.offsets[i + 1]; ++q) {
      if (const Index j = place[graph.columns[q]]; j >= 0) add_edge(out, j, graph.weights[q]);
    }
    out.offsets.push_back(static_cast<Index>(out.columns.size()));
  }
  measure_degrees(out);
  return std::make_shared<const Graph>(std::move(out));
}

Index isolated_rows(const Graph& graph) {
  Index count = 0;
  for (Index i = 0; i < graph.rows; ++i) count += graph.offsets[i] == graph.offsets[i + 1] ? 1 : 0;
  return count;
}

std::shared_ptr<const Graph> graph_of_rows(const Source& source, const GraphOptions& options, Context& context) {
  if (options.given) return options.given;
  return std::make_shared<const Graph>(neighbor_graph(source, options, context));
}

void require_fitting(const GraphOptions& options, Index rows, const std::string& method) {
  if (!options.given) return;
  require(options.given->rows == rows, ErrorCode::usage, options.given->origin, ": a graph of ", options.given->rows,
          " rows, the table has ", rows);
  GraphOptions given = options, unset;
  const Options found = describe(given), defaults = describe(unset);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string value = value_text(found[i]);
    require(value == value_text(defaults[i]), ErrorCode::usage, MethodName{method}, ": ", OptionName{found[i].name},
            " = ", value, " is for a graph of nearest rows, and ", options.given->origin,
            " is used instead; leave one of them out");
  }
}

}  // namespace tamis
