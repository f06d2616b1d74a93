// The state of a run as bytes, and back. Both ways take the same calls, so that one function serves for both:
//
//   template <class Archive> void exchange(Archive& archive) { archive(iteration_); archive(w_); }
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tamis/base/error.h"
#include "tamis/linalg/matrix.h"

namespace tamis {

class StateWriter {
 public:
  template <class T>
  void operator()(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put(&value, sizeof value);
  }
  template <class T>
  void operator()(const std::vector<T>& values) {
    (*this)(values.size());
    put(values.data(), values.size() * sizeof(T));
  }
  void operator()(const Matrix& matrix) {
    (*this)(matrix.rows());
    (*this)(matrix.cols());
    put(matrix.data(), static_cast<std::size_t>(matrix.size()) * sizeof(double));
  }
  std::string take() { return std::move(bytes_); }

 private:
  void put(const void* data, std::size_t size) { bytes_.append(static_cast<const char*>(data), size); }

  std::string bytes_;
};

// Error(bad_data) where the bytes end early or are too many.
class StateReader {
 public:
  explicit StateReader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  void operator()(T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    get(&value, sizeof value);
  }
  template <class T>
  void operator()(std::vector<T>& values) {
    std::size_t count = 0;
    (*this)(count);
    check(count <= bytes_.size() / sizeof(T));
    values.resize(count);
    get(values.data(), count * sizeof(T));
  }
  void operator()(Matrix& matrix) {
    Index rows = 0, cols = 0;
    (*this)(rows);
    (*this)(cols);
    const auto most = static_cast<Index>(bytes_.size() / sizeof(double));
    check(rows >= 0 && cols >= 0 && (cols == 0 || rows <= most / cols));
    matrix = Matrix(rows, cols);
    get(matrix.data(), static_cast<std::size_t>(matrix.size()) * sizeof(double));
  }
  void finish() const { check(bytes_.empty()); }

 private:
  static void check(bool fits) { require(fits, ErrorCode::bad_data, "the state of the run is damaged (size)"); }
  void get(void* out, std::size_t size) {
    check(size <= bytes_.size());
    if (size > 0) std::memcpy(out, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }

  std::string_view bytes_;
};

}  // namespace tamis
