// Fuzzes the text of options, of every method in turn: what is taken prints as text that is taken again. The first two
// bytes choose method and option.
#include "fuzz/harness.h"
#include "tamis/run/features.h"
#include "tamis/select/registry.h"

namespace tamis {
namespace {

void read(std::string_view bytes, Context&) {
  static const std::vector<std::unique_ptr<BoundMethod>> bound = [] {
    std::vector<std::unique_ptr<BoundMethod>> all;
    for (const Method& method : methods()) all.push_back(method.bind());
    return all;
  }();
  const Options options = bound[take_choice(bytes) % bound.size()]->options();
  const unsigned choice = take_choice(bytes);
  const std::string text(bytes);
  and_then([&] { resolve_count(parse_feature_count(text), 100); });
  if (options.empty()) return;
  const Option& option = options[choice % options.size()];
  set_from_text(option, "fuzz", text);
  validate({option}, "fuzz");
  const std::string printed = value_text(option);
  if (std::holds_alternative<std::vector<Index>*>(option.value) || printed == "(" + option.unset_text + ")") return;
  set_from_text(option, "fuzz", printed);
  expect(value_text(option) == printed);
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tamis::fuzz_one(data, size, tamis::read);
}
