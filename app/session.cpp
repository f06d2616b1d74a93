#include "app/session.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "app/signals.h"
#include "tamis/base/memory.h"
#include "tamis/base/text/number.h"
#include "tamis/base/text/spelling.h"
#include "tamis/data/counts.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/formats/lines.h"
#include "tamis/data/formats/words.h"
#include "tamis/run/features.h"
#include "tamis/run/forecast.h"

namespace tamis::app {
namespace {

// One for the process, as a process runs one command.
const ForeignReader* foreign_reader = nullptr;

// One name a line, of the features or of all columns of the file. More names than columns are counted, not held.
void name_columns(Table& table, const std::string& path, Context& context) {
  const Index features = table.source.cols();
  const Index all = features + (table.columns.empty() ? 0 : static_cast<Index>(table.excluded_columns.size()));
  const auto bytes = open_text(path, context);
  Budget budget(context, bytes->where());
  LineReader lines(*bytes, budget, kMostLine);
  std::vector<std::string> names;
  Index count = 0;
  for (std::string_view line; lines.next(line); ++count) {
    if (count < all) add_word(names, trimmed(line), budget);
  }
  require(count == features || count == all, ErrorCode::bad_data, path, ": ", counted(count, "name"), ", need ",
          features, all == features ? "" : concat(", the number of features, or ", all), ", one for each column");
  table.names.clear();
  for (Index j = 0; j < features; ++j) table.names.push_back(names[count == features ? j : table.column(j)]);
}

// The options of reading that differ from their defaults.
std::map<std::string, std::string> options_given(const DataArguments& arguments, const ReadOptions& options) {
  const DataArguments defaults;
  std::map<std::string, std::string> out;
  for (const auto& [name, value] : kDataFlags) {
    if (arguments.*value != defaults.*value) out[name] = arguments.*value;
  }
  const auto joined = [](const std::vector<std::string>& words) {
    std::string all;
    for (const auto& word : words) all += (all.empty() ? "" : ",") + word;
    return all;
  };
  if (const std::string lists = joined(arguments.exclude); !lists.empty()) out["exclude"] = lists;
  if (const std::string columns = joined(options.labels); !columns.empty()) out["labels"] = columns;
  if (arguments.transpose) out["transpose"] = "";
  if (arguments.counts) out["counts"] = "";
  return out;
}

// Whoever skips more lines than there are should read that.
template <class Load>
Table naming_skip(const std::string& skip, Load load) {
  try {
    return load();
  } catch (const Error& error) {
    const bool nothing = error.message().text().find(": 0 rows") != std::string::npos;
    if (error.code() != ErrorCode::bad_data || skip.empty() || !nothing) throw;
    fail(error.code(), error.message(), " after the lines that --skip ", skip, " leaves out");
  }
}

}  // namespace

void set_foreign_reader(const ForeignReader& foreign) { foreign_reader = &foreign; }

Session::Session(const RunArguments& arguments)
    : quiet_(arguments.quiet),
      context_(parse_threads(arguments.threads), parse_seed(arguments.seed)),
      bar_(!arguments.quiet) {
  context_.process = arguments.process;
  if (!arguments.memory.empty()) context_.memory_limit = parse_size(arguments.memory, "memory");
  context_.between_progress = std::max(bar_.pause(), std::chrono::milliseconds(2));
  if (bar_.enabled()) context_.on_progress = [this](const Progress& progress) { bar_.show(progress); };
  context_.on_warning = [this](const Warning& warning) { warn(warning.text()); };
  context_.is_cancelled = is_interrupted;
}

void Session::note(const std::string& message) {
  if (quiet_) return;
  bar_.clear();
  print_message(message);
}

void Session::note_time(double seconds) {
  constexpr double kMinute = 60.0, kHour = 3600.0;
  if (!(seconds > kMinute) || isatty(STDERR_FILENO) == 0) return;
  const bool hours = seconds >= 1.5 * kHour;
  const double count = std::max(2.0, std::round(seconds / (hours ? kHour : kMinute)));
  note(concat("this run will take about ", short_number(count, 3), hours ? " hours" : " minutes", "; Ctrl-C stops it"));
}

void Session::warn(const std::string& message) {
  if (std::find(warnings_.begin(), warnings_.end(), message) != warnings_.end()) return;
  warnings_.push_back(message);
  note("warning: " + message);
}

Session::Stamp Session::stamp_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
#ifdef __APPLE__
  return {status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec, status.st_size};
#else
  return {status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size};
#endif
}

bool Session::belongs_on_disk(const Opened& opened, const std::string& path, const Peaks& peaks) {
  if (!opened.rows()) return false;
  const TableSize size = size_on_disk(*opened.rows(), context_);
  const std::uint64_t saved = size.table_bytes - size.resident_bytes, budget = memory_budget(context_);
  std::vector<std::uint64_t> needs = peaks(size);
  for (auto& need : needs) need = std::max(need, opened.while_loading());
  const auto runs_from_disk_only = [&](std::uint64_t need) { return need > budget && need - saved <= budget; };
  if (const auto need = std::find_if(needs.begin(), needs.end(), runs_from_disk_only); need != needs.end()) {
    note(concat(path, ": needs about ", size_text(*need), " in memory, the limit is ", size_text(budget),
                "; the rows stay on disk and are read in every pass"));
    return true;
  }
  const std::uint64_t least = *std::min_element(needs.begin(), needs.end());
  require(least <= budget, ErrorCode::resources, path, ": needs about ", size_text(least - saved),
          " of memory even if the rows stay on disk, the limit is ", size_text(budget), "; rerun with --memory ",
          limit_text(least - saved));
  return false;
}

Table Session::read(const DataArguments& arguments, const ReadOptions& options, const Peaks& peaks) {
  const std::string& path = arguments.path;
  context_.input_touched = [path, before = stamp_of(path)] { return stamp_of(path) != before; };
  ReadOptions more = options;
  const auto exclude = words_of(arguments.exclude, context_);
  more.text_columns.insert(more.text_columns.end(), exclude.begin(), exclude.end());
  if (foreign_reader != nullptr) more.foreign = *foreign_reader;
  const Stage stage(context_, "reading " + (path == "-" ? "standard input" : path.substr(path.rfind('/') + 1)));
  return naming(path, [&] {
    Opened opened = open_table(path, more, context_);
    const bool on_disk = belongs_on_disk(opened, path, peaks);
    Table table = naming_skip(arguments.skip, [&] { return on_disk ? opened.leave_on_disk() : opened.load(); });
    table.read_with = options_given(arguments, options);
    for (const auto& message : table.notes) note(message);
    if (!arguments.names.empty()) name_columns(table, arguments.names, context_);
    if (arguments.counts) normalize_counts(table, context_);
    leave_out(table, resolve_features({exclude}, table, "exclude", true));
    return table;
  });
}

std::uint64_t peak_of(const BoundMethod& bound, const TableSize& table, const Context& context,
                      const SelectRequest& request) {
  const Plan plan = plan_of_run(bound, shape_of(table), request, context.threads());
  return forecast(plan, table, context.process).peak_bytes - table.resident_bytes + table.table_bytes;
}

double seconds_of(const BoundMethod& bound, const TableSize& table, const Context& context,
                  const SelectRequest& request) {
  const Plan plan = plan_of_run(bound, shape_of(table), request, context.threads());
  return forecast(plan, table, context.process).seconds;
}

Session::Peaks peaks_of(const BoundMethod& bound, const Context& context, const SelectRequest& request) {
  return [&](const TableSize& table) {
    SelectRequest least = request;
    least.redundancy.reset();  // what the limit has no room for is left out
    return std::vector{peak_of(bound, table, context, request), peak_of(bound, table, context, least)};
  };
}

Session::Peaks peaks_of_one_pass(const Context& context) {
  return [&](const TableSize& table) { return std::vector{peak_of(*find_method("maxvar").bind(), table, context)}; };
}

}  // namespace tamis::app
