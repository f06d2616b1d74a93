// The entries of one sparse row, as passes take them.
#pragma once

#include <cstdint>
#include <vector>

#include "tamis/data/passes/blocks.h"

namespace tamis {

// Shifted and scaled, as the sparse kernels take them: the store's own where nothing changes them.
struct RowEntries {
  const double* values = nullptr;
  const std::int32_t* columns = nullptr;
  Index count = 0;

  void load(const Centered& z, const Block& block, Index i) {
    const Index first = block.csr.offsets[i], stored = block.csr.offsets[i + 1] - first;
    if (z.plain_entries() && block.csr.dtype == DType::f64) {
      values = static_cast<const double*>(block.csr.values) + first;
      columns = block.csr.columns + first;
      count = stored;
      return;
    }
    if (static_cast<Index>(own_values_.size()) < stored) {
      own_values_.resize(stored);
      own_columns_.resize(stored);
    }
    std::size_t used = 0;
    for_each_shifted(z, block, i, 1, [&](Index, Index j, double value) {
      own_values_[used] = value;
      own_columns_[used++] = static_cast<std::int32_t>(j);
    });
    values = own_values_.data();
    columns = own_columns_.data();
    count = static_cast<Index>(used);
  }

 private:
  std::vector<double> own_values_;
  std::vector<std::int32_t> own_columns_;
};

}  // namespace tamis
