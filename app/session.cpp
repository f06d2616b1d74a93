#include "app/session.h"

#include <sys/stat.h>

#include <algorithm>

#include "app/signals.h"
#include "tamis/base/memory.h"
#include "tamis/base/text/spelling.h"
#include "tamis/run/forecast.h"

namespace tamis::app {
namespace {

// One for the process, as a process runs one command.
const ForeignReader* foreign_reader = nullptr;

}  // namespace

void set_foreign_reader(const ForeignReader& foreign) { foreign_reader = &foreign; }

Session::Session(const RunArguments& arguments)
    : quiet_(arguments.quiet),
      context_(parse_threads(arguments.threads), parse_seed(arguments.seed)),
      bar_(!arguments.quiet) {
  context_.process = arguments.process;
  if (!arguments.memory.empty()) context_.memory_limit = parse_size(arguments.memory, "memory");
  context_.on_progress = [this](const Progress& progress) { bar_.show(progress); };
  context_.on_warning = [this](const std::string& message) { warn(message); };
  context_.is_cancelled = is_interrupted;
}

void Session::note(const std::string& message) {
  if (quiet_) return;
  bar_.clear();
  print_message(message);
}

void Session::warn(const std::string& message) {
  if (std::find(warnings_.begin(), warnings_.end(), message) != warnings_.end()) return;
  warnings_.push_back(message);
  note("warning: " + message);
}

Session::Stamp Session::stamp_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return {status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_size};
}

Table Session::read(const DataArguments& arguments, const ReadOptions& options, const Peaks& peaks) {
  context_.input_touched = [path = arguments.path, before = stamp_of(arguments.path)] {
    return stamp_of(path) != before;
  };
  ReadOptions more = options;
  if (foreign_reader != nullptr) more.foreign = *foreign_reader;
  more.leave_on_disk = [&](const Source& source, std::uint64_t while_read) {
    const std::uint64_t saved = source.store().table_bytes() - source.store().resident_bytes();
    const std::uint64_t budget = memory_budget(context_);
    std::vector<std::uint64_t> needs = peaks(source);
    for (auto& need : needs) need = std::max(need, while_read);
    const auto runs_from_disk_only = [&](std::uint64_t need) { return need > budget && need - saved <= budget; };
    if (const auto need = std::find_if(needs.begin(), needs.end(), runs_from_disk_only); need != needs.end()) {
      note(text(arguments.path, ": in memory this would need about ", size_text(*need), " of ", size_text(budget),
                ", so the rows stay on disk and every pass reads them"));
      return true;
    }
    const std::uint64_t least = *std::min_element(needs.begin(), needs.end());
    require(least <= budget, ErrorCode::resources, arguments.path, ": needs about ", size_text(least - saved),
            " of memory even if the rows stay on disk, the limit is ", size_text(budget),
            "; the least that would do is --memory ", limit_for(least - saved));
    return false;
  };
  return naming(arguments.path, [&] { return read_table(arguments.path, more, context_); });
}

std::uint64_t peak_of(const BoundMethod& bound, const Source& source, const Context& context) {
  const Store& store = source.store();
  const Plan plan = bound.plan(shape_of(source), context.threads());
  return forecast(plan, source, context.process).peak_bytes - store.resident_bytes() + store.table_bytes();
}

Session::Peaks peaks_of(const BoundMethod& bound, const Context& context) {
  return [&](const Source& source) { return std::vector{peak_of(bound, source, context)}; };
}

Session::Peaks peaks_of_one_pass(const Context& context) {
  return [&](const Source& source) { return std::vector{peak_of(*find_method("maxvar").bind(), source, context)}; };
}

}  // namespace tamis::app
