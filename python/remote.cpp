#include "python/remote.h"

#include <nanobind/stl/pair.h>
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

nb::object array_of(RemotePart part) {
  if (part.lease == nullptr) return nb::none();
  auto* owner = new RemotePart(std::move(part));
  const nb::capsule capsule(owner, [](void* p) noexcept { delete static_cast<RemotePart*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, const std::uint8_t>(owner->bytes.data(), {owner->bytes.size()}, capsule));
}

// run(pass, shared, arguments by row, first rows asked, whether to merge, to read rows, to leave something there) ->
// [results], what stands for that which is left (or None). An argument by row is an array of rows x bytes, or what
// stands for something that an earlier call left. It runs in the calling thread, with the GIL; what it raises goes
// through the core as it is.
RemoteStore::Run runner(const nb::object& run, Index rows) {
  const std::shared_ptr<const void> kept = lease_of(run);
  return [kept, rows](const RemoteCall& call) {
    const nb::gil_scoped_acquire gil;
    nb::list by_row;
    for (const RowArgument& argument : call.by_row) {
      if (argument.left != nullptr) {
        by_row.append(object_of(argument.left));
      } else {
        by_row.append(array_over(argument.data, {static_cast<std::size_t>(rows), argument.bytes}));
      }
    }
    const nb::object told = array_over(call.shared.data(), {call.shared.size()});
    const auto [results, left] = nb::cast<std::pair<nb::object, nb::object>>(
        object_of(kept)(call.pass, told, by_row, call.rows, call.merged, call.reads, call.leaves));
    RemoteResults out;
    for (const nb::handle result : results) {
      const auto array = nb::cast<ByteArray>(result);
      out.parts.push_back({bytes_of(array), lease_of(result)});
    }
    if (call.leaves) out.left = lease_of(left);
    return out;
  };
}

// take(positions of rows, increasing) -> RemoteRows of these.
RemoteStore::Take taker(const nb::object& take) {
  if (take.is_none()) return nullptr;
  const std::shared_ptr<const void> kept = lease_of(take);
  return [kept](const std::vector<Index>& rows) -> std::shared_ptr<const Store> {
    const nb::gil_scoped_acquire gil;
    return nb::cast<std::shared_ptr<RemoteStore>>(object_of(kept)(to_array(std::vector<Index>(rows))));
  };
}

std::shared_ptr<RemoteStore> make_remote(Index rows, Index cols, bool sparse, Index nonzeros, const nb::object& run,
                                         const nb::object& take) {
  return std::make_shared<RemoteStore>(RemoteShape{rows, cols, sparse, nonzeros, DType::f64}, runner(run, rows),
                                       kBlockRows, taker(take));
}

nb::tuple partial_of(const std::string& pass, const ByteArray& shared, const std::vector<ByteArray>& by_row,
                     const nb::object& chunk, Index rows, Index first) {
  std::vector<ByteView> views;
  for (const ByteArray& array : by_row) views.push_back(bytes_of(array));
  std::optional<Source> source;
  if (!chunk.is_none()) source = source_of(chunk);
  Run run(1, 0, 0, nb::none());
  RemoteAnswer answer = run.without_gil([&] {
    return remote_partial(pass, bytes_of(shared), views, source ? &*source : nullptr, rows, first, run.context());
  });
  return nb::make_tuple(to_array(std::move(answer.result)), array_of(std::move(answer.left)));
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
  nb::class_<RemoteStore>(m, "RemoteRows",
                          "Rows that live elsewhere; run() runs a pass where they are, take() gives some of them.")
      .def(nb::new_(&make_remote), "rows"_a, "cols"_a, "sparse"_a, "nonzeros"_a, "run"_a, "take"_a.none() = nb::none());
  m.attr("block_rows") = kBlockRows;
  m.def(
      "remote_partial", &partial_of, "pass_name"_a, "shared"_a, "by_row"_a, "chunk"_a.none(), "rows"_a, "first"_a,
      "What a pass makes of one chunk of rows (None where it reads none), whose first is row `first` of all, and what "
      "it leaves with it (or None).");
  m.def("remote_merge", &merged_of, "pass_name"_a, "left"_a, "right"_a, "What it makes of two neighbors.");
}

}  // namespace tamis::python
