// Fuzzes the .npz reader: zip directory, members, sparse matrices.
#include "fuzz/harness.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/formats/npz.h"

namespace tamis {
namespace {

void read(std::string_view bytes, Context& context) {
  ReadOptions options;
  options.labels = {"y"};
  read_npz(open_random_memory(bytes, "fuzz"), options, context);
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tamis::fuzz_one(data, size, tamis::read);
}
