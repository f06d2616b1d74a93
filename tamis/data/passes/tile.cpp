#include "tamis/data/passes/tile.h"

#include <algorithm>

#include "tamis/linalg/kernels.h"

namespace tamis {

namespace {

const char* address(const DenseView& view, Index row, Index column) {
  return static_cast<const char*>(view.data) +
         (row * view.row_stride + column * view.col_stride) * static_cast<Index>(size_of(view.dtype));
}

// Any strides and any choice of columns, along memory: column by column in Fortran order, else row by row.
template <class Src, class T>
void load_strided(const Centered& z, const Block& block, Index row0, Index rows, Index col0, Index cols, T* out,
                  Index step) {
  const auto& view = block.dense;
  const double* row_scale =
      z.source().row_scale().empty() ? nullptr : z.source().row_scale().data() + block.first + row0;
  const auto put = [&](const Src* src, Index i, Index j) {
    const double x = static_cast<double>(*src) * (row_scale == nullptr ? 1.0 : row_scale[i]);
    const double scale = z.scale().empty() ? 1.0 : z.scale()[col0 + j];
    out[i * step + j] = static_cast<T>((x - z.center()[col0 + j]) * scale);
  };
  const Index* columns = z.source().columns().data() + col0;
  if (view.col_stride == 1) {
    for (Index i = 0; i < rows; ++i) {
      const auto* src = reinterpret_cast<const Src*>(address(view, row0 + i, 0));
      for (Index j = 0; j < cols; ++j) put(src + columns[j], i, j);
    }
    return;
  }
  for (Index j = 0; j < cols; ++j) {
    const auto* src = reinterpret_cast<const Src*>(address(view, row0, columns[j]));
    for (Index i = 0; i < rows; ++i) put(src + i * view.row_stride, i, j);
  }
}

}  // namespace

RowsOfColumns run_of(const Centered& z, const Block& block, Index row0, Index rows, Index col0, Index cols) {
  return {address(block.dense, row0, z.source().columns()[col0]),
          block.dense.dtype,
          block.dense.row_stride,
          rows,
          cols,
          z.has_center() ? z.center().data() + col0 : nullptr,
          z.scale().empty() ? nullptr : z.scale().data() + col0};
}

namespace {

template <class T>
void load_unweighted(const Centered& z, const Block& block, Index row0, Index rows, Index col0, Index cols, T* out,
                     Index step) {
  const auto& source = z.source();
  if (block.dense.col_stride != 1 || !source.row_scale().empty()) {
    return with_type(block.dense.dtype,
                     [&]<class Src>() { load_strided<Src>(z, block, row0, rows, col0, cols, out, step); });
  }
  // Row by row, in runs of columns that are neighbors in the store.
  for (Index begin = 0; begin < cols;) {
    const Index end = std::min(cols, z.run_end(col0 + begin) - col0);
    kernels<T>().center_rows(run_of(z, block, row0, rows, col0 + begin, end - begin), out + begin, step);
    begin = end;
  }
}

}  // namespace

template <class T>
void load_tile(const Centered& z, const Block& block, Index row0, Index rows, Index col0, Index cols, T* out,
               Index step) {
  load_unweighted(z, block, row0, rows, col0, cols, out, step);
  if (z.roots().empty()) return;
  for (Index i = 0; i < rows; ++i) {
    const double root = z.root(block.first + row0 + i);
    for (Index j = 0; j < cols; ++j) out[i * step + j] = static_cast<T>(out[i * step + j] * root);
  }
}

template void load_tile<double>(const Centered&, const Block&, Index, Index, Index, Index, double*, Index);
template void load_tile<float>(const Centered&, const Block&, Index, Index, Index, Index, float*, Index);

template <class T>
void load_part(const Centered& z, Index first, Index rows, Index col0, Index cols, T* out) {
  const Store& store = z.source().store();
  for (Index row = first; row < first + rows;) {
    const Index block_end = (row / store.block_rows() + 1) * store.block_rows();
    const Index count = std::min(block_end, first + rows) - row;
    load_tile(z, store.some_rows(row, count), 0, count, col0, cols, out + (row - first) * cols, cols);
    row += count;
  }
}

template void load_part<double>(const Centered&, Index, Index, Index, Index, double*);
template void load_part<float>(const Centered&, Index, Index, Index, Index, float*);

double element(const DenseView& view, Index row, Index column) {
  const char* at = address(view, row, column);
  return with_type(view.dtype, [&]<class T>() { return static_cast<double>(*reinterpret_cast<const T*>(at)); });
}

}  // namespace tamis
