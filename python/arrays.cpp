#include "python/arrays.h"

#include <nanobind/stl/string.h>

#include "python/remote.h"
#include "python/row_sink.h"
#include "tamis/base/context.h"
#include "tamis/base/error.h"
#include "tamis/data/passes/passes.h"

namespace tamis::python {

namespace {

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;

DType dtype_of(const nb::dlpack::dtype& type) {
  using Code = nb::dlpack::dtype_code;
  const auto code = static_cast<Code>(type.code);
  if (type.lanes == 1 && code == Code::Float && type.bits == 32) return DType::f32;
  if (type.lanes == 1 && code == Code::Float && type.bits == 64) return DType::f64;
  if (type.lanes == 1 && (code == Code::Int || code == Code::UInt)) {
    const bool is_signed = code == Code::Int;
    switch (type.bits) {
      case 8: return is_signed ? DType::i8 : DType::u8;
      case 16: return is_signed ? DType::i16 : DType::u16;
      case 32: return is_signed ? DType::i32 : DType::u32;
      case 64: return is_signed ? DType::i64 : DType::u64;
      default: break;
    }
  }
  fail(ErrorCode::usage, "X: elements of ", static_cast<int>(type.bits), " bits, need real numbers of 8 to 64 bits");
}

Source dense_source(const nb::object& data) {
  const auto array = nb::cast<AnyArray>(data);
  require(array.ndim() == 2, ErrorCode::usage, "X: ", array.ndim(), " dimensions, need 2");
  DenseView view;
  view.data = array.data();
  view.dtype = dtype_of(array.dtype());
  view.rows = static_cast<Index>(array.shape(0));
  view.cols = static_cast<Index>(array.shape(1));
  view.row_stride = array.stride(0);
  view.col_stride = array.stride(1);
  return Source(make_dense_store(view, lease_of(data)));
}

Source sparse_source(const nb::tuple& parts) {
  require(parts.size() == 4, ErrorCode::usage, "X: ", parts.size(), " parts, need offsets, columns, values, width");
  const auto offsets = nb::cast<nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>>(parts[0]);
  const auto columns = nb::cast<nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig>>(parts[1]);
  const auto values = nb::cast<nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig>>(parts[2]);
  CsrView view;
  view.rows = static_cast<Index>(offsets.shape(0)) - 1;
  view.cols = nb::cast<Index>(parts[3]);
  view.offsets = offsets.data();
  view.columns = columns.data();
  view.values = values.data();
  view.dtype = dtype_of(values.dtype());
  require(view.rows >= 0 && view.offsets[0] >= 0 && view.offsets[view.rows] <= static_cast<Index>(columns.shape(0)) &&
              columns.shape(0) == values.shape(0),
          ErrorCode::bad_data, "X: offsets, columns and values of sparse rows do not fit together");
  return Source(make_sparse_store(view, lease_of(parts)));
}

template <class Container, class Data>
nb::object owned_array(Container values, Data data_of, std::initializer_list<std::size_t> shape) {
  auto* owner = new Container(std::move(values));
  const nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<Container*>(p); });
  auto* data = data_of(*owner);
  return nb::cast(nb::ndarray<nb::numpy, std::remove_pointer_t<decltype(data)>>(data, shape, capsule));
}

template <class T>
nb::object vector_array(std::vector<T> values) {
  const std::size_t size = values.size();
  return owned_array(std::move(values), [](auto& v) { return v.data(); }, {size});
}

template <class T>
nb::object shown(const void* data, std::initializer_list<std::size_t> shape, const nb::handle& owner,
                 std::initializer_list<int64_t> strides = {}) {
  return nb::cast(nb::ndarray<nb::numpy, T>(const_cast<void*>(data), shape, owner, strides));
}

}  // namespace

std::shared_ptr<const void> lease_of(const nb::handle& object) {
  object.inc_ref();
  return {object.ptr(), [](const void* pointer) {
            const nb::gil_scoped_acquire gil;
            Py_DECREF(static_cast<PyObject*>(const_cast<void*>(pointer)));
          }};
}

nb::object object_of(const std::shared_ptr<const void>& lease) {
  return nb::borrow(static_cast<PyObject*>(const_cast<void*>(lease.get())));
}

Source source_of(const nb::object& data) {
  if (const auto remote = remote_source_of(data)) return *remote;
  if (const auto disk = disk_source_of(data)) return *disk;
  return nb::isinstance<nb::tuple>(data) ? sparse_source(nb::cast<nb::tuple>(data)) : dense_source(data);
}

std::vector<int> classes_of(const std::optional<Classes>& classes) {
  return classes ? std::vector<int>(classes->data(), classes->data() + classes->size()) : std::vector<int>();
}

std::vector<double> doubles_of(const nb::object& data) {
  const auto array = nb::cast<nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(data);
  return {array.data(), array.data() + array.size()};
}

Matrix matrix_of(const nb::object& data) {
  const auto array = nb::cast<nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>>(data);
  Matrix matrix(static_cast<Index>(array.shape(0)), static_cast<Index>(array.shape(1)));
  std::copy(array.data(), array.data() + array.size(), matrix.data());
  return matrix;
}

nb::object to_array(std::vector<double> values) { return vector_array(std::move(values)); }
nb::object to_array(std::vector<Index> values) { return vector_array(std::move(values)); }
nb::object to_array(std::vector<int> values) { return vector_array(std::move(values)); }
nb::object to_array(std::vector<std::uint8_t> values) { return vector_array(std::move(values)); }

nb::object to_array(Matrix matrix) {
  if (matrix.empty()) return nb::none();
  const auto rows = static_cast<std::size_t>(matrix.rows()), cols = static_cast<std::size_t>(matrix.cols());
  return owned_array(std::move(matrix), [](auto& m) { return m.data(); }, {rows, cols});
}

nb::object view_of(const Source& source) {
  if (!source.sparse() && !source.all_columns()) {
    Context context(1);
    return to_array(gather(source, context));
  }
  require(source.all_columns(), ErrorCode::internal, "a choice of sparse columns cannot be shown");
  // The blocks of a store in memory are pieces of one whole, whose rows begin where the first block does.
  auto* kept = new Source(source);
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Source*>(p); });
  const auto rows = static_cast<std::size_t>(source.rows()), cols = static_cast<std::size_t>(source.cols());
  if (rows == 0) return nb::none();
  const Block first = source.store().block(0);
  if (!source.sparse()) {
    const DenseView& view = first.dense;
    return with_type(view.dtype, [&]<class T>() {
      return shown<T>(view.data, {rows, cols}, owner, {view.row_stride, view.col_stride});
    });
  }
  const CsrView& view = first.csr;
  const auto entries = static_cast<std::size_t>(source.store().nonzeros());
  require(view.offsets[0] == 0, ErrorCode::internal, "sparse rows that do not begin at 0 cannot be shown");
  return nb::make_tuple(shown<const std::int64_t>(view.offsets, {rows + 1}, owner),
                        shown<const std::int32_t>(view.columns, {entries}, owner),
                        with_type(view.dtype, [&]<class T>() { return shown<T>(view.values, {entries}, owner); }),
                        source.cols());
}

nb::object to_text(const std::string& bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "surrogateescape"));
}

std::string to_bytes(const nb::handle& text) {
  const nb::object bytes = nb::isinstance<nb::bytes>(text)
                               ? nb::borrow(text)
                               : nb::steal(PyUnicode_AsEncodedString(nb::str(text).ptr(), "utf-8", "surrogateescape"));
  if (!bytes.is_valid()) throw nb::python_error();
  return {PyBytes_AsString(bytes.ptr()), static_cast<std::size_t>(PyBytes_Size(bytes.ptr()))};
}

}  // namespace tamis::python
