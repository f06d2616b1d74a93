// Fuzzes folders of 10x Genomics: matrix, features and barcodes, in this order between bytes 0x1e. The first byte
// chooses how the files are named and what is asked of them.
#include "fuzz/folder.h"
#include "fuzz/harness.h"
#include "tamis/data/formats/matrix_market.h"

namespace tamis {
namespace {

void read(std::string_view bytes, Context& context) {
  static const FuzzFolder folder;
  const unsigned choice = take_choice(bytes);
  const auto parts = parts_of(bytes);
  const char* names = (choice & 1) != 0 ? "features.tsv" : "genes.tsv";
  for (const char* name : {"features.tsv", "genes.tsv", "barcodes.tsv"}) folder.remove(name);
  folder.put("matrix.mtx", parts[0]);
  if (parts.size() > 1) folder.put(names, parts[1]);
  if (parts.size() > 2) folder.put("barcodes.tsv", parts[2]);
  ReadOptions options;
  options.transpose = (choice & 2) != 0;
  if ((choice & 4) != 0) options.id_column = "barcode";
  const Table table = read_tenx(folder.path(), options, context).table;
  expect(table.names.empty() || static_cast<Index>(table.names.size()) == table.source.cols());
  expect(table.row_ids.empty() || static_cast<Index>(table.row_ids.size()) == table.source.rows());
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tamis::fuzz_one(data, size, tamis::read);
}
