#include "tamis/select/ufcm/rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tamis/linalg/dense.h"
#include "tamis/linalg/orthogonal.h"
#include "tamis/select/row_sparse.h"
#include "tamis/select/ufcm/schedule.h"

namespace tamis {

namespace {

void keep_columns(EigenPairs& pairs, Index count) {
  pairs.vectors = first_columns(pairs.vectors, count);
  pairs.values.resize(count);
}

// Directions whose eigenvalue is not above rounding are arbitrary.
void drop_null(EigenPairs& pairs) {
  const double floor = static_cast<double>(pairs.vectors.rows()) * kUlp * std::abs(pairs.values.front());
  Index kept = 1;
  while (kept < pairs.vectors.cols() && pairs.values[kept] > floor) ++kept;
  keep_columns(pairs, kept);
}

Matrix rows_of(const Matrix& w, const std::vector<Index>& rows) {
  Matrix out(static_cast<Index>(rows.size()), w.cols());
  for (Index i = 0; i < out.rows(); ++i) std::copy_n(w.row(rows[i]), w.cols(), out.row(i));
  return out;
}

}  // namespace

std::vector<Index> rows_in_use(const Matrix& w) {
  std::vector<Index> out;
  for (Index i = 0; i < w.rows(); ++i) {
    if (std::any_of(w.row(i), w.row(i) + w.cols(), [](double value) { return value != 0; })) out.push_back(i);
  }
  return out;
}

Matrix RowSteps::times(const Clusters& clusters, const RitzPairs& w) const {
  Matrix out = clusters.between_times(w.vectors);
  for (Index i = 0; i < out.size(); ++i) {
    out.data()[i] *= alpha_;
    if (scatter_ != nullptr) out.data()[i] += (1 - alpha_) * w.image.data()[i];
  }
  return out;
}

// With W'MW = V diag(l) V': sum_t (MWV)_jt^2 / l_t
std::vector<double> RowSteps::merits(const Clusters& clusters, const RitzPairs& w) const {
  const Matrix mw = times(clusters, w);
  Matrix within = product_transposed_left(w.vectors, mw);
  for (Index i = 0; i < within.rows(); ++i) {
    for (Index j = 0; j < i; ++j) within(i, j) = within(j, i) = 0.5 * (within(i, j) + within(j, i));
  }
  const EigenPairs pairs = symmetric_eigen(std::move(within));
  const double floor = static_cast<double>(mw.rows()) * kUlp * std::abs(pairs.values.front());
  const Matrix turned = product(mw, pairs.vectors);
  std::vector<double> out(mw.rows());
  for (Index j = 0; j < mw.rows(); ++j) {
    for (Index t = 0; t < turned.cols(); ++t) {
      if (pairs.values[t] > floor) out[j] += turned(j, t) / pairs.values[t] * turned(j, t);
    }
  }
  return out;
}

// B_CC = F'F has the eigenvectors F'u of the small side FF'.
EigenPairs RowSteps::by_clusters(const Clusters& clusters, const std::vector<Index>& columns, Index count) const {
  const Matrix f = clusters.factor(columns);
  if (f.cols() <= f.rows()) return symmetric_eigen_largest(product_transposed_left(f, f), count);
  EigenPairs pairs = symmetric_eigen_largest(product_transposed_right(f, f), std::min(count, f.rows()));
  drop_null(pairs);
  pairs.vectors = orthonormalized(product_transposed_left(f, pairs.vectors));
  keep_columns(pairs, pairs.vectors.cols());
  return pairs;
}

EigenPairs RowSteps::by_matrix(const Clusters& clusters, const std::vector<Index>& columns, Index count) const {
  const Matrix f = clusters.factor(columns), b = product_transposed_left(f, f);
  Matrix m = scatter_->among(columns);
  for (Index i = 0; i < m.size(); ++i) m.data()[i] = (1 - alpha_) * m.data()[i] + alpha_ * b.data()[i];
  return symmetric_eigen_largest(m, count);
}

EigenPairs RowSteps::by_steps(const Clusters& clusters, const std::vector<Index>& columns,
                              const RitzPairs& start) const {
  const Matrix f = clusters.factor(columns);
  SymmetricOperator m;
  m.dim = static_cast<Index>(columns.size());
  m.image = [&](const Matrix& v) { return scatter_->times_among(columns, v); };
  m.apply = [&](const Matrix& v, const Matrix& image) {
    Matrix out = product_transposed_left(f, product(f, v));
    for (Index i = 0; i < out.size(); ++i) out.data()[i] = alpha_ * out.data()[i] + (1 - alpha_) * image.data()[i];
    return out;
  };
  RitzPairs from;
  from.vectors = orthonormalized(rows_of(start.vectors, columns));
  DavidsonOptions options;
  options.count = from.vectors.cols();
  options.steps = kSchedule.row_solver_steps;
  options.tolerance = 1e-9;
  RitzPairs found = largest_eigenpairs(m, std::move(from), options);
  return {std::move(found.values), std::move(found.vectors)};
}

RitzPairs RowSteps::leading(const Clusters& clusters, const std::vector<Index>& columns, const RitzPairs& start) const {
  const Index count = std::min(start.vectors.cols(), static_cast<Index>(columns.size()));
  const bool few = static_cast<Index>(columns.size()) <= kSchedule.exact_columns;
  EigenPairs found = scatter_ == nullptr ? by_clusters(clusters, columns, count)
                     : few               ? by_matrix(clusters, columns, count)
                                         : by_steps(clusters, columns, start);
  drop_null(found);
  RitzPairs out;
  out.vectors = Matrix(start.vectors.rows(), found.vectors.cols());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::copy_n(found.vectors.row(static_cast<Index>(i)), out.vectors.cols(), out.vectors.row(columns[i]));
  }
  out.values = std::move(found.values);
  if (scatter_ != nullptr) out.image = scatter_->times(out.vectors);
  return out;
}

bool RowSteps::allows(const Matrix& w) const {
  return static_cast<Index>(exact_.groups.in_order(rows_in_use(w)).size()) <= exact_.k;
}

std::vector<Index> RowSteps::best_columns(const std::vector<double>& merits) const {
  std::vector<Index> out =
      exact_.groups.expand(largest_of(sums_of_groups(exact_.groups, merits), exact_.k, exact_.forced));
  std::sort(out.begin(), out.end());
  return out;
}

void RowSteps::improve(const Clusters& clusters, RitzPairs& w) const {
  const auto value = [&](const RitzPairs& of) { return dot(of.vectors, times(clusters, of)); };
  for (Index step = 0; step < kSchedule.row_steps; ++step) {
    const std::vector<Index> before = rows_in_use(w.vectors);
    const bool feasible = allows(w.vectors);
    const std::vector<Index> columns = best_columns(merits(clusters, w));
    RitzPairs next = leading(clusters, columns, w);
    // Rounding alone could lower it.
    if (feasible && !(value(next) > value(w))) return;
    w = std::move(next);
    if (feasible && columns == before) return;
  }
}

}  // namespace tamis
