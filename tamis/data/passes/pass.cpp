#include "tamis/data/passes/pass.h"

#include <algorithm>

#include "tamis/base/error.h"
#include "tamis/data/passes/wire.h"

namespace tamis {

// --- What travels --------------------------------------------------------------------------------------------------

void ChunkTask::copy_by_row(void* out, std::size_t bytes) {
  const bool fits = !by_row.empty() && by_row.front().size() == bytes;
  require(fits, ErrorCode::internal, "what belongs to the rows of a chunk does not fit them");
  if (bytes > 0) std::memcpy(out, by_row.front().data(), bytes);
  by_row.erase(by_row.begin());
}

// Columns (none where all are kept), their scale, and whether rows are scaled.
void Wire<Source>::put(RemoteRequest& request, const Source& source) {
  request.shared.put(source.all_columns() ? std::vector<Index>() : source.columns()).put(source.column_scale());
  request.shared.put(source.row_scale().empty() ? 0 : 1);
  if (!source.row_scale().empty()) request.call.by_row.push_back({source.row_scale().data(), sizeof(double)});
}

Source Wire<Source>::take(ChunkTask& task) {
  Source source = task.chunk;
  const auto columns = task.shared.list<Index>();
  if (!columns.empty()) source = source.with_columns(columns);
  const auto column_scale = task.shared.list<double>();
  if (!column_scale.empty()) source = source.with_column_scale(column_scale);
  if (task.shared.number<int>() == 0) return source;
  std::vector<double> row_scale(static_cast<std::size_t>(source.rows()));
  task.take_by_row(row_scale.data(), 1);
  return source.with_row_scale(row_scale);
}

void Wire<Centered>::put(RemoteRequest& request, const Centered& z) {
  Wire<Source>::put(request, z.source());
  request.shared.put(z.center()).put(z.scale()).put(z.shift()).put(z.folds());
}

Centered Wire<Centered>::take(ChunkTask& task) {
  Source source = Wire<Source>::take(task);
  auto center = task.shared.list<double>(), scale = task.shared.list<double>(), shift = task.shared.list<double>();
  const bool folds = task.shared.number<bool>();
  return Centered(std::move(source), std::move(center), std::move(scale), std::move(shift), folds);
}

void Wire<ByRow<Matrix>>::put(RemoteRequest& request, const ByRow<Matrix>& rows) {
  const Matrix& matrix = rows.value;
  request.shared.put(matrix.cols());
  request.call.by_row.push_back({matrix.data(), static_cast<std::size_t>(matrix.cols()) * sizeof(double)});
}

Matrix Wire<ByRow<Matrix>>::take(ChunkTask& task) {
  Matrix matrix(task.chunk.rows(), task.shared.number<Index>());
  task.take_by_row(matrix.data(), matrix.cols());
  return matrix;
}

void Wire<ByRow<std::vector<int>>>::put(RemoteRequest& request, const ByRow<std::vector<int>>& rows) {
  request.call.by_row.push_back({rows.value.data(), sizeof(int)});
}

std::vector<int> Wire<ByRow<std::vector<int>>>::take(ChunkTask& task) {
  std::vector<int> values(static_cast<std::size_t>(task.chunk.rows()));
  task.take_by_row(values.data(), 1);
  return values;
}

std::vector<Index> Wire<RowList>::take(ChunkTask& task) {
  std::vector<Index> own;
  for (const Index row : task.shared.list<Index>()) {
    if (row >= task.first && row < task.first + task.chunk.rows()) own.push_back(row - task.first);
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

// --- What is asked -------------------------------------------------------------------------------------------------

namespace {

std::vector<RemotePart> ask(const RemoteStore& store, RemoteRequest& request, Context& context) {
  context.check_cancelled();
  request.call.shared = request.shared.take();
  return store.run(request.call);
}

}  // namespace

RemotePart ask_all(const RemoteStore& store, RemoteRequest& request, Context& context) {
  request.call.rows = store.rows();
  std::vector<RemotePart> parts = ask(store, request, context);
  require(parts.size() == 1, ErrorCode::internal, request.call.pass, ": ", parts.size(), " results, need 1");
  return std::move(parts.front());
}

std::vector<RemotePart> ask_each(const RemoteStore& store, RemoteRequest& request, Index rows, Context& context) {
  request.call.rows = rows;
  request.call.merged = false;
  return ask(store, request, context);
}

Matrix ask_rows(const RemoteStore& store, RemoteRequest& request, Index rows, Index count, Context& context) {
  Matrix out;
  Index at = 0;
  for (RemotePart& part : ask_each(store, request, rows, context)) {
    const Matrix some = unpacked_result<Matrix>(part.bytes);
    part = {};
    if (at == 0 && out.empty()) out = Matrix(count, some.cols());
    require(some.cols() == out.cols() && some.rows() <= count - at, ErrorCode::internal, request.call.pass,
            ": rows of a chunk (", some.rows(), ", ", some.cols(), "), need ", out.cols(), " columns and ", count,
            " rows in all");
    std::copy_n(some.data(), some.size(), out.data() + at * out.cols());
    at += some.rows();
  }
  require(at == count, ErrorCode::internal, request.call.pass, ": ", at, " rows, need ", count);
  return out;
}

// --- What a chunk answers ------------------------------------------------------------------------------------------

namespace {

std::vector<WirePass> all_passes() {
  std::vector<WirePass> out;
  for (const auto passes : {moments_passes, product_passes, gram_passes, row_passes, sample_passes}) {
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

Bytes remote_partial(const std::string& pass, ByteView shared, const std::vector<ByteView>& by_row, const Source& chunk,
                     Index first, Context& context) {
  ChunkTask task{chunk, first, Unpacker(shared), by_row};
  return find_pass(pass).answer(task, context);
}

Bytes remote_merge(const std::string& pass, ByteView left, ByteView right) {
  const WirePass& found = find_pass(pass);
  require(found.merge != nullptr, ErrorCode::internal, "results of ", pass, " are not merged");
  return found.merge(left, right);
}

}  // namespace tamis
