// k-means: Lloyd's iteration from k-means++ or random starts, many restarts together.
//
//   minimize ||Y - U G||^2 over U (one 1 a row) and G (c x m)
//
// Points may have weights (points.h): each square is taken so many times. Points of weight 0 get the label of the
// nearest center, and change nothing.
//
// Restarts are thinned by successive halving: all get a few Lloyd steps, the better half goes on, and only the
// last one runs to its end, where small clusters also exchange single points (Hartigan); unless all are to run to their
// end. The inertia never rises from one step to the next.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/points.h"
#include "tamis/linalg/matrix.h"

namespace tamis {

struct KMeansOptions {
  Index clusters = 8;
  Index restarts = 10;
  Index iterations = 100;
  enum class Start { plus_plus, random } start = Start::plus_plus;
  std::uint64_t seed = 0;
  bool exchange = true;     // small clusters exchange single points in the end
  bool to_the_end = false;  // every restart runs to its end, and the best of them then is the result (kmeans() only)
  std::vector<int> fixed;   // cluster of each row, -1 where free; empty: all free
  // Inertia to beat: restarts that come nowhere near it are given up early (kmeans() only).
  double threshold = std::numeric_limits<double>::infinity();
};

struct KMeansResult {
  std::vector<int> labels;
  Matrix centers;             // c x m; the center of an empty cluster is where it last was
  std::vector<Index> counts;  // c: points whose weight is not 0
  double inertia = 0;         // sum of squared distances to the centers
  Index iterations = 0;
  bool converged = false;       // no label changed in the last iteration
  std::vector<double> history;  // inertia after each iteration
};

// Whether single points are exchanged in the end, which looks at them one after the other: they must be here.
bool exchanges_points(Index rows, Index clusters);

// Points that lie around 0; kmeans(Matrix) sees to that itself. They must be here, for the starts.
template <class T>
KMeansResult kmeans(const Points<T>& points, const KMeansOptions& options, Context& context);
KMeansResult kmeans(Matrix points, const KMeansOptions& options, Context& context);

// Lloyd's iteration from given centers, or from given labels (which it can only improve on). Points that were left with
// the rows they are of stay there: of each step, c x m numbers are moved.
template <class T>
KMeansResult lloyd(const Points<T>& points, const Matrix& centers, const KMeansOptions& options, Context& context);
template <class T>
KMeansResult lloyd_from_labels(const Points<T>& points, const std::vector<int>& labels, const KMeansOptions& options,
                               Context& context);

}  // namespace tamis
