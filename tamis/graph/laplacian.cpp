#include "tamis/graph/laplacian.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tamis/base/random.h"
#include "tamis/linalg/dense.h"
#include "tamis/linalg/eigen.h"
#include "tamis/linalg/kernels.h"
#include "tamis/linalg/orthogonal.h"

namespace tamis {

namespace {

constexpr Index kRowsPerTask = 1024;
// Up to this many rows the whole spectrum is computed; above it the wanted end by iteration.
constexpr Index kDenseRows = 512;
constexpr Index kGuard = 6;          // extra vectors that speed up the last wanted one
constexpr Index kFilterDegree = 12;  // products with W for one step: cheap beside the basis
constexpr Index kLargeDegree = 30;   // of graphs of many rows, where eigenvalues lie closer together
constexpr double kSameValue = 1e-7;  // eigenvalues closer than this share one space
constexpr Index kRounds = 200;
// Streams of the seed.
constexpr std::uint64_t kStartStream = 0x6c61706c;
constexpr std::uint64_t kBasisStream = 0x62617369;

// out_i = a_i v_i + b_i sum_j w_ij b_j v_j, row by row.
Matrix combine(const Graph& graph, const std::vector<double>& a, const std::vector<double>& b, double sign,
               const Matrix& v, Context& context) {
  Matrix out(v.rows(), v.cols());
  const Index m = v.cols();
  const auto& kernel = kernels<double>();
  context.pool().run((graph.rows + kRowsPerTask - 1) / kRowsPerTask, [&](Index task) {
    for (Index i = task * kRowsPerTask; i < std::min((task + 1) * kRowsPerTask, graph.rows); ++i) {
      double* to = out.row(i);
      for (Index q = graph.offsets[i]; q < graph.offsets[i + 1]; ++q) {
        const Index j = graph.columns[q];
        const double factor = sign * b[i] * b[j] * graph.weights[q];
        kernel.axpy(m, factor, v.row(j), to);
      }
      if (a[i] != 0) kernel.axpy(m, a[i], v.row(i), to);
    }
  });
  return out;
}

// N - weight v v', where N = D^-1/2 W D^-1/2: its largest eigenvalues belong to the smallest of Ln.
struct Deflated {
  const Graph& graph;
  Context& context;
  std::vector<double> root = inverse_roots(graph);
  std::vector<double> zero = std::vector<double>(graph.degree.size());
  Matrix trivial = trivial_eigenvector(graph);

  Matrix times(const Matrix& x, double weight) const {
    Matrix out = combine(graph, zero, root, 1.0, x, context);
    add_product(-weight, trivial, product_transposed_left(trivial, x), out);
    return out;
  }
};

// The Chebyshev polynomial of the operator that is small on [-1, top] and grows fast above: what is wanted.
Matrix filtered(const Deflated& n, Index degree, double top, Matrix x) {
  const double middle = (top - 1) / 2, radius = (top + 1) / 2;
  const auto shifted = [&](const Matrix& v, double factor) {
    Matrix out = n.times(v, 1.0);
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = factor / radius * (out.data()[i] - middle * v.data()[i]);
    return out;
  };
  Matrix now = shifted(x, 1.0);
  for (Index k = 1; k < degree; ++k) {
    Matrix next = shifted(now, 2.0);
    for (Index i = 0; i < next.size(); ++i) next.data()[i] -= x.data()[i];
    x = std::move(now);
    now = std::move(next);
  }
  return now;
}

// Iterates a filtered subspace until the first `count` residuals are small: the eigenvalues of a graph crowd below 1,
// where products with W are cheap and a polynomial of high degree tells them apart.
EigenPairs by_iteration(const Deflated& n, Index width, Index count, double tolerance, Context& context) {
  Matrix x = orthonormal_complement(n.trivial, normal_matrix(n.graph.rows, width, Random(context.seed, kStartStream)));
  const Index degree = n.graph.cells > 0 ? kLargeDegree : kFilterDegree;
  for (Index round = 0;; ++round) {
    context.check_cancelled();
    // Rayleigh-Ritz through the solver: no steps, it only turns the basis.
    SymmetricOperator m;
    m.dim = n.graph.rows;
    m.image = [&](const Matrix& v) { return n.times(v, 1.0); };
    DavidsonOptions options;
    options.count = std::min(count, x.cols());
    options.steps = 0;
    options.tolerance = tolerance;
    RitzPairs found = largest_eigenpairs(m, {std::move(x), {}, {}, {}, 0, false}, options);
    if (found.converged || round == kRounds) return {std::move(found.values), std::move(found.vectors)};
    const double top = std::clamp(found.values.back(), -0.5, 1 - 1e-6);
    x = orthonormal_complement(n.trivial, filtered(n, degree, top, std::move(found.vectors)));
  }
}

EigenPairs whole_spectrum(const Deflated& n, Index width) {
  Matrix identity(n.graph.rows, n.graph.rows);
  for (Index i = 0; i < identity.rows(); ++i) identity(i, i) = 1;
  Matrix dense = n.times(identity, 3.0);  // the trivial vector goes below all others
  for (Index i = 0; i < dense.rows(); ++i) {
    for (Index j = 0; j < i; ++j) dense(i, j) = dense(j, i) = 0.5 * (dense(i, j) + dense(j, i));
  }
  return symmetric_eigen_largest(dense, width);
}

// Replaces columns [first, first + count), any orthonormal basis of one eigenspace, by the one that random vectors,
// projected and made orthonormal in turn, span: the same whatever basis came in.
void fix_basis(Matrix& vectors, Index first, Index count, const Matrix& random) {
  Matrix part(vectors.rows(), count);
  for (Index i = 0; i < part.rows(); ++i) std::copy_n(vectors.row(i) + first, count, part.row(i));
  Matrix mix = product_transposed_left(part, first_columns(random, count));
  for (Index k = 0; k < count; ++k) {
    for (int round = 0; round < 2; ++round) {
      for (Index q = 0; q < k; ++q) {
        double overlap = 0;
        for (Index i = 0; i < count; ++i) overlap += mix(i, q) * mix(i, k);
        for (Index i = 0; i < count; ++i) mix(i, k) -= overlap * mix(i, q);
      }
    }
    double norm = 0;
    for (Index i = 0; i < count; ++i) norm += mix(i, k) * mix(i, k);
    for (Index i = 0; i < count; ++i) mix(i, k) /= std::sqrt(norm);
  }
  part = product(part, mix);
  for (Index i = 0; i < part.rows(); ++i) std::copy_n(part.row(i), count, vectors.row(i) + first);
}

}  // namespace

Matrix trivial_eigenvector(const Graph& graph) {
  Matrix v(graph.rows, 1);
  double norm = 0;
  for (Index i = 0; i < graph.rows; ++i) norm += graph.degree[i];
  for (Index i = 0; i < graph.rows; ++i) {
    v(i, 0) = norm > 0 ? std::sqrt(graph.degree[i] / norm) : 0.0;
  }
  return v;
}

std::vector<double> inverse_roots(const Graph& graph) {
  constexpr double kLeastDegree = std::numeric_limits<double>::min();  // products of two roots overflow below it
  std::vector<double> out(graph.degree.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = graph.degree[i] >= kLeastDegree ? 1 / std::sqrt(graph.degree[i]) : 0.0;
  }
  return out;
}

Matrix laplacian_times(const Graph& graph, Laplacian kind, const Matrix& v, Context& context) {
  if (kind == Laplacian::plain) {
    return combine(graph, graph.degree, std::vector<double>(graph.degree.size(), 1.0), -1.0, v, context);
  }
  return combine(graph, std::vector<double>(graph.degree.size(), 1.0), inverse_roots(graph), -1.0, v, context);
}

bool takes_whole_spectrum(Index rows, Index count) {
  return rows <= kDenseRows || 8 * std::min(count + kGuard, rows - 1) > rows;
}

Spectrum smoothest_eigenvectors(const Graph& graph, Index count, Context& context, double tolerance) {
  context.phase("eigenvectors of the graph");
  const Deflated n{graph, context};
  count = std::max<Index>(std::min(count, graph.rows - 1), 0);
  if (count == 0) return {Matrix(graph.rows, 0), {}};
  const Index width = std::min(count + kGuard, graph.rows - 1);
  const bool dense = takes_whole_spectrum(graph.rows, count);
  EigenPairs pairs = dense ? whole_spectrum(n, width) : by_iteration(n, width, count, tolerance, context);
  const Matrix random = normal_matrix(graph.rows, width, Random(context.seed, kBasisStream));
  for (Index first = 0; first < pairs.vectors.cols();) {
    Index end = first + 1;
    while (end < pairs.vectors.cols() && pairs.values[end - 1] - pairs.values[end] <= kSameValue) {
      ++end;
    }
    fix_basis(pairs.vectors, first, end - first, random);
    first = end;
  }
  Spectrum out{first_columns(pairs.vectors, std::min(count, pairs.vectors.cols())), {}};
  for (Index k = 0; k < out.vectors.cols(); ++k) out.values.push_back(1 - pairs.values[k]);
  return out;
}

Spectrum smoothest_eigenvectors(const Graph& graph, Index count, Context& context) {
  constexpr double kExact = 1e-10, kInCells = 1e-6;
  return smoothest_eigenvectors(graph, count, context, graph.cells > 0 ? kInCells : kExact);
}

}  // namespace tamis
