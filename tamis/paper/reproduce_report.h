// The outcome of the reproduction as documents; docs/reproduction.md describes their members.
#pragma once

#include <string>

#include "tamis/paper/reproduce_tables.h"
#include "tamis/report/machine.h"

namespace tamis {

// cells.json: every cell with all its numbers. No time, thread or machine is in it, so that one seed gives one text.
std::string cells_json(const Reproduction& result);
// report.json: tables, figures, cells without their rankings but with their times, and what it was made on.
std::string report_json(const Reproduction& result, const Machine& machine);

}  // namespace tamis
