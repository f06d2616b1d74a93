// The two halves of a pass over rows that live elsewhere (remote.h): what is asked here, and what a chunk answers.
// Used by the passes only.
#pragma once

#include <cstring>
#include <vector>

#include "tamis/base/error.h"
#include "tamis/data/passes/passes.h"
#include "tamis/data/stores/remote.h"

namespace tamis {

inline bool is_remote(const Source& source) { return dynamic_cast<const RemoteStore*>(&source.store()) != nullptr; }

// What is asked: of a source as it is seen, or of a centred one.
class RemoteRequest {
 public:
  RemoteRequest(const char* pass, const Source& source);
  RemoteRequest(const char* pass, const Centered& z);

  // The same for every chunk; a ChunkTask reads it in this order.
  template <class T>
  RemoteRequest& with(const T& value) {
    packer_.put(value);
    return *this;
  }
  // `count` numbers for each row; they must outlive the call.
  template <class T>
  RemoteRequest& by_row(const T* data, Index count) {
    call_.by_row.push_back({data, static_cast<std::size_t>(count) * sizeof(T)});
    return *this;
  }

  // One result, merged along the tree.
  RemotePart merged(Context& context);
  // The results of the chunks, in order; of those alone that begin before row `rows`.
  std::vector<RemotePart> by_chunk(Index rows, Context& context);
  // The same, matrices of rows put below each other.
  Matrix rows_of_all(Index rows, Index cols, Context& context);

 private:
  std::vector<RemotePart> run(Context& context);

  const RemoteStore& store_;
  RemoteCall call_;
  Packer packer_;
};

// The first of `views`, taken off them: `count` numbers.
template <class T>
std::vector<T> take_numbers(std::vector<ByteView>& views, Index count) {
  const bool fits = !views.empty() && views.front().size() == static_cast<std::size_t>(count) * sizeof(T);
  require(fits, ErrorCode::internal, "what belongs to the rows of a chunk does not fit them");
  std::vector<T> values(static_cast<std::size_t>(count));
  if (count > 0) std::memcpy(values.data(), views.front().data(), views.front().size());
  views.erase(views.begin());
  return values;
}

// What one chunk is asked.
struct ChunkTask {
  Source source;                 // the chunk's rows, seen as the pass sees them
  Index first;                   // its first row among all
  Unpacker shared;               // what with() put in
  std::vector<ByteView> by_row;  // what by_row() put in, of its own rows

  Centered centered();  // where a centred source is asked; before anything else is read
};

// What the chunks answer, by pass.
Bytes first_row_of_chunk(ChunkTask& task, Context& context);
Bytes moments_of_chunk(ChunkTask& task, Context& context);
Bytes multiply_chunk(ChunkTask& task, Context& context);
Bytes transposed_sums_of_chunk(ChunkTask& task, Context& context);
Bytes sweep_sums_of_chunk(ChunkTask& task, Context& context);
Bytes scatter_sums_of_chunk(ChunkTask& task, Context& context);
Bytes gram_sums_of_chunk(ChunkTask& task, Context& context);
Bytes gram_of_rows_of_chunk(ChunkTask& task, Context& context);
Bytes moved_sums_of_chunk(ChunkTask& task, Context& context);
Bytes gathered_rows_of_chunk(ChunkTask& task, Context& context);
Bytes fingerprints_of_chunk(ChunkTask& task, Context& context);

// And how two answers become one.
Bytes merge_moments(ByteView left, ByteView right);
Bytes merge_sums(ByteView left, ByteView right);
Bytes merge_fingerprints(ByteView left, ByteView right);

}  // namespace tamis
