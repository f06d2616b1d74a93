#include "tamis/data/passes/pass.h"

#include <algorithm>
#include <limits>

#include "tamis/base/error.h"
#include "tamis/data/passes/wire.h"

namespace tamis {

// --- What travels --------------------------------------------------------------------------------------------------

ByteView ChunkTask::next_by_row() {
  require(!by_row.empty(), ErrorCode::internal, "nothing that belongs to the rows of a chunk");
  const ByteView next = by_row.front();
  by_row.erase(by_row.begin());
  return next;
}

ByteView ChunkTask::next_by_row(Index count, std::size_t size) {
  const ByteView next = next_by_row();
  require(is_times(next.size(), count, rows * size), ErrorCode::internal,
          "what belongs to the rows of a chunk does not fit them");
  return next;
}

void ChunkTask::finish() const {
  shared.finish();
  require(by_row.empty(), ErrorCode::internal, "more that belongs to the rows of a chunk than its pass takes");
}

// Columns (none where all are kept), their scale, and whether rows are scaled, and have weights.
void Wire<Source>::put(RemoteRequest& request, const Source& source) {
  request.shared.put(source.all_columns() ? std::vector<Index>() : source.columns()).put(source.column_scale());
  request.shared.put(source.row_scale().empty() ? 0 : 1);
  if (!source.row_scale().empty()) request.call.by_row.push_back({source.row_scale().data(), sizeof(double)});
  request.shared.put(source.weighted());
  if (source.weighted()) request.call.by_row.push_back({source.weights().data(), sizeof(double)});
}

Source Wire<Source>::take(ChunkTask& task) {
  require(task.chunk != nullptr, ErrorCode::internal, "a pass that reads rows, and none to read");
  Source source = *task.chunk;
  const auto columns = task.shared.list<Index>();
  require(rises_below(columns, source.cols()), ErrorCode::internal,
          "columns of a chunk: need increasing positions below ", source.cols());
  if (!columns.empty()) source = source.with_columns(columns);
  const auto column_scale = task.shared.list<double>();
  require(column_scale.empty() || static_cast<Index>(column_scale.size()) == source.cols(), ErrorCode::internal,
          "columns of a chunk: a scale of ", column_scale.size(), " numbers, need ", source.cols());
  if (!column_scale.empty()) source = source.with_column_scale(column_scale);
  if (task.shared.number<int>() != 0) source = source.with_row_scale(task.list_by_row<double>());
  return task.shared.number<bool>() ? source.with_some_weights(task.list_by_row<double>()) : source;
}

void Wire<Centered>::put(RemoteRequest& request, const Centered& z) {
  Wire<Source>::put(request, z.source());
  request.shared.put(z.center()).put(z.scale()).put(z.shift()).put(z.has_near_centers());
  request.shared.put(!z.roots().empty());
}

Centered Wire<Centered>::take(ChunkTask& task) {
  Source source = Wire<Source>::take(task);
  auto center = task.shared.list<double>(), scale = task.shared.list<double>(), shift = task.shared.list<double>();
  const bool near_centers = task.shared.number<bool>(), weighted = task.shared.number<bool>();
  return Centered(std::move(source), std::move(center), std::move(scale), std::move(shift), near_centers, weighted);
}

void Wire<ByRow<Matrix>>::put(RemoteRequest& request, const ByRow<Matrix>& rows) {
  const Matrix& matrix = rows.value;
  request.shared.put(matrix.cols());
  request.call.by_row.push_back({matrix.data(), matrix.cols() * sizeof(double)});
}

Matrix Wire<ByRow<Matrix>>::take(ChunkTask& task) {
  const auto cols = task.shared.number<Index>();
  const ByteView values = task.next_by_row(cols, sizeof(double));
  Matrix matrix(task.rows, cols);
  if (!matrix.empty()) std::memcpy(matrix.data(), values.data(), values.size());
  return matrix;
}

void Wire<ByRow<std::vector<int>>>::put(RemoteRequest& request, const ByRow<std::vector<int>>& rows) {
  request.call.by_row.push_back({rows.value.data(), sizeof(int)});
}

std::vector<int> Wire<ByRow<std::vector<int>>>::take(ChunkTask& task) { return task.list_by_row<int>(); }

std::vector<Index> Wire<RowList>::take(ChunkTask& task) {
  std::vector<Index> own;
  const auto rows = task.shared.list<Index>();
  require(std::ranges::is_sorted(rows), ErrorCode::internal, "rows that do not increase");
  for (const Index row : rows) {
    if (row >= task.first && row < task.first + task.rows) own.push_back(row - task.first);
  }
  return own;
}

void merge_sums(Sums& into, Sums&& from) {
  require(into.size() == from.size(), ErrorCode::internal, "sums of ", into.size(), " and ", from.size(), " pieces");
  for (std::size_t q = 0; q < into.size(); ++q) {
    const bool fits =
        into[q].empty() || from[q].empty() || (into[q].rows() == from[q].rows() && into[q].cols() == from[q].cols());
    require(fits, ErrorCode::internal, "sums of other shapes");
    add_sums(into[q], std::move(from[q]));
  }
}

void require_counts(const std::vector<Index>& counts) {
  constexpr Index kMostRows = Index{1} << 40;
  const bool sound = std::ranges::all_of(counts, [](Index n) { return n >= -kMostRows && n <= kMostRows; });
  require(sound, ErrorCode::internal, "numbers of more rows than there can be");
}

bool are_labels(const std::vector<int>& labels, Index clusters) {
  return clusters >= 0 && clusters <= std::numeric_limits<int>::max() &&
         std::ranges::all_of(labels, [&](int label) { return label >= -1 && label < clusters; });
}

// --- What is asked -------------------------------------------------------------------------------------------------

namespace {

RemoteResults ask(const RemoteStore& store, RemoteRequest& request, Context& context) {
  context.check_cancelled();
  request.call.shared = request.shared.take();
  return store.run(request.call);
}

// take(part) of every chunk that begins before row `end`; it returns how many rows there were.
template <class Take>
void ask_each(const RemoteStore& store, RemoteRequest& request, Index end, Index count, Context& context, Take take) {
  request.call.rows = end;
  request.call.merged = false;
  RemoteResults results = ask(store, request, context);
  Index at = 0;
  for (RemotePart& part : results.parts) {
    at += take(part.bytes, at);
    part = {};
  }
  require(at == count, ErrorCode::internal, request.call.pass, ": ", at, " rows, need ", count);
}

}  // namespace

RemoteResults ask_all(const RemoteStore& store, RemoteRequest& request, Context& context) {
  request.call.rows = store.rows();
  RemoteResults results = ask(store, request, context);
  const bool sound = request.call.merged ? results.parts.size() == 1 : !results.parts.empty();
  require(sound, ErrorCode::internal, request.call.pass, ": ", results.parts.size(), " results");
  return results;
}

void ask_rows(const RemoteStore& store, RemoteRequest& request, Index end, Matrix& out, Context& context) {
  ask_each(store, request, end, out.rows(), context, [&](ByteView bytes, Index at) {
    const auto some = unpacked_result<Matrix>(bytes);
    require(some.cols() == out.cols() && some.rows() <= out.rows() - at, ErrorCode::internal, request.call.pass,
            ": rows of a chunk (", some.rows(), ", ", some.cols(), "), need ", out.cols(), " columns and ", out.rows(),
            " rows in all");
    std::copy_n(some.data(), some.size(), out.data() + at * out.cols());
    return some.rows();
  });
}

void ask_rows(const RemoteStore& store, RemoteRequest& request, Index end, std::vector<int>& out, Context& context) {
  const auto count = static_cast<Index>(out.size());
  ask_each(store, request, end, count, context, [&](ByteView bytes, Index at) {
    const auto some = unpacked_result<std::vector<int>>(bytes);
    const auto rows = static_cast<Index>(some.size());
    require(rows <= count - at, ErrorCode::internal, request.call.pass, ": more than ", count, " rows");
    std::ranges::copy(some, out.begin() + at);
    return rows;
  });
}

// --- What a chunk answers ------------------------------------------------------------------------------------------

namespace {

std::vector<WirePass> all_passes() {
  std::vector<WirePass> out;
  for (const auto passes : {moments_passes, product_passes, gram_passes, row_passes, sample_passes, point_passes}) {
    const std::vector<WirePass> some = passes();
    out.insert(out.end(), some.begin(), some.end());
  }
  return out;
}

const WirePass& find_pass(const std::string& name) {
  static const std::vector<WirePass> passes = all_passes();
  const auto found = std::ranges::find_if(passes, [&](const WirePass& pass) { return name == pass.name; });
  require(found != passes.end(), ErrorCode::internal, "no remote pass ", name);
  return *found;
}

}  // namespace

RemoteAnswer remote_partial(const std::string& pass, ByteView shared, const std::vector<ByteView>& by_row,
                            const Source* chunk, Index rows, Index first, Context& context) {
  require(rows >= 0 && first >= 0 && (chunk == nullptr || chunk->rows() == rows), ErrorCode::internal, "a chunk of ",
          rows, " rows from row ", first, " on");
  ChunkTask task{chunk, rows, first, Unpacker(shared), by_row};
  return find_pass(pass).answer(task, context);
}

Bytes remote_merge(const std::string& pass, ByteView left, ByteView right) {
  const WirePass& found = find_pass(pass);
  require(found.merge != nullptr, ErrorCode::internal, "results of ", pass, " are not merged");
  return found.merge(left, right);
}

}  // namespace tamis
