#include "app/help.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "app/terminal.h"
#include "tamis/base/text/nearest.h"
#include "tamis/base/text/quote.h"

namespace tamis::app {

namespace {

constexpr std::size_t kIndent = 24;  // where descriptions begin
constexpr std::size_t kUsualWidth = 80, kLeastWidth = 60, kMostWidth = 100;

std::size_t terminal_width() {
  winsize size{};
  if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return kUsualWidth;
  }
  return std::clamp<std::size_t>(size.ws_col, kLeastWidth, kMostWidth);
}

// "  --flag NAME          description", the description on a line of its own where the flag is long.
std::string entry(const std::string& name, const std::string& description) {
  std::string out = "  " + name;
  out += out.size() + 2 > kIndent ? "\n" + std::string(kIndent, ' ') : std::string(kIndent - out.size(), ' ');
  return out + wrapped(description, kIndent, terminal_width()) + "\n";
}

class WrappedHelp : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string name = make_option_name(option, is_positional);
    if (!is_positional) name += make_option_opts(option);
    for (std::size_t comma = name.find(",-"); comma != std::string::npos; comma = name.find(",-", comma + 2)) {
      name.insert(comma + 1, " ");  // -k, --features
    }
    return entry(name, make_option_desc(option));
  }

  std::string make_subcommand(const CLI::App* app) const override {
    return entry(app->get_name(), app->get_description());
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string out = "\nUsage: " + name;
    if (!app->get_subcommands({}).empty()) return out + " COMMAND [OPTIONS]\n";
    for (const CLI::Option* option : app->get_options([](const CLI::Option* one) { return one->get_positional(); })) {
      out += " " + usage_of_argument(*option);
    }
    return out + " [OPTIONS]\n";
  }

  // The parser's own puts two empty lines between groups.
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    return CLI::detail::find_and_replace(CLI::Formatter::make_help(app, std::move(name), mode), "\n\n\n", "\n\n");
  }

  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), 0, terminal_width()) + "\n";
  }
};

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The first of these commands that has a flag of this name; empty: none.
std::string owner_of(const std::string& flag, const std::vector<const CLI::App*>& commands) {
  for (const CLI::App* command : commands) {
    const std::vector<std::string> names = flags_of(*command);
    if (std::ranges::find(names, flag) != names.end()) return command->get_name();
  }
  return {};
}

std::vector<const CLI::App*> all_commands(const CLI::App& root) {
  return root.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<const CLI::App*> given_commands(const CLI::App& root) {
  std::vector<const CLI::App*> out;
  for (const CLI::App* command : root.get_subcommands()) out.push_back(command);
  return out;
}

// "--features: At Most 1 required but received 2" as one would say it.
std::string plain_words(const std::string& complaint) {
  constexpr std::string_view kTooMany = ": At Most 1 required but received ", kTooFew = ": 1 required ";
  if (const std::size_t at = complaint.find(kTooMany); at != std::string::npos) {
    const std::string count = complaint.substr(at + kTooMany.size());
    return complaint.substr(0, at) + " is given " + (count == "2" ? "twice" : count + " times");
  }
  if (const std::size_t at = complaint.find(kTooFew); at != std::string::npos && complaint.ends_with(" missing")) {
    const std::size_t from = at + kTooFew.size();
    return complaint.substr(0, at) + " needs a value: " + complaint.substr(from, complaint.size() - from - 8);
  }
  return complaint;
}

// What no flag or command of the command line took.
std::string unexpected_word(const CLI::App& app) {
  const std::vector<std::string> words = app.remaining(true);
  return words.empty() ? std::string() : words.front();
}

}  // namespace

CLI::Option* optional_argument(CLI::Option* argument) { return argument->option_text("optional"); }

std::string usage_of_argument(const CLI::Option& argument) {
  const std::string name = argument.get_name(true);
  return argument.get_option_text().empty() ? name : "[" + name + "]";
}

void begin_group(CLI::App& app, const std::string& heading) { app.option_defaults()->group(heading); }

void use_wrapped_help(CLI::App& root) {
  root.formatter(std::make_shared<WrappedHelp>());
  root.get_formatter()->label("Positionals", "Arguments");
}

void set_examples(CLI::App& app, const std::string& lines) {
  std::istringstream all(lines);
  std::string out = "Examples:", line;
  while (std::getline(all, line)) out += "\n  $ " + line;
  app.footer(out);
}

std::string complaint_of(const CLI::App& root, const CLI::ParseError& error) {
  const auto parsed = root.get_subcommands();
  const CLI::App& app = parsed.empty() ? root : *parsed.front();
  const std::string help = "; see " + (parsed.empty() ? "tamis" : "tamis " + app.get_name()) + " --help";
  const std::string word = unexpected_word(root);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || word.empty()) return plain_words(error.what()) + help;
  const std::string given = printable(word.substr(0, word.find('=')));
  if (word.starts_with("-")) {
    const std::string flag = word.substr(0, word.find('='));
    const auto commands = parsed.empty() ? all_commands(root) : given_commands(root);
    if (const std::string owner = owner_of(flag, commands); !owner.empty()) {
      return "option " + given + " stands before the command; options follow it: tamis " + owner + " " + given + " ...";
    }
    if (const std::string owner = owner_of(flag, all_commands(root)); !owner.empty()) {
      return "unknown option " + given + ", which belongs to tamis " + owner + help;
    }
    const std::string hint = did_you_mean(flag, flags_of(app));
    return "unknown option " + given + (hint.empty() ? help : hint);
  }
  if (!parsed.empty()) return "unexpected argument " + given + help;
  std::vector<std::string> names;
  for (const CLI::App* command : root.get_subcommands({})) names.push_back(command->get_name());
  const std::string hint = did_you_mean(word, names);
  return "unknown command " + given + (hint.empty() ? help : hint);
}

}  // namespace tamis::app
