// Fuzzes gzip streams, and the lists and label files that may be in them.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tamis/base/error.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/formats/list.h"
#include "tamis/data/labels.h"

namespace tamis {
namespace {

void read(std::string_view bytes, Context& context) {
  const auto plain = open_memory(bytes, "fuzz");
  try {
    read_list(*plain, context);
  } catch (const Error&) {
  }
  const auto labels = open_memory(bytes, "fuzz");
  try {
    read_label_text(*labels, 3, context);
  } catch (const Error&) {
  }
  const auto stream = open_gzip(open_memory(bytes, "fuzz"), context.memory_limit);
  read_list(*stream, context);
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
