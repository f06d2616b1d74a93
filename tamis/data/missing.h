// Missing values of a table: NaN where its numbers are read, and what is done about them before anything is computed.
#pragma once

#include <string>

#include "tamis/base/context.h"

namespace tamis {

struct Table;

enum class Missing {
  refuse,        // text tables at once, arrays in their first pass
  drop_rows,     // that have any
  drop_columns,  // that have any
  mean,          // of the other values of the column
  median,
  keep  // as NaN, for those who count them
};

// "refuse", "drop-rows", "drop-columns", "mean" or "median"; Error(usage) for all others.
Missing parse_missing(const std::string& text);

// Drops or fills in, and adds a note of how much that was. Names, positions in the file, row identifiers and labels
// follow. A table that has no missing values is left as it is, bit for bit; otherwise its numbers are copied once.
// Error(bad_data) where nothing would be left, or where the table is sparse.
void treat_missing(Table& table, Missing missing, const std::string& where, Context& context);

}  // namespace tamis
