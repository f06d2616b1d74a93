// Fuzzes gzip streams.
#include "fuzz/harness.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/formats/list.h"

namespace tamis {
namespace {

void read(std::string_view bytes, Context& context) {
  const auto stream = open_gzip(open_memory(bytes, "fuzz"), context.memory_limit);
  read_list(*stream, context);
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tamis::fuzz_one(data, size, tamis::read);
}
