// What every fuzz target does with its input: an Error is an answer, any other exception a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

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

}  // namespace tamis
