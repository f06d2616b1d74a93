// How the parts of a pass travel between processes on one kind of machine: numbers as they lie in memory, every list
// after its length. What arrives is never trusted to be as long as it says.
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

class Packer {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> Packer& put(T value) { return add(&value, sizeof(T)); }
  template <class T>
  Packer& put(const std::vector<T>& values) {
    put(values.size());
    return add(values.data(), values.size() * sizeof(T));
  }
  Packer& put(const Matrix& matrix) {
    put(matrix.rows()).put(matrix.cols());
    return add(matrix.data(), static_cast<std::size_t>(matrix.size()) * sizeof(double));
  }
  Packer& put(const std::vector<Matrix>& matrices) {
    put(matrices.size());
    for (const Matrix& matrix : matrices) put(matrix);
    return *this;
  }

  Bytes take() { return std::move(bytes_); }

 private:
  Packer& add(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::uint8_t*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
    return *this;
  }

  Bytes bytes_;
};

// Reads what a Packer wrote, in the same order. Error(internal) where there is less than that.
class Unpacker {
 public:
  explicit Unpacker(ByteView bytes) : rest_(bytes) {}

  template <class T>
  T number() {
    T value{};
    copy(&value, 1);
    return value;
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
    require(rows >= 0 && cols >= 0 && (cols == 0 || rows <= kMost / cols), ErrorCode::internal, kDamaged);
    check(static_cast<std::size_t>(rows * cols), sizeof(double));
    Matrix matrix(rows, cols);
    copy(matrix.data(), static_cast<std::size_t>(matrix.size()));
    return matrix;
  }
  std::vector<Matrix> matrices() {
    const auto count = number<std::size_t>();
    check(count, 2 * sizeof(Index));
    std::vector<Matrix> out;
    for (std::size_t q = 0; q < count; ++q) out.push_back(matrix());
    return out;
  }

 private:
  static constexpr Index kMost = Index{1} << 60;
  static constexpr const char* kDamaged = "a part of a pass arrived damaged";

  void check(std::size_t count, std::size_t size) const {
    require(count <= rest_.size() / size, ErrorCode::internal, kDamaged);
  }
  template <class T>
  void copy(T* out, std::size_t count) {
    check(count, sizeof(T));
    if (count > 0) std::memcpy(out, rest_.data(), count * sizeof(T));
    rest_ = rest_.subspan(count * sizeof(T));
  }

  ByteView rest_;
};

}  // namespace tamis
