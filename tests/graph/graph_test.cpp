// Neighbours, weights and Laplacians against brute force and the golden graphs.
#include "tamis/graph/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tamis/graph/laplacian.h"
#include "tamis/graph/neighbors.h"
#include "tamis/graph/smoothness.h"
#include "tamis/linalg/dense.h"
#include "tests/support/checks.h"
#include "tests/support/golden.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

Matrix dense_of(const Graph& graph) {
  Matrix w(graph.rows, graph.rows);
  for (Index i = 0; i < graph.rows; ++i) {
    for (Index q = graph.offsets[static_cast<std::size_t>(i)]; q < graph.offsets[static_cast<std::size_t>(i) + 1];
         ++q) {
      w(i, graph.columns[static_cast<std::size_t>(q)]) = graph.weights[static_cast<std::size_t>(q)];
    }
  }
  return w;
}

double squared_distance(const Matrix& x, Index a, Index b) {
  long double sum = 0;
  for (Index j = 0; j < x.cols(); ++j) {
    const long double delta = static_cast<long double>(x(a, j)) - static_cast<long double>(x(b, j));
    sum += delta * delta;
  }
  return static_cast<double>(sum);
}

// The k nearest rows by sorting all of them.
std::vector<Index> sorted_neighbors(const Matrix& x, Index i, Index k) {
  std::vector<Index> others;
  for (Index j = 0; j < x.rows(); ++j) {
    if (j != i) others.push_back(j);
  }
  std::stable_sort(others.begin(), others.end(),
                   [&](Index a, Index b) { return squared_distance(x, i, a) < squared_distance(x, i, b); });
  others.resize(static_cast<std::size_t>(std::min(k, x.rows() - 1)));
  return others;
}

void expect_nearest(const Matrix& x, const Source& source, Index k) {
  Context context(2);
  const Neighbors found = nearest_neighbors(source, {.count = k}, context);
  ASSERT_EQ(found.count, std::min(k, x.rows() - 1));
  for (Index i = 0; i < x.rows(); ++i) {
    const std::vector<Index> wanted = sorted_neighbors(x, i, k);
    for (std::size_t q = 0; q < wanted.size(); ++q) {
      const auto at = static_cast<std::size_t>(i * found.count) + q;
      ASSERT_EQ(found.index[at], wanted[q]) << "row " << i << ", neighbour " << q;
      const double distance = squared_distance(x, i, wanted[q]);
      ASSERT_NEAR(found.distance[at] * found.unit * found.unit, distance, 1e-12 * distance);
    }
  }
}

TEST(Neighbors, AreThoseOfSortingAllRows) {
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{2, 1}, {3, 5}, {40, 3}, {300, 7}, {700, 20}}) {
    const Matrix x = support::thinned(support::random_matrix(n, d, 1), 0.7, 2);
    for (const Index k : {1, 5, 400}) {
      expect_nearest(x, support::dense(x, 64), k);
      expect_nearest(x, support::sparse(x, 64), k);
    }
  }
}

// Whole numbers give many equal distances, copies give distances of 0: the smaller index must win every time.
TEST(Neighbors, TiesGoToTheSmallerIndex) {
  const Matrix coarse = support::whole_numbers(400, 3, 4, 3);
  expect_nearest(coarse, support::dense(coarse), 7);
  expect_nearest(coarse, support::sparse(coarse), 7);
  Matrix copies = support::random_matrix(60, 4, 4);
  for (Index i = 20; i < 60; ++i) std::copy_n(copies.row(i % 20), 4, copies.row(i));
  expect_nearest(copies, support::dense(copies), 5);
  expect_nearest(copies, support::sparse(copies), 5);
}

TEST(Neighbors, SurviveAnOffsetOf1e8AndAnyMagnitude) {
  const Matrix x = support::random_matrix(80, 6, 5);
  Matrix shifted = x;
  for (Index i = 0; i < x.size(); ++i) shifted.data()[i] = x.data()[i] + 1e8;
  expect_nearest(shifted, support::dense(shifted), 5);
  Context context(1);
  const Neighbors wanted = nearest_neighbors(support::dense(x), {.count = 5, .with_mean = true}, context);
  for (const double factor : {1e-200, 1e200}) {
    Matrix scaled = x;
    for (Index i = 0; i < x.size(); ++i) scaled.data()[i] *= factor;
    const Neighbors found = nearest_neighbors(support::dense(scaled), {.count = 5, .with_mean = true}, context);
    EXPECT_EQ(found.index, wanted.index);
    EXPECT_NEAR(*found.mean_distance * found.unit / factor, *wanted.mean_distance, 1e-12 * *wanted.mean_distance);
  }
}

TEST(Neighbors, MeanDistanceCountsEveryPair) {
  const Matrix x = support::random_matrix(50, 4, 6);
  double sum = 0;
  for (Index i = 0; i < 50; ++i) {
    for (Index j = 0; j < 50; ++j) sum += std::sqrt(squared_distance(x, i, j));
  }
  Context context(2);
  for (const Source& source : {support::dense(x), support::sparse(x)}) {
    EXPECT_NEAR(*nearest_neighbors(source, {.count = 3, .with_mean = true}, context).mean_distance, sum / 2500,
                1e-12 * sum);
    // 2^16 random pairs are within a few standard errors of all of them.
    EXPECT_NEAR(sampled_mean_distance(source, 1 << 16, context), sum / 2500, 0.02 * sum / 2500);
  }
}

TEST(Graph, MatchesTheGoldenOnes) {
  for (const std::string& name : support::golden_cases()) {
    const std::string file = "graph_" + name;
    const Matrix x = support::golden(file, "X");
    const double t = support::golden(file, "t")(0, 0);
    Context context(2);
    const Graph heat = neighbor_graph(support::dense(x), {}, context);
    EXPECT_NEAR(heat.bandwidth, t, 1e-9 * t) << name;
    EXPECT_LE(support::largest_difference(dense_of(heat), support::golden(file, "W_heat")), 1e-9) << name;
    GraphOptions binary;
    binary.weights = "binary";
    EXPECT_EQ(support::largest_difference(dense_of(neighbor_graph(support::dense(x), binary, context)),
                                          support::golden(file, "W_binary")),
              0)
        << name;
  }
}

TEST(Graph, IsSymmetricWithoutLoopsAndSumsToItsDegrees) {
  const Matrix x = support::mixture(90, 6, 3, 4, 3, 7);
  Context context(2);
  for (const char* weights : {"heat", "binary", "cosine"}) {
    GraphOptions options;
    options.weights = weights;
    const Graph graph = neighbor_graph(support::dense(x), options, context);
    const Matrix w = dense_of(graph);
    for (Index i = 0; i < 90; ++i) {
      EXPECT_EQ(w(i, i), 0);
      double degree = 0;
      for (Index j = 0; j < 90; ++j) {
        EXPECT_EQ(w(i, j), w(j, i));
        EXPECT_GE(w(i, j), 0);
        degree += w(i, j);
      }
      EXPECT_NEAR(graph.degree[static_cast<std::size_t>(i)], degree, 1e-14);
    }
  }
}

TEST(Graph, CosineWeightsAreCosines) {
  const Matrix x = support::random_matrix(40, 5, 8);
  GraphOptions options;
  options.weights = "cosine";
  Context context(1);
  const Matrix w = dense_of(neighbor_graph(support::dense(x), options, context));
  Index edges = 0;
  for (Index i = 0; i < 40; ++i) {
    for (Index j = 0; j < 40; ++j) {
      if (w(i, j) == 0) continue;
      double ab = 0, aa = 0, bb = 0;
      for (Index k = 0; k < 5; ++k) ab += x(i, k) * x(j, k), aa += x(i, k) * x(i, k), bb += x(j, k) * x(j, k);
      EXPECT_NEAR(w(i, j), ab / std::sqrt(aa * bb), 1e-12);
      ++edges;
    }
  }
  EXPECT_GE(edges, 200);
}

// Faults of scikit-feature's construct_W: it keeps the loop, overwrites X, and cuts integers to zero.
TEST(Graph, ConstructWFaultsAreNotHere) {
  const Matrix x = support::whole_numbers(50, 6, 9, 9);
  const Matrix before = x;
  Context context(1);
  GraphOptions options;
  for (const char* weights : {"heat", "binary", "cosine"}) {
    options.weights = weights;
    const Matrix wanted = dense_of(neighbor_graph(support::dense(x), options, context));
    EXPECT_TRUE(support::same_bits(x, before));
    for (const auto& layout : support::layouts()) {
      const Matrix found = dense_of(neighbor_graph(layout.make(x, kBlockRows), options, context));
      EXPECT_LE(support::largest_difference(found, wanted), 1e-12) << layout.name << ", " << weights;
    }
    for (Index i = 0; i < 50; ++i) EXPECT_EQ(wanted(i, i), 0);
  }
}

TEST(Laplacian, IsItsDefinition) {
  const Matrix x = support::mixture(70, 5, 3, 4, 3, 10), v = support::random_matrix(70, 4, 11);
  Context context(2);
  const Graph graph = neighbor_graph(support::dense(x), {}, context);
  const Matrix w = dense_of(graph);
  Matrix plain(70, 70), normalized(70, 70);
  for (Index i = 0; i < 70; ++i) {
    for (Index j = 0; j < 70; ++j) {
      const double di = graph.degree[static_cast<std::size_t>(i)], dj = graph.degree[static_cast<std::size_t>(j)];
      plain(i, j) = (i == j ? di : 0) - w(i, j);
      normalized(i, j) = (i == j ? 1 : 0) - w(i, j) / std::sqrt(di * dj);
    }
  }
  EXPECT_LE(support::largest_difference(laplacian_times(graph, Laplacian::plain, v, context), product(plain, v)),
            1e-13);
  EXPECT_LE(
      support::largest_difference(laplacian_times(graph, Laplacian::normalized, v, context), product(normalized, v)),
      1e-13);
}

// Residuals, orthogonality, order, and that nothing smoother was missed: the dense and the iterated side.
TEST(Laplacian, SmoothestEigenvectorsAreEigenvectors) {
  for (const Index n : {30, 400, 1500}) {
    const Matrix x = support::mixture(n, 6, 4, 6, 1.0, 12);
    Context context(2);
    const Graph graph = neighbor_graph(support::dense(x), {}, context);
    const Spectrum found = smoothest_eigenvectors(graph, 6, context);
    ASSERT_EQ(found.vectors.cols(), 6);
    const Matrix image = laplacian_times(graph, Laplacian::normalized, found.vectors, context);
    for (Index k = 0; k < 6; ++k) {
      double residual = 0, trivial = 0;
      for (Index i = 0; i < n; ++i) {
        const double delta = image(i, k) - found.values[static_cast<std::size_t>(k)] * found.vectors(i, k);
        residual += delta * delta;
        trivial += std::sqrt(graph.degree[static_cast<std::size_t>(i)]) * found.vectors(i, k);
      }
      EXPECT_LE(std::sqrt(residual), 1e-8) << n;
      EXPECT_LE(std::abs(trivial), 1e-6);
      EXPECT_GE(found.values[static_cast<std::size_t>(k)], -1e-12);
      if (k > 0) {
        EXPECT_GE(found.values[static_cast<std::size_t>(k)], found.values[static_cast<std::size_t>(k - 1)] - 1e-9);
      }
    }
    EXPECT_LE(support::orthogonality_ratio(found.vectors), 100);
    if (n > 400) continue;
    Matrix identity(n, n);
    for (Index i = 0; i < n; ++i) identity(i, i) = 1;
    const EigenPairs all = symmetric_eigen(laplacian_times(graph, Laplacian::normalized, identity, context));
    for (Index k = 0; k < 6; ++k) {  // one of the zeros is the trivial vector's
      EXPECT_NEAR(found.values[static_cast<std::size_t>(k)], all.values[static_cast<std::size_t>(n - 2 - k)], 1e-10);
    }
  }
}

// In several parts the eigenvalue 0 is multiple; rounding must not choose the basis.
TEST(Laplacian, BasisOfEqualEigenvaluesDoesNotDependOnRounding) {
  for (const Index n : {60, 1600}) {
    Matrix x = support::random_matrix(n, 3, 13);
    for (Index i = 0; i < n; ++i) x(i, 0) += 1000.0 * static_cast<double>(i % 4);
    Matrix nearly = x;
    for (Index i = 0; i < x.size(); ++i) nearly.data()[i] *= 1 + 1e-14;
    Context context(1);
    GraphOptions options;
    options.bandwidth = 1.0;
    const Spectrum a = smoothest_eigenvectors(neighbor_graph(support::dense(x), options, context), 3, context);
    const Spectrum b = smoothest_eigenvectors(neighbor_graph(support::dense(nearly), options, context), 3, context);
    for (const double value : a.values) EXPECT_NEAR(value, 0, 1e-9);
    EXPECT_LE(support::largest_difference(a.vectors, b.vectors), 1e-6);
  }
}

TEST(Smoothness, IsItsDefinitionAndIgnoresOffsets) {
  const Matrix x = support::thinned(support::mixture(80, 7, 3, 5, 2, 14), 0.8, 15);
  Context context(2);
  const Graph graph = neighbor_graph(support::dense(x), {}, context);
  const Matrix lx = laplacian_times(graph, Laplacian::plain, x, context);
  const double total = std::accumulate(graph.degree.begin(), graph.degree.end(), 0.0);
  for (const double offset : {0.0, 1e6}) {
    Matrix moved = x;
    for (Index i = 0; i < x.size(); ++i) moved.data()[i] += offset;
    for (const Source& source : {support::dense(moved, 7), support::sparse(moved, 7)}) {
      const Smoothness found = column_smoothness(source, column_moments(source, context), graph, context);
      for (Index j = 0; j < 7; ++j) {
        const auto at = static_cast<std::size_t>(j);
        double rough = 0, mean = 0, scatter = 0;
        for (Index i = 0; i < 80; ++i) {
          rough += x(i, j) * lx(i, j);
          mean += graph.degree[static_cast<std::size_t>(i)] * x(i, j) / total;
        }
        for (Index i = 0; i < 80; ++i) {
          scatter += graph.degree[static_cast<std::size_t>(i)] * (x(i, j) - mean) * (x(i, j) - mean);
        }
        EXPECT_NEAR(found.roughness[at], rough, 1e-8 * scatter);
        EXPECT_NEAR(found.scatter[at], scatter, 1e-8 * scatter);
        EXPECT_NEAR(found.mean[at], mean + offset, 1e-9 * std::max(1.0, offset));
      }
    }
  }
}

}  // namespace
}  // namespace tamis
