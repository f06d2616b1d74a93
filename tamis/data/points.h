// Points as k-means takes them: n rows of m numbers, in memory, or left with the rows that they were computed from
// where those live elsewhere.
#pragma once

#include <memory>
#include <vector>

#include "tamis/data/stores/remote.h"
#include "tamis/linalg/archive.h"
#include "tamis/linalg/kernels.h"
#include "tamis/linalg/matrix.h"

namespace tamis {

// Packed for the kernels: panels of kPanel rows, dimension by dimension. They should lie around 0, since distances are
// computed from squared norms.
template <class T>
class Points {
 public:
  explicit Points(const BasicMatrix<T>& rows);
  // A point of weight w counts as w points; none: each as one.
  Points(const BasicMatrix<T>& rows, const std::vector<double>& weights);
  // The given rows (any order) of other points, with their weights, perhaps in another precision.
  template <class Other>
  Points(const Points<Other>& all, const std::vector<Index>& rows)
      : Points(static_cast<Index>(rows.size()), all.dims()) {
    T* data = allocate();
    for (Index i = 0; i < rows_; ++i) {
      const Index from = rows[i];
      const Other* source = all.panel(from / kPanel) + from % kPanel;
      T* target = data + i / kPanel * dims_ * kPanel + i % kPanel;
      for (Index j = 0; j < dims_; ++j) target[j * kPanel] = static_cast<T>(source[j * kPanel]);
      if (all.weighted()) weights_.push_back(all.weights()[from]);
    }
    measure();
  }
  // Points that a pass has left with the rows of a store; panel() and the norms of single rows are not here.
  Points(Index rows, Index dims, double squared_norm, LeftRows there);
  // The panels of such points, where they are; they must outlive these. The norms of single rows are not known.
  Points(ByteView panels, Index rows, Index dims);

  Index rows() const { return rows_; }
  Index dims() const { return dims_; }
  Index panels() const { return (rows_ + kPanel - 1) / kPanel; }
  const T* panel(Index p) const { return data_ + p * dims_ * kPanel; }
  T at(Index row, Index dim) const { return panel(row / kPanel)[dim * kPanel + row % kPanel]; }
  bool weighted() const { return !weights_.empty(); }
  const std::vector<double>& weights() const { return weights_; }  // empty: each counts once
  double weight(Index row) const { return weights_.empty() ? 1.0 : weights_[row]; }
  double total_weight() const { return total_weight_; }
  void weigh(const std::vector<double>& weights);  // others than those they had

  double squared_norm() const { return squared_norm_; }  // of all points, times their weights
  T squared_norm(Index row) const { return squares_[row]; }
  const std::vector<T>& squared_norms() const { return squares_; }  // of each row, with zeros for the last panel's rest

  Points<float> narrow() const;  // the same in float

  const LeftRows& there() const { return there_; }
  RemotePart bytes() const;  // what to leave, and what keeps it alive

 private:
  Points(Index rows, Index dims) : rows_(rows), dims_(dims), total_weight_(static_cast<double>(rows)) {}
  T* allocate();  // panels of zeros
  std::size_t size() const { return panels() * dims_ * kPanel; }
  void measure();

  Index rows_, dims_;
  std::shared_ptr<const void> owner_;
  const T* data_ = nullptr;
  std::vector<T> squares_;
  std::vector<double> weights_;
  double total_weight_ = 0;
  double squared_norm_ = 0;
  LeftRows there_;
};

}  // namespace tamis
