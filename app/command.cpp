#include "app/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <new>

#if defined(__linux__) && defined(__GLIBC__)
#include <malloc.h>
#endif

#include "app/help.h"
#include "app/session.h"
#include "app/signals.h"
#include "app/version.h"
#include "tamis/base/blocks.h"
#include "tamis/base/cpu.h"

namespace tamis::app {
namespace {

// Passes take and give back buffers of tens of megabytes; new pages from the system for each would cost as much as
// the arithmetic.
void keep_freed_memory() {
  take_blocks_from_heap();
#if defined(__linux__) && defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

// Whatever failed after Ctrl-C failed because of it.
int code_of_exit(ErrorCode code) { return static_cast<int>(is_interrupted() ? ErrorCode::interrupted : code); }

// Allocates nothing: there may be no memory left.
int complain_of_memory() {
  write_error_stream(is_interrupted() ? "tamis: interrupted\n" : "tamis: out of memory\n");
  return code_of_exit(ErrorCode::resources);
}

int complain(ErrorCode code, const std::string& message) {
  try {
    print_message(is_interrupted() ? "interrupted" : message);
    return code_of_exit(code);
  } catch (const std::bad_alloc&) {
    return complain_of_memory();
  }
}

// An option that means yes by itself takes the next word for its value only where that says yes or no: in
// `--exact table.csv`, table.csv is the table.
std::vector<std::string> with_values(std::vector<std::string> words) {
  const std::vector<std::string> alone = yes_no_flags();
  for (std::size_t i = 0; i + 1 < words.size() && words[i] != "--"; ++i) {
    const bool takes_value = std::ranges::find(alone, words[i]) != alone.end();
    if (takes_value && !is_yes_or_no(words[i + 1])) words[i] += "=yes";
  }
  return words;
}

// Once the options that decide it are known; whatever else the command line holds must be right, too.
void print_version(const CLI::App& root, const std::vector<Command>& commands) {
  if (!root.remaining(true).empty()) throw CLI::ExtrasError(root.remaining(true));
  for (const auto& command : commands) {
    const bool chosen = command.app->parsed() && command.run_arguments && !command.run_arguments->cpu.empty();
    if (chosen) use_cpu(command.run_arguments->cpu);
  }
  print_result(version_text() + "\n");
}

// "tamis help" and "tamis help select" are "tamis --help" and "tamis select --help".
std::vector<std::string> words_of_command(int argc, char** argv, const CLI::App& root) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty() || words.front() != "help" || words.size() > 2) return words;
  words.erase(words.begin());
  const auto is_named = [&](const CLI::App* one) { return one->get_name() == words.front(); };
  if (words.empty() || !root.get_subcommands(is_named).empty()) words.emplace_back("--help");
  return words;
}

int parse_and_run(int argc, char** argv, const ProcessMemory& process) {
  CLI::App root("Tamis: select the features that carry the structure of a table, without labels", "tamis");
  use_wrapped_help(root);
  root.require_subcommand(0, 1);  // what follows a command is its own, even if it is the name of another
  const auto version = [] { return std::string(); };  // print_version() has it
  root.set_version_flag("-V,--version", version, "Print the version and exit");
  root.set_help_flag("-h,--help", "Print this help and exit");
  std::vector<Command> commands = {
      add_select_command(root),   add_apply_command(root),      add_evaluate_command(root), add_compare_command(root),
      add_methods_command(root),  add_info_command(root),       add_demo_command(root),     add_reproduce_command(root),
      add_datasets_command(root), add_completion_command(root), add_manual_command(root)};
  for (const auto& command : commands) {
    command.app->group("Commands");
    command.app->set_version_flag("-V,--version", version, "Print the version and exit")->group(kRunGroup);
    command.app->set_help_flag("-h,--help", "Print this help and exit")->group(kRunGroup);
  }
  try {
    const std::vector<std::string> words = with_values(words_of_command(argc, argv, root));
    root.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // the parser takes them from the end
    for (const auto& command : commands) {
      if (!command.app->parsed()) continue;
      if (command.run_arguments && !command.run_arguments->config.empty()) {
        apply_config(*command.app, command.run_arguments->config);
      }
      if (command.run_arguments) command.run_arguments->process = process;
      if (command.run_arguments) command.run_arguments->words.assign(argv + 1, argv + argc);
      if (command.run_arguments && !command.run_arguments->cpu.empty()) use_cpu(command.run_arguments->cpu);
      cpu_is_baseline();  // complains about TAMIS_CPU before anything is read
      return command.run();
    }
  } catch (const CLI::CallForHelp&) {
    for (const auto& command : commands) {
      if (command.app->parsed()) command.before_help();
    }
    print_result(root.help());
    return 0;
  } catch (const CLI::CallForVersion&) {
    try {
      print_version(root, commands);
      return 0;
    } catch (const CLI::ParseError& error) {
      return complain(ErrorCode::usage, complaint_of(root, error));
    }
  } catch (const CLI::ParseError& error) {
    return complain(ErrorCode::usage, complaint_of(root, error));
  }
  print_result(root.help());
  return static_cast<int>(ErrorCode::usage);
}

}  // namespace

int run_command(int argc, char** argv, const ForeignReader& foreign, const FigureSaver& figures,
                const ProcessMemory& process) {
  secure_standard_streams();
  install_signal_handlers();
  keep_freed_memory();
  set_foreign_reader(foreign);
  set_figure_saver(figures);
  try {
    return parse_and_run(argc, argv, process);
  } catch (const Error& error) {
    return complain(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return complain_of_memory();
  } catch (const std::filesystem::filesystem_error& error) {
    return complain(ErrorCode::io, error.what());
  } catch (const std::exception& error) {
    return complain(ErrorCode::internal, std::string("internal error: ") + error.what());
  }
}

}  // namespace tamis::app
