#include "app/shell/outline.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <sstream>

#include "app/arguments.h"
#include "app/help.h"
#include "tamis/base/error.h"

namespace tamis::app {

namespace {

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const auto& method : methods()) names.push_back(method.name);
  return names;
}

// The values of flags that take one of a few words. The tests compare them with what the command says of another word.
std::vector<std::string> words_of_flag(const std::string& name) {
  static const std::map<std::string, std::vector<std::string>> kWords = {
      {"--header", {"yes", "no", "auto"}},
      {"--missing", {"refuse", "drop-rows", "drop-columns", "mean", "median"}},
      {"--scale", {"none", "standard", "minmax", "unit", "auto"}},
      {"--cpu", {"auto", "baseline"}},
      {"--figures", {"svg", "png"}},
      {"SHELL", {"bash", "zsh", "fish"}}};
  if (name == "--method" || name == "--methods" || name == "NAME") return method_names();
  const auto found = kWords.find(name);
  return found == kWords.end() ? std::vector<std::string>() : found->second;
}

Completes kind_of_value(const FlagOutline& flag) {
  const auto is_one_of = [&](std::initializer_list<const char*> kinds) {
    return std::find(kinds.begin(), kinds.end(), flag.value) != kinds.end();
  };
  if (!flag.words.empty()) return Completes::words;
  if (is_one_of({"FILE", "LABELS", "WEIGHTS", "DATA", "SELECTION"})) return Completes::files;
  if (is_one_of({"LIST"})) return Completes::file_after_at;
  return is_one_of({"DIR"}) ? Completes::folders : Completes::nothing;
}

FlagOutline outline_of(const CLI::Option& option) {
  FlagOutline flag;
  for (const auto& name : option.get_snames()) flag.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) flag.names.push_back("--" + name);
  const bool argument = flag.names.empty();
  if (argument) flag.names.push_back(option.get_name(true, false));
  const bool takes_value = option.get_expected_max() > 0;
  flag.value = argument ? flag.names.front() : takes_value ? option.get_type_name() : "";
  flag.optional = !argument && takes_value && option.get_expected_min() == 0;
  flag.list = flag.value == "LIST";
  flag.help = flag.meaning = option.get_description();
  flag.words = words_of_flag(flag.names.back());
  flag.repeats = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  flag.completes = kind_of_value(flag);
  if (argument) flag.usage = usage_of_argument(option);
  return flag;
}

FlagOutline with_method(FlagOutline flag, const Option& option) {
  flag.help = option_help(option);
  flag.meaning = option.help;
  flag.words = option.choices;
  if (std::holds_alternative<bool*>(option.value)) flag.words = {"yes", "no"};
  flag.completes = kind_of_value(flag);
  return flag;
}

std::vector<GroupOutline> groups_of_methods(const std::vector<const CLI::Option*>& options) {
  std::vector<GroupOutline> groups;
  for (const auto& method : methods()) {
    const auto bound = method.bind();
    const Options described = bound->options();
    GroupOutline group{concat("Options of ", method.name), {}};
    for (const CLI::Option* one : options) {
      const Option* option = find_option(described, one->get_lnames().front());
      if (option != nullptr) group.flags.push_back(with_method(outline_of(*one), *option));
    }
    if (!group.flags.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<std::string> examples_of(const CLI::App& app) {
  std::istringstream lines(app.get_footer());
  std::vector<std::string> examples;
  std::string line;
  while (std::getline(lines, line)) {
    if (line.starts_with("  $ ")) examples.push_back(line.substr(4));
  }
  return examples;
}

std::vector<std::string> headings_of(const CLI::App& app) {
  std::vector<std::string> headings;
  for (const CLI::Option* option : app.get_options()) {
    const auto& heading = option->get_group();
    if (!option->get_positional() && std::find(headings.begin(), headings.end(), heading) == headings.end()) {
      headings.push_back(heading);
    }
  }
  return headings;
}

CommandOutline outline_of(const CLI::App& app, const std::string& name) {
  CommandOutline command{name, app.get_description(), {}, {}, examples_of(app)};
  const auto positional = [](const CLI::Option* one) { return one->get_positional(); };
  for (const CLI::Option* option : app.get_options(positional)) command.arguments.push_back(outline_of(*option));
  for (const auto& heading : headings_of(app)) {
    if (heading.empty()) continue;  // hidden
    const auto options =
        app.get_options([&](const CLI::Option* one) { return !one->get_positional() && one->get_group() == heading; });
    if (heading == kMethodGroup) {
      for (auto& group : groups_of_methods(options)) command.groups.push_back(std::move(group));
      continue;
    }
    GroupOutline group{heading == "OPTIONS" ? "Options" : heading, {}};
    for (const CLI::Option* option : options) group.flags.push_back(outline_of(*option));
    command.groups.push_back(std::move(group));
  }
  return command;
}

}  // namespace

std::vector<CommandOutline> outline(const CLI::App& root) {
  std::vector<CommandOutline> commands = {outline_of(root, "")};
  for (const CLI::App* app : root.get_subcommands({})) commands.push_back(outline_of(*app, app->get_name()));
  std::vector<std::string> names;
  for (std::size_t i = 1; i < commands.size(); ++i) names.push_back(commands[i].name);
  for (auto& command : commands) {
    for (auto& argument : command.arguments) {
      if (argument.value != "COMMAND") continue;
      argument.words = names;
      argument.completes = Completes::words;
    }
  }
  return commands;
}

std::vector<FlagOutline> flags_once(const CommandOutline& command) {
  std::vector<FlagOutline> flags;
  for (const auto& group : command.groups) {
    for (const auto& flag : group.flags) {
      const auto same = [&](const FlagOutline& other) { return other.names == flag.names; };
      if (std::none_of(flags.begin(), flags.end(), same)) flags.push_back(flag);
    }
  }
  return flags;
}

std::string short_help(const FlagOutline& flag) {
  const std::string_view text = flag.meaning;
  if (text.find(": ") < text.find(' ')) return flag.meaning;  // "norm: ...; qr: ..."
  int depth = 0;                                              // of parentheses: what is in them is not cut
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const char* mark : {": ", "; ", " (", ", such as", ". "}) {
      if (depth == 0 && text.substr(i).starts_with(mark)) return flag.meaning.substr(0, i);
    }
    depth += (text[i] == '(') - (text[i] == ')');
  }
  return flag.meaning;
}

}  // namespace tamis::app
