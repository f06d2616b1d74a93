// The search of nearest rows in cells against brute force: what it finds, and what it says about that.
#include "tamis/graph/cells.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tamis/graph/graph.h"
#include "tamis/graph/neighbors.h"
#include "tamis/select/methods/lapscore.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

constexpr Index kCount = 5;

NeighborSearch in_cells(double recall) { return {.count = kCount, .recall = recall}; }

double squared_distance(const Matrix& x, Index a, Index b) {
  double sum = 0;
  for (Index j = 0; j < x.cols(); ++j) sum += (x(a, j) - x(b, j)) * (x(a, j) - x(b, j));
  return sum;
}

// The share of the found rows that are no farther than the k-th nearest by brute force. Checks on the way that the
// lists are what lists of neighbors are.
double true_recall(const Matrix& x, const Neighbors& found) {
  Index near = 0;
  std::vector<double> all(static_cast<std::size_t>(x.rows()));
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.rows(); ++j) all[j] = squared_distance(x, i, j);
    all[i] = std::numeric_limits<double>::infinity();
    std::vector<double> sorted = all;
    std::nth_element(sorted.begin(), sorted.begin() + kCount - 1, sorted.end());
    std::set<Index> seen = {i};
    for (Index q = 0; q < kCount; ++q) {
      const Index j = found.index[i * kCount + q];
      EXPECT_TRUE(seen.insert(j).second) << "row " << i << " has " << j << " twice, or itself";
      const double distance = found.distance[i * kCount + q] * found.unit * found.unit;
      EXPECT_NEAR(distance, all[j], 1e-9 * all[j]);
      EXPECT_GE(found.distance[i * kCount + q], found.distance[i * kCount + std::max<Index>(q - 1, 0)]);
      near += all[j] <= sorted[kCount - 1] * (1 + 1e-12) ? 1 : 0;
    }
  }
  return static_cast<double>(near) / static_cast<double>(x.rows() * kCount);
}

void expect_recall(const Matrix& x, const Source& source, const char* what) {
  for (const double recall : {0.8, 0.98}) {
    Context context(2);
    const Neighbors found = nearest_neighbors(source, in_cells(recall), context);
    const double reached = true_recall(x, found);
    EXPECT_GE(reached, recall - 0.01) << what;
    EXPECT_NEAR(found.recall, reached, 0.03) << what;
    EXPECT_GT(found.cells, 0) << what;
    EXPECT_LE(found.probes, found.cells) << what;
  }
}

Matrix grouped(Index n, Index d, double apart) {
  Matrix x = support::random_matrix(n, d, 1);
  const Matrix centers = support::random_matrix(8, d, 2);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) x(i, j) += apart * centers(i % 8, j);
  }
  return x;
}

TEST(Cells, FindTheNearestRowsOfGroupsAndOfNoise) {
  const Matrix groups = grouped(1600, 6, 10), noise = support::random_matrix(1500, 4, 3);
  expect_recall(groups, support::dense(groups), "groups");
  expect_recall(noise, support::dense(noise), "noise");
  const Matrix thin = support::thinned(groups, 0.5, 4);
  expect_recall(thin, support::dense(thin), "thin");
  expect_recall(thin, support::sparse(thin), "sparse");
}

TEST(Cells, SaveWorkWhereRowsComeInGroups) {
  Context context(2);
  const Matrix x = grouped(4000, 4, 20);
  const Neighbors found = nearest_neighbors(support::dense(x), in_cells(0.98), context);
  EXPECT_LT(5 * found.probes, found.cells);
}

TEST(Cells, SurviveCopiesAndEqualRows) {
  Matrix copies = support::random_matrix(1500, 5, 5);
  for (Index i = 100; i < copies.rows(); ++i) std::copy_n(copies.row(i % 100), 5, copies.row(i));
  expect_recall(copies, support::dense(copies), "copies");
  expect_recall(copies, support::sparse(copies), "sparse copies");
  const Matrix equal(1200, 3, 7.0);
  expect_recall(equal, support::dense(equal), "equal");
  expect_recall(equal, support::sparse(equal), "sparse equal");
  Matrix half = support::random_matrix(1500, 4, 6);
  for (Index i = 0; i < half.rows(); i += 2) std::fill_n(half.row(i), 4, 0.0);
  expect_recall(half, support::dense(half), "half zero");
  expect_recall(half, support::sparse(half), "sparse, half zero");
}

// Products of rows far from 0 lose the digits in which near rows differ; cells have centers of their own.
TEST(Cells, SurviveOffsetsOutliersAndFarGroups) {
  const Matrix x = grouped(1500, 5, 10);
  Matrix shifted = x, outliers = x, far = x;
  for (Index i = 0; i < x.size(); ++i) shifted.data()[i] += 1e8;
  for (Index i = 0; i < x.rows(); i += 100) outliers(i, 0) += 1e9 * static_cast<double>(i + 1);
  for (Index i = 0; i < x.rows(); ++i) far(i, i % 3) += 1e6;
  expect_recall(shifted, support::dense(shifted), "offset");
  expect_recall(outliers, support::dense(outliers), "outliers");
  expect_recall(far, support::dense(far), "far groups");
}

TEST(Cells, GiveTheSameBitsAtAnyNumberOfThreadsAndSizeOfBlocks) {
  const Matrix x = support::thinned(grouped(3000, 6, 5), 0.7, 8);
  for (const bool sparse : {false, true}) {
    const auto make = [&](Index rows) { return sparse ? support::sparse(x, rows) : support::dense(x, rows); };
    Context one(1), four(4);
    const Neighbors a = nearest_neighbors(make(kBlockRows), in_cells(0.9), one);
    const Neighbors b = nearest_neighbors(make(64), in_cells(0.9), four);
    EXPECT_EQ(a.index, b.index);
    EXPECT_EQ(a.distance, b.distance);
    EXPECT_EQ(a.recall, b.recall);
    EXPECT_EQ(a.probes, b.probes);
  }
}

TEST(Cells, AreNotUsedForFewRowsOrWhereEveryNeighborIsWanted) {
  const Matrix x = grouped(500, 4, 5);
  Context context(2);
  const Neighbors exact = nearest_neighbors(support::dense(x), in_cells(1), context);
  NeighborSearch few = in_cells(0.5);
  few.exact_rows = 500;
  EXPECT_EQ(exact.cells, 0);
  EXPECT_EQ(nearest_neighbors(support::dense(x), few, context).index, exact.index);
  EXPECT_EQ(true_recall(x, exact), 1);
}

TEST(Cells, HoldEveryRowOnceAndNoneTooMany) {
  Context context(2);
  Matrix x = grouped(2000, 3, 4);
  for (Index i = 0; i < 1500; ++i) std::fill_n(x.row(i), 3, 1.0);  // one large cell, to be cut
  const Source source = support::dense(x);
  const ColumnMoments moments = column_moments(source, context);
  const Centered z(source, moments);
  const Cells cells = divide(CellPoints(z, context), context);
  std::vector<std::int32_t> rows = cells.rows;
  std::sort(rows.begin(), rows.end());
  for (Index i = 0; i < x.rows(); ++i) ASSERT_EQ(rows[i], i);
  for (Index k = 0; k < cells.count(); ++k) {
    EXPECT_GT(cells.size(k), 0);
    EXPECT_LE(cells.size(k), 3 * 45);
    for (Index at = cells.offsets[k]; at < cells.offsets[k] + cells.size(k); ++at) {
      EXPECT_EQ(cells.cell[cells.rows[at]], k);
    }
  }
}

TEST(Cells, MakeSymmetricGraphsThatTheReportNames) {
  const Matrix x = grouped(900, 4, 10);
  Context context(2);
  LapScoreOptions options;
  options.graph.exact_rows = 100;
  for (const char* weights : {"heat", "binary", "cosine"}) {
    options.graph.weights = weights;
    const Graph graph = neighbor_graph(support::dense(x), options.graph, context);
    for (Index i = 0; i < graph.rows; ++i) {
      for (Index q = graph.offsets[i]; q < graph.offsets[i + 1]; ++q) {
        const Index j = graph.columns[q];
        ASSERT_NE(i, j);
        const auto begin = graph.columns.begin() + graph.offsets[j], end = graph.columns.begin() + graph.offsets[j + 1];
        const auto back = std::lower_bound(begin, end, static_cast<std::int32_t>(i));
        ASSERT_TRUE(back != end && *back == i);
        ASSERT_EQ(graph.weights[back - graph.columns.begin()], graph.weights[q]);
      }
    }
    const Selection found = lapscore(support::dense(x), options, context);
    EXPECT_EQ(found.report.path, LapScorePlan(shape_of(support::dense(x)), options, 2).path);
    EXPECT_EQ(found.report.path.rfind("graph in cells, ", 0), 0U);
    std::set<std::string> facts;
    for (const auto& [name, value] : found.report.resolved) facts.insert(name);
    EXPECT_TRUE(facts.count("measured_recall") == 1 && facts.count("probes") == 1);
  }
}

}  // namespace
}  // namespace tamis
