// Rows that stay out of memory: what Python's readers give them to, and what Python holds of them.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "python/arrays.h"
#include "tamis/base/context.h"
#include "tamis/data/stores/spool.h"
#include "tamis/data/table.h"

namespace tamis::python {

// The rows of a table on disk, as Python sees them.
struct DiskRows {
  Source source;
};
// Its source; nothing where `data` is something else.
std::optional<Source> disk_source_of(const nb::handle& data);

// Takes the rows of one file, piece by piece, where they are not to be in memory. It lives as long as the call of a
// reader.
class RowSink {
 public:
  using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

  RowSink(const LeaveOnDisk& leave_on_disk, Context& context) : leave_on_disk_(leave_on_disk), context_(context) {}

  // Whether it takes rows of this kind: then add() follows, and the table has this sink for its numbers. Otherwise the
  // reader puts them into memory, and holds `buffers` bytes of its own meanwhile.
  bool takes_rows(Index rows, Index cols, const std::string& dtype, std::uint64_t buffers);
  bool takes_sparse_rows(Index cols, const std::string& dtype, const Offsets& offsets);
  // The next rows (arrays.h), or those of the columns from first_column on: spool.h.
  void add(const nb::object& data, Index first_column);
  Source finish();
  nb::tuple shape() const { return nb::make_tuple(rows_, cols_); }  // of the rows it takes

 private:
  bool takes(const std::shared_ptr<const RowReader>& plan, std::uint64_t buffers);

  const LeaveOnDisk& leave_on_disk_;
  Context& context_;
  Index rows_ = 0, cols_ = 0;  // planned
  std::variant<std::monostate, DenseSpool, SparseSpool> spool_;
};

void register_disk_rows(nb::module_& m);

}  // namespace tamis::python
