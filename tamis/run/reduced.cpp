#include "tamis/run/reduced.h"

#include <algorithm>
#include <cmath>

#include "tamis/base/error.h"
#include "tamis/base/text/spelling.h"
#include "tamis/data/passes/tile.h"
#include "tamis/run/features.h"

namespace tamis {

namespace {

enum class Kind { csv, mtx, npy };

Kind kind_of(const Table& table) {
  if (table.source.sparse()) return Kind::mtx;
  constexpr std::string_view kNamedColumns[] = {"csv", "parquet", "arrow", "feather"};
  const bool named =
      std::find(std::begin(kNamedColumns), std::end(kNamedColumns), table.format) != std::end(kNamedColumns);
  return named ? Kind::csv : Kind::npy;
}

// "<f8", "|u1", ...
std::string npy_type(DType type) {
  const std::size_t size = size_of(type);
  const char kind = type == DType::f32 || type == DType::f64 ? 'f' : type >= DType::u8 ? 'u' : 'i';
  return std::string(size == 1 ? "|" : "<") + kind + std::to_string(size);
}

// NPY format 1.0: magic, header length, a Python dictionary padded so that the data begin at a multiple of 64.
std::string npy_header(DType type, Index rows, Index cols) {
  constexpr std::size_t kPrefix = 10, kAlign = 64;
  std::string header =
      concat("{'descr': '", npy_type(type), "', 'fortran_order': False, 'shape': (", rows, ", ", cols, "), }");
  header.append(kAlign - (kPrefix + header.size() + 1) % kAlign, ' ');
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 255);
  out += static_cast<char>(header.size() >> 8);
  return out + header;
}

// As they are in the file.
const Source& numbers_of(const Table& table) { return table.as_read ? *table.as_read : table.source; }

// The store's columns behind the selected features.
std::vector<Index> store_columns(const Table& table, const std::vector<Index>& selected) {
  std::vector<Index> columns;
  for (const Index j : selected) columns.push_back(numbers_of(table).columns()[j]);
  return columns;
}

// The first pass saw finite numbers only, but another process may write to a file whose rows are on disk.
void require_finite_element(const Block& block, Index i, Index j) {
  if (block.dense.dtype != DType::f32 && block.dense.dtype != DType::f64) return;
  const double value = element(block.dense, i, j);
  require(std::isfinite(value), ErrorCode::bad_data, "row ", block.first + i, ", column ", j, ": ", value,
          ", need finite numbers: the data changed while they were being read");
}

void write_npy(const Table& table, const std::vector<Index>& selected, FileWriter& out, Context& context) {
  const Store& store = numbers_of(table).store();
  const auto columns = store_columns(table, selected);
  const auto size = static_cast<Index>(size_of(store.dtype()));
  out.write(npy_header(store.dtype(), store.rows(), static_cast<Index>(columns.size())));
  Walk walk(context, store.block_count(), store.rows());
  for (Index b = 0; b < store.block_count(); ++b, walk.task_done()) {
    context.check_cancelled();
    const Block block = store.block(b);
    const auto& view = block.dense;
    const auto* data = static_cast<const char*>(view.data);
    for (Index i = 0; i < block.rows; ++i) {
      for (const Index j : columns) {
        require_finite_element(block, i, j);
        out.write({data + (i * view.row_stride + j * view.col_stride) * size, static_cast<std::size_t>(size)});
      }
    }
  }
}

// In full: whole numbers above 2^53 would lose digits as doubles.
std::string element_text(const DenseView& view, Index i, Index j) {
  const Index at = i * view.row_stride + j * view.col_stride;
  return with_type(view.dtype, [&]<class T>() {
    const T value = static_cast<const T*>(view.data)[at];
    if constexpr (std::is_floating_point_v<T>) return number_text(value);
    return std::to_string(value);
  });
}

void write_csv(const Table& table, const std::vector<Index>& selected, const std::string& id_column, FileWriter& out,
               Context& context) {
  const Store& store = numbers_of(table).store();
  const auto columns = store_columns(table, selected);
  std::string line = table.row_ids.empty() ? std::string() : csv_cell(id_column) + ',';
  for (const Index j : selected) line += csv_cell(feature_name(table, j)) + ',';
  line.back() = '\n';
  out.write(line);
  Walk walk(context, store.block_count(), store.rows());
  for (Index b = 0; b < store.block_count(); ++b, walk.task_done()) {
    context.check_cancelled();
    const Block block = store.block(b);
    for (Index i = 0; i < block.rows; ++i) {
      line.clear();
      if (!table.row_ids.empty()) line += csv_cell(table.row_ids[block.first + i]) + ',';
      for (const Index j : columns) {
        require_finite_element(block, i, j);
        line += element_text(block.dense, i, j) + ',';
      }
      line.back() = '\n';
      out.write(line);
    }
  }
}

// Calls entry(row, new column, position in the value array) for every stored entry of the selected columns.
template <class Entry>
void for_entries(const Table& table, const std::vector<Index>& selected, Context& context, Entry entry) {
  const Store& store = numbers_of(table).store();
  std::vector<Index> position(store.cols(), -1);
  const auto columns = store_columns(table, selected);
  for (std::size_t k = 0; k < columns.size(); ++k) position[columns[k]] = static_cast<Index>(k);
  Walk walk(context, store.block_count(), store.rows());
  for (Index b = 0; b < store.block_count(); ++b, walk.task_done()) {
    context.check_cancelled();
    const Block block = store.block(b);
    for (Index i = 0; i < block.rows; ++i) {
      for (Index at = block.csr.offsets[i]; at < block.csr.offsets[i + 1]; ++at) {
        const Index column = position[block.csr.columns[at]];
        if (column >= 0) entry(block, block.first + i, column, at);
      }
    }
  }
}

void write_mtx(const Table& table, const std::vector<Index>& selected, FileWriter& out, Context& context) {
  Index count = 0;
  for_entries(table, selected, context, [&](const Block&, Index, Index, Index) { ++count; });
  out.write(concat("%%MatrixMarket matrix coordinate real general\n", table.source.rows(), ' ', selected.size(), ' ',
                   count, '\n'));
  for_entries(table, selected, context, [&](const Block& block, Index row, Index column, Index at) {
    const std::string value = with_values(block.csr, [&](const auto* values) { return number_text(values[at]); });
    out.write(std::to_string(row + 1) + ' ' + std::to_string(column + 1) + ' ' + value + '\n');
  });
}

}  // namespace

std::string reduced_name(const Table& table) {
  switch (kind_of(table)) {
    case Kind::csv: return "selected.csv";
    case Kind::mtx: return "selected.mtx";
    case Kind::npy: break;
  }
  return "selected.npy";
}

void write_reduced(const Table& table, const std::vector<Index>& columns, const std::string& id_column, FileWriter& out,
                   Context& context) {
  switch (kind_of(table)) {
    case Kind::csv: return write_csv(table, columns, id_column, out, context);
    case Kind::mtx: return write_mtx(table, columns, out, context);
    case Kind::npy: return write_npy(table, columns, out, context);
  }
}

}  // namespace tamis
