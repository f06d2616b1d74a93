#include "tamis/graph/laplacian.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "tamis/base/elementary.h"
#include "tamis/base/random.h"
#include "tamis/linalg/dense.h"
#include "tamis/linalg/kernels.h"
#include "tamis/linalg/orthogonal.h"

namespace tamis {

namespace {

constexpr Index kRowsPerTask = 1024;
// Up to this many rows the whole spectrum is computed; above it the wanted end by iteration.
constexpr Index kDenseRows = 512;
constexpr Index kGuard = 6;  // extra vectors that speed up the last wanted one
// Products with W for one step: cheap beside the basis, but a vector must not outgrow the others by so much.
constexpr Index kLeastDegree = 8, kMostDegree = 40;
constexpr double kGrowth = 1e6, kGrowthInFloat = 1e3;
constexpr double kFloatTolerance = 1e-5;  // that filters in float reach
constexpr double kSameValue = 1e-7;       // eigenvalues closer than this share one space
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

// N in compressed rows: the numbers of Graph::offsets and columns.
template <class T>
std::vector<T> normalized_weights(const Deflated& n) {
  const Graph& graph = n.graph;
  std::vector<T> out(graph.columns.size());
  for (Index i = 0; i < graph.rows; ++i) {
    for (Index q = graph.offsets[i]; q < graph.offsets[i + 1]; ++q) {
      out[q] = static_cast<T>(n.root[i] * n.root[graph.columns[q]] * graph.weights[q]);
    }
  }
  return out;
}

// Columns come in whole vectors, the last of them 0.
template <class T>
BasicMatrix<T> padded(const Matrix& x) {
  BasicMatrix<T> out(x.rows(), (x.cols() + kWidthStep<T> - 1) / kWidthStep<T> * kWidthStep<T>);
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index k = 0; k < x.cols(); ++k) out(i, k) = static_cast<T>(x(i, k));
  }
  return out;
}

template <class T>
Matrix unpadded(const BasicMatrix<T>& x, Index cols) {
  Matrix out(x.rows(), cols);
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index k = 0; k < cols; ++k) out(i, k) = static_cast<double>(x(i, k));
  }
  return out;
}

// to_i = -shift x_i - before to_i + sum_j w_ij x_j.
template <class T>
void three_terms(const Graph& graph, const std::vector<T>& weights, T shift, T before, const BasicMatrix<T>& x,
                 BasicMatrix<T>& to, Context& context) {
  const Index width = x.cols();
  const auto& kernel = kernels<T>();
  context.pool().run((graph.rows + kRowsPerTask - 1) / kRowsPerTask, [&](Index task) {
    for (Index i = task * kRowsPerTask; i < std::min((task + 1) * kRowsPerTask, graph.rows); ++i) {
      T* out = to.row(i);
      const T* own = x.row(i);
      for (Index k = 0; k < width; ++k) out[k] = -shift * own[k] - before * out[k];
      const Index first = graph.offsets[i];
      kernel.sparse_gather(graph.offsets[i + 1] - first, weights.data() + first, graph.columns.data() + first, x.data(),
                           width, out);
    }
  });
}

// N X.
Matrix image_of(const Deflated& n, const std::vector<double>& weights, const Matrix& x) {
  const BasicMatrix<double> from = padded<double>(x);
  BasicMatrix<double> to(from.rows(), from.cols());
  three_terms(n.graph, weights, 0.0, 0.0, from, to, n.context);
  return to.cols() == x.cols() ? to : unpadded(to, x.cols());
}

// The Chebyshev polynomial of the operator that is small on [-1, top] and grows fast above: what is wanted. X is
// orthogonal to the trivial vector, and so is what comes of it but for rounding.
template <class T>
Matrix filtered(const Deflated& n, std::vector<T> weights, Index degree, double top, const Matrix& x) {
  const double middle = (top - 1) / 2, radius = (top + 1) / 2;
  for (T& weight : weights) weight *= static_cast<T>(2 / radius);
  const auto shift = static_cast<T>(2 * middle / radius);
  BasicMatrix<T> before = padded<T>(x), now(before.rows(), before.cols());
  three_terms(n.graph, weights, shift, T(0), before, now, n.context);
  for (Index i = 0; i < now.size(); ++i) now.data()[i] *= T(0.5);
  for (Index k = 1; k < degree; ++k) {
    three_terms(n.graph, weights, shift, T(1), now, before, n.context);
    std::swap(before, now);
  }
  return unpadded(now, x.cols());
}

// The degree at which what is wanted most grows by kGrowth over the rest: past that its rounding drowns the others.
template <class T>
Index filter_degree(double most, double top) {
  const double growth = std::is_same_v<T, float> ? kGrowthInFloat : kGrowth;
  const double middle = (top - 1) / 2, radius = (top + 1) / 2;
  const double rate = std::acosh(std::max((most - middle) / radius, 1.0 + 1e-9));
  return std::clamp(static_cast<Index>(elementary::log(growth) / rate), kLeastDegree, kMostDegree);
}

// Ritz pairs of N on the span of X, largest first, X orthonormal; the largest residual of the first `count`.
struct Ritz {
  EigenPairs pairs;
  double residual = 0;
};

Ritz ritz_pairs(const Deflated& n, const std::vector<double>& weights, const Matrix& x, Index count) {
  const Matrix image = image_of(n, weights, x);
  EigenPairs small = symmetric_eigen(product_transposed_left(x, image));
  Ritz out{{std::move(small.values), product(x, small.vectors)}, 0};
  const Matrix turned = product(image, first_columns(small.vectors, std::min(count, x.cols())));
  std::vector<double> squares(turned.cols());
  for (Index i = 0; i < turned.rows(); ++i) {
    for (Index k = 0; k < turned.cols(); ++k) {
      const double rest = turned(i, k) - out.pairs.values[k] * out.pairs.vectors(i, k);
      squares[k] += rest * rest;
    }
  }
  for (const double square : squares) out.residual = std::max(out.residual, std::sqrt(square));
  return out;
}

// An orthonormal basis of the span of X beside the trivial vector. One pass does where the columns are far from
// dependent, as filtered Ritz vectors mostly are.
Matrix orthonormal_beside(const Matrix& trivial, Matrix x) {
  constexpr double kFarFromDependent = 1e-3;
  if (x.cols() == 0) return x;
  add_product(-1.0, trivial, product_transposed_left(trivial, x), x);
  Matrix gram = product_transposed_left(x, x);
  const Index width = gram.rows();
  std::vector<double> scale(width);
  for (Index k = 0; k < width; ++k) scale[k] = 1 / std::sqrt(gram(k, k));
  for (Index k = 0; k < width; ++k) {
    for (Index q = 0; q < width; ++q) gram(k, q) *= scale[k] * scale[q];
  }
  const bool finite = std::ranges::all_of(scale, [](double value) { return std::isfinite(value); });
  if (!finite) return orthonormal_complement(trivial, std::move(x));
  EigenPairs pairs = symmetric_eigen(std::move(gram));
  if (!(pairs.values.back() > kFarFromDependent)) return orthonormal_complement(trivial, std::move(x));
  for (Index k = 0; k < width; ++k) {
    for (Index q = 0; q < width; ++q) pairs.vectors(k, q) *= scale[k] / std::sqrt(pairs.values[q]);
  }
  return product(x, pairs.vectors);
}

// The first columns of normal_matrix().
Matrix first_normal_columns(Index rows, Index cols, Index count, const Random& random) {
  Matrix out(rows, count);
  for (Index i = 0; i < rows; ++i) {
    for (Index k = 0; k < count; ++k) out(i, k) = random.normal(static_cast<std::uint64_t>(i * cols + k));
  }
  return out;
}

// Iterates a filtered subspace until the first `count` residuals are small: the eigenvalues of a graph crowd below 1,
// where products with W are cheap and a polynomial of high degree tells them apart. T: of the filter, whose rounding
// must stay below the tolerance.
template <class T>
EigenPairs by_iteration(const Deflated& n, Index width, Index count, double tolerance, Context& context) {
  const std::vector<double> weights = normalized_weights<double>(n);
  const std::vector<T> narrow(weights.begin(), weights.end());
  Matrix x = orthonormal_complement(n.trivial, normal_matrix(n.graph.rows, width, Random(context.seed, kStartStream)));
  for (Index round = 0;; ++round) {
    context.check_cancelled();
    Ritz found = ritz_pairs(n, weights, x, count);
    const std::vector<double>& values = found.pairs.values;
    const double norm = std::max(std::abs(values.front()), std::abs(values.back()));
    if (found.residual <= tolerance * norm || round == kRounds) return std::move(found.pairs);
    const double top = std::clamp(values.back(), -0.5, 1 - 1e-6);
    const Index degree = filter_degree<T>(values.front(), top);
    x = orthonormal_beside(n.trivial, filtered(n, narrow, degree, top, found.pairs.vectors));
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
  constexpr double kSmallest = std::numeric_limits<double>::min();  // products of two roots overflow below it
  std::vector<double> out(graph.degree.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = graph.degree[i] >= kSmallest ? 1 / std::sqrt(graph.degree[i]) : 0.0;
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
  const bool narrow = tolerance > kFloatTolerance;
  EigenPairs pairs = dense    ? whole_spectrum(n, width)
                     : narrow ? by_iteration<float>(n, width, count, tolerance, context)
                              : by_iteration<double>(n, width, count, tolerance, context);
  std::vector<Index> ends;  // of spaces of one eigenvalue
  for (Index k = 1; k <= pairs.vectors.cols(); ++k) {
    if (k == pairs.vectors.cols() || pairs.values[k - 1] - pairs.values[k] > kSameValue) ends.push_back(k);
  }
  Index largest = 0, first = 0;
  for (const Index end : ends) largest = std::max(largest, end - std::exchange(first, end));
  const Matrix random = first_normal_columns(graph.rows, width, largest, Random(context.seed, kBasisStream));
  first = 0;
  for (const Index end : ends) {
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
