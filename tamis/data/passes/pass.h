// A pass over the rows is a value: what it was given, what it makes of the rows, and how two results become one.
//
//   class Pass {
//    public:
//     static constexpr const char* kName = "...";  // by which a worker knows it (wire.h)
//     static constexpr Index kReadings = 1;        // of all rows, that are counted
//     using Result = ...;
//     Pass(const Centered& z, const Matrix& v);        // borrows what it is given
//     auto given() const { return std::tie(z_, v_); }  // all of it, the rows first: what travels
//
//     // one of these three
//     Result partial(const Block& block) const;
//     Matrix partial(const Block& block, Index piece) const;  // Result is Sums: of pieces() pieces, a tree for each
//     Result whole(Context& context) const;                   // of all rows that are here
//
//     static void merge(Result& into, Result&& from);  // of neighbours, `into` has the earlier rows
//     bool fits(const Result& result) const;           // whether it can be one of all rows
//   };
//
// reduce(pass, context) runs it over the blocks in memory or on disk, or sends it to where the rows are. A worker makes
// the same pass of what arrives and runs it over the blocks of its chunk, which is a whole branch of the tree over the
// blocks (remote.h). Sums have their merge here. Results that are a Matrix have none: they are row_count() rows, put
// below each other, of row_width() numbers each; so are those that are labels.
//
// Nothing that arrives is trusted. A worker checks sizes where the values are made (Wire<>::take, the constructor of a
// pass) and, where a pass has check_told(), every label; a client asks fits() before anybody sees the result, and a
// merge takes any two. Each ends in an Error(internal).
//
// A pass may leave something with each chunk, for passes to come: left(result) is what a worker leaves, keep(there,
// result) takes what stands for it here. Used by the passes only.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tamis/base/error.h"
#include "tamis/base/memory.h"
#include "tamis/data/passes/blocks.h"
#include "tamis/data/passes/point_passes.h"
#include "tamis/data/passes/wire.h"
#include "tamis/data/stores/remote.h"
#include "tamis/linalg/archive.h"

namespace tamis {

// --- What a pass is given -----------------------------------------------------------------------------------------

// Something that belongs to single rows: a chunk is told what belongs to its own.
template <class T>
struct ByRow {
  const T& value;
};
template <class T>
ByRow(const T&) -> ByRow<T>;

// Positions of rows, increasing: a chunk is told those it has, counted from its own first row.
struct RowList {
  const std::vector<Index>& rows;
};

// The number among all rows of the first one that is here.
struct FirstRow {
  Index row;
};

// What is asked of the chunks, before it is sent.
struct RemoteRequest {
  RemoteCall call;
  Packer shared;
};

// What one chunk is asked.
struct ChunkTask {
  const Source* chunk;  // null where the pass reads no rows
  Index rows;
  Index first;  // its first row among all
  Unpacker shared;
  std::vector<ByteView> by_row;

  // The next of what belongs to the chunk's rows.
  ByteView next_by_row();
  ByteView next_by_row(Index count, std::size_t size);  // `count` numbers of that size for each of them
  // One number for each.
  template <class T>
  std::vector<T> list_by_row() {
    const ByteView next = next_by_row(1, sizeof(T));
    std::vector<T> out(rows);
    if (!out.empty()) std::memcpy(out.data(), next.data(), next.size());
    return out;
  }
  // Everything was taken.
  void finish() const;
};

// How each kind of thing travels.
template <class T>
struct Wire {
  static void put(RemoteRequest& request, const T& value) { request.shared.put(value); }
  static T take(ChunkTask& task) {
    T value{};
    task.shared(value);
    return value;
  }
};
template <>
struct Wire<Source> {
  static void put(RemoteRequest& request, const Source& source);
  static Source take(ChunkTask& task);
};
template <>
struct Wire<Centered> {
  static void put(RemoteRequest& request, const Centered& z);
  static Centered take(ChunkTask& task);
};
template <>
struct Wire<ByRow<Matrix>> {
  static void put(RemoteRequest& request, const ByRow<Matrix>& rows);
  static Matrix take(ChunkTask& task);
};
template <>
struct Wire<ByRow<std::vector<int>>> {
  static void put(RemoteRequest& request, const ByRow<std::vector<int>>& rows);
  static std::vector<int> take(ChunkTask& task);
};
template <>
struct Wire<RowList> {
  static void put(RemoteRequest& request, const RowList& list) { request.shared.put(list.rows); }
  static std::vector<Index> take(ChunkTask& task);
};
template <>
struct Wire<FirstRow> {
  static void put(RemoteRequest&, const FirstRow&) {}
  static Index take(ChunkTask& task) { return task.first; }
};

template <class T>
struct Wire<Points<T>> {
  static void put(RemoteRequest& request, const Points<T>& points);
  static Points<T> take(ChunkTask& task);
};
template <>
struct Wire<RowLabels> {
  static void put(RemoteRequest& request, const RowLabels& labels);
  static RowLabels take(ChunkTask& task);
};

template <class Pass>
using Given = decltype(std::declval<const Pass&>().given());

inline const Source& source_under(const Source& source) { return source; }
inline const Source& source_under(const Centered& z) { return z.source(); }
template <class Pass>
const Source& source_under(const Pass& pass) {
  return source_under(std::get<0>(pass.given()));
}

// --- What it results in -------------------------------------------------------------------------------------------

template <class Pass>
concept ByPieces = requires(const Pass& pass, const Block& block) {
  pass.partial(block, Index{});
};
template <class Pass>
concept ByBlocks = requires(const Pass& pass, const Block& block) {
  pass.partial(block);
};
template <class Pass>
concept YieldsRows =
    std::is_same_v<typename Pass::Result, Matrix> || std::is_same_v<typename Pass::Result, std::vector<int>>;
template <class Pass>
concept Leaves = requires(const Pass& pass, typename Pass::Result& result) {
  pass.left(result);
};

// Error(internal) where they are not of the same pieces.
void merge_sums(Sums& into, Sums&& from);
// Numbers of rows, or changes of them, that can be added: Error(internal) where they cannot.
void require_counts(const std::vector<Index>& counts);
// Whether labels are -1 (none) or below `clusters`, a number that there can be.
bool are_labels(const std::vector<int>& labels, Index clusters);
// Whether these are increasing positions below `end`.
template <class Number>
bool rises_below(const std::vector<Number>& positions, Index end) {
  return positions.empty() || (positions.front() >= 0 && positions.back() < end &&
                               std::ranges::adjacent_find(positions, std::ranges::greater_equal()) == positions.end());
}

inline bool has_shape(const Matrix& matrix, Index rows, Index cols) {
  return matrix.rows() == rows && matrix.cols() == cols;
}

template <class Pass>
void merge_results(typename Pass::Result& into, typename Pass::Result&& from) {
  if constexpr (std::is_same_v<typename Pass::Result, Sums>) {
    merge_sums(into, std::move(from));
  } else {
    Pass::merge(into, std::move(from));
  }
}

template <class Result>
Bytes packed_result(Result& result) {
  Packer packer;
  if constexpr (requires { result.exchange(packer); }) {
    result.exchange(packer);
  } else {
    packer.put(result);
  }
  return packer.take();
}

template <class Result>
Result unpacked_result(ByteView bytes) {
  Unpacker parts(bytes);
  Result result{};
  if constexpr (requires { result.exchange(parts); }) {
    result.exchange(parts);
  } else {
    parts(result);
  }
  parts.finish();
  if constexpr (std::is_same_v<Result, std::vector<Index>>) require_counts(result);
  return result;
}

// Counts, or numbers that are added like counts, one for each column.
template <class Number>
void add_counts(std::vector<Number>& into, const std::vector<Number>& from) {
  require(into.size() == from.size(), ErrorCode::internal, "counts of ", into.size(), " and ", from.size(), " columns");
  for (std::size_t j = 0; j < into.size(); ++j) into[j] += from[j];
}

// --- Running it ---------------------------------------------------------------------------------------------------

// Over the blocks that are here: finish(piece, sum) for each piece once it is whole.
template <ByPieces Pass, class Finish>
void reduce_here(const Pass& pass, Context& context, Finish finish) {
  Order order = Order::by_leaf;
  if constexpr (requires { pass.order(); }) order = pass.order();
  reduce_pieces<Matrix>(
      source_under(pass).store(), pass.pieces(), order, context,
      [&](const Block& block, Index q) { return pass.partial(block, q); }, add_sums, finish);
}

template <class Pass>
typename Pass::Result reduce_here(const Pass& pass, Context& context) {
  if constexpr (ByPieces<Pass>) {
    Sums out(pass.pieces());
    reduce_here(pass, context, [&](Index q, Matrix&& sum) { out[q] = std::move(sum); });
    return out;
  } else if constexpr (ByBlocks<Pass>) {
    return reduce_blocks<typename Pass::Result>(
        source_under(pass).store(), context, [&](const Block& block) { return pass.partial(block); },
        merge_results<Pass>);
  } else {
    return pass.whole(context);
  }
}

// Results of this many numbers, where a pass says so (result_size()), are merged here: a merge costs a task elsewhere.
inline constexpr Index kMergedHere = 1024;

// The results of all chunks: merged to one, or of each.
RemoteResults ask_all(const RemoteStore& store, RemoteRequest& request, Context& context);
// Fills `out` with rows of the chunks that begin before row `end`, those of each chunk below those before it.
void ask_rows(const RemoteStore& store, RemoteRequest& request, Index end, Matrix& out, Context& context);
void ask_rows(const RemoteStore& store, RemoteRequest& request, Index end, std::vector<int>& out, Context& context);

template <class Pass>
void require_fit(const Pass& pass, const typename Pass::Result& result) {
  require(pass.fits(result), ErrorCode::internal, Pass::kName, ": a result that does not fit what was asked");
}

template <class Pass>
typename Pass::Result reduce_there(const RemoteStore& store, const Pass& pass, Context& context) {
  RemoteRequest request;
  request.call.pass = Pass::kName;
  const auto put = [&]<class T>(const T& value) { Wire<T>::put(request, value); };
  std::apply([&](const auto&... values) { (put(values), ...); }, pass.given());
  if constexpr (YieldsRows<Pass>) {
    Index end = store.rows();
    if constexpr (requires { pass.end_row(); }) end = pass.end_row();
    if constexpr (std::is_same_v<typename Pass::Result, Matrix>) {
      Matrix out(pass.row_count(), pass.row_width());
      ask_rows(store, request, end, out, context);
      return out;
    } else {
      std::vector<int> out(pass.row_count());
      ask_rows(store, request, end, out, context);
      require_fit(pass, out);
      return out;
    }
  } else {
    request.call.leaves = Leaves<Pass>;
    if constexpr (requires { pass.result_size(); }) request.call.merged = pass.result_size() > kMergedHere;
    const RemoteResults results = ask_all(store, request, context);
    std::vector<typename Pass::Result> merged;
    for (const RemotePart& part : results.parts) {
      merged.push_back(unpacked_result<typename Pass::Result>(part.bytes));
    }
    merge_in_tree(merged, merge_results<Pass>);
    require_fit(pass, merged.front());
    if constexpr (Leaves<Pass>) pass.keep({&store, results.left}, merged.front());
    return std::move(merged.front());
  }
}

inline const RemoteStore* remote_under(const Source& source) {
  return dynamic_cast<const RemoteStore*>(&source.store());
}
inline const RemoteStore* remote_under(const Centered& z) { return remote_under(z.source()); }
template <class T>
const RemoteStore* remote_under(const Points<T>& points) {
  return points.there().store;
}
inline const RemoteStore* remote_under(const RowLabels& labels) { return labels.there.store; }

template <class Pass>
typename Pass::Result reduce(const Pass& pass, Context& context) {
  for (Index reading = 0; reading < Pass::kReadings; ++reading) context.count_pass();
  const RemoteStore* there = remote_under(std::get<0>(pass.given()));
  return there == nullptr ? reduce_here(pass, context) : reduce_there(*there, pass, context);
}

// finish(piece, sum) for each piece, so that not all sums need be held at a time.
template <ByPieces Pass, class Finish>
void reduce(const Pass& pass, Context& context, Finish finish) {
  if (remote_under(std::get<0>(pass.given())) == nullptr) {
    context.count_pass();
    reduce_here(pass, context, finish);
    return;
  }
  Sums sums = reduce(pass, context);
  for (std::size_t q = 0; q < sums.size(); ++q) finish(static_cast<Index>(q), std::move(sums[q]));
}

// --- On a worker --------------------------------------------------------------------------------------------------

// What a worker does for a pass of a name.
struct WirePass {
  const char* name;
  RemoteAnswer (*answer)(ChunkTask&, Context&);
  Bytes (*merge)(ByteView, ByteView);  // null where there is nothing to merge
};

template <class Pass, class... Values>
RemoteAnswer answer_with(ChunkTask& task, Context& context, std::type_identity<std::tuple<Values...>>) {
  std::tuple told{Wire<std::remove_cvref_t<Values>>::take(task)...};  // in this order
  task.finish();
  const Pass pass = std::make_from_tuple<Pass>(told);
  if constexpr (requires { pass.check_told(); }) pass.check_told();
  if constexpr (requires { pass.result_size(); }) {
    require_memory(context, Pass::kName, static_cast<std::uint64_t>(pass.result_size()) * sizeof(double));
  }
  typename Pass::Result result = reduce_here(pass, context);
  RemoteAnswer out;
  if constexpr (Leaves<Pass>) out.left = pass.left(result);
  out.result = packed_result(result);
  return out;
}

template <class Pass>
WirePass wire_pass() {
  WirePass out{Pass::kName, nullptr, nullptr};
  out.answer = [](ChunkTask& task, Context& context) {
    return answer_with<Pass>(task, context, std::type_identity<Given<Pass>>());
  };
  if constexpr (!YieldsRows<Pass>) {
    out.merge = [](ByteView left, ByteView right) {
      using Result = typename Pass::Result;
      Result into = unpacked_result<Result>(left);
      merge_results<Pass>(into, unpacked_result<Result>(right));
      return packed_result(into);
    };
  }
  return out;
}

// Those of each file of passes, beside their definitions.
std::vector<WirePass> moments_passes();
std::vector<WirePass> product_passes();
std::vector<WirePass> gram_passes();
std::vector<WirePass> row_passes();
std::vector<WirePass> sample_passes();
std::vector<WirePass> point_passes();

}  // namespace tamis
