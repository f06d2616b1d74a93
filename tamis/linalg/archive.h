// Numbers, lists and matrices as bytes, and back: the parts of a pass that travel between processes, and the state of a
// run. Numbers stand as they lie in memory, every list after its length. What arrives is never trusted to be as long as
// it says. Both ways also take the same calls, so that one function serves for both:
//
//   template <class Archive> void exchange(Archive& archive) { archive(iteration_), archive(w_); }
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "tamis/base/error.h"
#include "tamis/linalg/matrix.h"

namespace tamis {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

// Whether `total` bytes are `count` times so many, whatever count claims to be.
inline bool is_times(std::size_t total, Index count, std::size_t each) {
  if (each == 0) return total == 0 && count >= 0;
  return total % each == 0 && count >= 0 && total / each == static_cast<std::size_t>(count);
}

class Packer {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T> Packer& put(const T& value) { return add(&value, sizeof(T)); }
  template <class T>
  Packer& put(const std::vector<T>& values) {
    put(values.size());
    return add(values.data(), values.size() * sizeof(T));
  }
  Packer& put(const Matrix& matrix) {
    put(matrix.rows()).put(matrix.cols());
    return add(matrix.data(), matrix.size() * sizeof(double));
  }
  Packer& put(const std::vector<Matrix>& matrices) { return put_each(matrices); }
  template <class T>
  Packer& put(const std::vector<std::vector<T>>& lists) {
    return put_each(lists);
  }

  template <class T>
  void operator()(const T& value) {
    put(value);
  }

  Bytes take() { return std::move(bytes_); }

 private:
  template <class T>
  Packer& put_each(const std::vector<T>& values) {
    put(values.size());
    for (const T& value : values) put(value);
    return *this;
  }
  Packer& add(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::uint8_t*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
    return *this;
  }

  Bytes bytes_;
};

// Reads what a Packer wrote, in the same order. Error(code) saying `damaged` where there is less than that.
class Unpacker {
 public:
  explicit Unpacker(ByteView bytes, ErrorCode code = ErrorCode::internal,
                    const char* damaged = "a part of a pass arrived damaged")
      : rest_(bytes), code_(code), damaged_(damaged) {}

  template <class T>
  T number() {
    if constexpr (std::is_same_v<T, bool>) {
      const auto byte = number<std::uint8_t>();
      require(byte <= 1, code_, damaged_);
      return byte == 1;
    } else {
      T value{};
      copy(&value, 1);
      return value;
    }
  }
  template <class T>
  std::vector<T> list() {
    const auto count = number<std::size_t>();
    check(count, sizeof(T));
    std::vector<T> values(count);
    copy(values.data(), count);
    return values;
  }
  Matrix matrix() {
    const auto rows = number<Index>(), cols = number<Index>();
    require(rows >= 0 && cols >= 0 && (cols == 0 || rows <= kMost / cols), code_, damaged_);
    check(rows * cols, sizeof(double));
    Matrix matrix(rows, cols);
    copy(matrix.data(), matrix.size());
    return matrix;
  }
  std::vector<Matrix> matrices() {
    const auto count = number<std::size_t>();
    check(count, 2 * sizeof(Index));
    std::vector<Matrix> out;
    for (std::size_t q = 0; q < count; ++q) out.push_back(matrix());
    return out;
  }

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void operator()(T& value) { value = number<T>(); }
  template <class T>
  void operator()(std::vector<T>& values) {
    values = list<T>();
  }
  template <class T>
  void operator()(std::vector<std::vector<T>>& lists) {
    const auto count = number<std::size_t>();
    check(count, sizeof(std::size_t));
    lists.clear();
    for (std::size_t i = 0; i < count; ++i) lists.push_back(list<T>());
  }
  void operator()(Matrix& value) { value = matrix(); }
  void operator()(std::vector<Matrix>& values) { values = matrices(); }
  void finish() const { require(rest_.empty(), code_, damaged_); }

 private:
  static constexpr Index kMost = Index{1} << 60;

  void check(std::size_t count, std::size_t size) const { require(count <= rest_.size() / size, code_, damaged_); }
  template <class T>
  void copy(T* out, std::size_t count) {
    check(count, sizeof(T));
    if (count > 0) std::memcpy(out, rest_.data(), count * sizeof(T));
    rest_ = rest_.subspan(count * sizeof(T));
  }

  ByteView rest_;
  ErrorCode code_;
  const char* damaged_;
};

}  // namespace tamis
