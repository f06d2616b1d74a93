// Fuzzes lists of features, such as a ranking.csv of an earlier run; the first byte is how many are asked for.
#include "fuzz/folder.h"
#include "fuzz/harness.h"
#include "tamis/run/features.h"

namespace tamis {
namespace {

void read(std::string_view bytes, Context& context) {
  static const FuzzFolder folder;
  const unsigned choice = take_choice(bytes);
  folder.put("ranking.csv", bytes);
  const auto top = choice == 0 ? std::nullopt : std::optional<Index>(choice);
  const auto list = read_feature_list(folder.path("ranking.csv"), top, context);
  expect(!top || static_cast<Index>(list.words.size()) <= *top);
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tamis::fuzz_one(data, size, tamis::read);
}
