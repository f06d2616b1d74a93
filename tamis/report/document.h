// A selection as files: the JSON document of `--json` and `selection.json`, and `ranking.csv`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tamis/report/json.h"
#include "tamis/run/output.h"
#include "tamis/run/select.h"

namespace tamis {

// The request and result of a run; refers to the caller's objects.
struct SelectionRecord {
  const Table& table;
  const Method& method;
  Options options;  // of the bound method, after the run
  const SelectRequest& request;
  const SelectResult& result;
  std::uint64_t seed = 0;
  int threads = 1;
  std::uint64_t memory_limit = 0;     // 0: none
  std::uint64_t peak_bytes = 0;       // of the process
  std::vector<std::string> warnings;  // of the whole run, including readers
};

// One member per option. An unset option has the value determined from the data if the report names it, else null.
void write_options(Json& json, const Options& options, const Report& report);

std::string selection_json(const SelectionRecord& record);
// rank,index,name,score,selected,...,column: one line per feature that the method saw, best first. `index` is the
// position among the features, `column` the position in the file.
void write_ranking(const SelectionRecord& record, FileWriter& out);

// The largest resident set of this process so far.
std::uint64_t peak_resident_bytes();

}  // namespace tamis
