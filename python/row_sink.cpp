#include "python/row_sink.h"

#include <nanobind/stl/string.h>

#include "tamis/base/error.h"

namespace tamis::python {

namespace {

std::variant<TemporaryRows, TemporarySparseRows> rows_for(const RowShape& shape) {
  if (shape.sparse()) return TemporarySparseRows(shape.cols, shape.dtype);
  return TemporaryRows(shape.cols, shape.dtype);
}

}  // namespace

std::optional<Source> disk_source_of(const nb::handle& data) {
  if (!nb::isinstance<DiskRows>(data)) return std::nullopt;
  return nb::cast<const DiskRows&>(data).source;
}

RowSink::RowSink(const RowShape& shape, Context& context)
    : rows_(shape.rows), context_(context), written_(rows_for(shape)) {}

void RowSink::add(const nb::object& data, Index first_column) {
  context_.check_cancelled();
  const Index done = std::visit([](const auto& written) { return written.rows(); }, written_);
  context_.phase("rows", {static_cast<double>(done), static_cast<double>(rows_)});
  const Source piece = source_of(data);
  const nb::gil_scoped_release release;
  for (Index b = 0; b < piece.store().block_count(); ++b) {
    const Block block = piece.store().block(b);
    if (auto* dense = std::get_if<TemporaryRows>(&written_); dense != nullptr && !block.sparse) {
      dense->add(block.dense, first_column);
    } else if (auto* sparse = std::get_if<TemporarySparseRows>(&written_); sparse != nullptr && block.sparse) {
      sparse->add(block.csr);
    } else {
      fail(ErrorCode::internal, "a piece of rows of another kind than was planned");
    }
  }
}

Source RowSink::finish() {
  const auto rows = std::visit([](auto& written) { return written.finish(); }, written_);
  require(rows->rows() == rows_, ErrorCode::bad_data, rows->rows(), " rows, the file claims ", rows_);
  return on_disk(rows, context_);
}

void register_disk_rows(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<DiskRows>(m, "DiskRows", "Rows that stay on disk; every pass reads them.")
      .def_prop_ro("shape", [](const DiskRows& x) { return nb::make_tuple(x.source.rows(), x.source.cols()); })
      .def_prop_ro("dtype", [](const DiskRows& x) { return name_of(x.source.store().dtype()); })
      .def_prop_ro("sparse", [](const DiskRows& x) { return x.source.sparse(); });
  nb::class_<RowSink>(m, "RowSink", "Takes the rows of a file that are not to be in memory.")
      .def("add", &RowSink::add, "data"_a, "first_column"_a = 0);
}

}  // namespace tamis::python
