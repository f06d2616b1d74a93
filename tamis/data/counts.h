// Raw counts (of molecules, words, clicks) made comparable: each row divided by its sum over all columns, times 10^4,
// then log(1 + x), as scanpy.pp.normalize_total(target_sum=1e4) and log1p do. Zeros stay zeros, so sparse rows stay
// sparse.
#pragma once

#include "tamis/data/table.h"

namespace tamis {

inline constexpr double kRowTotal = 1e4;

// Replaces the numbers of the table and keeps those of the file beside (Table::as_read). Rows of zeros stay. Throws
// Error(bad_data) where a number is negative, fractional or not finite, Error(resources) where the rows are on disk or
// the memory does not suffice.
void normalize_counts(Table& table, Context& context);

}  // namespace tamis
