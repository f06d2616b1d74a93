// A selection as files: the JSON document of `--json` and `selection.json`, and `ranking.csv`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/base/memory.h"
#include "tamis/report/json.h"
#include "tamis/run/apply.h"
#include "tamis/run/output.h"
#include "tamis/run/select.h"

namespace tamis {

// The form of the JSON documents (docs/schema). A change that breaks a reader of the last one counts it up.
inline constexpr Index kSchema = 2;

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
  std::string id_column = {};         // as asked for; empty: none
  std::string weight_column = {};     // the same
};

// The redundancy group of each feature, counted from 1 in the order of the groups; 0: none.
std::vector<Index> group_numbers(const SelectResult& result);

// One member per option. An unset option has the value determined from the data if the report names it, else null.
void write_options(Json& json, const Options& options, const Report& report);

// "scale": as it was used, "scale_reason": why, where it was left to choose, "counts": whether raw counts were
// normalized.
void write_scale(Json& json, Scaling scale, const std::string& reason, const Table& table);

// "reading": the options of reading that were given.
void write_reading(Json& json, const Table& table);

std::string selection_json(const SelectionRecord& record);
// What such a document says about the columns, also one without "schema", as version 0.1 wrote it. Throws
// Error(bad_data) on anything else; `where` starts the message. The budget, where there is one, is asked for what it
// takes.
EarlierSelection read_selection(std::string_view json, const std::string& where, Budget* budget = nullptr);
// rank,index,name,score,selected,...,column: one line per feature that the method saw, best first. `index` is the
// position among the features, `column` the position in the file.
void write_ranking(const SelectionRecord& record, FileWriter& out);

// row,cluster[,id]: one line per row, counted from 0; an empty cluster where it is not known, as that of rows that a
// guide has not looked at. The header alone where there are no clusters.
void write_clusters(const SelectionRecord& record, FileWriter& out);

// The largest resident set of this process so far.
std::uint64_t peak_resident_bytes();

}  // namespace tamis
