// What a run will need, before it starts: the costs of a method's plan (select/plan.h), and those of the process around
// it, which are the program, the table and the disk. Memory is meant to be a little above the peak; time is rough: the
// constants are those of one core of a common machine, and the number of iterations is a guess.
#pragma once

#include <cstdint>
#include <string>

#include "tamis/base/context.h"
#include "tamis/data/source.h"
#include "tamis/select/plan.h"

namespace tamis {

struct Forecast {
  double seconds = 0.0;
  double passes = 0.0;           // over the data
  std::uint64_t data_bytes = 0;  // what the table takes of the memory
  std::uint64_t peak_bytes = 0;  // of the whole process: table, method, program
};

// What the process holds now, apart from data, beyond the program as it starts, and the most that it has held.
ProcessMemory process_memory();

Forecast forecast(const Plan& plan, const TableSize& table, const ProcessMemory& process);

// A limit for --memory that is enough where this peak is forecast, as in "3.2GiB": a process is not of the same size in
// every run.
std::string limit_text(std::uint64_t peak_bytes);

// Throws Error(resources) that names a sufficient limit where the forecast is above `limit`.
void require_memory(const Forecast& need, std::uint64_t limit, const std::string& where);

}  // namespace tamis
