#include "tamis/graph/smoothness.h"

#include <algorithm>
#include <cstdint>

#include "tamis/data/passes/reduce.h"

namespace tamis {

namespace {

constexpr Index kRowsPerSum = 256;  // a constant, since the order of sums follows it

// Sums of some rows: sum_j>i w_ij (z_i - z_j)^2, sum_i d_i z_i and sum_i d_i z_i^2 of each column.
struct Sums {
  explicit Sums(Index d = 0) : roughness(d), first(roughness.size()), second(roughness.size()) {}
  std::vector<double> roughness, first, second;
};

void add_to(std::vector<double>& into, const std::vector<double>& from) {
  for (std::size_t j = 0; j < into.size(); ++j) into[j] += from[j];
}

void merge(Sums& into, Sums&& from) {
  add_to(into.roughness, from.roughness);
  add_to(into.first, from.first);
  add_to(into.second, from.second);
}

// visit(j, weight) for the neighbors of row i that come after it: every edge once.
template <class Visit>
void for_each_later_neighbor(const Graph& graph, Index i, Visit visit) {
  for (Index q = graph.offsets[i]; q < graph.offsets[i + 1]; ++q) {
    const Index j = graph.columns[q];
    if (j > i) visit(j, graph.weights[q]);
  }
}

Sums dense_sums(const Centered& z, const Graph& graph, Index first, Index rows) {
  const Index d = z.cols();
  Sums out(d);
  std::vector<double> own(d), other(d);
  for (Index i = first; i < first + rows; ++i) {
    load_rows(z, i, 1, own.data());
    const double degree = graph.degree[i];
    for (Index j = 0; j < d; ++j) {
      out.first[j] += degree * own[j];
      out.second[j] += degree * own[j] * own[j];
    }
    for_each_later_neighbor(graph, i, [&](Index neighbor, double weight) {
      load_rows(z, neighbor, 1, other.data());
      for (Index j = 0; j < d; ++j) out.roughness[j] += weight * (own[j] - other[j]) * (own[j] - other[j]);
    });
  }
  return out;
}

// The same of stored entries; entries that are not stored are 0.
Sums sparse_sums(const Entries& rows, Index d, const Graph& graph, Index first, Index count) {
  Sums out(d);
  const auto begin = [&](Index i) { return rows.offsets[i]; };
  for (Index i = first; i < first + count; ++i) {
    const double degree = graph.degree[i];
    for (Index k = begin(i); k < begin(i + 1); ++k) {
      const std::int32_t j = rows.columns[k];
      out.first[j] += degree * rows.values[k];
      out.second[j] += degree * rows.values[k] * rows.values[k];
    }
    for_each_later_neighbor(graph, i, [&](Index neighbor, double weight) {
      Index a = begin(i), b = begin(neighbor);
      const Index a_end = begin(i + 1), b_end = begin(neighbor + 1);
      while (a < a_end || b < b_end) {
        const bool left = b == b_end || (a < a_end && rows.columns[a] <= rows.columns[b]);
        const bool right = a == a_end || (b < b_end && rows.columns[b] <= rows.columns[a]);
        const double delta = (left ? rows.values[a] : 0.0) - (right ? rows.values[b] : 0.0);
        out.roughness[left ? rows.columns[a] : rows.columns[b]] += weight * delta * delta;
        a += left ? 1 : 0;
        b += right ? 1 : 0;
      }
    });
  }
  return out;
}

}  // namespace

Smoothness column_smoothness(const Source& source, const ColumnMoments& moments, const Graph& graph, Context& context) {
  const Centered z(source, moments);
  const Index n = source.rows(), d = source.cols(), tasks = (n + kRowsPerSum - 1) / kRowsPerSum;
  const Entries entries = source.sparse() ? gather_entries(z, context) : Entries();
  TreeMerger<Sums, decltype(&merge)> merger(tasks, merge);
  context.count_pass();
  context.phase("smoothness of the columns");
  walk_rows(context, tasks, n, [&](Index task) {
    context.check_cancelled();
    const Index first = task * kRowsPerSum, rows = std::min(kRowsPerSum, n - first);
    merger.add(task, source.sparse() ? sparse_sums(entries, d, graph, first, rows) : dense_sums(z, graph, first, rows));
  });
  Sums sums = merger.take();
  Smoothness out;
  out.unit = moments.unit;
  for (const double degree : graph.degree) out.total_degree += degree;
  out.roughness = std::move(sums.roughness);
  for (Index j = 0; j < d; ++j) {
    const double shift = out.total_degree > 0 ? sums.first[j] / out.total_degree : 0.0;
    out.scatter.push_back(std::max(0.0, sums.second[j] - shift * sums.first[j]));
    // Sparse entries carry the shift only; what they are measured from is the source's 0 or its centre.
    const double base = source.sparse()
                            ? z.shift()[j] * (source.column_scale().empty() ? 1.0 : source.column_scale()[j])
                            : moments.mean[j];
    out.mean.push_back(base + shift * moments.unit);
  }
  return out;
}

}  // namespace tamis
