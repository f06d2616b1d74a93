// Reading in two steps: open a file, see what its rows are like, then load them or leave them on disk.
// What comes of it: the numbers, their names, and the labels that were asked for.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/missing.h"
#include "tamis/data/source.h"
#include "tamis/data/stores/disk_store.h"

namespace tamis {

class ByteStream;
struct GroupLine;  // formats/list.h

// One class a row. Empty cells and -1 are unlabeled: class -1.
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
  std::vector<Index> columns;                 // d, where each feature stands in the file; empty: as in the numbers
  // Where missing values dropped rows: which of the file's are left, and how many there were; empty: all of them.
  std::vector<Index> kept_rows;
  Index rows_read = 0;
  std::vector<std::string> notes;                // what the reader decided by itself, a line each
  std::map<std::string, std::string> read_with;  // options of reading that were given, as typed; empty text: a switch
  std::optional<Source> as_read;                 // the numbers of the file, where `source` has others (counts.h)

  // Where feature j stands in the file, counted from 0.
  Index column(Index j) const { return columns.empty() ? j : columns[j]; }
};

// What the reader of one format makes of a file.
struct Reading {
  Table table;                             // labels: those that the file itself has
  std::vector<std::string> label_choices;  // what --labels could have named in it
};

// A file that the reader of one format has opened. One of the two functions is called, at most once.
struct OpenedFile {
  std::optional<RowShape> rows;  // where they could stay on disk, in their file or in one that they are written to
  std::uint64_t while_loading =
      0;  // what the process would hold while it loads them, where that is more than the table
  std::function<Reading()> load;
  std::function<Reading()> leave_on_disk;  // where there are rows
};

struct ReadOptions;
// Opens a format that the library does not read, by the meaning the options have for the other formats. It throws
// Error, as the library's own readers do, and so does what it returns.
using ForeignReader = std::function<OpenedFile(const std::string& path, const ReadOptions&, Context&)>;

struct ReadOptions {
  std::string array = "X";  // of an .npz or of a file like it that a foreign reader reads
  enum class Header { automatic, yes, no } header = Header::automatic;
  std::string id_column;            // row identifiers (text formats)
  std::vector<std::string> labels;  // each a column name, an npz array, or a file
  // Columns that may hold text, by name, position or pattern (pattern.h); such a column is left out where it does.
  std::vector<std::string> text_columns;
  bool transpose = false;
  std::string format;  // an ending without its point, in place of that of the file's name; empty: the file's own
  Index skip = 0;      // lines of text before the table
  Missing missing = Missing::refuse;
  std::string thousands;  // what stands between thousands in text: , . ' or space; empty: nothing
  ForeignReader foreign;  // .parquet .pq .arrow .feather .ipc .h5ad .mat .h5 .zarr; without it they are refused
  std::shared_ptr<const std::string> text;  // of a pipe that was read already, since that can be done but once
  bool map = false;  // map an .npy instead of copying it; whoever asks must expect SIGBUS if the file is cut meanwhile
};

// A table that is not read yet; the rule of memory and disk is in stores/disk_store.h.
class Opened {
 public:
  Opened(std::string path, ReadOptions options, OpenedFile file, Context& context)
      : path_(std::move(path)), options_(std::move(options)), file_(std::move(file)), context_(context) {}

  // What the rows are like, where they could stay on disk; nothing where they can only be loaded, or are shards, whose
  // rows are on disk anyway.
  const std::optional<RowShape>& rows() const { return file_.rows; }
  std::uint64_t while_loading() const { return file_.while_loading; }

  // One of the two, once. Throws Error(bad_data) with the position, Error(io), Error(resources) where the table would
  // not fit context.memory_limit.
  Table load() { return finished(file_.load); }
  // Error(resources) where missing values should be dropped or filled in, since only rows in memory can be changed.
  Table leave_on_disk();

 private:
  Table finished(const std::function<Reading()>& read);

  std::string path_;
  ReadOptions options_;
  OpenedFile file_;
  Context& context_;
};

// Opens a file by the ending of its name, a folder, or CSV from standard input for "-". The context must outlive it.
// Throws Error(bad_data) where it is nothing that is read, Error(io) where it is not there.
Opened open_table(const std::string& path, const ReadOptions& options, Context& context);

// What stands between the cells of a CSV file, by its name; 0: to be found. Nothing for other formats and pipes, which
// cannot be read twice (unless ReadOptions::text holds what they gave).
std::optional<char> delimiter_of_text(const std::string& path, const ReadOptions& options);
// The text of such a file.
std::unique_ptr<ByteStream> open_csv_text(const std::string& path, const ReadOptions& options, Context& context);

// The names of the columns of a CSV file, from its first line alone; empty where it has none, and for other formats and
// pipes, of which nothing can be read beforehand.
std::vector<std::string> peek_names(const std::string& path, const ReadOptions& options, Context& context);

// Opens and loads.
Table read_table(const std::string& path, const ReadOptions& options, Context& context);

// Reads one list of words, one a line (a single CSV column; '#' starts a comment): names or positions of features,
// each once.
std::vector<std::string> read_list(const std::string& path, Context& context);
// Reads a file of groups of features (formats/list.h).
std::vector<GroupLine> read_group_lines(const std::string& path, Context& context);

}  // namespace tamis
