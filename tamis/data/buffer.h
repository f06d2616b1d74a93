// One growing piece of memory for a whole array, and how much memory a reader may take.
#pragma once

#include <cstddef>
#include <cstdint>
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

}  // namespace tamis
