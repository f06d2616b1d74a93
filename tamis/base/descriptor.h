// An open file of the system, closed on every way out.
#pragma once

#include <unistd.h>

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

}  // namespace tamis
