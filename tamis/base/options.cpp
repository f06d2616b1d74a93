#include "tamis/base/options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "tamis/base/error.h"

namespace tamis {

namespace {

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

std::string option_number(double value) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

template <class Number>
Number parse_number(const std::string& text, const Message& complaint) {
  Number value{};
  const char* first = text.data() + (text.size() > 1 && text[0] == '+' ? 1 : 0);
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), value);
  require(error == std::errc() && end == text.data() + text.size(), ErrorCode::usage, complaint);
  return value;
}

bool parse_flag(const std::string& text, const Message& complaint) {
  if (text == "yes" || text == "true" || text == "on" || text == "1") return true;
  require(text == "no" || text == "false" || text == "off" || text == "0", ErrorCode::usage, complaint);
  return false;
}

// "3,5,8"
std::vector<Index> parse_list(const std::string& text, const Message& complaint) {
  std::vector<Index> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    out.push_back(parse_number<Index>(text.substr(begin, end - begin), complaint));
    begin = end + 1;
  }
  return out;
}

std::string list_text(const std::vector<Index>& values) {
  std::string out;
  for (const Index value : values) {
    if (!out.empty()) out += ',';
    out += std::to_string(value);
  }
  return out;
}

void validate_one(const Option& option, const std::string& where) {
  const auto check = [&](double value) {
    require(option.range.contains(value), ErrorCode::usage, MethodName{where}, ": ", OptionName{option.name}, " = ",
            option_number(value), ", need ", option.range.to_text());
  };
  std::visit(Overloaded{
                 [&](double* value) { check(*value); },
                 [&](Index* value) { check(static_cast<double>(*value)); },
                 [&](std::optional<double>* value) {
                   if (*value) check(**value);
                 },
                 [&](std::optional<Index>* value) {
                   if (*value) check(static_cast<double>(**value));
                 },
                 [&](std::vector<Index>* values) {
                   require(!values->empty(), ErrorCode::usage, MethodName{where}, ": ", OptionName{option.name},
                           " is empty, need ", range_text(option));
                   for (const Index value : *values) check(static_cast<double>(value));
                 },
                 [&](std::string* value) {
                   const bool known =
                       std::find(option.choices.begin(), option.choices.end(), *value) != option.choices.end();
                   require(known, ErrorCode::usage, MethodName{where}, ": ", OptionName{option.name}, " = ", *value,
                           ", need ", range_text(option));
                 },
                 [](bool*) {},
             },
             option.value);
}

}  // namespace

bool Range::contains(double value) const {
  if (std::isnan(value) || std::isinf(value)) return false;
  return (low_open ? value > low : value >= low) && (high_open ? value < high : value <= high);
}

std::string Range::to_text() const {
  const bool below = std::isfinite(low), above = std::isfinite(high);
  if (below && above)
    return option_number(low) + (low_open ? " < x " : " <= x ") + (high_open ? "< " : "<= ") + option_number(high);
  if (below) return std::string("x ") + (low_open ? "> " : ">= ") + option_number(low);
  if (above) return std::string("x ") + (high_open ? "< " : "<= ") + option_number(high);
  return "any number";
}

Options join(Options first, const Options& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

const Option* find_option(const Options& options, const std::string& name) {
  const auto found = std::find_if(options.begin(), options.end(), [&](const Option& one) { return one.name == name; });
  return found == options.end() ? nullptr : &*found;
}

std::string value_text(const Option& option) {
  return std::visit(
      Overloaded{
          [](const double* value) { return option_number(*value); },
          [](const Index* value) { return std::to_string(*value); },
          [](const bool* value) { return std::string(*value ? "yes" : "no"); },
          [](const std::string* value) { return *value; },
          [&](const std::optional<double>* value) { return *value ? option_number(**value) : option.unset_text; },
          [&](const std::optional<Index>* value) { return *value ? std::to_string(**value) : option.unset_text; },
          [](const std::vector<Index>* values) { return list_text(*values); },
      },
      option.value);
}

std::string range_text(const Option& option) {
  if (std::holds_alternative<bool*>(option.value)) return "yes or no";
  if (!std::holds_alternative<std::string*>(option.value)) return option.range.to_text();
  std::string all;
  for (const auto& choice : option.choices) all += (all.empty() ? "" : ", ") + choice;
  return all;
}

std::string type_text(const Option& option) {
  return std::visit(Overloaded{
                        [](const double*) { return "number"; },
                        [](const std::optional<double>*) { return "number"; },
                        [](const Index*) { return "integer"; },
                        [](const std::optional<Index>*) { return "integer"; },
                        [](const std::vector<Index>*) { return "list of integers"; },
                        [](const bool*) { return "yes/no"; },
                        [](const std::string*) { return "one of"; },
                    },
                    option.value);
}

std::string limits_text(const Option& option) {
  const Range& range = option.range;
  const bool below = std::isfinite(range.low), above = std::isfinite(range.high);
  const std::string low = (range.low_open ? "> " : ">= ") + option_number(range.low);
  const std::string high = (range.high_open ? "< " : "<= ") + option_number(range.high);
  if (below && above && !range.low_open && !range.high_open)
    return option_number(range.low) + ".." + option_number(range.high);
  return below && above ? low + " and " + high : below ? low : above ? high : "";
}

std::string allowed_values(const Option& option) {
  const std::string limits = limits_text(option), tail = limits.empty() ? "" : " " + limits;
  const std::string number = "a number" + tail, integer = "an integer" + tail;
  return std::visit(Overloaded{
                        [&](const double*) { return number; },
                        [&](const std::optional<double>*) { return number; },
                        [&](const Index*) { return integer; },
                        [&](const std::optional<Index>*) { return integer; },
                        [&](const std::vector<Index>*) { return "a comma-separated list of integers" + tail; },
                        [&](const bool*) { return range_text(option); },
                        [&](const std::string*) { return range_text(option); },
                    },
                    option.value);
}

void set_from_text(const Option& option, const std::string& where, const std::string& text) {
  const Message complaint =
      message(MethodName{where}, ": ", OptionName{option.name}, " = ", text, ", need ", allowed_values(option));
  std::visit(Overloaded{
                 [&](double* value) { *value = parse_number<double>(text, complaint); },
                 [&](Index* value) { *value = parse_number<Index>(text, complaint); },
                 [&](std::optional<double>* value) { *value = parse_number<double>(text, complaint); },
                 [&](std::optional<Index>* value) { *value = parse_number<Index>(text, complaint); },
                 [&](std::vector<Index>* values) { *values = parse_list(text, complaint); },
                 [&](bool* value) { *value = parse_flag(text, complaint); },
                 [&](std::string* value) { *value = text; },
             },
             option.value);
  validate_one(option, where);
}

void validate(const Options& options, const std::string& where) {
  for (const auto& option : options) validate_one(option, where);
}

}  // namespace tamis
