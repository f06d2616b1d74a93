// Fuzzes the JSON reader.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tamis/base/error.h"
#include "tamis/report/json_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    tamis::parse_json({reinterpret_cast<const char*>(data), size}, "fuzz");
  } catch (const tamis::Error&) {  // any other exception is a finding
  }
  return 0;
}
