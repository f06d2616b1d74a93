#include "tamis/linalg/orthogonal.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tamis/linalg/dense.h"

namespace tamis {

namespace {

// Divides every column by its norm; columns whose squared norm is not above `floor`, or not finite, stay out.
Matrix with_long_columns(const Matrix& p, double floor) {
  const Index m = p.cols();
  std::vector<double> norm(m);
  for (Index i = 0; i < p.rows(); ++i) {
    const double* row = p.row(i);
    for (Index j = 0; j < m; ++j) norm[j] += row[j] * row[j];
  }
  std::vector<Index> keep;
  std::vector<double> length;
  for (Index j = 0; j < m; ++j) {
    const double value = norm[j];
    if (!(value > floor) || !std::isfinite(value)) continue;
    keep.push_back(j);
    length.push_back(std::sqrt(value));
  }
  Matrix out(p.rows(), static_cast<Index>(keep.size()));
  for (Index i = 0; i < p.rows(); ++i) {
    const double* row = p.row(i);
    double* to = out.row(i);
    for (std::size_t k = 0; k < keep.size(); ++k) to[k] = row[keep[k]] / length[k];
  }
  return out;
}

// P V L^(-1/2) for P'P = V L V', without the directions whose share of the unit columns is below `floor`
// (Stathopoulos & Wu 2002, "SVQB").
Matrix whitened(const Matrix& p, double floor) {
  const EigenPairs pairs = symmetric_eigen(product_transposed_left(p, p));
  Index rank = 0;
  while (rank < p.cols() && pairs.values[rank] > floor) ++rank;
  Matrix mix = first_columns(pairs.vectors, rank);
  for (Index i = 0; i < mix.rows(); ++i) {
    for (Index k = 0; k < rank; ++k) mix(i, k) /= std::sqrt(pairs.values[k]);
  }
  return product(p, mix);
}

}  // namespace

Matrix orthonormal_complement(std::span<const Matrix> blocks, Matrix p) {
  p = with_long_columns(p, 0.0);
  // Twice is enough (Parlett & Kahan): what the first projection leaves of q by cancellation, the second removes.
  for (int round = 0; round < 2 && p.cols() > 0; ++round) {
    for (const Matrix& q : blocks) {
      if (q.cols() > 0) add_product(-1.0, q, product_transposed_left(q, p), p);
    }
    // A unit column that loses all but rounding to q lies in its span.
    if (round == 0) p = with_long_columns(p, 1e-20);
    if (p.cols() > 0) p = whitened(p, round == 0 ? 1e-12 : 1e-2);
  }
  return p;
}

Matrix orthonormal_complement(const Matrix& q, Matrix p) {
  return orthonormal_complement(std::span(&q, 1), std::move(p));
}

Matrix orthonormalized(Matrix p) { return orthonormal_complement(std::span<const Matrix>(), std::move(p)); }

namespace {

double squared_length(const double* row, Index cols) {
  double sum = 0;
  for (Index k = 0; k < cols; ++k) sum += row[k] * row[k];
  return sum;
}

// Takes the part along `row` (of squared length `square`) off another row.
void remove_part(const double* row, double square, double* from, Index cols) {
  double overlap = 0;
  for (Index k = 0; k < cols; ++k) overlap += row[k] * from[k];
  for (Index k = 0; k < cols; ++k) from[k] -= overlap / square * row[k];
}

}  // namespace

std::vector<Index> pivoted_rows(const Matrix& w, Index count) {
  constexpr double kRowTie = 1e-9;
  std::vector<double> length(w.rows());
  double longest = 0;
  for (Index i = 0; i < w.rows(); ++i) {
    length[i] = squared_length(w.row(i), w.cols());
    longest = std::max(longest, length[i]);
  }
  const double floor = kRowTie * kRowTie * longest;
  std::vector<Index> left, taken;
  for (Index i = 0; i < w.rows(); ++i) {
    if (length[i] > floor) left.push_back(i);
  }
  while (!left.empty() && static_cast<Index>(taken.size()) < count) {
    Matrix rest(static_cast<Index>(left.size()), w.cols());
    for (std::size_t r = 0; r < left.size(); ++r) {
      std::copy_n(w.row(left[r]), w.cols(), rest.row(static_cast<Index>(r)));
    }
    std::vector<char> gone(left.size());
    for (Index step = 0; step < w.cols() && static_cast<Index>(taken.size()) < count; ++step) {
      std::size_t best = left.size();
      double most = floor;
      for (std::size_t r = 0; r < left.size(); ++r) {
        const double square = gone[r] ? 0.0 : squared_length(rest.row(static_cast<Index>(r)), w.cols());
        if (square > most * (1 + kRowTie)) most = square, best = r;
      }
      if (best == left.size()) break;
      gone[best] = 1;
      taken.push_back(left[best]);
      for (std::size_t r = 0; r < left.size(); ++r) {
        if (!gone[r]) remove_part(rest.row(static_cast<Index>(best)), most, rest.row(static_cast<Index>(r)), w.cols());
      }
    }
    std::vector<Index> next;
    for (std::size_t r = 0; r < left.size(); ++r) {
      if (!gone[r]) next.push_back(left[r]);
    }
    left = std::move(next);
  }
  return taken;
}

}  // namespace tamis
