#include "tamis/select/methods/udfs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "tamis/linalg/dense.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

Selection run(const Source& source, const UdfsOptions& options) {
  Context context(2);
  return udfs(source, options, context);
}

// A^-1 by Gauss and Jordan.
Matrix inverse_of(Matrix a) {
  const Index m = a.rows();
  Matrix out(m, m);
  for (Index i = 0; i < m; ++i) out(i, i) = 1;
  for (Index c = 0; c < m; ++c) {
    Index pivot = c;
    for (Index i = c; i < m; ++i) pivot = std::abs(a(i, c)) > std::abs(a(pivot, c)) ? i : pivot;
    for (Index j = 0; j < m; ++j) std::swap(a(c, j), a(pivot, j)), std::swap(out(c, j), out(pivot, j));
    const double by = a(c, c);
    for (Index j = 0; j < m; ++j) a(c, j) /= by, out(c, j) /= by;
    for (Index i = 0; i < m; ++i) {
      const double factor = i == c ? 0 : a(i, c);
      for (Index j = 0; j < m; ++j) a(i, j) -= factor * a(c, j), out(i, j) -= factor * out(c, j);
    }
  }
  return out;
}

// Row i and its k nearest, by all distances.
std::vector<Index> nearest(const Matrix& x, Index i, Index k) {
  std::vector<std::pair<double, Index>> all;
  for (Index j = 0; j < x.rows(); ++j) {
    double distance = 0;
    for (Index c = 0; c < x.cols(); ++c) distance += (x(i, c) - x(j, c)) * (x(i, c) - x(j, c));
    if (j != i) all.emplace_back(distance, j);
  }
  std::sort(all.begin(), all.end());
  std::vector<Index> out = {i};
  for (Index n = 0; n < k; ++n) out.push_back(all[static_cast<std::size_t>(n)].second);
  return out;
}

// M = X'[sum_i S_i H (X~_i X~_i' + lambda I)^-1 H S_i']X with every matrix written out.
Matrix definition_of_m(const Matrix& x, Index k, double lambda) {
  const Index n = x.rows(), m = k + 1;
  Matrix h(m, m, -1.0 / static_cast<double>(m));
  for (Index a = 0; a < m; ++a) h(a, a) += 1;
  Matrix l(n, n);
  for (Index i = 0; i < n; ++i) {
    const std::vector<Index> rows = nearest(x, i, k);
    Matrix local(m, x.cols()), s(n, m);
    for (Index a = 0; a < m; ++a) {
      std::copy_n(x.row(rows[static_cast<std::size_t>(a)]), x.cols(), local.row(a));
      s(rows[static_cast<std::size_t>(a)], a) = 1;
    }
    const Matrix centred_rows = product(h, local);
    Matrix scatter = product_transposed_right(centred_rows, centred_rows);
    for (Index a = 0; a < m; ++a) scatter(a, a) += lambda;
    const Matrix inner = product(h, product(inverse_of(scatter), h));
    add_product(1.0, product(s, inner), transposed(s), l);
  }
  return product_transposed_left(x, product(l, x));
}

std::vector<double> row_norms(const Matrix& w) {
  std::vector<double> out;
  for (Index i = 0; i < w.rows(); ++i) {
    double square = 0;
    for (Index t = 0; t < w.cols(); ++t) square += w(i, t) * w(i, t);
    out.push_back(std::sqrt(square));
  }
  return out;
}

TEST(Udfs, IsTheDefinitionWrittenOut) {
  for (const std::uint64_t seed : {1, 2}) {
    const Matrix table = support::mixture(40, 9, 3, 4, 3, seed), x = support::centered_columns(table);
    UdfsOptions options;
    options.clusters = 3, options.neighbors = 6, options.ridge = 5, options.gamma = 0.05;
    options.iterations = 6, options.tolerance = 0;
    const Matrix m = definition_of_m(x, 6, 5);
    std::vector<double> d(9, 1.0), objective;
    Matrix w;
    for (int step = 0; step < 6; ++step) {
      Matrix a = m;
      for (Index j = 0; j < 9; ++j) a(j, j) += 0.05 * d[static_cast<std::size_t>(j)];
      const EigenPairs pairs = symmetric_eigen(a);  // largest first
      w = Matrix(9, 3);
      for (Index j = 0; j < 9; ++j) {
        for (Index t = 0; t < 3; ++t) w(j, t) = pairs.vectors(j, 8 - t);
      }
      double norms = 0;
      for (Index j = 0; j < 9; ++j) {
        const double norm = row_norms(w)[static_cast<std::size_t>(j)], smooth = std::sqrt(norm * norm + 1e-10);
        d[static_cast<std::size_t>(j)] = 1 / (2 * smooth), norms += smooth;
      }
      objective.push_back(dot(w, product(m, w)) + 0.05 * norms);
    }
    for (const Source& source : {support::dense(table), support::sparse(table), support::dense(table, 7)}) {
      const Selection found = run(source, options);
      EXPECT_LE(support::largest_difference(found.scores, row_norms(w)), 1e-9);
      EXPECT_LE(support::largest_difference(found.report.objective, objective), 1e-9);
    }
  }
}

TEST(Udfs, TheObjectiveNeverRisesAndWIsOrthonormal) {
  for (const auto& [n, d] : {std::pair<Index, Index>{60, 15}, {20, 50}}) {
    const Matrix x = support::mixture(n, d, 3, 6, 3, 4);
    UdfsOptions options;
    options.clusters = 3, options.neighbors = 5, options.tolerance = 0;
    const Selection found = run(support::dense(x), options);
    const auto& objective = found.report.objective;
    EXPECT_EQ(objective.size(), 20u);
    for (std::size_t t = 1; t < objective.size(); ++t) EXPECT_LE(objective[t], objective[t - 1] + 1e-9);
    const Matrix identity = product_transposed_left(found.components, found.components);
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) EXPECT_NEAR(identity(i, j), i == j ? 1 : 0, 1e-9);
    }
  }
}

double fact(const Selection& found, const std::string& name) {
  for (const Fact& one : found.report.resolved) {
    if (one.first == name) return one.second;
  }
  return -1;
}

// A basis of the whole space scores every column 1, whatever M is.
TEST(Udfs, HasFewerDirectionsThanColumns) {
  const Matrix x = support::mixture(40, 6, 3, 3, 3, 6);
  UdfsOptions options;  // 8 directions
  const Selection found = run(support::dense(x), options);
  EXPECT_EQ(fact(found, "clusters"), 5);
  EXPECT_EQ(found.components.cols(), 5);
  options.clusters = 5;
  EXPECT_TRUE(support::same_bits(found.scores, run(support::dense(x), options).scores));
  EXPECT_LT(*std::min_element(found.scores.begin(), found.scores.end()), 0.99);
  const Selection one = run(support::dense(support::random_matrix(20, 1, 7)), {});
  EXPECT_NEAR(one.scores[0], 1, 1e-12);
  const Matrix wide = support::random_matrix(9, 30, 8);  // rank 8
  EXPECT_EQ(fact(run(support::dense(wide), {}), "clusters"), 7);
}

// sum_i V diag(s^2 / (s^2 + lambda)) V' of the neighborhoods, X~_i = U diag(s) V'.
Matrix definition_by_directions(const Matrix& x, Index k, double lambda) {
  Matrix out(x.cols(), x.cols());
  for (Index i = 0; i < x.rows(); ++i) {
    const std::vector<Index> rows = nearest(x, i, k);
    Matrix local(k + 1, x.cols());
    for (Index a = 0; a <= k; ++a) std::copy_n(x.row(rows[static_cast<std::size_t>(a)]), x.cols(), local.row(a));
    local = support::centered_columns(local);
    const EigenPairs pairs = symmetric_eigen(product_transposed_left(local, local));
    Matrix by = pairs.vectors;
    for (Index j = 0; j < x.cols(); ++j) {
      for (Index t = 0; t < x.cols(); ++t) {
        const double square = t < k ? std::max(0.0, pairs.values[static_cast<std::size_t>(t)]) : 0;
        by(j, t) *= square / (square + lambda);
      }
    }
    add_product(1.0, by, transposed(pairs.vectors), out);
  }
  return out;
}

// However small lambda is beside the local scatter.
TEST(Udfs, IsTheDefinitionWithASmallRidge) {
  const Matrix table = support::mixture(40, 20, 3, 6, 3, 9), x = support::centered_columns(table);
  for (const double ridge : {1e-3, 1e-7, 1e-11, 1e-300}) {
    UdfsOptions options;
    options.clusters = 3, options.neighbors = 6, options.ridge = ridge, options.gamma = 0.05, options.iterations = 1;
    const Selection found = run(support::dense(table), options);
    const Matrix m = definition_by_directions(x, 6, ridge);
    const EigenPairs pairs = symmetric_eigen(m);
    Matrix w(20, 3);
    for (Index j = 0; j < 20; ++j) {
      for (Index t = 0; t < 3; ++t) w(j, t) = pairs.vectors(j, 19 - t);
    }
    EXPECT_LE(support::largest_difference(found.scores, row_norms(w)), 1e-9) << ridge;
    EXPECT_TRUE(found.report.warnings.empty());
  }
}

TEST(Udfs, WarnsWhereRoundingDecides) {
  const Matrix x = support::random_matrix(40, 6, 10);
  for (const double unit : {1e-160, 1e-8, 1.0, 1e4, 1e7, 1e160}) {
    Matrix scaled = x;
    for (Index i = 0; i < x.size(); ++i) scaled.data()[i] *= unit;
    const Selection found = run(support::dense(scaled), {});
    EXPECT_TRUE(support::all_finite(found.scores));
    const bool decided = unit >= 1 && unit <= 1e4;
    ASSERT_EQ(found.report.warnings.empty(), decided) << unit;
    if (decided) continue;
    const std::string text = found.report.warnings[0].text();
    EXPECT_NE(text.find("rounding decides"), std::string::npos);
    EXPECT_NE(text.find(unit < 1 ? "smaller" : "larger"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tamis
