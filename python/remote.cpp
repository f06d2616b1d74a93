#include "python/remote.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/run.h"
#include "tamis/data/passes/wire.h"
#include "tamis/data/stores/remote.h"

namespace tamis::python {

namespace {

using ByteArray = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

ByteView bytes_of(const ByteArray& array) { return {array.data(), array.size()}; }

// Bytes that somebody else owns and that live as long as the call.
nb::object array_over(const void* data, std::initializer_list<std::size_t> shape) {
  return nb::cast(nb::ndarray<nb::numpy, const std::uint8_t>(data, shape, nb::handle()));
}

// run(pass, shared, [rows x bytes of each argument by row], first rows asked, whether to merge) -> [results]. It runs
// in the calling thread, with the GIL; what it raises goes through the core as it is.
RemoteStore::Run runner(const nb::object& run, Index rows) {
  const std::shared_ptr<const void> kept = lease_of(run);
  return [kept, rows](const RemoteCall& call) {
    const nb::gil_scoped_acquire gil;
    const nb::handle function(static_cast<PyObject*>(const_cast<void*>(kept.get())));
    nb::list by_row;
    for (const RowArgument& argument : call.by_row) {
      by_row.append(array_over(argument.data, {static_cast<std::size_t>(rows), argument.bytes}));
    }
    const nb::object results =
        function(call.pass, array_over(call.shared.data(), {call.shared.size()}), by_row, call.rows, call.merged);
    std::vector<RemotePart> parts;
    for (const nb::handle result : results) {
      const auto array = nb::cast<ByteArray>(result);
      parts.push_back({bytes_of(array), lease_of(result)});
    }
    return parts;
  };
}

std::shared_ptr<RemoteStore> make_remote(Index rows, Index cols, bool sparse, Index nonzeros, const nb::object& run) {
  return std::make_shared<RemoteStore>(RemoteShape{rows, cols, sparse, nonzeros, DType::f64}, runner(run, rows));
}

nb::object partial_of(const std::string& pass, const ByteArray& shared, const std::vector<ByteArray>& by_row,
                      const nb::object& chunk, Index first) {
  std::vector<ByteView> views;
  for (const ByteArray& array : by_row) views.push_back(bytes_of(array));
  const Source source = source_of(chunk);
  Run run(1, 0, 0, nb::none());
  return to_array(
      run.without_gil([&] { return remote_partial(pass, bytes_of(shared), views, source, first, run.context()); }));
}

nb::object merged_of(const std::string& pass, const ByteArray& left, const ByteArray& right) {
  Bytes merged;
  {
    const nb::gil_scoped_release release;
    merged = remote_merge(pass, bytes_of(left), bytes_of(right));
  }
  return to_array(std::move(merged));
}

}  // namespace

std::optional<Source> remote_source_of(const nb::handle& data) {
  if (!nb::isinstance<RemoteStore>(data)) return std::nullopt;
  return Source(nb::cast<std::shared_ptr<RemoteStore>>(data));
}

void register_remote(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<RemoteStore>(m, "RemoteRows", "Rows that live elsewhere; run() runs a pass where they are.")
      .def(nb::new_(&make_remote), "rows"_a, "cols"_a, "sparse"_a, "nonzeros"_a, "run"_a);
  m.attr("block_rows") = kBlockRows;
  m.def("remote_partial", &partial_of, "pass_name"_a, "shared"_a, "by_row"_a, "chunk"_a, "first"_a,
        "What a pass makes of one chunk of rows, whose first is row `first` of all.");
  m.def("remote_merge", &merged_of, "pass_name"_a, "left"_a, "right"_a, "What it makes of two neighbours.");
}

}  // namespace tamis::python
