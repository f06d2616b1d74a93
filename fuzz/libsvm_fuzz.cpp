// Fuzzes the libsvm reader.
#include "fuzz/harness.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/formats/libsvm.h"

namespace tamis {
namespace {

void read(std::string_view bytes, Context& context) {
  ReadOptions options;
  options.labels = {"label"};
  const auto stream = open_memory(bytes, "fuzz");
  read_libsvm(*stream, options, context);
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tamis::fuzz_one(data, size, tamis::read);
}
