// One description per option: name, range, default and help stand in one place, and validation, the command's
// flags, the Python keywords and the docs pages all visit it.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tamis/base/types.h"

namespace tamis {

// Allowed values of a number; an open end excludes the bound itself.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;
  bool high_open = false;

  bool contains(double value) const;
  std::string to_text() const;  // "0 < x <= 2", "x >= 1", "any"
};

// Points into an options struct. An empty optional means "chosen from the data".
using OptionValue = std::variant<double*, Index*, bool*, std::string*, std::optional<double>*, std::optional<Index>*,
                                 std::vector<Index>*>;

inline Range at_least(double low) { return {.low = low}; }
inline Range above(double low) { return {.low = low, .low_open = true}; }

struct Option {
  std::string name = {};         // in C++, the command and files
  std::string python_name = {};  // the spelling scikit-learn people know; empty: the same
  OptionValue value = {};
  Range range = {};                       // numbers only
  std::vector<std::string> choices = {};  // strings only
  std::string help = {};
  std::string unset_text = {};  // what an empty optional means
  bool late = false;            // of Python's signatures, whose order is fixed: it comes after all others

  const std::string& in_python() const { return python_name.empty() ? name : python_name; }
};

using Options = std::vector<Option>;
Options join(Options first, const Options& more);
const Option* find_option(const Options& options, const std::string& name);  // null where there is none

// "1", "0.3", "kmeans++", "(unset_text)": the current value.
std::string value_text(const Option& option);
std::string range_text(const Option& option);
std::string type_text(const Option& option);  // "number", "integer", "yes/no", "one of"
// For messages: "an integer 1..1024", "a comma-separated list of integers >= 2", "yes or no".
std::string allowed_values(const Option& option);
std::string limits_text(const Option& option);  // "1..1024", ">= 2", "> 0 and <= 1"; empty: none

// Parses and stores; throws Error(usage) naming `where`, the option, what arrived and what is allowed.
void set_from_text(const Option& option, const std::string& where, const std::string& text);
// Throws Error(usage) unless every option lies in its range.
void validate(const Options& options, const std::string& where);
// The same for an options struct that has a describe().
template <class MethodOptions>
void require_valid(MethodOptions options, const std::string& where) {
  validate(describe(options), where);
}

}  // namespace tamis
