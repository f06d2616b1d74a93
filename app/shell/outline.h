// The command as data: what its parser and the registry know of commands and options. Completions and manual pages are
// made of it, as --help is.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tamis::app {

enum class Completes { nothing, files, folders, words, file_after_at };

struct FlagOutline {
  std::vector<std::string> names;  // "-k", "--features"; of an argument its name alone
  std::string value;               // "NUMBER"; empty where the flag takes none
  std::string help;
  std::string meaning;  // the help without range and default, where they are known
  Completes completes = Completes::nothing;
  std::vector<std::string> words;  // all values, where they are few
  bool optional = false;           // the value may be left out
  bool list = false;               // several values, with commas between them
  bool repeats = false;
  std::string usage;  // of an argument: "NAME", "[NAME]"
};

struct GroupOutline {
  std::string heading;
  std::vector<FlagOutline> flags;
};

struct CommandOutline {
  std::string name;  // empty: tamis itself
  std::string summary;
  std::vector<FlagOutline> arguments;
  std::vector<GroupOutline> groups;   // as --help has them; one for each method where a command runs any of them
  std::vector<std::string> examples;  // command lines
};

// tamis itself, then its commands in the order of --help.
std::vector<CommandOutline> outline(const CLI::App& root);

// Every flag once, whichever methods have it.
std::vector<FlagOutline> flags_once(const CommandOutline& command);

// The help up to the first detail: "Random seed", for one line of a menu; all of it where it lists what each value
// means.
std::string short_help(const FlagOutline& flag);

// The pages and scripts that `tamis manual` and `tamis completion` print.
std::string manual_page(const std::vector<CommandOutline>& commands, const CommandOutline& command);
std::string markdown_page(const CommandOutline& command);
std::string bash_completion(const std::vector<CommandOutline>& commands);
std::string zsh_completion(const std::vector<CommandOutline>& commands);
std::string fish_completion(const std::vector<CommandOutline>& commands);

}  // namespace tamis::app
