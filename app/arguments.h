// The flags that several sub-commands share. Values are taken as text and parsed here or by the library, so that
// every complaint says what arrived and what is allowed.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/table.h"
#include "tamis/select/registry.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tamis::app {

// How the run is done.
struct RunArguments {
  std::string seed = "0";
  std::string threads;
  std::string memory;
  std::string config;
  std::string cpu;  // empty: what TAMIS_CPU says
  bool json = false;
  bool quiet = false;
  ProcessMemory process;           // of the process that the command runs in
  std::vector<std::string> words;  // as they were typed, after the name of the program
};
void add_run_flags(CLI::App& app, RunArguments& arguments);

// The table and how it is read.
struct DataArguments {
  std::string path;
  std::string array = "X";
  std::string header = "auto";
  std::string id;
  std::string missing = "refuse";
  std::string thousands;
  std::string format;
  std::string skip;
  bool transpose = false;
  std::string names;                 // a file with the names of the columns
  std::vector<std::string> exclude;  // lists of columns that are no features (add_exclude_flag)
  bool counts = false;               // normalize raw counts (add_counts_flag)

  ReadOptions read_options() const;  // throws Error(usage)
};
// The flags of reading whose values are words: what reports and further commands repeat where it is not the default.
struct DataFlag {
  const char* name;  // "array" for --array
  std::string DataArguments::*value;
};
inline constexpr DataFlag kDataFlags[] = {
    {"array", &DataArguments::array},     {"header", &DataArguments::header},       {"id", &DataArguments::id},
    {"names", &DataArguments::names},     {"format", &DataArguments::format},       {"skip", &DataArguments::skip},
    {"missing", &DataArguments::missing}, {"thousands", &DataArguments::thousands},
};
void add_data_flags(CLI::App& app, DataArguments& arguments);
void add_exclude_flag(CLI::App& app, DataArguments& arguments);
void add_counts_flag(CLI::App& app, DataArguments& arguments);
inline constexpr const char* kScaleHelp =
    "Scaling before the method runs: none; standard: divide columns by their standard deviation (n - 1); minmax: "
    "divide "
    "columns by their range; unit: scale rows to length 1; auto: standard if the columns are in different units, "
    "otherwise none (none)";
// The words of lists: "a,b,c" or "@FILE" each.
std::vector<std::string> words_of(const std::vector<std::string>& lists, Context& context);

inline constexpr const char* kDefaultMethod = "guided";

// The method and its options: one flag for each option of any method, made from their descriptions.
struct MethodArguments {
  std::string method;                        // empty: kDefaultMethod
  std::map<std::string, std::string> given;  // option name -> text

  // The user chose a scale: a method that has one of its own (css) leaves columns as they are.
  void keep_units();

  const Method& chosen() const;  // Error(usage) where there is no such method

  // Sets the options on a bound method; Error(usage) where it has no such option, naming the methods that have.
  std::unique_ptr<BoundMethod> bind() const;
};
std::string option_help(const Option& option);  // "meaning: range (default)"
void add_method_flags(CLI::App& app, MethodArguments& arguments);
// The flags of options that are yes or no, which mean yes by themselves; and whether a word says either.
std::vector<std::string> yes_no_flags();
bool is_yes_or_no(std::string_view word);
void show_options_of(CLI::App& app, const Method& method);  // in --help

std::uint64_t parse_seed(const std::string& text);
// 0 (all cores) where the text is empty.
int parse_threads(const std::string& text);
// "a,b,c", or every method where the text is empty.
std::vector<Method> parse_methods(const std::string& list, Context& context);
// A whole number of at least 1.
Index parse_count(const std::string& text, const std::string& name);

// A flag that may be given several times, one value each.
CLI::Option* add_list_flag(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                           const std::string& help);

// Gives every flag that stands in the file, and was not given on the command line, the value it has there. Lines are
// `flag = value`, at the top or in a section named after the sub-command; other sections are passed over.
void apply_config(CLI::App& app, const std::string& path);
// The same of what is open already; `path` is for messages.
void apply_config(CLI::App& app, std::istream& file, const std::string& path);

}  // namespace tamis::app
