// Fuzzes lists of words, files of groups, and label files; the first byte says how many rows there are, two at least.
#include "fuzz/harness.h"
#include "tamis/data/formats/list.h"
#include "tamis/data/labels.h"

namespace tamis {
namespace {

void read(std::string_view bytes, Context& context) {
  const auto rows = static_cast<Index>(2 + take_choice(bytes));
  and_then([&] {
    const auto list = open_memory(bytes, "fuzz");
    read_list(*list, context);
  });
  and_then([&] {
    const auto groups = open_memory(bytes, "fuzz");
    for (const GroupLine& line : read_group_lines(*groups, context)) expect(!line.group.empty() && line.line >= 1);
  });
  const auto stream = open_memory(bytes, "fuzz");
  const Labels labels = read_label_text(*stream, rows, context);
  expect(static_cast<Index>(labels.classes.size()) == rows);
  for (const int one : labels.classes) expect(one >= -1 && one < static_cast<int>(labels.names.size()));
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tamis::fuzz_one(data, size, tamis::read);
}
