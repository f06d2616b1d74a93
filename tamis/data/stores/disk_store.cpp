#include "tamis/data/stores/disk_store.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "tamis/base/error.h"
#include "tamis/base/memory.h"

namespace tamis {

namespace {

constexpr Index kReadAlone = 16;                             // less than this part of a block is read alone
constexpr Index kSpare = 2;                                  // blocks in memory beside one for each thread,
constexpr std::size_t kSpareBytes = std::size_t{128} << 20;  // unless they are larger than this
constexpr Index kAheadLeast = 2, kAheadMost = 64;            // blocks
constexpr std::uint64_t kAheadBytes = std::uint64_t{32} << 20;
constexpr std::uint64_t kAheadShare = 16;  // of the memory at most

struct Slot {
  enum class State { empty, loading, ready };
  State state = State::empty;
  Index block = -1;
  int users = 0;
  std::uint64_t released = 0;  // when its last user let go of it
  Buffer bytes;
};

// How rows are cut into the blocks of a ring.
struct RingShape {
  RingShape(const RowShape& shape, Index rows_each, int threads, std::uint64_t ahead_bytes)
      : block_rows(rows_each), blocks((shape.rows + rows_each - 1) / rows_each) {
    const Index unlike = shape.sparse() ? blocks : std::min<Index>(blocks, 1);  // dense blocks are alike
    for (Index b = 0; b < unlike; ++b) {
      block_bytes =
          std::max(block_bytes, shape.bytes_of(b * block_rows, std::min(block_rows, shape.rows - b * block_rows)));
    }
    const auto fitting = static_cast<Index>(ahead_bytes / std::max<std::uint64_t>(block_bytes, 1));
    ahead = std::clamp(fitting, kAheadLeast, kAheadMost);
    const Index spare = block_bytes > kSpareBytes ? 0 : kSpare;
    slots = blocks <= ahead ? blocks : std::min(blocks, threads + spare);
  }

  bool holds_all() const { return slots == blocks; }
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(slots) * block_bytes; }

  Index block_rows, blocks;
  std::size_t block_bytes = 0;  // of the largest
  Index ahead = 0, slots = 0;   // blocks
};

// Passes that take a piece at a time have a ring of pieces, small enough for the cache.
bool has_pieces(const RingShape& ring) { return ring.block_rows % kPieceRows == 0 && !ring.holds_all(); }

std::uint64_t bytes_in_memory(const RowShape& rows, int threads, std::uint64_t ahead, Index block_rows) {
  const RingShape ring(rows, block_rows, threads, ahead);
  const std::uint64_t pieces = has_pieces(ring) ? RingShape(rows, kPieceRows, threads, ahead).bytes() : 0;
  return ring.bytes() + pieces + rows.offsets.size() * sizeof(std::int64_t);
}

// Blocks of rows in a ring of slots. A slot that nobody uses is given to who needs one, the one released last first:
// its memory is the likeliest to be in the cache.
class Ring {
 public:
  Ring(std::shared_ptr<const RowReader> reader, const RingShape& shape)
      : reader_(std::move(reader)), shape_(shape), slots_(shape.slots) {}

  const RowReader& reader() const { return *reader_; }
  const RingShape& shape() const { return shape_; }

  // The rows of block b, for as long as the pointer is held.
  std::shared_ptr<const void> get(const std::shared_ptr<Ring>& self, Index b) {
    expect_after(b);
    std::unique_lock lock(mutex_);
    while (true) {
      if (Slot* slot = find(b)) {
        if (slot->state == Slot::State::ready) return lease(self, *slot);
        changed_.wait(lock);
        continue;
      }
      Slot* slot = free_slot();
      if (slot == nullptr) {
        lock.unlock();
        return read_rows(b * shape_.block_rows, rows_of(b));  // more blocks are held than there are slots: nobody waits
      }
      load(*slot, b, lock);
    }
  }

  // The same where it is there already; null otherwise.
  std::shared_ptr<const void> find_ready(const std::shared_ptr<Ring>& self, Index b) {
    const std::lock_guard lock(mutex_);
    Slot* slot = find(b);
    return slot != nullptr && slot->state == Slot::State::ready ? lease(self, *slot) : nullptr;
  }

  // Some rows alone.
  std::shared_ptr<const void> read_rows(Index first, Index count) const {
    auto bytes = std::make_shared<Buffer>(reader_->shape().bytes_of(first, count));
    reader_->read(first, count, bytes->data());
    return {bytes, bytes->data()};
  }

 private:
  Index rows_of(Index b) const { return std::min(shape_.block_rows, reader_->rows() - b * shape_.block_rows); }

  // Passes go round: after the last block comes the first.
  Index distance(Index from, Index to) const { return (to - from + shape_.blocks) % shape_.blocks; }

  // Announces the blocks after b, each once as long as requests go forward.
  void expect_after(Index b) {
    if (shape_.holds_all()) return;
    const Index reach = std::min(shape_.ahead, shape_.blocks - 1);
    Index first = 0, last = 0;
    {
      const std::lock_guard lock(mutex_);
      // Threads are some blocks apart, so that the last announced may be farther than the reach of this one.
      const Index announced = distance(b, expected_);
      if (announced > shape_.blocks / 2) expected_ = b;  // it lies behind: a new pass, or a jump
      first = last = expected_;
      if (distance(b, expected_) < reach) expected_ = last = (b + reach) % shape_.blocks;
    }
    while (first != last) {
      first = (first + 1) % shape_.blocks;
      reader_->expect(first * shape_.block_rows, rows_of(first));
    }
  }

  Slot* find(Index b) {
    for (Slot& slot : slots_) {
      if (slot.state != Slot::State::empty && slot.block == b) return &slot;
    }
    return nullptr;
  }

  // Null where all are used. Empty ones come last where the table does not fit: fresh memory is dear.
  Slot* free_slot() {
    Slot* best = nullptr;
    for (Slot& slot : slots_) {
      if (slot.users > 0 || slot.state == Slot::State::loading) continue;
      if (shape_.holds_all() && slot.state == Slot::State::empty) return &slot;
      if (best == nullptr || slot.released > best->released) best = &slot;
    }
    return best;
  }

  // Fills the slot, the lock given back meanwhile.
  void load(Slot& slot, Index b, std::unique_lock<std::mutex>& lock) {
    slot.block = b;
    slot.state = Slot::State::loading;
    lock.unlock();
    std::exception_ptr error;
    try {
      if (slot.bytes.size() == 0) slot.bytes.resize(shape_.block_bytes);
      reader_->read(b * shape_.block_rows, rows_of(b), slot.bytes.data());
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    slot.state = error ? Slot::State::empty : Slot::State::ready;
    changed_.notify_all();
    if (error) std::rethrow_exception(error);
  }

  std::shared_ptr<const void> lease(const std::shared_ptr<Ring>& self, Slot& slot) {
    ++slot.users;
    return {slot.bytes.data(), [self, &slot](const void*) {
              const std::lock_guard lock(self->mutex_);
              --slot.users;
              slot.released = ++self->releases_;
            }};
  }

  const std::shared_ptr<const RowReader> reader_;
  const RingShape shape_;
  std::mutex mutex_;
  std::condition_variable changed_;  // a block was loaded, or could not be
  Index expected_ = 0;               // the last block that was announced
  std::uint64_t releases_ = 0;
  std::vector<Slot> slots_;
};

class DiskStore final : public Store {
 public:
  DiskStore(const std::shared_ptr<const RowReader>& reader, int threads, std::uint64_t ahead, Index block_rows)
      : Store(reader->rows(), reader->cols(), block_rows),
        ring_(std::make_shared<Ring>(reader, RingShape(reader->shape(), block_rows, threads, ahead))),
        resident_(bytes_in_memory(reader->shape(), threads, ahead, block_rows)) {
    if (!has_pieces(ring_->shape())) return;
    pieces_ = std::make_shared<Ring>(reader, RingShape(reader->shape(), kPieceRows, threads, ahead));
  }

  bool sparse() const override { return rows_like().sparse(); }
  Index nonzeros() const override { return rows_like().nonzeros(); }
  DType dtype() const override { return rows_like().dtype; }
  bool in_memory() const override { return false; }
  std::uint64_t resident_bytes() const override { return resident_; }

  Block block(Index b) const override { return whole(b, ring_->get(ring_, b)); }

  Block piece(Index b, Index p) const override {
    if (!pieces_) return Store::piece(b, p);
    const Index first = b * block_rows() + p * kPieceRows;
    return block_over(first, std::min(kPieceRows, rows() - first), pieces_->get(pieces_, first / kPieceRows));
  }

  Block some_rows(Index first, Index count) const override {
    const Index b = first / block_rows();
    if (count * kReadAlone >= block_rows()) return Store::some_rows(first, count);
    if (auto lease = ring_->find_ready(ring_, b)) return part_of(whole(b, std::move(lease)), first, count);
    return block_over(first, count, ring_->read_rows(first, count));
  }

 private:
  const RowShape& rows_like() const { return ring_->reader().shape(); }

  Block whole(Index b, std::shared_ptr<const void> lease) const {
    const Index first = b * block_rows();
    return block_over(first, std::min(block_rows(), rows() - first), std::move(lease));
  }

  Block block_over(Index first, Index count, std::shared_ptr<const void> lease) const {
    Block block;
    block.first = first;
    block.rows = count;
    block.lease = std::move(lease);
    show(static_cast<const std::byte*>(block.lease.get()), block);
    return block;
  }

  // Points a block at its rows in memory.
  void show(const std::byte* data, Block& block) const {
    const RowShape& shape = rows_like();
    block.sparse = shape.sparse();
    if (!block.sparse) {
      block.dense = {data, shape.dtype, block.rows, shape.cols, shape.cols, 1};
      return;
    }
    const std::byte* values = data + (block.rows + 1) * sizeof(std::int64_t);
    const Index entries = shape.entries_of(block.first, block.rows);
    block.csr = {block.rows,
                 shape.cols,
                 reinterpret_cast<const std::int64_t*>(data),
                 reinterpret_cast<const std::int32_t*>(values + entries * size_of(shape.dtype)),
                 values,
                 shape.dtype};
  }

  std::shared_ptr<Ring> ring_;
  std::shared_ptr<Ring> pieces_;  // null where there is no need
  std::uint64_t resident_;
};

std::uint64_t announced_bytes(const Context& context) {
  return std::min(kAheadBytes, memory_budget(context) / kAheadShare);
}

}  // namespace

Index RowShape::entries_of(Index first, Index count) const { return offsets[first + count] - offsets[first]; }

std::size_t RowShape::bytes_of(Index first, Index count) const {
  if (!sparse()) return (count * cols) * size_of(dtype);
  return (count + 1) * sizeof(std::int64_t) + entries_of(first, count) * (size_of(dtype) + sizeof(std::int32_t));
}

std::shared_ptr<const Store> make_disk_store(const std::shared_ptr<const RowReader>& reader, int threads,
                                             std::uint64_t ahead, Index block_rows) {
  require(reader->rows() >= 0 && reader->cols() >= 0 && block_rows >= 1 && threads >= 1, ErrorCode::usage,
          "rows on disk: shape (", reader->rows(), ", ", reader->cols(), "), block of ", block_rows, " rows");
  return std::make_shared<DiskStore>(reader, threads, ahead, block_rows);
}

Source on_disk(const std::shared_ptr<const RowReader>& reader, const Context& context) {
  return Source(make_disk_store(reader, context.threads(), announced_bytes(context)));
}

TableSize size_on_disk(const RowShape& rows, const Context& context) {
  TableSize size{rows.rows, rows.cols, rows.nonzeros(), rows.sparse(), rows.dtype, false};
  size.table_bytes = bytes_of_table(size.rows, size.entries, size.sparse, size.dtype);
  size.resident_bytes = bytes_in_memory(rows, context.threads(), announced_bytes(context), kBlockRows);
  return size;
}

}  // namespace tamis
