#include "tamis/graph/cells.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tamis/cluster/kmeans.h"
#include "tamis/data/passes/principal.h"
#include "tamis/linalg/blas.h"

namespace tamis {

namespace {

constexpr Index kSampledRows = 32;    // of every cell, for k-means
constexpr Index kCellRounds = 8;      // of k-means: cells need not be the best ones
constexpr Index kLargest = 3;         // times the mean size: larger cells are cut
constexpr Index kFewDirections = 64;  // of sparse rows

std::vector<double> squares_of(const Matrix& points) {
  std::vector<double> out(points.rows());
  for (Index i = 0; i < points.rows(); ++i) {
    for (Index j = 0; j < points.cols(); ++j) out[i] += points(i, j) * points(i, j);
  }
  return out;
}

Matrix sample_centers(const CellPoints& points, Index count, Context& context) {
  const std::vector<Index> rows =
      sample_rows(points.rows(), std::min(points.rows(), kSampledRows * count), context.seed);
  Matrix sample(static_cast<Index>(rows.size()), points.dims());
  context.pool().run(sample.rows(), [&](Index i) { points.load(rows[i], sample.row(i)); });
  KMeansOptions options;
  options.clusters = count;
  options.restarts = 1;
  options.iterations = kCellRounds;
  options.start = KMeansOptions::Start::random;
  options.exchange = false;
  options.seed = context.seed;
  return kmeans(std::move(sample), options, context).centers;
}

// The nearest center of every row.
std::vector<std::int32_t> nearest_centers(const CellPoints& points, const Cells& cells, Context& context) {
  const Index n = points.rows();
  std::vector<std::int32_t> out(n);
  context.pool().run((n + kPointsAtOnce - 1) / kPointsAtOnce, [&](Index task) {
    const Index first = task * kPointsAtOnce, count = std::min(kPointsAtOnce, n - first);
    context.check_cancelled();
    Matrix some(count, points.dims()), distance(count, cells.count());
    for (Index i = 0; i < count; ++i) points.load(first + i, some.row(i));
    center_distances(cells, some, distance);
    for (Index i = 0; i < count; ++i) {
      const double* row = distance.row(i);
      out[first + i] = static_cast<std::int32_t>(std::min_element(row, row + cells.count()) - row);
    }
  });
  return out;
}

// The rows of each label, one label after the other.
std::vector<std::int32_t> sorted_by(const std::vector<std::int32_t>& labels, std::vector<Index>& offsets) {
  for (const std::int32_t label : labels) ++offsets[label + 1];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<Index> next(offsets.begin(), offsets.end() - 1);
  std::vector<std::int32_t> rows(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) rows[next[labels[i]]++] = static_cast<std::int32_t>(i);
  return rows;
}

// Cuts cells with more than `most` rows, and drops those without any.
Cells with_even_sizes(const Cells& from, Index most) {
  Cells out;
  out.rows = from.rows;
  out.cell.resize(from.rows.size());
  out.offsets = {0};
  std::vector<Index> center;
  for (Index k = 0; k < from.count(); ++k) {
    const Index pieces = (from.size(k) + most - 1) / most;
    for (Index piece = 1; piece <= pieces; ++piece) {
      const Index end = from.offsets[k] + from.size(k) * piece / pieces;
      for (Index at = out.offsets.back(); at < end; ++at) {
        out.cell[out.rows[at]] = static_cast<std::int32_t>(center.size());
      }
      out.offsets.push_back(end);
      center.push_back(k);
    }
  }
  out.centers = Matrix(static_cast<Index>(center.size()), from.centers.cols());
  for (Index k = 0; k < out.centers.rows(); ++k) {
    std::copy_n(from.centers.row(center[k]), from.centers.cols(), out.centers.row(k));
    out.square.push_back(from.square[center[k]]);
  }
  return out;
}

}  // namespace

CellPoints::CellPoints(const Centered& z, Context& context) : z_(z) {
  if (!z.source().sparse()) return;
  const Centered centered(z.source(), column_moments(z.source(), context));
  few_ = principal_points(centered, std::min(kFewDirections, z.cols()), Accuracy::rough, context);
  if (few_.cols() == 0) few_ = Matrix(z.rows(), 1);  // all rows are equal
}

void CellPoints::load(Index row, double* to) const {
  if (z_.source().sparse()) {
    std::copy_n(few_.row(row), few_.cols(), to);
  } else {
    load_rows(z_, row, 1, to);
  }
}

void center_distances(const Cells& cells, const Matrix& points, Matrix& to) {
  for (Index i = 0; i < points.rows(); ++i) std::copy(cells.square.begin(), cells.square.end(), to.row(i));
  blas::gemm(false, true, points.rows(), cells.count(), points.cols(), -2.0, points.data(), points.cols(),
             cells.centers.data(), points.cols(), 1.0, to.data(), to.cols());
}

Cells divide(const CellPoints& points, Context& context) {
  const Index n = points.rows();
  const auto count = std::max<Index>(1, static_cast<Index>(std::lround(std::sqrt(static_cast<double>(n)))));
  Cells cells;
  cells.centers = sample_centers(points, count, context);
  cells.square = squares_of(cells.centers);
  cells.cell = nearest_centers(points, cells, context);
  cells.offsets.assign(cells.square.size() + 1, 0);
  cells.rows = sorted_by(cells.cell, cells.offsets);
  return with_even_sizes(cells, kLargest * ((n + count - 1) / count));
}

}  // namespace tamis
