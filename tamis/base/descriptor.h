// An open file of the system, closed on every way out.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tamis {

class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  bool open() const { return value_ >= 0; }
  int value() const { return value_; }

 private:
  int value_;
};

// Tells the system which bytes will be read next: it fetches them, and nobody waits. Not every system can be told.
inline void announce_reading([[maybe_unused]] int file, [[maybe_unused]] std::uint64_t offset,
                             [[maybe_unused]] std::size_t count) {
#ifdef __linux__
  ::posix_fadvise(file, static_cast<off_t>(offset), static_cast<off_t>(count), POSIX_FADV_WILLNEED);
#endif
}

}  // namespace tamis
