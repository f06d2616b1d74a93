#include "tamis/data/passes/principal.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tamis/base/random.h"
#include "tamis/data/weights.h"
#include "tamis/linalg/dense.h"
#include "tamis/linalg/orthogonal.h"

namespace tamis {

namespace {

// Up to this many rows (or columns) the full small Gram matrix is decomposed: exact, and cheaper than iterating.
constexpr Index kSmall = 256;
// With this many rows one product Z'Z is cheaper than several readings of the data, up to so many columns.
constexpr Index kManyRows = 262144;
constexpr Index kManyRowsCols = 1024;
constexpr Index kTiny = 64;  // and to this one, no iteration is cheaper at all
constexpr Index kFewRows =
    1024;                    // up to so many, fewer than columns, the row Gram matrix is cheaper than many products
constexpr Index kGuard = 4;  // extra directions that speed up the last wanted one
constexpr std::uint64_t kStartStream = 0x70636173;  // its own stream of the seed

// Directions whose eigenvalue is rounding of the first one are not there.
RitzPairs without_null(RitzPairs pairs, Index count, Index n, Index d) {
  const double floor = pairs.values.empty() ? 0.0
                                            : static_cast<double>(std::max(n, d)) *
                                                  std::numeric_limits<double>::epsilon() * pairs.values.front();
  Index rank = 0;
  while (rank < std::min(count, pairs.vectors.cols()) && pairs.values[rank] > floor) ++rank;
  pairs.vectors = first_columns(pairs.vectors, rank);
  if (pairs.image.cols() > 0) pairs.image = first_columns(pairs.image, rank);
  pairs.values.resize(rank);
  return pairs;
}

RitzPairs from_gram(const Centered& z, Index count, const Matrix& s) {
  const EigenPairs pairs = symmetric_eigen_largest(s, count);
  return without_null({pairs.vectors, {}, pairs.values, {}, 0, true}, count, z.rows(), z.cols());
}

// A sample of rows, centered on its own means: cheap where there are many.
struct Sample {
  Sample(const Centered& z, Index count, Context& context)
      : drawn(sample_weighted_rows(z.source().weights(), count, context.seed)),
        values(gather_rows(z.source(), z.roots().empty() ? sample_rows(z.rows(), count, context.seed) : drawn.rows,
                           context)),
        source(source_of(values, z.roots().empty() ? std::vector<double>() : drawn.weights)),
        centered(source, moments_of(source, context)) {}
  const WeightedRows drawn;
  const Matrix values;
  const Source source;
  const Centered centered;

 private:
  static Source source_of(const Matrix& values, const std::vector<double>& weights) {
    const Source source(make_dense_store(view_of(values)));
    return weights.empty() ? source : source.with_some_weights(weights);
  }
  static ColumnMoments moments_of(const Source& source, Context& context) {
    const UncountedPasses uncounted(context);
    return column_moments(source, context);
  }
};

constexpr Index kSampleRows = 4096;              // for rough directions
constexpr Index kStartRows = 1024;               // to start from
constexpr Index kSampleCells = 8 * 1024 * 1024;  // numbers in the sample at most: 64 MB

// How many rows to take for `count` directions, `most` if possible and an eighth of all at most, since they are copied;
// 0 where all are nearly as cheap, or too few remain.
Index sample_size(Index rows, Index cols, bool sparse, Index count, Index most) {
  if (sparse || rows < 4 * most) return 0;
  const Index taken = std::min({most, kSampleCells / cols, rows / 8});
  return taken >= 8 * count ? taken : 0;
}

// Whether weights leave too few rows for a sample of them.
bool weigh_too_few(const Centered& z, Index count) {
  return !z.roots().empty() && effective_rows(z.source().weights()) < 8 * static_cast<double>(count);
}

// Z'R for random R: a start in the row space of Z that moves with its columns when they are permuted.
Matrix random_start(const Centered& z, Index width, Accuracy accuracy, Context& context) {
  const Random random(context.seed, kStartStream);
  const bool all = accuracy == Accuracy::fixed;  // sparse rows are not sampled, and dense ones must start where they do
  const Index sampled =
      all || weigh_too_few(z, width) ? 0 : rows_to_start_from(z.rows(), z.cols(), z.source().sparse(), width);
  if (sampled == 0) return orthonormalized(multiply_transposed(z, normal_matrix(z.rows(), width, random), context));
  const Sample some(z, sampled, context);
  const UncountedPasses uncounted(context);
  return orthonormalized(
      multiply_transposed(some.centered, normal_matrix(some.centered.rows(), width, random), context));
}

RitzPairs by_iteration(const SymmetricOperator& m, Index count, Accuracy accuracy, Matrix vectors) {
  RitzPairs start;
  start.vectors = std::move(vectors);
  if (start.vectors.cols() == 0) return start;
  DavidsonOptions options;
  options.count = std::min(count, start.vectors.cols());
  options.basis = 6 * start.vectors.cols();
  options.steps = static_cast<Index>(accuracy);
  options.tolerance = accuracy == Accuracy::rough ? 1e-3 : 1e-9;
  return largest_eigenpairs(m, std::move(start), options);
}

Index width_for(const Centered& z, Index count) { return std::min({count + kGuard, z.rows(), z.cols()}); }

// Eigenvectors of S; `s` is S where it is at hand, else empty.
RitzPairs from_columns(const Centered& z, Index count, Accuracy accuracy, const Matrix& s, Context& context) {
  SymmetricOperator scatter;
  scatter.dim = z.cols();
  scatter.image = [&](const Matrix& v) { return s.empty() ? scatter_product(z, v, context) : product(s, v); };
  RitzPairs found = by_iteration(scatter, count, accuracy, random_start(z, width_for(z, count), accuracy, context));
  found.image = Matrix();
  return without_null(std::move(found), count, z.rows(), z.cols());
}

// Where rows are fewer than columns all on the way has n numbers a direction, not d.
bool rows_are_fewer(Index rows, Index cols) { return rows <= kSmall || rows < cols; }

Index few_rows(bool sparse) { return sparse ? kSmall : kFewRows; }

// Eigenvectors U of K = ZZ' with K U: K itself where it is cheaper than many products with the data, else by them.
RitzPairs of_row_gram(const Centered& z, Index count, Accuracy accuracy, Context& context) {
  const Index n = z.rows();
  const auto products = [&](const Matrix& u) { return multiply(z, multiply_transposed(z, u, context), context); };
  Matrix k;
  if (n <= few_rows(z.source().sparse())) k = gram_of_rows(z, context);
  RitzPairs found;
  if (n <= kSmall) {
    EigenPairs pairs = symmetric_eigen_largest(k, count);
    found.image = product(k, pairs.vectors);
    found.vectors = std::move(pairs.vectors);
    found.values = std::move(pairs.values);
  } else {
    SymmetricOperator m;
    m.dim = n;
    m.image = [&](const Matrix& u) { return k.empty() ? products(u) : product(k, u); };
    Matrix start = normal_matrix(n, width_for(z, count), Random(context.seed, kStartStream));
    if (!k.empty() || accuracy == Accuracy::fixed) start = m.image(start);
    found = by_iteration(m, count, accuracy, orthonormalized(std::move(start)));
  }
  return without_null(std::move(found), count, n, z.cols());
}

// ZZ' = U L U' gives W = Z'U L^(-1/2).
RitzPairs from_rows(const Centered& z, Index count, Accuracy accuracy, Context& context) {
  RitzPairs out = of_row_gram(z, count, accuracy, context);
  out.image = Matrix();
  if (out.vectors.cols() == 0) return {Matrix(z.cols(), 0), {}, {}, {}, 0, true};
  // The small side has lost half the digits of the weak directions: make the columns orthonormal to working accuracy,
  // and turn them into the eigenvectors of W'SW.
  const Matrix w = orthonormalized(multiply_transposed(z, out.vectors, context));
  const Matrix zw = multiply(z, w, context);
  EigenPairs ritz = symmetric_eigen(product_transposed_left(zw, zw));
  out.vectors = product(w, ritz.vectors);
  out.values = std::move(ritz.values);
  return out;
}

}  // namespace

PrincipalPath principal_path(Index rows, Index cols, bool sparse, bool scatter_known) {
  const bool many_rows = !sparse && rows >= kManyRows && cols <= kManyRowsCols;
  if (cols <= std::min(kSmall, rows) || many_rows) return PrincipalPath::gram;
  if (scatter_known || !rows_are_fewer(rows, cols)) return PrincipalPath::products;
  return rows <= few_rows(sparse) ? PrincipalPath::gram_of_rows : PrincipalPath::products_of_rows;
}

Index rows_to_start_from(Index rows, Index cols, bool sparse, Index width) {
  return sample_size(rows, cols, sparse, width, kStartRows);
}

RitzPairs principal_directions(const Centered& z, Index count, Accuracy accuracy, const Matrix& scatter,
                               Context& context) {
  count = std::min({count, z.rows(), z.cols()});
  // Rough directions of many rows are those of some of them, unless columns vary in other rows only.
  const Index sampled = sample_size(z.rows(), z.cols(), z.source().sparse(), count, kSampleRows);
  if (accuracy == Accuracy::rough && scatter.empty() && sampled > 0 && !weigh_too_few(z, count)) {
    const Sample some(z, sampled, context);
    const UncountedPasses uncounted(context);
    RitzPairs rough = principal_directions(some.centered, count, accuracy, scatter, context);
    if (rough.vectors.cols() == count) return rough;
  }
  const PrincipalPath path = principal_path(z.rows(), z.cols(), z.source().sparse(), !scatter.empty());
  if (path == PrincipalPath::gram) {
    const Matrix& s = scatter.empty() ? gram(z, context) : scatter;
    const Index whole = accuracy == Accuracy::full ? z.cols() : accuracy == Accuracy::fixed ? kSmall : kTiny;
    return z.cols() <= whole ? from_gram(z, count, s) : from_columns(z, count, accuracy, s, context);
  }
  if (path == PrincipalPath::products) return from_columns(z, count, accuracy, scatter, context);
  return from_rows(z, count, accuracy, context);
}

Matrix principal_points(const Centered& z, Index count, Accuracy accuracy, Context& context) {
  if (!rows_are_fewer(z.rows(), z.cols()))
    return multiply(z, principal_directions(z, count, accuracy, Matrix(), context).vectors, context);
  // Z W = K U L^(-1/2), and no W is needed.
  RitzPairs found = of_row_gram(z, std::min(count, z.rows()), accuracy, context);
  for (Index i = 0; i < found.image.rows(); ++i) {
    for (Index k = 0; k < found.image.cols(); ++k) {
      found.image(i, k) /= std::sqrt(found.values[k]);
    }
  }
  return std::move(found.image);
}

}  // namespace tamis
