// Rows that stay where they are, in files, and are read again in every pass.
#pragma once

#include <cstddef>
#include <memory>

#include "tamis/base/context.h"
#include "tamis/data/source.h"

namespace tamis {

// Somewhere rows can be read from, any number of times.
class RowReader {
 public:
  RowReader(Index rows, Index cols, DType dtype) : rows_(rows), cols_(cols), dtype_(dtype) {}
  virtual ~RowReader() = default;
  RowReader(const RowReader&) = delete;
  RowReader& operator=(const RowReader&) = delete;

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  DType dtype() const { return dtype_; }
  std::size_t row_bytes() const { return static_cast<std::size_t>(cols_) * size_of(dtype_); }

  // Writes rows [first, first + count) to `out`, one after the other. Called from several threads at once.
  virtual void read(Index first, Index count, std::byte* out) const = 0;

 private:
  Index rows_, cols_;
  DType dtype_;
};

// A store whose blocks are read when they are asked for, into a ring of buffers, and ahead of that by a thread of its
// own: passes ask for blocks in rising order, again and again. `threads` is how many ask at a time, `ahead` the bytes
// to read ahead, if that is more than two blocks.
std::shared_ptr<const Store> make_disk_store(const std::shared_ptr<const RowReader>& reader, int threads,
                                             std::uint64_t ahead, Index block_rows = kBlockRows);

// For the threads and the memory of a run.
Source on_disk(const std::shared_ptr<const RowReader>& reader, const Context& context);

}  // namespace tamis
