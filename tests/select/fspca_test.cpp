#include "tamis/select/methods/fspca.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "tamis/linalg/dense.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

Selection run(const Source& source, const FspcaOptions& options) {
  Context context(2);
  return fspca(source, options, context);
}

Matrix scatter_of(const Matrix& x) {
  const Matrix z = support::centered_columns(x);
  return product_transposed_left(z, z);
}

double trace(const Matrix& a) {
  double sum = 0;
  for (Index j = 0; j < a.rows(); ++j) sum += a(j, j);
  return sum;
}

double largest_eigenvalues(const Matrix& a, const std::vector<Index>& columns, Index m) {
  const auto k = static_cast<Index>(columns.size());
  Matrix among(k, k);
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < k; ++j) among(i, j) = a(columns[i], columns[j]);
  }
  const std::vector<double> values = symmetric_eigen(among).values;
  return std::accumulate(values.begin(), values.begin() + m, 0.0);
}

FspcaOptions options_of(Index k, Index m) {
  FspcaOptions options;
  options.features = k, options.dims = m;
  return options;
}

TEST(Fspca, HasKRowsIsOrthonormalAndNeverFalls) {
  for (const auto& [n, d] : {std::pair<Index, Index>{80, 30}, {15, 60}}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const Matrix x = support::mixture(n, d, 4, 10, 2, seed), a = scatter_of(x);
      for (const Source& source : {support::dense(x), support::sparse(x)}) {
        const Selection found = run(source, options_of(8, 3));
        const Matrix& w = found.components;
        const Matrix identity = product_transposed_left(w, w);
        for (Index i = 0; i < 3; ++i) {
          for (Index j = 0; j < 3; ++j) EXPECT_NEAR(identity(i, j), i == j ? 1 : 0, 1e-9);
        }
        std::vector<Index> used;
        for (Index j = 0; j < d; ++j) {
          if (std::abs(w(j, 0)) + std::abs(w(j, 1)) + std::abs(w(j, 2)) > 0) used.push_back(j);
        }
        EXPECT_LE(used.size(), 8u);
        std::vector<Index> first(found.ranking.begin(), found.ranking.begin() + 8);
        std::sort(first.begin(), first.end());
        const auto& objective = found.report.objective;
        EXPECT_NEAR(objective.back(), largest_eigenvalues(a, first, 3) / trace(a), 1e-8);
        EXPECT_NEAR(objective.back(), trace(product_transposed_left(w, product(a, w))) / trace(a), 1e-8);
        for (std::size_t t = 1; t < objective.size(); ++t) EXPECT_GE(objective[t], objective[t - 1] - 1e-12);
      }
    }
  }
}

TEST(Fspca, WithAllColumnsItIsPca) {
  const Matrix x = support::mixture(60, 12, 3, 5, 4, 5);
  FspcaOptions options;
  options.dims = 2;
  const Selection found = run(support::dense(x), options);
  const EigenPairs pairs = symmetric_eigen(scatter_of(x));
  for (Index j = 0; j < 12; ++j) {
    const double norm = std::hypot(pairs.vectors(j, 0), pairs.vectors(j, 1));
    EXPECT_NEAR(found.scores[static_cast<std::size_t>(j)], norm, 1e-7);
  }
}

// All subsets of k of d columns.
template <class Visit>
void each_subset(Index d, Index k, Visit visit) {
  std::vector<Index> subset(static_cast<std::size_t>(k));
  std::iota(subset.begin(), subset.end(), 0);
  while (true) {
    visit(subset);
    Index i = k - 1;
    while (i >= 0 && subset[static_cast<std::size_t>(i)] == d - k + i) --i;
    if (i < 0) return;
    ++subset[static_cast<std::size_t>(i)];
    for (Index j = i + 1; j < k; ++j) {
      subset[static_cast<std::size_t>(j)] = subset[static_cast<std::size_t>(j - 1)] + 1;
    }
  }
}

// Of the best of all subsets, as in the paper: a covariance with a few large eigenvalues.
TEST(Fspca, ComesCloseToTheBestSubset) {
  constexpr Index kColumns = 14, kRows = 5, kDims = 3;
  double common = 0, share = 0;
  constexpr int kTables = 10;
  for (int table = 0; table < kTables; ++table) {
    const auto seed = static_cast<std::uint64_t>(table);
    Matrix x =
        product(support::random_matrix(200, kDims, 100 + seed), support::random_matrix(kDims, kColumns, 200 + seed));
    const Matrix noise = support::random_matrix(200, kColumns, 300 + seed);
    for (Index i = 0; i < x.size(); ++i) x.data()[i] += 0.1 * noise.data()[i];
    const Matrix a = scatter_of(x);
    std::vector<Index> best;
    double most = 0;
    each_subset(kColumns, kRows, [&](const std::vector<Index>& subset) {
      const double value = largest_eigenvalues(a, subset, kDims);
      if (value > most) most = value, best = subset;
    });
    const Selection found = run(support::dense(x), options_of(kRows, kDims));
    std::vector<Index> first(found.ranking.begin(), found.ranking.begin() + kRows), both;
    std::sort(first.begin(), first.end());
    std::set_intersection(first.begin(), first.end(), best.begin(), best.end(), std::back_inserter(both));
    common += static_cast<double>(both.size()) / static_cast<double>(kRows) / kTables;
    share += largest_eigenvalues(a, first, kDims) / most / kTables;
  }
  EXPECT_GE(common, 0.95);
  EXPECT_GE(share, 0.995);
}

}  // namespace
}  // namespace tamis
