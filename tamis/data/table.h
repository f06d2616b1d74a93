// What a reader returns: the numbers, their names, and the labels that were asked for.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/source.h"

namespace tamis {

// One class a row. Empty cells and -1 are unlabelled: class -1.
struct Labels {
  std::vector<int> classes;        // 0 .. names.size()-1, or -1
  std::vector<std::string> names;  // of the classes, in sorted order (numbers by value, else by bytes)
};

struct Table {
  Source source;
  std::string path;                      // as given, for messages
  std::string format;                    // "csv", "npy", "npz", "mtx", "10x", "libsvm", or that of a foreign reader
  bool text = false;                     // positions are lines and column names, not row and column numbers
  std::vector<std::string> names;        // d, exact bytes of the file; empty where the file has none
  std::vector<std::string> row_ids;      // n, or empty
  std::map<std::string, Labels> labels;  // by the words they were asked for with
  std::vector<std::string> excluded_columns;  // columns of the file left out of the numbers (id, labels, text)

  // The name of feature j, or its number where there is none.
  std::string name(Index j) const;
};

// What the reader of one format hands to read_table.
struct Reading {
  Table table;                             // labels: those that the file itself has
  std::vector<std::string> label_choices;  // what --labels could have named in it
};

// Asked of rows that could stay on disk, before they are read; `while_read` is what the process would hold while it
// reads them into memory, 0 where that is the table and little else.
using LeaveOnDisk = std::function<bool(const Source& rows, std::uint64_t while_read)>;

struct ReadOptions;
// Reads a format that the library does not: a regular file, by the meaning the options have for the other formats.
// It throws Error, as the library's own readers do.
using ForeignReader = std::function<Reading(const std::string& path, const ReadOptions&, Context&)>;

struct ReadOptions {
  std::string array = "X";  // of an .npz or of a file like it that a foreign reader reads
  enum class Header { automatic, yes, no } header = Header::automatic;
  std::string id_column;                  // row identifiers (text formats)
  std::vector<std::string> labels;        // each a column name, an npz array, or a file
  std::vector<std::string> text_columns;  // columns that may hold text; such a column is left out where it does
  bool transpose = false;
  ForeignReader foreign;  // .parquet .pq .arrow .feather .ipc .h5ad .mat .h5 .zarr; without it they are refused
  // Asked where rows could stay in their file (.npy), or in one that a foreign reader writes them to, and be read in
  // every pass; true leaves them there.
  LeaveOnDisk leave_on_disk;
  bool map = false;  // map an .npy instead of copying it; whoever asks must expect SIGBUS if the file is cut meanwhile
};

// Reads a file by the ending of its name, a folder, or CSV from standard input for "-": into memory, except for
// shards and where rows are left on disk.
// Throws Error(bad_data) with the position, Error(io), Error(resources) where it would not fit context.memory_limit.
Table read_table(const std::string& path, const ReadOptions& options, Context& context);

// Reads one list of words, one a line (a single CSV column; '#' starts a comment): names or positions of features,
// each once.
std::vector<std::string> read_list(const std::string& path, Context& context);

}  // namespace tamis
