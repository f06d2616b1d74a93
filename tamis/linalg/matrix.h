// Row-major dense matrices: an owner and its views. Only small matrices (d x c, n x c, c x c) live here; the
// data itself stays in a Source.
#pragma once

#include <vector>

#include "tamis/base/blocks.h"
#include "tamis/base/types.h"

namespace tamis {

template <class T>
class BasicMatrix {
 public:
  BasicMatrix() = default;
  BasicMatrix(Index rows, Index cols, T value = T(0)) : rows_(rows), cols_(cols), data_(rows * cols, value) {}

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index size() const { return rows_ * cols_; }
  bool empty() const { return data_.empty(); }

  T* data() { return data_.data(); }
  const T* data() const { return data_.data(); }
  T* row(Index i) { return data_.data() + i * cols_; }
  const T* row(Index i) const { return data_.data() + i * cols_; }
  T& operator()(Index i, Index j) { return data_[i * cols_ + j]; }
  const T& operator()(Index i, Index j) const { return data_[i * cols_ + j]; }

 private:
  Index rows_ = 0;
  Index cols_ = 0;
  std::vector<T, BlockAllocator<T>> data_;
};

using Matrix = BasicMatrix<double>;

}  // namespace tamis
