#include "tamis/base/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/base/text/spelling.h"

namespace tamis {
namespace {

constexpr std::size_t kMapFrom = std::size_t{4} << 20;

std::byte* map_bytes(std::size_t size) {
  void* data = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

// The mapping with another size, perhaps elsewhere; null where the system refuses.
std::byte* resize_mapping(std::byte* data, std::size_t old_size, std::size_t size) {
#ifdef __linux__
  void* moved = ::mremap(data, old_size, size, MREMAP_MAYMOVE);
  return moved == MAP_FAILED ? nullptr : static_cast<std::byte*>(moved);
#else
  std::byte* moved = map_bytes(size);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, data, std::min(size, old_size));
  ::munmap(data, old_size);
  return moved;
#endif
}

// Only advice: failing costs speed.
void prefer_huge_pages([[maybe_unused]] std::byte* data, [[maybe_unused]] std::size_t size) {
#ifdef __linux__
  ::madvise(data, size, MADV_HUGEPAGE);
#endif
}

}  // namespace

void Buffer::resize(std::size_t size) {
  if (size == size_) return;
  if (size == 0) return release();
  std::byte* data = nullptr;
  if (mapped_) {  // stays a mapping, also where it shrinks
    data = resize_mapping(data_, size_, size);
  } else if (size < kMapFrom) {
    data = static_cast<std::byte*>(std::realloc(data_, size));
  } else if ((data = map_bytes(size)) != nullptr) {
    if (size_ > 0) std::memcpy(data, data_, std::min(size, size_));
    release();
    mapped_ = true;
  }
  require(data != nullptr, ErrorCode::resources, "memory: the system refused to allocate ", size, " bytes");
  if (mapped_) prefer_huge_pages(data, size);
  data_ = data;
  size_ = size;
}

void Buffer::release() {
  if (mapped_) {
    ::munmap(data_, size_);
  } else {
    std::free(data_);
  }
  data_ = nullptr;
  size_ = 0;
  mapped_ = false;
}

void Buffer::swap(Buffer& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapped_, other.mapped_);
}

std::uint64_t memory_budget(const Context& context) {
  if (context.memory_limit > 0) return context.memory_limit;
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return std::uint64_t{1} << 62;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
}

void require_memory(const Context& context, const std::string& where, std::uint64_t bytes) {
  Budget(context, where).require(bytes);
}

void Budget::refuse(std::uint64_t bytes) const {
  const std::uint64_t needed = bytes > UINT64_MAX - taken_ ? UINT64_MAX : taken_ + bytes;
  const Message cure = is_set_ ? message("; raise ", Flag{"memory"}) : Message();
  fail(ErrorCode::resources, place_(), ": needs at least ", size_text(needed), " of memory, the limit is ",
       size_text(limit_), cure);
}

}  // namespace tamis
