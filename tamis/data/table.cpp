#include "tamis/data/table.h"

#include <algorithm>

#include "tamis/base/error.h"
#include "tamis/base/text/pattern.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/utf8.h"
#include "tamis/data/csv/cells.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/formats/csv.h"
#include "tamis/data/formats/libsvm.h"
#include "tamis/data/formats/list.h"
#include "tamis/data/formats/matrix_market.h"
#include "tamis/data/formats/npy.h"
#include "tamis/data/formats/npy_rows.h"
#include "tamis/data/formats/npz.h"
#include "tamis/data/formats/shards.h"
#include "tamis/data/header.h"
#include "tamis/data/joined.h"
#include "tamis/data/labels.h"

namespace tamis {
namespace {

constexpr const char* kWhatIsRead =
    "need .csv .tsv .tab .txt .dat .data .npy .npz .mtx .svm .libsvm .svmlight (text and .npy also .gz), a 10x folder, "
    "a "
    "folder or pattern of .npy or .csv shards, or - for CSV from standard input";

constexpr const char* kFormats = "csv, tsv, txt, npy, npz, mtx, libsvm, or an extension that the Python package reads";

// What the ending of a file's name would be: that of --format where it is given.
std::string telling_name(const std::string& path, const ReadOptions& options) {
  return options.format.empty() ? path : concat("file.", options.format);
}

// Compressed or not.
bool has_ending(const std::string& path, std::initializer_list<const char*> endings) {
  const std::string name = lower_case(path);
  return std::any_of(endings.begin(), endings.end(), [&](const char* ending) {
    return name.ends_with(ending) || name.ends_with(std::string(ending) + ".gz");
  });
}

// Their readers need to move about in the file, so that none is read compressed or from a pipe.
bool is_foreign(const std::string& path) {
  std::string name = lower_case(path);
  while (name.ends_with('/')) name.pop_back();  // of a folder, as shells complete it
  const auto endings = {".parquet", ".pq",   ".arrow", ".feather", ".ipc", ".h5ad", ".mat",
                        ".h5",      ".zarr", ".xlsx",  ".zip",     ".xz",  ".zst"};
  return std::any_of(endings.begin(), endings.end(), [&](const char* ending) { return name.ends_with(ending); });
}

// What other programs write and nobody reads here.
void refuse_known(const std::string& path, const std::string& where, const char* cure) {
  const std::string name = lower_case(path);
  for (const char* ending : {".xls", ".xlsm", ".xlsb", ".ods", ".sav", ".dta", ".sas7bdat", ".rds", ".rdata"}) {
    require(!name.ends_with(ending), ErrorCode::bad_data, where, ": ", ending, " files cannot be read; ", cure);
  }
  require(!name.ends_with(".bz2"), ErrorCode::bad_data, where,
          ": .bz2 files cannot be read; unpack it or compress it as .gz");
}

Reading npy_reading(Source source) {
  Reading reading;
  reading.table.format = "npy";
  reading.table.source = std::move(source);
  return reading;
}

OpenedFile open_npy_file(const std::string& path, const ReadOptions& options, Context& context) {
  OpenedFile file;
  file.load = [=, &context] {
    return npy_reading(read_npy_matrix(*open_text(path, context), options.transpose, options.map, context));
  };
  if (lower_case(path).ends_with(".gz") || file_kind(path) != FileKind::regular) return file;
  const auto rows = open_npy_rows(path, options.transpose, context);
  require_shape(printable(path, path.size()), rows->rows(), rows->cols());
  file.rows = rows->shape();
  file.leave_on_disk = [=, &context] { return npy_reading(on_disk(rows, context)); };
  return file;
}

Reading read_mtx_file(const std::string& path, const ReadOptions& options, Context& context) {
  Reading reading;
  reading.table.format = "mtx";
  reading.table.text = true;
  reading.table.source = read_matrix_market(*open_text(path, context), options.transpose, context);
  return reading;
}

// The rest of the program relies on these sizes.
void require_sizes(const std::string& where, const Table& table) {
  const Index rows = table.source.rows();
  require_shape(where, rows, table.source.cols());
  const auto require_count = [&](const char* what, std::size_t count, Index need) {
    require(count == static_cast<std::size_t>(need), ErrorCode::internal, where, ": the reader gave ", count, ' ', what,
            ", need ", need);
  };
  if (!table.names.empty()) require_count("names of columns", table.names.size(), table.source.cols());
  if (!table.columns.empty()) require_count("positions of columns", table.columns.size(), table.source.cols());
  if (!table.row_ids.empty()) require_count("row identifiers", table.row_ids.size(), rows);
  for (const auto& [spec, labels] : table.labels) require_count("labels", labels.classes.size(), rows);
}

OpenedFile open_foreign(const std::string& path, const ReadOptions& options, Context& context) {
  const std::string where = printable(path, path.size());
  require(static_cast<bool>(options.foreign), ErrorCode::bad_data, where,
          ": the native command does not read this format, the Python package tamis does (tamis.read)");
  OpenedFile file = options.foreign(path, options, context);
  const auto checked = [where](const std::function<Reading()>& read) {
    return [=] {
      Reading reading = read();
      require_sizes(where, reading.table);
      return reading;
    };
  };
  file.load = checked(file.load);
  file.leave_on_disk = checked(file.leave_on_disk);
  return file;
}

// A format of which nothing is known before it is read.
OpenedFile unread(std::function<Reading()> load) {
  OpenedFile file;
  file.load = std::move(load);
  return file;
}

OpenedFile open_by_ending(const std::string& path, const ReadOptions& options, Context& context) {
  const std::string where = printable(path, path.size());
  const auto read_text = [=, &context](char delimiter) {
    return unread([=, &context] { return read_csv(*open_text(path, context), delimiter, options, context); });
  };
  const bool folder = file_exists(path) && file_kind(path) == FileKind::folder;
  const std::string name = telling_name(path, options);
  if (folder && is_foreign(name)) return open_foreign(path, options, context);
  if (names_shards(path)) return unread([=, &context] { return read_shards(path, options, context); });
  const FileKind kind = file_kind(path);
  if (kind == FileKind::folder) return unread([=, &context] { return read_tenx(path, options, context); });
  require(kind != FileKind::other, ErrorCode::bad_data, where, ": neither a file nor a pipe; ", kWhatIsRead);
  if (has_ending(name, {".npz"})) {
    return unread([=, &context] { return read_npz(open_random_file(path), options, context); });
  }
  if (has_ending(name, {".npy"})) return open_npy_file(path, options, context);
  if (has_ending(name, {".mtx"})) return unread([=, &context] { return read_mtx_file(path, options, context); });
  if (has_ending(name, {".svm", ".libsvm", ".svmlight"})) {
    return unread([=, &context] { return read_libsvm(*open_text(path, context), options, context); });
  }
  if (has_ending(name, {".tsv", ".tab"})) return read_text('\t');
  // A pipe without a telling name, as a shell's <(...) makes, holds CSV like standard input.
  if (has_ending(name, {".csv", ".txt", ".dat", ".data"}) || kind == FileKind::pipe) return read_text(0);
  if (is_foreign(name)) return open_foreign(path, options, context);
  require(options.format.empty(), ErrorCode::usage, OptionName{"format"}, " = ", printable(options.format), ", need ",
          kFormats);
  refuse_known(name, where, options.foreign ? "save it as .xlsx or .csv" : "save it as .csv");
  fail(ErrorCode::bad_data, where, ": unknown file extension; ", kWhatIsRead, "; ", Flag{"format"},
       " says which where the name does not",
       options.foreign ? "; .parquet .pq .arrow .feather .ipc .h5ad .mat .h5 .zarr .xlsx, and text as .zip .xz .zst"
                       : "");
}

void add_label_files(Reading& reading, const std::string& where, const ReadOptions& options, Context& context) {
  Table& table = reading.table;
  for (const std::string& spec : options.labels) {
    if (table.labels.contains(spec)) continue;
    if (const auto column = column_of_file(spec)) {
      table.labels[spec] = read_joined_labels(*column, options.id_column, table.row_ids, context);
      continue;
    }
    if (!file_exists(spec)) {
      const std::string has = reading.label_choices.empty() ? "" : "; the data have " + listed(reading.label_choices);
      fail(ErrorCode::usage, where, ": labels ", printable(spec), ": no such column, array or file", has);
    }
    table.labels[spec] = read_label_file(spec, table.source.rows(), context);
  }
}

// The CSV reader takes names alone.
ReadOptions without_patterns(const std::string& path, ReadOptions options, Context& context) {
  auto& words = options.text_columns;
  if (std::none_of(words.begin(), words.end(), [](const auto& word) { return is_pattern(word); })) return options;
  const std::vector<std::string> names = peek_names(path, options, context);
  std::vector<std::string> more;
  for (const auto& word : words) {
    const bool exact = !is_pattern(word) || std::find(names.begin(), names.end(), word) != names.end();
    for (const auto& name : names) {
      if (!exact && matches_pattern(word, name)) more.push_back(name);
    }
  }
  words.insert(words.end(), more.begin(), more.end());
  return options;
}

}  // namespace

std::optional<char> delimiter_of_text(const std::string& path, const ReadOptions& options) {
  if (options.text) return '\0';
  const std::string name = telling_name(path, options);
  const bool tabs = has_ending(name, {".tsv", ".tab"});
  const bool text = tabs || has_ending(name, {".csv", ".txt", ".dat", ".data"});
  if (!text || !file_exists(path) || file_kind(path) != FileKind::regular) return std::nullopt;
  return tabs ? '\t' : '\0';
}

std::unique_ptr<ByteStream> open_csv_text(const std::string& path, const ReadOptions& options, Context& context) {
  if (!options.text) return open_text(path, context);
  return open_memory(*options.text, path == "-" ? "standard input" : printable(path, path.size()));
}

std::vector<std::string> peek_names(const std::string& path, const ReadOptions& options, Context& context) {
  const auto delimiter = delimiter_of_text(path, options);
  if (!delimiter || options.transpose) return {};
  return read_header(*open_csv_text(path, options, context), *delimiter, options, context);
}

Table Opened::finished(const std::function<Reading()>& read) {
  file_.rows.reset();  // of many sparse rows, no little memory
  Reading reading = read();
  reading.table.path = path_;
  const std::string where = path_ == "-" ? "standard input" : printable(path_, path_.size());
  add_label_files(reading, where, options_, context_);
  if (reading.table.source.store().in_memory()) treat_missing(reading.table, options_.missing, where, context_);
  return std::move(reading.table);
}

Table Opened::leave_on_disk() {
  require(options_.missing == Missing::refuse || options_.missing == Missing::keep, ErrorCode::resources,
          printable(path_, path_.size()), ": ", Flag{"missing"},
          " changes rows in memory only, and these stay on disk; rerun with a larger ", Flag{"memory"});
  return finished(file_.leave_on_disk);
}

Opened open_table(const std::string& path, const ReadOptions& given, Context& context) {
  const ReadOptions options = without_patterns(path, given, context);
  const auto standard_input = [=, &context] { return read_csv(*open_standard_input(&context), 0, options, context); };
  require_thousands(options.thousands);
  const auto text_read = [=, &context] {
    return read_csv(*open_csv_text(path, options, context), 0, options, context);
  };
  OpenedFile file = options.text  ? unread(text_read)
                    : path == "-" ? unread(standard_input)
                                  : open_by_ending(path, options, context);
  return {path, options, std::move(file), context};
}

Table read_table(const std::string& path, const ReadOptions& options, Context& context) {
  return open_table(path, options, context).load();
}

std::vector<std::string> read_list(const std::string& path, Context& context) {
  require(file_kind(path) != FileKind::folder, ErrorCode::bad_data, printable(path, path.size()),
          ": a folder, need a file of one word a line");
  const auto bytes = open_text(path, context);
  return read_list(*bytes, context);
}

std::vector<GroupLine> read_group_lines(const std::string& path, Context& context) {
  require(file_kind(path) != FileKind::folder, ErrorCode::bad_data, printable(path, path.size()),
          ": a folder, need a file of groups");
  const auto bytes = open_text(path, context);
  return read_group_lines(*bytes, context);
}

}  // namespace tamis
