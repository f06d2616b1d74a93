// Fuzzes the JSON reader.
#include "fuzz/harness.h"
#include "tamis/report/json_reader.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tamis::fuzz_one(data, size, [](std::string_view text, tamis::Context&) { tamis::parse_json(text, "fuzz"); });
}
