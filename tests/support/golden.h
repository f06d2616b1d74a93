// The golden vectors of tests/golden: what the original codes gave for small synthetic tables (see its README).
#pragma once

#include <string>
#include <vector>

#include "tamis/data/passes/passes.h"
#include "tamis/data/table.h"

namespace tamis::support {

// An array of golden/<method>_<case>.npz as a matrix; a vector becomes one column.
inline Matrix golden(const std::string& file, const std::string& array) {
  Context context(1);
  ReadOptions options;
  options.array = array;
  const Table table = read_table(concat(TAMIS_GOLDEN, "/", file, ".npz"), options, context);
  return gather(table.source, context);
}

inline std::vector<double> golden_vector(const std::string& file, const std::string& array) {
  const Matrix column = golden(file, array);
  return {column.data(), column.data() + column.size()};
}

// blobs 120 x 60, c 4; wide 40 x 200, c 3; discon 80 x 30, c 4: each with centered unit rows (cn) and in 0..1 (mm).
inline const std::vector<std::string>& golden_cases() {
  static const std::vector<std::string> all = {"blobscn", "blobsmm", "widecn", "widemm", "disconcn", "disconmm"};
  return all;
}
inline Index golden_clusters(const std::string& name) { return name.rfind("wide", 0) == 0 ? 3 : 4; }

}  // namespace tamis::support
