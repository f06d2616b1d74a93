// tamis completion SHELL and tamis manual [COMMAND]: what shells and man read.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/help.h"
#include "app/session.h"
#include "app/shell/outline.h"
#include "tamis/base/text/nearest.h"
#include "tamis/base/text/quote.h"

namespace tamis::app {

namespace {

std::string completion_for(const std::string& shell, const CLI::App& root) {
  require(!shell.empty(), ErrorCode::usage, "completion: SHELL is missing, need bash, zsh or fish");
  if (shell == "bash") return bash_completion(outline(root));
  if (shell == "zsh") return zsh_completion(outline(root));
  require(shell == "fish", ErrorCode::usage, "completion: shell = ", printable(shell), ", need bash, zsh or fish");
  return fish_completion(outline(root));
}

std::string manual_of(const std::string& name, bool markdown, const CLI::App& root) {
  const auto commands = outline(root);
  const auto found =
      std::find_if(commands.begin(), commands.end(), [&](const CommandOutline& one) { return one.name == name; });
  if (found == commands.end()) {
    std::vector<std::string> names;
    for (const auto& command : commands) names.push_back(command.name);
    fail(ErrorCode::usage, "manual: no command ", printable(name), did_you_mean(name, names));
  }
  return markdown ? markdown_page(*found) : manual_page(commands, *found);
}

}  // namespace

Command add_completion_command(CLI::App& root) {
  auto shell = std::make_shared<std::string>();
  CLI::App* app = root.add_subcommand("completion", "Print a script that completes commands and options in a shell");
  app->add_option("SHELL", *shell, "bash, zsh or fish");
  set_examples(*app,
               "source <(tamis completion bash)        (this shell; in fish: tamis completion fish | source)\n"
               "tamis completion bash >~/.local/share/bash-completion/completions/tamis\n"
               "tamis completion zsh >\"${fpath[1]}/_tamis\"\n"
               "tamis completion fish >~/.config/fish/completions/tamis.fish");
  return {app, nullptr, [shell, &root] {
            print_result(completion_for(*shell, root));
            return 0;
          }};
}

Command add_manual_command(CLI::App& root) {
  auto name = std::make_shared<std::string>();
  auto markdown = std::make_shared<bool>(false);
  CLI::App* app = root.add_subcommand("manual", "Print the manual page of a command, for man");
  optional_argument(app->add_option("COMMAND", *name, "Command to describe (tamis itself)"));
  app->add_flag("--markdown", *markdown, "Print Markdown instead of roff");
  set_examples(*app, "tamis manual select | man -l -");
  return {app, nullptr, [name, markdown, &root] {
            print_result(manual_of(*name, *markdown, root));
            return 0;
          }};
}

}  // namespace tamis::app
