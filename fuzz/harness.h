// What every fuzz target does with its input: an Error is an answer, any other exception a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/base/error.h"

namespace tamis {

// `use(bytes, context)` under a limit of 64 MiB. An internal error is a finding, too.
template <class Use>
int fuzz_one(const std::uint8_t* data, std::size_t size, const Use& use) {
  static Context context(1);
  context.memory_limit = std::uint64_t{64} << 20;
  try {
    use(std::string_view(reinterpret_cast<const char*>(data), size), context);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) throw;
  }
  return 0;
}

// Calls `use`, whose errors are answers, so that what follows it is tried in any case.
template <class Use>
void and_then(const Use& use) {
  try {
    use();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) throw;
  }
}

// What must hold for every input.
inline void expect(bool holds) {
  if (!holds) __builtin_trap();
}

// The first byte of an input, which chooses how the rest is used.
inline unsigned take_choice(std::string_view& bytes) {
  if (bytes.empty()) return 0;
  const auto choice = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  return choice;
}

// The files of an input that stands for several: what is between bytes 0x1e.
inline std::vector<std::string_view> parts_of(std::string_view bytes) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = bytes.find('\x1e');
    parts.push_back(bytes.substr(0, end));
    if (end == std::string_view::npos) return parts;
    bytes.remove_prefix(end + 1);
  }
}

}  // namespace tamis
