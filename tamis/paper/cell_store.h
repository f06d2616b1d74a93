// Where finished cells are kept: one small file each, under the cell's own name, written whole or not at all. What is
// damaged, or belongs to other data, options, seed or version, counts as absent.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "tamis/base/descriptor.h"
#include "tamis/paper/cells.h"

namespace tamis {

class CellStore {
 public:
  // Makes the folder and takes it for this process; Error(usage) while another one has it. What a killed run left
  // half written is removed.
  explicit CellStore(std::string folder);

  std::optional<Cell> load(const PlannedCell& plan, Index features) const;
  void save(const Cell& cell);  // from any thread

 private:
  std::string folder_;
  Descriptor lock_;
  std::mutex saving_;
};

}  // namespace tamis
