// An earlier selection, and its columns in another table: next month's, with the same columns in any order among
// others.
#pragma once

#include <string>
#include <vector>

#include "tamis/base/types.h"

namespace tamis {

struct EarlierSelection {
  std::vector<Index> positions;    // among the features of the table it was made from, increasing
  std::vector<std::string> names;  // of these columns; empty where that table had no names
  Index features = 0;              // of that table
  std::string id_column;           // that named its rows; empty: none
};

// What is known of the columns of the other table.
struct OtherTable {
  std::string where;               // for messages
  std::vector<std::string> names;  // empty where it has none
  Index features = 0;
  std::vector<std::string> left_out;  // columns that hold text, labels or row identifiers
};

// The positions of the selected columns in the other table, by name, or by position where the first table had no names,
// in the order of the first table, which is that of its reduced table. Throws Error(bad_data) where columns are missing
// (with the names that are closest), where several have a name, where one holds text, and by position where the tables
// differ in width.
std::vector<Index> find_selected(const EarlierSelection& selection, const OtherTable& table);

}  // namespace tamis
