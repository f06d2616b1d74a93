// One run of a sub-command: its context, wired to the terminal and to Ctrl-C, and the warnings it gave.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/arguments.h"
#include "app/terminal.h"
#include "tamis/base/error.h"
#include "tamis/run/select.h"

namespace tamis::app {

class Session {
 public:
  explicit Session(const RunArguments& arguments);

  Context& context() { return context_; }
  ProgressBar& bar() { return bar_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  void note(const std::string& message);  // one line for people, unless --quiet
  void note_time(double seconds);         // on a terminal, where a run is forecast to take more than a minute
  void warn(const std::string& message);  // kept for the report; printed unless --quiet

  // `peaks` forecasts what each piece of work will need with the table in memory. The rows are left on disk where that
  // lets one more of them run; where none can run even so, nothing is read.
  using Peaks = std::function<std::vector<std::uint64_t>(const TableSize&)>;
  Table read(const DataArguments& arguments, const ReadOptions& options, const Peaks& peaks);

 private:
  // What a file has that was written to: of nothing else.
  struct Stamp {
    std::int64_t seconds = 0, nanoseconds = 0, bytes = 0;
    bool operator==(const Stamp&) const = default;
  };
  static Stamp stamp_of(const std::string& path);
  bool belongs_on_disk(const Opened& opened, const std::string& path, const Peaks& peaks);

  bool quiet_;
  Context context_;
  ProgressBar bar_;
  std::vector<std::string> warnings_;
};

// The peak of a method with its options, the table in memory.
std::uint64_t peak_of(const BoundMethod& bound, const TableSize& table, const Context& context,
                      const SelectRequest& request = {});
Session::Peaks peaks_of(const BoundMethod& bound, const Context& context, const SelectRequest& request);
// How long it will take.
double seconds_of(const BoundMethod& bound, const TableSize& table, const Context& context,
                  const SelectRequest& request = {});
// Of what is done with a table in one pass, for which the moments of its columns stand.
Session::Peaks peaks_of_one_pass(const Context& context);

// Runs `work`, naming the file in complaints about its data that do not.
template <class Work>
auto naming(const std::string& path, Work work) {
  try {
    return work();
  } catch (const Error& error) {
    const std::string name = path == "-" ? "standard input" : path;
    if (error.code() != ErrorCode::bad_data || error.message().text().find(name) != std::string::npos) throw;
    fail(error.code(), name, ": ", error.message());
  }
}

// Who reads the formats that the library does not, for every session of the process; an empty one for nobody.
// The caller keeps it.
void set_foreign_reader(const ForeignReader& foreign);

// One sub-command: what CLI11 parses, and what is run then; returns the exit code.
struct Command {
  CLI::App* app;
  std::shared_ptr<RunArguments> run_arguments;  // whose config file is applied before `run`; may be null
  std::function<int()> run;
  std::function<void()> before_help = [] {};  // what the command line says already may decide what is shown
};

Command add_select_command(CLI::App& root);
Command add_apply_command(CLI::App& root);
Command add_evaluate_command(CLI::App& root);
Command add_compare_command(CLI::App& root);
Command add_methods_command(CLI::App& root);
Command add_info_command(CLI::App& root);
Command add_demo_command(CLI::App& root);
Command add_datasets_command(CLI::App& root);
Command add_reproduce_command(CLI::App& root);
Command add_completion_command(CLI::App& root);
Command add_manual_command(CLI::App& root);

}  // namespace tamis::app
