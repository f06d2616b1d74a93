// Labels from another table, meta.csv:kind, joined to the rows by their identifiers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tamis/data/table.h"

namespace tamis {

struct ColumnOfFile {
  std::string path, column;
};

// "meta.csv:kind", where meta.csv is there and no file has the whole name.
std::optional<ColumnOfFile> column_of_file(const std::string& spec);

// The label of every row. The identifiers of the other table are in its column `id_column`, or else in its first.
// Throws Error(usage) where the rows have no identifiers or there is no such column, Error(bad_data) where rows are
// missing in the other table or identifiers are repeated, with their number and the first of them.
Labels read_joined_labels(const ColumnOfFile& from, const std::string& id_column,
                          const std::vector<std::string>& row_ids, Context& context);

}  // namespace tamis
