// class Points of kmeans.h.

#include <algorithm>

#include "tamis/cluster/kmeans.h"

namespace tamis {

template <class T>
Points<T>::Points(Index rows, Index dims)
    : rows_(rows), dims_(dims), data_(static_cast<std::size_t>(panels() * dims_ * kPanel)) {}

template <class T>
Points<T>::Points(const BasicMatrix<T>& rows) : Points(rows.rows(), rows.cols()) {
  for (Index p = 0; p < panels(); ++p) {
    T* panel = data_.data() + p * dims_ * kPanel;
    const Index count = std::min(kPanel, rows_ - p * kPanel);
    for (Index i = 0; i < count; ++i) {
      const T* row = rows.row(p * kPanel + i);
      for (Index j = 0; j < dims_; ++j) panel[j * kPanel + i] = row[j];
    }
  }
  measure();
}

// Squared norms, sixteen rows at a time and in double.
template <class T>
void Points<T>::measure() {
  squares_.resize(static_cast<std::size_t>(panels() * kPanel));
  for (Index p = 0; p < panels(); ++p) {
    double sums[kPanel] = {};
    for (Index j = 0; j < dims_; ++j) {
      const T* values = panel(p) + j * kPanel;
      for (Index i = 0; i < kPanel; ++i) sums[i] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    }
    for (Index i = 0; i < kPanel; ++i) {
      squares_[static_cast<std::size_t>(p * kPanel + i)] = static_cast<T>(sums[i]);
      squared_norm_ += sums[i];
    }
  }
}

template class Points<double>;
template class Points<float>;

}  // namespace tamis
