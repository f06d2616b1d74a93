// Fuzzes tables of several files, between bytes 0x1e, which are read again from disk. The first byte chooses their kind
// and what is asked of them.
#include "fuzz/folder.h"
#include "fuzz/harness.h"
#include "tamis/data/formats/shards.h"
#include "tamis/data/passes/passes.h"

namespace tamis {
namespace {

constexpr std::size_t kMostShards = 3;

void read(std::string_view bytes, Context& context) {
  static const FuzzFolder folder;
  const unsigned choice = take_choice(bytes);
  const auto parts = parts_of(bytes);
  const std::string ending = (choice & 1) != 0 ? ".npy" : (choice & 2) != 0 ? ".tsv" : ".csv";
  for (std::size_t i = 0; i < kMostShards; ++i) {
    for (const char* old : {".npy", ".tsv", ".csv"}) folder.remove("part-" + std::to_string(i) + old);
    if (i < parts.size()) folder.put("part-" + std::to_string(i) + ending, parts[i]);
  }
  ReadOptions options;
  if ((choice & 4) != 0) options.id_column = "0";
  if ((choice & 8) != 0) options.labels = {"1"};
  const Table table = read_shards(folder.path(), options, context).table;
  expect(gather(table.source, context).rows() == table.source.rows());
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tamis::fuzz_one(data, size, tamis::read);
}
