#include "tamis/data/stores/remote.h"

#include <algorithm>
#include <array>

#include "tamis/base/error.h"
#include "tamis/data/passes/blocks.h"
#include "tamis/data/stores/remote_pass.h"

namespace tamis {

RemoteStore::RemoteStore(const RemoteShape& shape, Run run, Index block_rows)
    : Store(shape.rows, shape.cols, block_rows), shape_(shape), run_(std::move(run)) {
  require(shape.rows >= 0 && shape.cols >= 0 && block_rows >= 1, ErrorCode::usage, "remote rows: shape (", shape.rows,
          ", ", shape.cols, "), block of ", block_rows, " rows");
}

Block RemoteStore::block(Index) const { fail(ErrorCode::internal, "a pass that cannot run where the rows are"); }

std::vector<RemotePart> RemoteStore::run(const RemoteCall& call) const { return run_(call); }

// --- What is asked -----------------------------------------------------------------------------------------------

// Columns (none where all are kept), their scale, and whether rows are scaled: read by chunk_source().
RemoteRequest::RemoteRequest(const char* pass, const Source& source)
    : store_(dynamic_cast<const RemoteStore&>(source.store())) {
  call_.pass = pass;
  call_.rows = source.rows();
  with(source.all_columns() ? std::vector<Index>() : source.columns()).with(source.column_scale());
  with(source.row_scale().empty() ? 0 : 1);
  if (!source.row_scale().empty()) by_row(source.row_scale().data(), 1);
}

RemoteRequest::RemoteRequest(const char* pass, const Centered& z) : RemoteRequest(pass, z.source()) {
  with(z.center()).with(z.scale()).with(z.shift()).with(z.folds() ? 1 : 0);
}

std::vector<RemotePart> RemoteRequest::run(Context& context) {
  context.check_cancelled();
  call_.shared = packer_.take();
  return store_.run(call_);
}

RemotePart RemoteRequest::merged(Context& context) {
  std::vector<RemotePart> parts = run(context);
  require(parts.size() == 1, ErrorCode::internal, call_.pass, ": ", parts.size(), " results, need 1");
  return std::move(parts.front());
}

std::vector<RemotePart> RemoteRequest::by_chunk(Index rows, Context& context) {
  call_.rows = rows;
  call_.merged = false;
  return run(context);
}

Matrix RemoteRequest::rows_of_all(Index rows, Index cols, Context& context) {
  Matrix out(rows, cols);
  Index at = 0;
  for (RemotePart& part : by_chunk(store_.rows(), context)) {
    const Matrix some = Unpacker(part.bytes).matrix();
    part = {};
    require(some.cols() == cols && some.rows() <= rows - at, ErrorCode::internal, call_.pass, ": rows of a chunk (",
            some.rows(), ", ", some.cols(), "), need ", cols, " columns and ", rows, " rows in all");
    std::copy_n(some.data(), some.size(), out.row(at));
    at += some.rows();
  }
  require(at == rows, ErrorCode::internal, call_.pass, ": ", at, " rows, need ", rows);
  return out;
}

// --- What a chunk answers ----------------------------------------------------------------------------------------

namespace {

using Answer = Bytes (*)(ChunkTask&, Context&);
using Merge = Bytes (*)(ByteView, ByteView);

struct RemotePass {
  const char* name;
  Answer answer;
  Merge merge;  // null where there is nothing to merge
};

constexpr std::array kPasses = {
    RemotePass{"first_row", first_row_of_chunk, nullptr},
    RemotePass{"moments", moments_of_chunk, merge_moments},
    RemotePass{"multiply", multiply_chunk, nullptr},
    RemotePass{"multiply_transposed", transposed_sums_of_chunk, merge_sums},
    RemotePass{"sweep", sweep_sums_of_chunk, merge_sums},
    RemotePass{"scatter", scatter_sums_of_chunk, merge_sums},
    RemotePass{"gram", gram_sums_of_chunk, merge_sums},
    RemotePass{"gram_of_rows", gram_of_rows_of_chunk, nullptr},
    RemotePass{"move_rows", moved_sums_of_chunk, merge_sums},
    RemotePass{"gather_rows", gathered_rows_of_chunk, nullptr},
    RemotePass{"fingerprints", fingerprints_of_chunk, merge_fingerprints},
};

const RemotePass& find_pass(const std::string& name) {
  const auto* found = std::find_if(kPasses.begin(), kPasses.end(), [&](const auto& pass) { return name == pass.name; });
  require(found != kPasses.end(), ErrorCode::internal, "no remote pass ", name);
  return *found;
}

// The chunk as the request sees its rows.
Source chunk_source(const Source& chunk, Unpacker& shared, std::vector<ByteView>& by_row) {
  Source source = chunk;
  const auto columns = shared.list<Index>();
  if (!columns.empty()) source = source.with_columns(columns);
  const auto column_scale = shared.list<double>();
  if (!column_scale.empty()) source = source.with_column_scale(column_scale);
  if (shared.number<int>() == 0) return source;
  return source.with_row_scale(take_numbers<double>(by_row, chunk.rows()));
}

}  // namespace

Centered ChunkTask::centered() {
  auto center = shared.list<double>(), scale = shared.list<double>(), shift = shared.list<double>();
  const bool folds = shared.number<int>() != 0;
  return Centered(source, std::move(center), std::move(scale), std::move(shift), folds);
}

Bytes remote_partial(const std::string& pass, ByteView shared, const std::vector<ByteView>& by_row, const Source& chunk,
                     Index first, Context& context) {
  const RemotePass& found = find_pass(pass);
  Unpacker rest(shared);
  std::vector<ByteView> own = by_row;
  const Source source = chunk_source(chunk, rest, own);
  ChunkTask task{source, first, rest, std::move(own)};
  return found.answer(task, context);
}

Bytes remote_merge(const std::string& pass, ByteView left, ByteView right) {
  const RemotePass& found = find_pass(pass);
  require(found.merge != nullptr, ErrorCode::internal, "results of ", pass, " are not merged");
  return found.merge(left, right);
}

Bytes merge_sums(ByteView left, ByteView right) {
  Sums into = Unpacker(left).matrices(), from = Unpacker(right).matrices();
  require(into.size() == from.size(), ErrorCode::internal, "sums of ", into.size(), " and ", from.size(), " pieces");
  for (std::size_t q = 0; q < into.size(); ++q) {
    require(
        into[q].empty() || from[q].empty() || (into[q].rows() == from[q].rows() && into[q].cols() == from[q].cols()),
        ErrorCode::internal, "sums of other shapes");
    add_sums(into[q], std::move(from[q]));
  }
  return Packer().put(into).take();
}

}  // namespace tamis
