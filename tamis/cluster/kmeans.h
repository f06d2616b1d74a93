// k-means on points in memory: Lloyd's iteration from k-means++ or random starts, many restarts together.
//
//   minimise ||Y - U G||^2 over U (one 1 a row) and G (c x m)
//
// Restarts are thinned by successive halving: all get a few Lloyd steps, the better half goes on, and only the
// last one runs to its end, where small clusters also exchange single points (Hartigan). The inertia never rises
// from one step to the next.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/linalg/kernels.h"
#include "tamis/linalg/matrix.h"

namespace tamis {

// Points packed for the kernels: panels of kPanel rows, dimension by dimension. They should lie around 0, since
// distances are computed from squared norms; kmeans(Matrix) sees to that itself.
template <class T>
class Points {
 public:
  explicit Points(const BasicMatrix<T>& rows);
  // The given rows (any order) of other points, perhaps in another precision.
  template <class Other>
  Points(const Points<Other>& all, const std::vector<Index>& rows)
      : Points(static_cast<Index>(rows.size()), all.dims()) {
    for (Index i = 0; i < rows_; ++i) {
      const Index from = rows[static_cast<std::size_t>(i)];
      const Other* source = all.panel(from / kPanel) + from % kPanel;
      T* target = data_.data() + i / kPanel * dims_ * kPanel + i % kPanel;
      for (Index j = 0; j < dims_; ++j) target[j * kPanel] = static_cast<T>(source[j * kPanel]);
    }
    measure();
  }

  Index rows() const { return rows_; }
  Index dims() const { return dims_; }
  Index panels() const { return (rows_ + kPanel - 1) / kPanel; }
  const T* panel(Index p) const { return data_.data() + p * dims_ * kPanel; }
  T at(Index row, Index dim) const { return panel(row / kPanel)[dim * kPanel + row % kPanel]; }
  double squared_norm() const { return squared_norm_; }  // of all points
  T squared_norm(Index row) const { return squares_[static_cast<std::size_t>(row)]; }
  const std::vector<T>& squared_norms() const { return squares_; }  // of each row, with zeros for the last panel's rest

 private:
  Points(Index rows, Index dims);
  void measure();

  Index rows_, dims_;
  std::vector<T> data_, squares_;
  double squared_norm_ = 0;
};

struct KMeansOptions {
  Index clusters = 8;
  Index restarts = 10;
  Index iterations = 100;
  enum class Start { plus_plus, random } start = Start::plus_plus;
  std::uint64_t seed = 0;
  bool exchange = true;    // small clusters exchange single points in the end
  std::vector<int> fixed;  // cluster of each row, -1 where free; empty: all free
  // Inertia to beat: restarts that come nowhere near it are given up early (kmeans() only).
  double bar = std::numeric_limits<double>::infinity();
};

struct KMeansResult {
  std::vector<int> labels;
  Matrix centers;             // c x m; the centre of an empty cluster is where it last was
  std::vector<Index> counts;  // c
  double inertia = 0;         // sum of squared distances to the centres
  Index iterations = 0;
  bool converged = false;       // no label changed in the last iteration
  std::vector<double> history;  // inertia after each iteration
};

template <class T>
KMeansResult kmeans(const Points<T>& points, const KMeansOptions& options, Context& context);
KMeansResult kmeans(Matrix points, const KMeansOptions& options, Context& context);

// Lloyd's iteration from given centres, or from given labels (which it can only improve on).
template <class T>
KMeansResult lloyd(const Points<T>& points, const Matrix& centers, const KMeansOptions& options, Context& context);
template <class T>
KMeansResult lloyd_from_labels(const Points<T>& points, const std::vector<int>& labels, const KMeansOptions& options,
                               Context& context);

}  // namespace tamis
