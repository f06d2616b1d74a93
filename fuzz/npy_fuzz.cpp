// Fuzzes the .npy reader, as a table and as labels.
#include "fuzz/harness.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/formats/npy.h"

namespace tamis {
namespace {

void read(std::string_view bytes, Context& context) {
  const auto labels = open_memory(bytes, "fuzz");
  try {
    read_npy_labels(*labels, 2, context);
  } catch (const Error&) {
  }
  const auto stream = open_memory(bytes, "fuzz");
  read_npy_matrix(*stream, false, false, context);
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tamis::fuzz_one(data, size, tamis::read);
}
