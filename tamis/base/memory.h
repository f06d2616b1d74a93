// One growing piece of memory for a whole array, and how much memory a reader may take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "tamis/base/context.h"

namespace tamis {

// Large buffers are anonymous mappings on huge pages: they grow without copying, and pages that were never
// written cost nothing, so an array can be grown by doubling without doubling the memory in use.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) { resize(size); }
  ~Buffer() { release(); }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data_);
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }

  // Keeps what fits; throws Error(resources) where the system refuses.
  void resize(std::size_t size);

 private:
  void release();
  void swap(Buffer& other) noexcept;

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  bool mapped_ = false;
};

// context.memory_limit, or the machine's memory where there is no limit.
std::uint64_t memory_budget(const Context& context);

// Throws Error(resources) where `bytes` do not fit the budget; `where` begins the message.
void require_memory(const Context& context, const std::string& where, std::uint64_t bytes);

// What one reader takes of the memory budget. It asks before it allocates anything that grows with the file, so that a
// small file that inflates to a large one ends with a message, not with the memory of the machine.
class Budget {
 public:
  using Place = std::function<std::string()>;

  // `place` begins the message: the file, and the line that is being read.
  Budget(const Context& context, Place place)
      : place_(std::move(place)), limit_(memory_budget(context)), is_set_(context.memory_limit > 0) {}
  Budget(const Context& context, const std::string& where) : Budget(context, [where] { return where; }) {}
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // Throws Error(resources) where `bytes` do not fit beside what was taken.
  void require(std::uint64_t bytes) const {
    if (bytes > left()) refuse(bytes);
  }
  void take(std::uint64_t bytes) {
    require(bytes);
    taken_ += bytes;
  }
  void give_back(std::uint64_t bytes) { taken_ -= bytes; }
  std::uint64_t left() const { return limit_ - taken_; }

 private:
  [[noreturn]] void refuse(std::uint64_t bytes) const;

  Place place_;
  std::uint64_t limit_;
  bool is_set_;  // by the caller; otherwise it is the machine's memory
  std::uint64_t taken_ = 0;
};

// Room for `more` elements in a vector or string. It at least doubles where it grows, the old beside the new meanwhile.
template <class Vector>
void grow(Vector& vector, std::size_t more, Budget& budget) {
  const std::size_t needed = vector.size() + more, before = vector.capacity();
  if (needed <= before) return;
  const std::size_t after = std::max(needed, 2 * before);
  budget.take(after * sizeof(typename Vector::value_type));
  vector.reserve(after);
  budget.give_back(before * sizeof(typename Vector::value_type));
}

}  // namespace tamis
