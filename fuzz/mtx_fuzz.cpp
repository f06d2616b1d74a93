// Fuzzes the MatrixMarket reader.
#include "fuzz/harness.h"
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
  return tamis::fuzz_one(data, size, tamis::read);
}
