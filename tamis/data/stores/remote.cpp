#include "tamis/data/stores/remote.h"

#include "tamis/base/error.h"

namespace tamis {

RemoteStore::RemoteStore(const RemoteShape& shape, Run run, Index block_rows, Take take)
    : Store(shape.rows, shape.cols, block_rows), shape_(shape), run_(std::move(run)), take_(std::move(take)) {
  require(shape.rows >= 0 && shape.cols >= 0 && block_rows >= 1, ErrorCode::usage, "remote rows: shape (", shape.rows,
          ", ", shape.cols, "), block of ", block_rows, " rows");
}

Block RemoteStore::block(Index) const { fail(ErrorCode::internal, "a pass that cannot run where the rows are"); }

RemoteResults RemoteStore::run(const RemoteCall& call) const { return run_(call); }

}  // namespace tamis
