// Rows that stay out of memory: what Python's readers give them to, and what Python holds of them.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "python/arrays.h"
#include "tamis/base/context.h"
#include "tamis/data/stores/temporary_rows.h"

namespace tamis::python {

// The rows of a table on disk, as Python sees them.
struct DiskRows {
  Source source;
};
// Its source; nothing where `data` is something else.
std::optional<Source> disk_source_of(const nb::handle& data);

// Takes the rows of one file, piece by piece, to where they stay on disk. It lives as long as the call of a reader.
class RowSink {
 public:
  RowSink(const RowShape& shape, Context& context);

  // The next rows (arrays.h), or those of the columns from first_column on: temporary_rows.h.
  void add(const nb::object& data, Index first_column);
  Source finish();

 private:
  Index rows_;  // that must come
  Context& context_;
  std::variant<TemporaryRows, TemporarySparseRows> written_;
};

void register_disk_rows(nb::module_& m);

}  // namespace tamis::python
