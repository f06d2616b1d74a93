// The cells of the reproduction. A cell is the smallest piece that is computed, kept and found again: one ranking of a
// set's columns by one setting of one method with what its first k columns give for every size k; or all columns
// ("allfea"); or the random subsets of one size ("random").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tamis/eval/evaluate.h"
#include "tamis/paper/experiments.h"
#include "tamis/report/json.h"
#include "tamis/select/selection.h"

namespace tamis {

inline constexpr const char* kAllFeatures = "allfea";
inline constexpr const char* kRandomFeatures = "random";
inline constexpr const char* kGuided = "guided";  // beside the paper's methods

// All that decides a cell's numbers, the version of the program and of the protocol aside.
struct CellKey {
  std::string set, sha256;  // of the data
  Index rows = 0;           // that were used
  Index clusters = 0;
  std::string method;
  Settings options;  // every one of the method, as text
  std::vector<Index> sizes;
  Index repeats = 0;
  Index subsets = 0;  // 0 but for random ones
  std::uint64_t seed = 0;
};
// One line of JSON, the same for the same key.
std::string key_text(const CellKey& key);

struct PlannedCell {
  CellKey key;
  Settings settings;        // what was asked for beyond the defaults
  bool grid = false;        // label-best, median and worst are over these
  bool label_free = false;  // the method's defaults
  bool figure = false;      // of Figures 2 and 5
  bool own_size = false;    // beside the paper: guided, which chooses its number of columns; no sizes in the key
  std::string id;           // SHA-256 of the key's text
};

struct Cell {
  PlannedCell plan;
  std::optional<Failure> failure;  // the rest is empty then
  Status status = Status::direct;
  Index iterations = 0;
  std::string path;
  std::vector<Fact> resolved;
  std::vector<double> objective;
  std::vector<Trace> terms;
  std::vector<std::string> warnings;
  std::vector<Index> ranking;       // every column, best first; empty for allfea and random
  std::vector<SubsetScore> scores;  // one a size; random: one a subset
  double seconds = 0.0;             // when it was computed, by the clock
  double cpu_seconds = 0.0;         // of the thread that did: what it costs on an idle core
};

// Every cell of a set, in a fixed order: allfea, random by size, the methods, and guided where that is asked for:
// without the number of classes, and with it. Settings that come to the same options are one cell.
std::vector<PlannedCell> plan_cells(const ExperimentSet& set, const Protocol& protocol,
                                    const std::vector<Method>& methods, bool guided, std::uint64_t seed);

// What an outcome is besides its times: the same bytes whenever and wherever it is computed.
void write_cell(Json& json, const Cell& cell, bool with_ranking = true);

// The text of the file a cell is kept in: write_cell, its seconds, and a checksum.
std::string cell_file_text(const Cell& cell);
// Unset where the text is damaged, or is another cell's.
std::optional<Cell> parse_cell_file(std::string_view text, const PlannedCell& plan, Index features);

}  // namespace tamis
