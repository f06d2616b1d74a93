// The one exception of the library, and how its messages are put together.
//
// A message is one line: where, what arrived, what is allowed, e.g.
//   lapscore: neighbors = 50, need 1..n-1 = 29
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace tamis {

// The values are the command's exit codes.
enum class ErrorCode {
  internal = 1,
  usage = 2,
  bad_data = 3,
  resources = 4,
  io = 5,
  not_converged = 6,
  interrupted = 130,
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

// One part of a message, as a stream in the C locale would print it; doubles at up to 10 digits.
class Part {
 public:
  Part(std::string_view words) : words_(words) {}
  Part(const std::string& words) : words_(words) {}
  Part(const char* words) : words_(words) {}
  Part(char letter) : digits_{letter}, words_(digits_, 1) {}
  Part(double value);
  template <std::integral T>
  Part(T value) : Part(std::is_signed_v<T>, static_cast<std::uint64_t>(value)) {}
  Part(const Part&) = delete;  // words_ may point into digits_

  std::string_view words() const { return words_; }

 private:
  Part(bool is_signed, std::uint64_t bits);

  char digits_[32];
  std::string_view words_;
};

// Not templates, since no two messages have parts of the same types.
std::string join(std::initializer_list<Part> parts);
[[noreturn]] void throw_error(ErrorCode code, std::initializer_list<Part> parts);

template <class... Parts>
std::string concat(const Parts&... parts) {
  return join({Part(parts)...});
}

template <class... Parts>
[[noreturn]] void fail(ErrorCode code, const Parts&... parts) {
  throw_error(code, {Part(parts)...});
}

template <class... Parts>
void require(bool condition, ErrorCode code, const Parts&... parts) {
  if (!condition) throw_error(code, {Part(parts)...});
}

}  // namespace tamis
