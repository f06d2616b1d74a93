#include "tamis/base/error.h"

#include <charconv>

namespace tamis {

Part::Part(double value) {
  const auto end = std::to_chars(digits_, digits_ + sizeof digits_, value, std::chars_format::general, 10).ptr;
  words_ = {digits_, end};
}

Part::Part(bool is_signed, std::uint64_t bits) {
  char* const last = digits_ + sizeof digits_;
  const auto result =
      is_signed ? std::to_chars(digits_, last, static_cast<std::int64_t>(bits)) : std::to_chars(digits_, last, bits);
  words_ = {digits_, result.ptr};
}

std::string join(std::initializer_list<Part> parts) {
  std::string out;
  for (const Part& part : parts) out += part.words();
  return out;
}

void throw_error(ErrorCode code, std::initializer_list<Part> parts) { throw Error(code, join(parts)); }

}  // namespace tamis
