// Manual pages, for man and for the documentation's reference.
#include <algorithm>

#include "app/shell/outline.h"
#include "app/version.h"
#include "tamis/base/error.h"
#include "tamis/base/version.h"

namespace tamis::app {

namespace {

struct Entry {
  const char* name;
  const char* meaning;
};
constexpr Entry kExitCodes[] = {{"0", "Success."},
                                {"1", "Internal error."},
                                {"2", "Usage error: an unknown option, or a value that is not allowed."},
                                {"3", "Bad data: the message names the file and the position in it."},
                                {"4", "The memory limit is too low for this run."},
                                {"5", "A file could not be read or written."},
                                {"6", "Not converged; only with --strict, otherwise a warning."},
                                {"130", "Interrupted."}};
constexpr Entry kVariables[] = {
    {"TAMIS_CPU", "auto or baseline, as --cpu."},
    {"TMPDIR", "Folder for temporary files: rows of text tables and archives that do not fit in memory."}};

// Text for roff: no letter of it is a request or an escape.
std::string roff_text(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\\') {
      out += "\\e";
    } else if (letter == '-') {
      out += "\\-";  // a minus sign, which can be copied and searched for
    } else {
      out += letter;
    }
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string page_name(const CommandOutline& command) {
  return command.name.empty() ? "tamis" : "tamis-" + command.name;
}

// "tamis select", in bold.
std::string roff_call(const CommandOutline& command) {
  return ".B tamis" + (command.name.empty() ? "" : " " + command.name) + "\n";
}

std::string roff_flag(const FlagOutline& flag) {
  std::string out = ".TP\n";
  for (std::size_t i = 0; i < flag.names.size(); ++i) {
    out += (i == 0 ? "\\fB" : ", \\fB") + roff_text(flag.names[i]) + "\\fR";
  }
  const bool is_argument = !flag.names.front().starts_with("-");
  if (!flag.value.empty() && !is_argument) {
    const std::string value = "\\fI" + roff_text(flag.value) + "\\fR";
    out += flag.optional ? " [" + value + "]" : " " + value;
  }
  return out + "\n" + roff_text(flag.help) + "\n";
}

std::string roff_synopsis(const CommandOutline& command) {
  std::string out = ".SH SYNOPSIS\n" + roff_call(command);
  if (command.name.empty()) out += ".I COMMAND\n";
  for (const auto& argument : command.arguments) {
    const bool optional = argument.usage != argument.value;
    out += (optional ? ".RI [ " : ".I ") + roff_text(argument.value) + (optional ? " ]\n" : "\n");
  }
  return out + "[\\fIOPTIONS\\fR]\n";
}

std::string roff_options(const CommandOutline& command) {
  std::string out;
  if (!command.arguments.empty()) out += ".SH ARGUMENTS\n";
  for (const auto& argument : command.arguments) out += roff_flag(argument);
  out += ".SH OPTIONS\n";
  for (const auto& group : command.groups) {
    if (command.groups.size() > 1) out += ".SS " + roff_text(group.heading) + "\n";
    for (const auto& flag : group.flags) out += roff_flag(flag);
  }
  return out;
}

template <std::size_t size>
std::string roff_entries(const char* heading, const Entry (&entries)[size]) {
  std::string out = concat(".SH ", heading, "\n");
  for (const auto& entry : entries) out += concat(".TP\n.B ", entry.name, "\n", roff_text(entry.meaning), "\n");
  return out;
}

std::string roff_examples(const CommandOutline& command) {
  if (command.examples.empty()) return "";
  std::string out = ".SH EXAMPLES\n.EX\n";
  for (const auto& line : command.examples) out += roff_text("$ " + line) + "\n";
  return out + ".EE\n";
}

std::string roff_see_also(const std::vector<CommandOutline>& commands, const CommandOutline& command) {
  std::string out;
  for (const auto& other : commands) {
    if (other.name == command.name) continue;
    out += concat(out.empty() ? "" : ",\n", ".BR ", roff_text(page_name(other)), " (1)");
  }
  return ".SH SEE ALSO\n" + out + "\n";
}

std::string roff_commands(const std::vector<CommandOutline>& commands) {
  std::string out = ".SH COMMANDS\n";
  for (const auto& command : commands) {
    if (!command.name.empty()) out += concat(".TP\n.B ", command.name, "\n", roff_text(command.summary), "\n");
  }
  return out;
}

// Text for Markdown's tables.
std::string cell(const std::string& text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '<' || letter == '>') {
      out += letter == '<' ? "&lt;" : "&gt;";
      continue;
    }
    if (std::string("|*_[]`\\").find(letter) != std::string::npos) out += '\\';
    out += letter;
  }
  return out;
}

std::string markdown_flags(const std::vector<FlagOutline>& flags) {
  std::string out = "| option | meaning |\n|---|---|\n";
  for (const auto& flag : flags) {
    std::string names;
    for (const auto& name : flag.names) names += (names.empty() ? "" : ", ") + name;
    const bool is_argument = !flag.names.front().starts_with("-");
    if (!flag.value.empty() && !is_argument) names += flag.optional ? " [" + flag.value + "]" : " " + flag.value;
    out += "| `" + names + "` | " + cell(flag.help) + " |\n";
  }
  return out + "\n";
}

}  // namespace

std::string manual_page(const std::vector<CommandOutline>& commands, const CommandOutline& command) {
  std::string title = page_name(command);
  std::transform(title.begin(), title.end(), title.begin(),
                 [](char letter) { return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 32) : letter; });
  std::string summary = command.summary;
  if (summary.starts_with("Tamis: ")) summary.erase(0, 7);  // the name stands before it
  std::string out = concat(".TH ", title, " 1 \"", commit_date(), "\" \"tamis ", kVersion, "\" \"Tamis\"\n.SH NAME\n",
                           roff_text(page_name(command)), " \\- ", roff_text(summary), "\n");
  out += roff_synopsis(command);
  if (command.name.empty()) out += roff_commands(commands);
  out += roff_options(command) + roff_entries("EXIT STATUS", kExitCodes);
  return out + roff_entries("ENVIRONMENT", kVariables) + roff_examples(command) + roff_see_also(commands, command);
}

std::string markdown_page(const CommandOutline& command) {
  std::string usage = "tamis " + (command.name.empty() ? "COMMAND" : command.name);
  for (const auto& argument : command.arguments) usage += " " + argument.usage;
  std::string out = concat("# tamis ", command.name, "\n\n", command.summary, ".\n\n    ", usage, " [OPTIONS]\n\n");
  if (!command.arguments.empty()) out += "## Arguments\n\n" + markdown_flags(command.arguments);
  for (const auto& group : command.groups) out += concat("## ", group.heading, "\n\n", markdown_flags(group.flags));
  if (!command.examples.empty()) out += "## Examples\n\n";
  for (const auto& line : command.examples) out += "    " + line + "\n";
  return out;
}

}  // namespace tamis::app
