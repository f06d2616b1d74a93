#include "tamis/data/principal.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tamis/base/random.h"
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
constexpr Index kGuard = 4;  // extra directions that speed up the last wanted one

// Directions whose eigenvalue is rounding of the first one are not there.
RitzPairs without_null(RitzPairs pairs, Index count, Index n, Index d) {
  const double floor = pairs.values.empty() ? 0.0
                                            : static_cast<double>(std::max(n, d)) *
                                                  std::numeric_limits<double>::epsilon() * pairs.values.front();
  Index rank = 0;
  while (rank < std::min(count, pairs.vectors.cols()) && pairs.values[static_cast<std::size_t>(rank)] > floor) ++rank;
  pairs.vectors = first_columns(pairs.vectors, rank);
  pairs.values.resize(static_cast<std::size_t>(rank));
  pairs.image = Matrix();
  return pairs;
}

Matrix identity(Index n) {
  Matrix out(n, n);
  for (Index i = 0; i < n; ++i) out(i, i) = 1;
  return out;
}

// n x n side: Z Z' = U L U' gives W = Z'U L^(-1/2).
RitzPairs from_row_gram(const Centered& z, Index count, Context& context) {
  const Matrix k = z.source().sparse() ? multiply(z, multiply_transposed(z, identity(z.rows()), context), context)
                                       : gram_of_rows(z, context);
  const EigenPairs pairs = symmetric_eigen_largest(k, count);
  RitzPairs out = without_null({pairs.vectors, {}, pairs.values, {}, 0, true}, count, z.rows(), z.cols());
  out.vectors = multiply_transposed(z, out.vectors, context);
  for (Index i = 0; i < out.vectors.rows(); ++i) {
    for (Index j = 0; j < out.vectors.cols(); ++j) {
      out.vectors(i, j) /= std::sqrt(out.values[static_cast<std::size_t>(j)]);
    }
  }
  // The small side has lost half the digits of the weak directions: make the columns orthonormal to working accuracy.
  if (out.vectors.cols() > 0) out.vectors = orthonormalized(out.vectors);
  return out;
}

RitzPairs from_gram(const Centered& z, Index count, const Matrix& s) {
  const EigenPairs pairs = symmetric_eigen_largest(s, count);
  return without_null({pairs.vectors, {}, pairs.values, {}, 0, true}, count, z.rows(), z.cols());
}

Matrix small_gram(const Centered& z, Context& context) {
  return z.source().sparse() ? scatter_product(z, identity(z.cols()), context) : gram(z, context);
}

// A sample of rows, centred on its own means: cheap where there are many.
struct Sample {
  Sample(const Centered& z, Index count, Context& context)
      : values(gather_rows(z.source(), sample_rows(z.rows(), count, context.seed), context)),
        source(make_dense_store({values.data(), DType::f64, values.rows(), values.cols(), values.cols(), 1})),
        centered(source, moments_of(source, context)) {}
  const Matrix values;
  const Source source;
  const Centered centered;

 private:
  static ColumnMoments moments_of(const Source& source, Context& context) {
    const UncountedPasses uncounted(context);
    return column_moments(source, context);
  }
};

constexpr Index kSampleRows = 4096;              // for rough directions
constexpr Index kStartRows = 1024;               // to start from
constexpr Index kSampleCells = 8 * 1024 * 1024;  // numbers in the sample at most: 64 MB

// How many rows to take for `count` directions, `most` if possible; 0 where all are nearly as cheap, or too few remain.
Index sample_size(const Centered& z, Index count, Index most) {
  if (z.source().sparse() || z.rows() < 4 * most) return 0;
  const Index rows = std::min(most, kSampleCells / z.cols());
  return rows >= 8 * count ? rows : 0;
}

// Z'R for random R: a start in the row space of Z that moves with its columns when they are permuted.
Matrix random_start(const Centered& z, Index width, Context& context) {
  constexpr std::uint64_t kStream = 0x70636173;  // its own stream of the seed
  const Random random(context.seed, kStream);
  const Index sampled = sample_size(z, width, kStartRows);
  if (sampled == 0) return orthonormalized(multiply_transposed(z, normal_matrix(z.rows(), width, random), context));
  const Sample some(z, sampled, context);
  const UncountedPasses uncounted(context);
  return orthonormalized(multiply_transposed(some.centered, normal_matrix(sampled, width, random), context));
}

RitzPairs by_iteration(const Centered& z, Index count, Accuracy accuracy, const Matrix& s, Context& context) {
  SymmetricOperator scatter;
  scatter.dim = z.cols();
  scatter.apply = [&](const Matrix& v, const Matrix&) {
    return s.empty() ? scatter_product(z, v, context) : product(s, v);
  };
  RitzPairs start;
  const Index width = std::min({count + kGuard, z.rows(), z.cols()});
  start.vectors = random_start(z, width, context);
  if (start.vectors.cols() == 0) return start;
  DavidsonOptions options;
  options.count = std::min(count, start.vectors.cols());
  options.basis = 6 * start.vectors.cols();
  options.steps = static_cast<Index>(accuracy);
  options.tolerance = accuracy == Accuracy::full ? 1e-9 : 1e-3;
  return without_null(largest_eigenpairs(scatter, start, options), count, z.rows(), z.cols());
}

}  // namespace

RitzPairs principal_directions(const Centered& z, Index count, Accuracy accuracy, const Matrix& scatter,
                               Context& context) {
  count = std::min({count, z.rows(), z.cols()});
  // Rough directions of many rows are those of some of them, unless columns vary in other rows only.
  const Index sampled = sample_size(z, count, kSampleRows);
  if (accuracy == Accuracy::rough && scatter.empty() && sampled > 0) {
    const Sample some(z, sampled, context);
    const UncountedPasses uncounted(context);
    RitzPairs rough = principal_directions(some.centered, count, accuracy, scatter, context);
    if (rough.vectors.cols() == count) return rough;
  }
  const bool many_rows = !z.source().sparse() && z.rows() >= kManyRows && z.cols() <= kManyRowsCols;
  if (z.cols() <= std::min(kSmall, z.rows()) || many_rows) {
    const Matrix& s = scatter.empty() ? small_gram(z, context) : scatter;
    return accuracy == Accuracy::full || z.cols() <= kTiny ? from_gram(z, count, s)
                                                           : by_iteration(z, count, accuracy, s, context);
  }
  if (z.rows() <= kSmall) return from_row_gram(z, count, context);
  return by_iteration(z, count, accuracy, scatter, context);
}

}  // namespace tamis
