// Fuzzes the files that keep the cells of a reproduction, behind a right checksum or not: what is taken is written as a
// file that is taken again, to the same bytes. The first byte chooses the kind of cell.
#include "fuzz/harness.h"
#include "tamis/base/sha256.h"
#include "tamis/paper/cells.h"

namespace tamis {
namespace {

constexpr Index kFeatures = 4;

PlannedCell planned(unsigned choice) {
  PlannedCell plan;
  plan.key.set = "fuzz";
  plan.key.method = "ufcm";
  plan.key.rows = 10;
  plan.key.clusters = 2;
  plan.key.repeats = 2;
  plan.own_size = (choice & 2) != 0;
  if (!plan.own_size) plan.key.sizes = {1, 3};
  if ((choice & 4) != 0) plan.key.sizes = {3}, plan.key.subsets = 2;
  plan.id = "fuzz";
  return plan;
}

void read(std::string_view bytes, Context&) {
  const unsigned choice = take_choice(bytes);
  const PlannedCell plan = planned(choice);
  const std::string file =
      (choice & 1) != 0 ? std::string(bytes) : "{\"sha256\": \"" + sha256(bytes) + "\", " + std::string(bytes);
  const std::optional<Cell> cell = parse_cell_file(file, plan, kFeatures);
  if (!cell) return;
  const std::string written = cell_file_text(*cell);
  const std::optional<Cell> again = parse_cell_file(written, plan, kFeatures);
  expect(again && cell_file_text(*again) == written);
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tamis::fuzz_one(data, size, tamis::read);
}
