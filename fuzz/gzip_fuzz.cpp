// Fuzzes gzip streams, and the lists and label files that may be in them.
#include "fuzz/harness.h"
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
  return tamis::fuzz_one(data, size, tamis::read);
}
