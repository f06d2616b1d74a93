// What a run will need, before it starts. Rough: the constants are those of one core of a common machine, and the
// number of iterations is a guess.
#pragma once

#include <cstdint>
#include <string>

#include "tamis/base/options.h"
#include "tamis/data/source.h"

namespace tamis {

struct Forecast {
  double seconds = 0.0;
  std::uint64_t data_bytes = 0;  // the table in memory
  std::uint64_t peak_bytes = 0;  // of the whole process: table, method, program
};

std::uint64_t data_bytes(const Store& store);
Forecast forecast(const std::string& method, const Source& source, const Options& options, int threads);

// Throws Error(resources) that names the least limit that would do, where the forecast is above `limit` (0: none).
void require_memory(const Forecast& need, std::uint64_t limit, const std::string& where);

}  // namespace tamis
