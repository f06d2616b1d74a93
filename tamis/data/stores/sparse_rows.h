// Walking the entries of a sparse block as a source sees them.
#pragma once

#include <vector>

#include "tamis/data/source.h"

namespace tamis {

// For a sparse source: the source's position of each column of the store, -1 where it is left out; empty where
// all columns are kept.
std::vector<std::int32_t> column_positions(const Source& source);

// visit(row, j, value) for every stored entry, scaled; j is the source's column.
template <class Visit>
void for_each_entry(const Source& source, const std::vector<std::int32_t>& position, const Block& block, Visit visit) {
  with_values(block.csr, [&](const auto* values) {
    for (Index i = 0; i < block.rows; ++i) {
      const Index row = block.first + i;
      const double row_scale = source.row_scale().empty() ? 1.0 : source.row_scale()[row];
      for (Index k = block.csr.offsets[i]; k < block.csr.offsets[i + 1]; ++k) {
        const Index j = position.empty() ? block.csr.columns[k] : position[block.csr.columns[k]];
        if (j < 0) continue;
        const double scale = source.column_scale().empty() ? 1.0 : source.column_scale()[j];
        visit(row, j, static_cast<double>(values[k]) * row_scale * scale);
      }
    }
  });
}

}  // namespace tamis
