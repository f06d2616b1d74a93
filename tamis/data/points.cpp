#include "tamis/data/points.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/data/passes/reduce.h"

namespace tamis {

template <class T>
T* Points<T>::allocate() {
  const auto own = std::make_shared<std::vector<T>>(size());
  owner_ = own;
  data_ = own->data();
  return own->data();
}

template <class T>
Points<T>::Points(const BasicMatrix<T>& rows) : Points(rows, {}) {}

template <class T>
Points<T>::Points(const BasicMatrix<T>& rows, const std::vector<double>& weights) : Points(rows.rows(), rows.cols()) {
  weights_ = weights;
  T* data = allocate();
  for (Index p = 0; p < panels(); ++p) {
    T* panel = data + p * dims_ * kPanel;
    const Index count = std::min(kPanel, rows_ - p * kPanel);
    for (Index i = 0; i < count; ++i) {
      const T* row = rows.row(p * kPanel + i);
      for (Index j = 0; j < dims_; ++j) panel[j * kPanel + i] = row[j];
    }
  }
  measure();
}

template <class T>
Points<T>::Points(Index rows, Index dims, double squared_norm, LeftRows there) : Points(rows, dims) {
  squared_norm_ = squared_norm;
  there_ = std::move(there);
}

template <class T>
Points<T>::Points(ByteView panels, Index rows, Index dims) : Points(rows, dims) {
  require(is_times(panels.size(), dims, (this->panels() * kPanel) * sizeof(T)), ErrorCode::internal,
          "points of a chunk: ", panels.size(), " bytes for ", rows, " rows of ", dims, " numbers");
  if (reinterpret_cast<std::uintptr_t>(panels.data()) % alignof(T) == 0) {
    data_ = reinterpret_cast<const T*>(panels.data());
  } else {
    std::memcpy(allocate(), panels.data(), panels.size());
  }
}

template <class T>
RemotePart Points<T>::bytes() const {
  return {{reinterpret_cast<const std::uint8_t*>(data_), size() * sizeof(T)}, owner_};
}

// Squared norms, sixteen rows at a time and in double; their sum along the tree over blocks of rows.
template <class T>
void Points<T>::measure() {
  if (weighted()) total_weight_ = std::accumulate(weights_.begin(), weights_.end(), 0.0);
  squares_.resize(panels() * kPanel);
  std::vector<double> blocks((rows_ + kBlockRows - 1) / kBlockRows);
  for (Index p = 0; p < panels(); ++p) {
    double sums[kPanel] = {};
    for (Index j = 0; j < dims_; ++j) {
      const T* values = panel(p) + j * kPanel;
      for (Index i = 0; i < kPanel; ++i) sums[i] += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    }
    double& block = blocks[p * kPanel / kBlockRows];
    for (Index i = 0; i < kPanel; ++i) {
      squares_[p * kPanel + i] = static_cast<T>(sums[i]);
      const Index row = p * kPanel + i;
      block += weights_.empty() ? sums[i] : row < rows_ && weights_[row] > 0 ? weights_[row] * sums[i] : 0.0;
    }
  }
  merge_in_tree(blocks, [](double& into, double from) { into += from; });
  squared_norm_ = blocks.empty() ? 0 : blocks.front();
}

template <class T>
void Points<T>::weigh(const std::vector<double>& weights) {
  weights_ = weights;
  measure();
}

template <class T>
Points<float> Points<T>::narrow() const {
  std::vector<Index> all(rows_);
  std::iota(all.begin(), all.end(), Index{0});
  return Points<float>(*this, all);
}

template class Points<double>;
template class Points<float>;

}  // namespace tamis
