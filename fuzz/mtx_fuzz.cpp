// Fuzzes the MatrixMarket reader.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tamis/base/error.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/formats/matrix_market.h"

namespace tamis {
namespace {

void read(std::string_view bytes, Context& context) {
  for (const bool transpose : {false, true}) {
    const auto stream = open_memory(bytes, "fuzz");
    read_matrix_market(*stream, transpose, context);
  }
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static tamis::Context context(1);
  context.memory_limit = std::uint64_t{64} << 20;
  try {
    tamis::read({reinterpret_cast<const char*>(data), size}, context);
  } catch (const tamis::Error&) {  // any other exception is a finding
  }
  return 0;
}
