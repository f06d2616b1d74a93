#include "python/row_sink.h"

#include <nanobind/stl/string.h>

#include "tamis/base/error.h"
#include "tamis/base/resident.h"
#include "tamis/run/forecast.h"

namespace tamis::python {

namespace {

DType dtype_named(const std::string& name) {
  for (const DType type : {DType::f32, DType::f64, DType::i8, DType::i16, DType::i32, DType::i64, DType::u8, DType::u16,
                           DType::u32, DType::u64}) {
    if (name == name_of(type)) return type;
  }
  fail(ErrorCode::internal, "rows of type ", name);
}

}  // namespace

std::optional<Source> disk_source_of(const nb::handle& data) {
  if (!nb::isinstance<DiskRows>(data)) return std::nullopt;
  return nb::cast<const DiskRows&>(data).source;
}

bool RowSink::takes(const std::shared_ptr<const RowReader>& plan, std::uint64_t buffers) {
  context_.process = process_memory();  // with the libraries of the reader
  rows_ = plan->rows(), cols_ = plan->cols();
  if (!leave_on_disk_) return false;
  const Source source = on_disk(plan, context_);
  return leave_on_disk_(source, resident_bytes("VmRSS").value_or(0) + source.store().table_bytes() + buffers);
}

bool RowSink::takes_rows(Index rows, Index cols, const std::string& dtype, std::uint64_t buffers) {
  const DType type = dtype_named(dtype);
  if (!takes(planned_rows(rows, cols, type), buffers)) return false;
  spool_.emplace<DenseSpool>(cols, type);
  return true;
}

bool RowSink::takes_sparse_rows(Index cols, const std::string& dtype, const Offsets& offsets) {
  const DType type = dtype_named(dtype);
  if (!takes(planned_sparse_rows(cols, type, {offsets.data(), offsets.data() + offsets.size()}), 0)) return false;
  spool_.emplace<SparseSpool>(cols, type);
  return true;
}

void RowSink::add(const nb::object& data, Index first_column) {
  context_.check_cancelled();
  const Source piece = source_of(data);
  const nb::gil_scoped_release release;
  for (Index b = 0; b < piece.store().block_count(); ++b) {
    const Block block = piece.store().block(b);
    if (auto* dense = std::get_if<DenseSpool>(&spool_); dense != nullptr && !block.sparse) {
      dense->add(block.dense, first_column);
    } else if (auto* sparse = std::get_if<SparseSpool>(&spool_); sparse != nullptr && block.sparse) {
      sparse->add(block.csr);
    } else {
      fail(ErrorCode::internal, "a piece of rows of another kind than was planned");
    }
  }
}

Source RowSink::finish() {
  const bool sparse = std::holds_alternative<SparseSpool>(spool_);
  require(sparse || std::holds_alternative<DenseSpool>(spool_), ErrorCode::internal, "no rows were taken");
  const auto rows = sparse ? std::get<SparseSpool>(spool_).finish() : std::get<DenseSpool>(spool_).finish();
  require(rows->rows() == rows_, ErrorCode::bad_data, rows->rows(), " rows, the file claims ", rows_);
  context_.process = process_memory();  // what the reader held meanwhile
  return on_disk(rows, context_);
}

void register_disk_rows(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<DiskRows>(m, "DiskRows", "Rows that stay on disk; every pass reads them.")
      .def_prop_ro("shape", [](const DiskRows& x) { return nb::make_tuple(x.source.rows(), x.source.cols()); })
      .def_prop_ro("dtype", [](const DiskRows& x) { return name_of(x.source.store().dtype()); })
      .def_prop_ro("sparse", [](const DiskRows& x) { return x.source.sparse(); });
  nb::class_<RowSink>(m, "RowSink", "Takes the rows of a file that are not to be in memory.")
      .def_prop_ro("shape", &RowSink::shape)
      .def("takes_rows", &RowSink::takes_rows, "rows"_a, "cols"_a, "dtype"_a, "buffers"_a = 0)
      .def("takes_sparse_rows", &RowSink::takes_sparse_rows, "cols"_a, "dtype"_a, "offsets"_a)
      .def("add", &RowSink::add, "data"_a, "first_column"_a = 0);
}

}  // namespace tamis::python
