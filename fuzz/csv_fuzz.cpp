// Fuzzes the CSV reader; the first byte chooses options.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tamis/base/error.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/formats/csv.h"

namespace tamis {
namespace {

void read(const std::uint8_t* data, std::size_t size, Context& context) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadOptions options;
  const int choice = size > 0 ? data[0] : 0;
  if ((choice & 1) != 0) options.id_column = "0";
  if ((choice & 2) != 0) options.labels = {"1"};
  if ((choice & 4) != 0) options.text_columns = {"2", "a"};
  if ((choice & 8) != 0) options.transpose = true;
  if ((choice & 16) != 0) options.header = ReadOptions::Header::yes;
  if ((choice & 32) != 0) options.header = ReadOptions::Header::no;
  const std::string_view text = size > 0 ? bytes.substr(1) : bytes;
  const auto stream = open_memory(text, "fuzz");
  read_csv(*stream, (choice & 64) != 0 ? '\t' : '\0', options, context);
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static tamis::Context context(1);
  context.memory_limit = std::uint64_t{64} << 20;
  try {
    tamis::read(data, size, context);
  } catch (const tamis::Error&) {  // any other exception is a finding
  }
  return 0;
}
