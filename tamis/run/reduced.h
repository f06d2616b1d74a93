// The table with the selected columns only, in the kind of file it came from: CSV for tables of named columns (text,
// Parquet, Arrow), MatrixMarket for sparse ones, NPY of the same element type for the rest. Values are those
// of the file, whatever scaling the method was given.
#pragma once

#include <string>
#include <vector>

#include "tamis/data/table.h"
#include "tamis/run/output.h"

namespace tamis {

// "selected.csv", "selected.mtx" or "selected.npy".
std::string reduced_name(const Table& table);
// The columns in the order given. `id_column` heads the row identifiers of a CSV table that has them.
void write_reduced(const Table& table, const std::vector<Index>& columns, const std::string& id_column, FileWriter& out,
                   Context& context);

}  // namespace tamis
