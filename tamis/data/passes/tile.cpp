#include "tamis/data/passes/tile.h"

#include <algorithm>

#include "tamis/linalg/kernels.h"

namespace tamis {

namespace {

template <class Visit>
auto with_type(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::f32: return visit(float{});
    case DType::i8: return visit(std::int8_t{});
    case DType::i16: return visit(std::int16_t{});
    case DType::i32: return visit(std::int32_t{});
    case DType::i64: return visit(std::int64_t{});
    case DType::u8: return visit(std::uint8_t{});
    case DType::u16: return visit(std::uint16_t{});
    case DType::u32: return visit(std::uint32_t{});
    case DType::u64: return visit(std::uint64_t{});
    case DType::f64: break;
  }
  return visit(double{});
}

const char* address(const DenseView& view, Index row, Index column) {
  return static_cast<const char*>(view.data) +
         (row * view.row_stride + column * view.col_stride) * static_cast<Index>(size_of(view.dtype));
}

// Any strides and any choice of columns. Column by column, so that Fortran order is read along memory.
template <class Src, class T>
void load_strided(const Centered& z, const Block& block, Index row0, Index rows, Index col0, Index cols, T* out,
                  Index step) {
  const auto& view = block.dense;
  const double* row_scale =
      z.source().row_scale().empty() ? nullptr : z.source().row_scale().data() + block.first + row0;
  for (Index j = 0; j < cols; ++j) {
    const auto column = static_cast<std::size_t>(col0 + j);
    const auto* src = reinterpret_cast<const Src*>(address(view, row0, z.source().columns()[column]));
    const double center = z.center()[column], scale = z.scale().empty() ? 1.0 : z.scale()[column];
    for (Index i = 0; i < rows; ++i) {
      const double x = static_cast<double>(src[i * view.row_stride]) * (row_scale == nullptr ? 1.0 : row_scale[i]);
      out[i * step + j] = static_cast<T>((x - center) * scale);
    }
  }
}

}  // namespace

template <class T>
void load_tile(const Centered& z, const Block& block, Index row0, Index rows, Index col0, Index cols, T* out,
               Index step) {
  const auto& source = z.source();
  if (block.dense.col_stride != 1 || !source.row_scale().empty()) {
    with_type(block.dense.dtype,
              [&](auto zero) { load_strided<decltype(zero)>(z, block, row0, rows, col0, cols, out, step); });
    return;
  }
  // Row by row, in runs of columns that are neighbours in the store.
  const Index* column = source.columns().data() + col0;
  for (Index begin = 0; begin < cols;) {
    const Index end = std::min(cols, z.run_end(col0 + begin) - col0);
    const double* center = z.center().data() + col0 + begin;
    const double* scale = z.scale().empty() ? nullptr : z.scale().data() + col0 + begin;
    for (Index i = 0; i < rows; ++i) {
      kernels<T>().center_row(address(block.dense, row0 + i, column[begin]), block.dense.dtype, end - begin, center,
                              scale, out + i * step + begin);
    }
    begin = end;
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
  return with_type(view.dtype,
                   [&](auto zero) { return static_cast<double>(*reinterpret_cast<const decltype(zero)*>(at)); });
}

}  // namespace tamis
