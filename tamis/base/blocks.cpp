#include "tamis/base/blocks.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace tamis {

namespace {

// Sanitizers watch the heap only.
#if defined(__has_feature)
#define TAMIS_HAS(x) __has_feature(x)
#else
#define TAMIS_HAS(x) 0
#endif
#if !defined(__linux__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    TAMIS_HAS(address_sanitizer) || TAMIS_HAS(thread_sanitizer) || TAMIS_HAS(memory_sanitizer)
constexpr bool kFromSystem = false;
#else
constexpr bool kFromSystem = true;
#endif

bool from_system = kFromSystem;

bool is_large(std::size_t bytes) {
  constexpr std::size_t kLarge = std::size_t{2} << 20;  // the pages of a smaller one cost more than the gaps do
  return from_system && bytes >= kLarge;
}

}  // namespace

void take_blocks_from_heap() { from_system = false; }

void* take_block(std::size_t bytes) {
#if defined(__linux__)
  if (is_large(bytes)) {
    void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) throw std::bad_alloc();
    return block;
  }
#endif
  return ::operator new(bytes);
}

void give_block_back(void* block, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__)
  if (is_large(bytes)) {
    munmap(block, bytes);
    return;
  }
#endif
  ::operator delete(block);
}

}  // namespace tamis
