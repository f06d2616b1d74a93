// Where finished cells are kept: one small file each, under the cell's own name, written whole or not at all. What is
// damaged, or belongs to other data, options, seed or version, counts as absent.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "tamis/run/cells.h"

namespace tamis {

class CellStore {
 public:
  // Makes the folder and takes it for this process; Error(usage) while another one has it. What a killed run left
  // half written is removed.
  explicit CellStore(std::string folder);
  ~CellStore();
  CellStore(const CellStore&) = delete;
  CellStore& operator=(const CellStore&) = delete;

  std::optional<Cell> load(const PlannedCell& plan, Index features) const;
  void save(const Cell& cell);  // from any thread

 private:
  std::string folder_;
  int lock_ = -1;
  std::mutex saving_;
};

// Removes the temporary files that an OutputFolder of a killed process left of `name`.
void remove_leftovers(const std::string& folder, const std::string& name);

}  // namespace tamis
