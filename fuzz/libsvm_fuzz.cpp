// Fuzzes the libsvm reader.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tamis/base/error.h"
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
  static tamis::Context context(1);
  context.memory_limit = std::uint64_t{64} << 20;
  try {
    tamis::read({reinterpret_cast<const char*>(data), size}, context);
  } catch (const tamis::Error&) {  // any other exception is a finding
  }
  return 0;
}
