// class Points of kmeans.h.

#include <algorithm>

#include "tamis/cluster/kmeans.h"

namespace tamis {

template <class T>
double Points<T>::squared_norm(Index row) const {
  double sum = 0;
  for (Index j = 0; j < dims_; ++j) {
    const auto value = static_cast<double>(at(row, j));
    sum += value * value;
  }
  return sum;
}

template <class T>
Points<T>::Points(Index rows, Index dims)
    : rows_(rows), dims_(dims), data_(static_cast<std::size_t>(panels() * dims_ * kPanel)) {}

template <class T>
Points<T>::Points(const BasicMatrix<T>& rows) : Points(rows.rows(), rows.cols()) {
  for (Index p = 0; p < panels(); ++p) {
    T* panel = data_.data() + p * dims_ * kPanel;
    const Index count = std::min(kPanel, rows_ - p * kPanel);
    double norm = 0;
    for (Index i = 0; i < count; ++i) {
      const T* row = rows.row(p * kPanel + i);
      for (Index j = 0; j < dims_; ++j) {
        panel[j * kPanel + i] = row[j];
        norm += static_cast<double>(row[j]) * static_cast<double>(row[j]);
      }
    }
    squared_norm_ += norm;
  }
}

template class Points<double>;
template class Points<float>;

}  // namespace tamis
