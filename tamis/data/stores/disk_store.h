// Rows that stay in files and are read again in every pass.
//
// The rule of memory and disk
//
// A table lies in one of three places. In memory: a pass goes over it where it is. In its own file (.npy, shards of
// .npy): every pass reads the file. In a temporary file (temporary_rows.h): rows of a format that cannot be read a
// block at a time as quickly (Parquet, Arrow, AnnData, zarr, shards of text) are written there once, while they are
// read for the first time.
//
// Reading has two steps (table.h). open_table() looks at the head of a file and says what its rows are like and whether
// they could stay on disk. Whoever opened it compares what the work needs with the memory limit, and then calls load()
// or leave_on_disk(). The command leaves rows on disk where the work needs more than the limit with the table in memory
// and at most the limit without it: never to save memory that nobody needs, since every pass would pay for it. Nothing
// in this room decides, and nothing in it calls the room that does.
//
// Of rows on disk these are in memory, and counted by every forecast (size_on_disk): a ring of blocks, one for each
// thread and two spare ones (none where a block is larger than 128 MB), of kBlockRows rows; the same of pieces of
// kPieceRows rows, for passes that take a piece at a time; and of sparse rows the offsets, 8 bytes each. A table that
// fits into what would be announced to the system anyway (32 MB, or a sixteenth of the memory limit where that is less)
// is read once and kept. The system's cache of the file is not ours and not counted: the system takes it back when
// memory is short.
//
// Bits do not depend on the place. Blocks have the same rows everywhere, and sums follow one tree over them. A file
// that changes while it is read is noticed by its time and size (Context::input_touched) and named.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/source.h"

namespace tamis {

// What rows are like, which is known before any of them is read.
struct RowShape {
  Index rows = 0, cols = 0;
  DType dtype = DType::f64;
  std::vector<std::int64_t>
      offsets;  // rows + 1, where the entries of each sparse row begin; empty where they are dense

  bool sparse() const { return !offsets.empty(); }
  Index nonzeros() const { return sparse() ? offsets.back() : rows * cols; }
  // What rows [first, first + count) take in memory: dense ones lie one after the other; sparse ones have offsets,
  // which begin at 0, values, and columns.
  std::size_t bytes_of(Index first, Index count) const;
  Index entries_of(Index first, Index count) const;
};

// Somewhere rows can be read from, any number of times.
class RowReader {
 public:
  explicit RowReader(RowShape shape) : shape_(std::move(shape)) {}
  virtual ~RowReader() = default;
  RowReader(const RowReader&) = delete;
  RowReader& operator=(const RowReader&) = delete;

  const RowShape& shape() const { return shape_; }
  Index rows() const { return shape_.rows; }
  Index cols() const { return shape_.cols; }
  DType dtype() const { return shape_.dtype; }

  // Writes rows [first, first + count) to `out`, laid out as RowShape says. Called from several threads at once.
  virtual void read(Index first, Index count, std::byte* out) const = 0;
  // Says that they will be read soon, so that the disk can begin.
  virtual void expect(Index, Index) const {}

 private:
  RowShape shape_;
};

// A store whose blocks are read when they are asked for, by who asks, into a ring of buffers. Passes ask for blocks in
// rising order, again and again, so the system is told `ahead` bytes (at least two blocks) in advance what they will
// read, and the disk works while they compute; what a thread copies then is still in its cache when it is used.
// `threads` is how many ask at a time. A table of at most `ahead` bytes is read once and kept.
std::shared_ptr<const Store> make_disk_store(const std::shared_ptr<const RowReader>& reader, int threads,
                                             std::uint64_t ahead, Index block_rows = kBlockRows);

// For the threads and the memory of a run.
Source on_disk(const std::shared_ptr<const RowReader>& reader, const Context& context);
// What that source will be like, before there is a reader.
TableSize size_on_disk(const RowShape& rows, const Context& context);

}  // namespace tamis
