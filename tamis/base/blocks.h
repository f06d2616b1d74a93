// Memory for large arrays of numbers. A heap that is given blocks of some megabytes of different sizes again and again
// keeps the gaps between them; blocks straight from the system leave none, so that what is resident is what is in use.
#pragma once

#include <cstddef>
#include <new>

namespace tamis {

// At least `bytes` > 0, aligned like that of operator new. Throws std::bad_alloc.
void* take_block(std::size_t bytes);
void give_block_back(void* block, std::size_t bytes) noexcept;

// From here on all blocks come from the heap, for a process that rather keeps its memory than asks for new pages. To be
// called before the first block is taken.
void take_blocks_from_heap();

template <class T>
struct BlockAllocator {
  using value_type = T;
  BlockAllocator() = default;
  template <class U>
  BlockAllocator(const BlockAllocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor): allocators convert

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(take_block(count * sizeof(T)));
  }
  void deallocate(T* block, std::size_t count) noexcept { give_block_back(block, count * sizeof(T)); }

  friend bool operator==(const BlockAllocator&, const BlockAllocator&) { return true; }
};

}  // namespace tamis
