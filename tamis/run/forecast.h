// What a run will need, before it starts. Memory is meant to be a little above the peak; time is rough: the constants
// are those of one core of a common machine, and the number of iterations is a guess.
#pragma once

#include <cstdint>
#include <string>

#include "tamis/base/options.h"
#include "tamis/data/source.h"

namespace tamis {

struct Forecast {
  double seconds = 0.0;
  double passes = 0.0;           // over the data
  std::uint64_t data_bytes = 0;  // what the table takes of the memory
  std::uint64_t peak_bytes = 0;  // of the whole process: table, method, program
};

// From here on forecasts count with what the process holds now, apart from data, and has held: Python and its libraries
// are larger than this program.
void count_program_as_it_is();

Forecast forecast(const std::string& method, const TableSize& table, const Options& options, int threads);
inline Forecast forecast(const std::string& method, const Source& source, const Options& options, int threads) {
  return forecast(method, source.size(), options, threads);
}

// A limit for --memory that is enough where this peak is forecast, as in "3.2GiB": a process is not of the same size in
// every run.
std::string limit_text(std::uint64_t peak_bytes);

// Throws Error(resources) that names a sufficient limit where the forecast is above `limit`.
void require_memory(const Forecast& need, std::uint64_t limit, const std::string& where);

}  // namespace tamis
