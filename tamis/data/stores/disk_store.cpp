#include "tamis/data/stores/disk_store.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "tamis/base/error.h"
#include "tamis/base/memory.h"

namespace tamis {

namespace {

constexpr Index kReadAlone = 16;                   // less than this part of a block is read alone
constexpr Index kSpare = 2;                        // blocks in memory beside one for each thread
constexpr Index kAheadLeast = 2, kAheadMost = 64;  // blocks
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

// Blocks of rows in a ring of slots. A slot that nobody uses is given to who needs one, the one released last first:
// its memory is the likeliest to be in the cache.
class Ring {
 public:
  Ring(std::shared_ptr<const RowReader> reader, Index block_rows, int threads, std::uint64_t ahead)
      : reader_(std::move(reader)),
        block_rows_(block_rows),
        blocks_((reader_->rows() + block_rows - 1) / block_rows),
        block_bytes_(largest_block()),
        ahead_(
            std::clamp(static_cast<Index>(ahead / std::max<std::uint64_t>(block_bytes_, 1)), kAheadLeast, kAheadMost)),
        slots_(static_cast<std::size_t>(blocks_ <= ahead_ ? blocks_ : std::min(blocks_, threads + kSpare))) {}

  const RowReader& reader() const { return *reader_; }
  std::uint64_t bytes() const { return slots_.size() * static_cast<std::uint64_t>(block_bytes_); }
  bool holds_all() const { return static_cast<Index>(slots_.size()) == blocks_; }

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
        return read_rows(b * block_rows_, rows_of(b));  // more blocks are held than there are slots: nobody waits
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
    auto bytes = std::make_shared<Buffer>(reader_->bytes_of(first, count));
    reader_->read(first, count, bytes->data());
    return {bytes, bytes->data()};
  }

 private:
  Index rows_of(Index b) const { return std::min(block_rows_, reader_->rows() - b * block_rows_); }

  std::size_t largest_block() const {
    std::size_t largest = 0;
    const Index blocks = reader_->sparse() ? blocks_ : std::min<Index>(blocks_, 1);  // dense ones are alike
    for (Index b = 0; b < blocks; ++b) largest = std::max(largest, reader_->bytes_of(b * block_rows_, rows_of(b)));
    return largest;
  }

  // Passes go round: after the last block comes the first.
  Index distance(Index from, Index to) const { return (to - from + blocks_) % blocks_; }

  // Announces the blocks after b, each once as long as requests go forward.
  void expect_after(Index b) {
    if (holds_all()) return;
    const Index reach = std::min(ahead_, blocks_ - 1);
    Index first = 0, last = 0;
    {
      const std::lock_guard lock(mutex_);
      // Threads are some blocks apart, so that the last announced may be farther than the reach of this one.
      const Index announced = distance(b, expected_);
      if (announced > blocks_ / 2) expected_ = b;  // it lies behind: a new pass, or a jump
      first = last = expected_;
      if (distance(b, expected_) < reach) expected_ = last = (b + reach) % blocks_;
    }
    while (first != last) {
      first = (first + 1) % blocks_;
      reader_->expect(first * block_rows_, rows_of(first));
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
      if (holds_all() && slot.state == Slot::State::empty) return &slot;
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
      if (slot.bytes.size() == 0) slot.bytes.resize(block_bytes_);
      reader_->read(b * block_rows_, rows_of(b), slot.bytes.data());
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
  const Index block_rows_, blocks_;
  const std::size_t block_bytes_;
  const Index ahead_;  // blocks
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
        ring_(std::make_shared<Ring>(reader, block_rows, threads, ahead)) {
    if (block_rows % kPieceRows == 0 && !ring_->holds_all()) {
      pieces_ = std::make_shared<Ring>(reader, kPieceRows, threads, ahead);
    }
  }

  bool sparse() const override { return ring_->reader().sparse(); }
  Index nonzeros() const override { return ring_->reader().nonzeros(); }
  DType dtype() const override { return ring_->reader().dtype(); }
  bool in_memory() const override { return false; }
  std::uint64_t resident_bytes() const override {
    return ring_->bytes() + (pieces_ ? pieces_->bytes() : 0) + ring_->reader().resident_bytes();
  }

  Block block(Index b) const override { return whole(b, ring_->get(ring_, b)); }

  Block piece(Index b, Index p) const override {
    if (!pieces_) return Store::piece(b, p);
    const Index first = b * block_rows() + p * kPieceRows;
    return shown(first, std::min(kPieceRows, rows() - first), pieces_->get(pieces_, first / kPieceRows));
  }

  Block some_rows(Index first, Index count) const override {
    const Index b = first / block_rows();
    if (count * kReadAlone >= block_rows()) return Store::some_rows(first, count);
    if (auto lease = ring_->find_ready(ring_, b)) return part_of(whole(b, std::move(lease)), first, count);
    return shown(first, count, ring_->read_rows(first, count));
  }

 private:
  Block whole(Index b, std::shared_ptr<const void> lease) const {
    const Index first = b * block_rows();
    return shown(first, std::min(block_rows(), rows() - first), std::move(lease));
  }

  Block shown(Index first, Index count, std::shared_ptr<const void> lease) const {
    Block block;
    block.first = first;
    block.rows = count;
    block.lease = std::move(lease);
    ring_->reader().show(static_cast<const std::byte*>(block.lease.get()), block);
    return block;
  }

  std::shared_ptr<Ring> ring_;
  std::shared_ptr<Ring> pieces_;  // of kPieceRows each, small enough for the cache; null where there is no need
};

}  // namespace

std::size_t RowReader::bytes_of(Index, Index count) const { return static_cast<std::size_t>(count) * row_bytes(); }

void RowReader::show(const std::byte* data, Block& block) const {
  block.dense = {data, dtype_, block.rows, cols_, cols_, 1};
}

std::shared_ptr<const Store> make_disk_store(const std::shared_ptr<const RowReader>& reader, int threads,
                                             std::uint64_t ahead, Index block_rows) {
  require(reader->rows() >= 0 && reader->cols() >= 0 && block_rows >= 1 && threads >= 1, ErrorCode::usage,
          "rows on disk: shape (", reader->rows(), ", ", reader->cols(), "), block of ", block_rows, " rows");
  return std::make_shared<DiskStore>(reader, threads, ahead, block_rows);
}

Source on_disk(const std::shared_ptr<const RowReader>& reader, const Context& context) {
  const std::uint64_t ahead = std::min(kAheadBytes, memory_budget(context) / kAheadShare);
  return Source(make_disk_store(reader, context.threads(), ahead));
}

}  // namespace tamis
