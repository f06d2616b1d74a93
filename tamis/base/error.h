// The one exception of the library.
#pragma once

#include <exception>

#include "tamis/base/message.h"

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

class Error : public std::exception {
 public:
  Error(ErrorCode code, Message message) : code_(code), message_(std::move(message)) {}
  ErrorCode code() const { return code_; }
  const Message& message() const { return message_; }
  const char* what() const noexcept override { return message_.text().c_str(); }
  // From now on with these names, for an interface that passes it on.
  void spell(const Speller& speller) { message_ = message_.spelled(speller); }

 private:
  ErrorCode code_;
  Message message_;
};

// There is nothing to select from: every column is constant.
class NoVariation : public Error {
 public:
  explicit NoVariation(Message message) : Error(ErrorCode::bad_data, std::move(message)) {}
};

[[noreturn]] void throw_error(ErrorCode code, std::initializer_list<Part> parts);

template <class... Parts>
[[noreturn]] void fail(ErrorCode code, const Parts&... parts) {
  throw_error(code, {Part(parts)...});
}

template <class... Parts>
void require(bool condition, ErrorCode code, const Parts&... parts) {
  if (!condition) throw_error(code, {Part(parts)...});
}

}  // namespace tamis
