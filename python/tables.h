// Files: the core's readers for Python, and Python's readers for the core.
#pragma once

#include <string>
#include <vector>

#include "app/figures.h"
#include "python/arrays.h"
#include "tamis/data/table.h"

namespace tamis::python {

// Formats that Python reads, by a function with the meaning of ReadOptions in keywords that opens a file
// (tamis/_foreign.py).
ForeignReader foreign_reader(const nb::object& reader);
// What draws the figures of a page: a function of a folder and a format (tamis/_foreign.py).
app::FigureSaver figure_saver(const nb::object& saver);

// {"X", "names", "row_ids", "labels": {word: {"classes", "names"}}, "excluded_columns", "format", "notes",
// "warnings"}; X as view_of(), or DiskRows where the rows stay on disk: shards, and what can where `on_disk` says so.
nb::dict read(const nb::bytes& path, const std::string& array, const std::string& header, const std::string& id_column,
              const std::vector<std::string>& labels, const std::vector<std::string>& text_columns, bool transpose,
              bool on_disk, const std::string& missing, const std::string& thousands, const std::string& format,
              Index skip, const nb::object& reader, std::uint64_t memory, const nb::dict& words);

// What --missing makes of an array in memory: {"X", "columns", "note"}.
nb::dict without_missing(const nb::object& data, const std::string& missing, const std::vector<std::string>& names,
                         const nb::dict& words);

}  // namespace tamis::python
