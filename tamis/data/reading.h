// What the reader of one format hands to read_table.
#pragma once

#include <string>
#include <vector>

#include "tamis/data/table.h"

namespace tamis {

struct Reading {
  Table table;                             // labels: those that the file itself has
  std::vector<std::string> label_choices;  // what --labels could have named in it
};

}  // namespace tamis
