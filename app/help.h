// What --help prints, and hints for misspelled flags and commands.
#pragma once

#include <string>

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace tamis::app {

// Flags that are added from here on stand under this heading.
void begin_group(CLI::App& app, const std::string& heading);

inline constexpr const char* kTableGroup = "Table";
inline constexpr const char* kSelectionGroup = "Selection";
inline constexpr const char* kOutputGroup = "Output";
inline constexpr const char* kRunGroup = "Run";
inline constexpr const char* kMethodGroup = "Method options";

// An argument that may be left out: [NAME] in the line of usage.
CLI::Option* optional_argument(CLI::Option* argument);
std::string usage_of_argument(const CLI::Option& argument);

// Wraps help to the width of the terminal; sub-commands that are added later inherit it.
void use_wrapped_help(CLI::App& root);
// Command lines that show what the command is for; `$` is put before each line.
void set_examples(CLI::App& app, const std::string& lines);

// The parser's complaint in one line, with the nearest flag or command where a word is misspelled.
std::string complaint_of(const CLI::App& root, const CLI::ParseError& error);

}  // namespace tamis::app
