#include "tamis/data/disk_store.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <thread>

#include "tamis/base/error.h"
#include "tamis/data/buffer.h"

namespace tamis {

namespace {

constexpr Index kFewRows = 16;                     // less than this part of a block is read alone
constexpr Index kAheadLeast = 2, kAheadMost = 64;  // blocks
constexpr std::uint64_t kAheadBytes = std::uint64_t{32} << 20;
constexpr std::uint64_t kAheadShare = 16;  // of the memory at most

Index ring_size(std::uint64_t block_bytes, Index blocks, int threads, std::uint64_t ahead) {
  const auto wanted = static_cast<Index>(ahead / std::max<std::uint64_t>(block_bytes, 1));
  return std::min(blocks, threads + std::clamp(wanted, kAheadLeast, kAheadMost));
}

struct Slot {
  enum class State { empty, loading, ready };
  State state = State::empty;
  Index block = -1;
  int users = 0;
  Buffer bytes;
};

// Blocks of rows in a ring of slots. A slot is given away when it has no user, the block needed last first: passes go
// round, so that is the one farthest ahead of where they are.
class Ring {
 public:
  Ring(std::shared_ptr<const RowReader> reader, Index block_rows, int threads, std::uint64_t ahead)
      : reader_(std::move(reader)),
        block_rows_(block_rows),
        blocks_((reader_->rows() + block_rows - 1) / block_rows),
        block_bytes_(static_cast<std::size_t>(std::min(block_rows, reader_->rows())) * reader_->row_bytes()),
        slots_(static_cast<std::size_t>(ring_size(block_bytes_, blocks_, threads, ahead))) {}

  std::uint64_t bytes() const { return slots_.size() * static_cast<std::uint64_t>(block_bytes_); }

  // The same where it is there already; null otherwise.
  std::shared_ptr<const void> find_ready(const std::shared_ptr<Ring>& self, Index b) {
    const std::lock_guard lock(mutex_);
    Slot* slot = find(b);
    return slot != nullptr && slot->state == Slot::State::ready ? lease(self, *slot) : nullptr;
  }

  // Some rows alone.
  std::shared_ptr<const void> read_rows(Index first, Index count) const {
    auto bytes = std::make_shared<Buffer>(static_cast<std::size_t>(count) * reader_->row_bytes());
    reader_->read(first, count, bytes->data());
    return {bytes, bytes->data()};
  }

  // The rows of block b, for as long as the pointer is held.
  std::shared_ptr<const void> get(const std::shared_ptr<Ring>& self, Index b) {
    std::unique_lock lock(mutex_);
    start_reading_ahead();
    position_ = b;
    wake_.notify_one();
    while (true) {
      if (Slot* slot = find(b)) {
        if (slot->state == Slot::State::ready) return lease(self, *slot);
        changed_.wait(lock);
        continue;
      }
      Slot* slot = least_needed();
      if (slot == nullptr) {
        lock.unlock();
        return read_rows(b * block_rows_, rows_of(b));  // more blocks are held than there are slots: nobody waits
      }
      load(*slot, b, lock);
    }
  }

 private:
  Index rows_of(Index b) const { return std::min(block_rows_, reader_->rows() - b * block_rows_); }

  Slot* find(Index b) {
    for (Slot& slot : slots_) {
      if (slot.state != Slot::State::empty && slot.block == b) return &slot;
    }
    return nullptr;
  }

  // How many blocks after the one before the last request comes block b. (The one before: its last user may be about
  // to ask.)
  Index distance(Index b) const { return (b - position_ + 1 + 2 * blocks_) % blocks_; }

  // A slot that nobody uses; null where there is none.
  Slot* least_needed() {
    Slot* best = nullptr;
    Index farthest = -1;
    for (Slot& slot : slots_) {
      if (slot.users > 0 || slot.state == Slot::State::loading) continue;
      const Index away = slot.state == Slot::State::empty ? blocks_ : distance(slot.block);
      if (away > farthest) farthest = away, best = &slot;
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
              self->wake_.notify_one();
            }};
  }

  void start_reading_ahead() {
    if (ahead_.joinable() || static_cast<Index>(slots_.size()) == blocks_) return;
    ahead_ = std::jthread([this](const std::stop_token& stop) { read_ahead(stop); });
  }

  // The next block that is not there, within the reach of the ring; -1 where all are.
  Index next_missing() {
    const auto reach = static_cast<Index>(slots_.size()) - 2;
    for (Index step = 1; step <= reach; ++step) {
      const Index b = (position_ + step) % blocks_;
      if (find(b) == nullptr) return b;
    }
    return -1;
  }

  // A slot for reading ahead: never one that is needed before the block it would hold.
  Slot* slot_for(Index b) {
    Slot* slot = b < 0 ? nullptr : least_needed();
    const bool later = slot != nullptr && (slot->state == Slot::State::empty || distance(slot->block) > distance(b));
    return later ? slot : nullptr;
  }

  void read_ahead(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      const Index b = next_missing();
      Slot* slot = slot_for(b);
      if (slot == nullptr) {
        wake_.wait(lock, stop, [&] { return slot_for(next_missing()) != nullptr; });
        continue;
      }
      try {
        load(*slot, b, lock);
      } catch (...) {
        failed(lock, stop);  // whoever asks for the block reads it again, and learns why
      }
    }
  }

  // Waits for the next request, so that a file that cannot be read is not tried in a circle.
  void failed(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
    const Index here = position_;
    wake_.wait(lock, stop, [&] { return position_ != here; });
  }

  const std::shared_ptr<const RowReader> reader_;
  const Index block_rows_, blocks_;
  const std::size_t block_bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;   // a block was loaded, or could not be
  std::condition_variable_any wake_;  // something to read ahead, perhaps
  Index position_ = 0;                // the block last asked for
  std::vector<Slot> slots_;
  std::jthread ahead_;  // last: it ends before the rest goes
};

class DiskStore final : public Store {
 public:
  DiskStore(const std::shared_ptr<const RowReader>& reader, int threads, std::uint64_t ahead, Index block_rows)
      : Store(reader->rows(), reader->cols(), block_rows),
        dtype_(reader->dtype()),
        ring_(std::make_shared<Ring>(reader, block_rows, threads, ahead)) {}

  bool sparse() const override { return false; }
  Index nonzeros() const override { return rows() * cols(); }
  DType dtype() const override { return dtype_; }
  bool in_memory() const override { return false; }
  std::uint64_t resident_bytes() const override { return ring_->bytes(); }

  Block block(Index b) const override {
    Block block;
    block.first = b * block_rows();
    block.rows = std::min(block_rows(), rows() - block.first);
    block.lease = ring_->get(ring_, b);
    block.dense = {block.lease.get(), dtype_, block.rows, cols(), cols(), 1};
    return block;
  }

  Block some_rows(Index first, Index count) const override {
    const Index b = first / block_rows();
    if (count * kFewRows >= block_rows()) return Store::some_rows(first, count);
    Block block;
    block.first = first;
    block.rows = count;
    block.lease = ring_->find_ready(ring_, b);
    const bool there = block.lease != nullptr;
    if (!there) block.lease = ring_->read_rows(first, count);
    const auto* data = static_cast<const std::byte*>(block.lease.get());
    const auto skipped = static_cast<std::size_t>(there ? (first - b * block_rows()) * cols() : 0) * size_of(dtype_);
    block.dense = {data + skipped, dtype_, count, cols(), cols(), 1};
    return block;
  }

 private:
  DType dtype_;
  std::shared_ptr<Ring> ring_;
};

}  // namespace

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
