// The one exception of the library, and how its messages are put together.
//
// A message is one line: where, what arrived, what is allowed, e.g.
//   lapscore: neighbors = 50, need 1..n-1 = 29
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

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

// Joins the parts as a stream would print them (numbers at up to 10 digits, in the C locale).
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(10);
  (out << ... << parts);
  return out.str();
}

template <class... Parts>
[[noreturn]] void fail(ErrorCode code, const Parts&... parts) {
  throw Error(code, text(parts...));
}

template <class... Parts>
void require(bool condition, ErrorCode code, const Parts&... parts) {
  if (!condition) fail(code, parts...);
}

}  // namespace tamis
