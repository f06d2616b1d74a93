// Fuzzes the CSV reader; the first two bytes choose options.
#include <algorithm>

#include "fuzz/harness.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/formats/csv.h"

namespace tamis {
namespace {

void read(std::string_view bytes, Context& context) {
  ReadOptions options;
  const int choice = bytes.empty() ? 0 : static_cast<unsigned char>(bytes[0]);
  if ((choice & 1) != 0) options.id_column = "0";
  if ((choice & 2) != 0) options.labels = {"1"};
  if ((choice & 4) != 0) options.text_columns = {"2", "a"};
  if ((choice & 8) != 0) options.transpose = true;
  if ((choice & 16) != 0) options.header = ReadOptions::Header::yes;
  if ((choice & 32) != 0) options.header = ReadOptions::Header::no;
  const int more = bytes.size() < 2 ? 0 : static_cast<unsigned char>(bytes[1]);
  constexpr const char* kThousands[] = {"", ",", ".", "space"};
  options.thousands = kThousands[more & 3];
  options.skip = (more >> 2) & 3;
  if ((more & 16) != 0) options.missing = Missing::keep;
  const std::string_view text = bytes.substr(std::min<std::size_t>(bytes.size(), 2));
  const auto stream = open_memory(text, "fuzz");
  read_csv(*stream, (choice & 64) != 0 ? '\t' : '\0', options, context);
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tamis::fuzz_one(data, size, tamis::read);
}
