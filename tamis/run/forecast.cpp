#include "tamis/run/forecast.h"

#include <algorithm>

#include "tamis/base/error.h"
#include "tamis/base/resident.h"
#include "tamis/base/text/spelling.h"

namespace tamis {

namespace {

constexpr double kFreshBytes = 6.2e6;  // of the program that another process holds already when the command begins

// Measured on one machine, with the times of bench/forecast.py --random.
constexpr double kStartSeconds = 0.008;
constexpr double kFirstBytes = 2.5e9;   // a second, read for the first time
constexpr double kAgainBytes = 1.2e10;  // from disk in later passes, while others compute

// Readers of sparse tables hold the values twice for a moment.
double sparse_reading_bytes(double table, const Shape& shape) {
  constexpr double kColumnBytes = 4, kRowBytes = 8;
  return table - kColumnBytes * shape.entries - kRowBytes * shape.n();
}

}  // namespace

ProcessMemory process_memory() {
  ProcessMemory out;
  if (const auto now = resident_bytes("VmRSS"))
    out.beyond_program = std::max(0.0, static_cast<double>(*now) - kFreshBytes);
  out.peak = resident_bytes("VmHWM").value_or(0);
  return out;
}

Forecast forecast(const Plan& plan, const TableSize& table, const ProcessMemory& process) {
  Forecast result;
  result.data_bytes = table.resident_bytes;
  double own = sizeof(double) * plan.peak_numbers();
  if (table.sparse && table.in_memory) {
    own = std::max(own, sparse_reading_bytes(static_cast<double>(result.data_bytes), shape_of(table)));
  }
  result.peak_bytes = result.data_bytes + static_cast<std::uint64_t>(plan.program + process.beyond_program + own);
  result.peak_bytes = std::max(result.peak_bytes, process.peak);
  result.passes = plan.passes;
  const auto bytes = static_cast<double>(table.table_bytes);
  result.seconds = kStartSeconds + plan.seconds + bytes / kFirstBytes;
  if (!table.in_memory) result.seconds += plan.passes * bytes / kAgainBytes;
  return result;
}

std::string limit_text(std::uint64_t peak_bytes) {
  std::string size = size_text(peak_bytes + peak_bytes / 64);
  std::erase(size, ' ');
  return size;
}

void require_memory(const Forecast& need, std::uint64_t limit, const std::string& where) {
  require(need.peak_bytes <= limit, ErrorCode::resources, where, ": needs about ", size_text(need.peak_bytes),
          " of memory, the limit is ", size_text(limit), "; rerun with ", Flag{"memory", limit_text(need.peak_bytes)});
}

}  // namespace tamis
