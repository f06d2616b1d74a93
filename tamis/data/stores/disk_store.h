// Rows that stay where they are, in files, and are read again in every pass.
#pragma once

#include <cstddef>
#include <memory>

#include "tamis/base/context.h"
#include "tamis/data/source.h"

namespace tamis {

// Somewhere rows can be read from, any number of times. Dense ones lie in memory one after the other; sparse ones
// (spool.h) say how they do.
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

  virtual bool sparse() const { return false; }
  virtual Index nonzeros() const { return rows_ * cols_; }
  virtual std::uint64_t resident_bytes() const { return 0; }  // that it keeps in memory itself

  // What rows [first, first + count) take in memory.
  virtual std::size_t bytes_of(Index first, Index count) const;
  // Writes them to `out`. Called from several threads at once.
  virtual void read(Index first, Index count, std::byte* out) const = 0;
  // Says that they will be read soon, so that the disk can begin.
  virtual void expect(Index, Index) const {}
  // Points a block of these rows at what read() wrote.
  virtual void show(const std::byte* data, Block& block) const;

 private:
  Index rows_, cols_;
  DType dtype_;
};

// A store whose blocks are read when they are asked for, by who asks, into a ring of buffers. Passes ask for blocks in
// rising order, again and again, so the system is told `ahead` bytes (at least two blocks) in advance what they will
// read, and the disk works while they compute; what a thread copies then is still in its cache when it is used.
// `threads` is how many ask at a time. A table of at most `ahead` bytes is read once and kept.
std::shared_ptr<const Store> make_disk_store(const std::shared_ptr<const RowReader>& reader, int threads,
                                             std::uint64_t ahead, Index block_rows = kBlockRows);

// For the threads and the memory of a run.
Source on_disk(const std::shared_ptr<const RowReader>& reader, const Context& context);

}  // namespace tamis
