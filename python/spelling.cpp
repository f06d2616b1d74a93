#include "python/spelling.h"

#include <algorithm>
#include <map>

#include "tamis/select/registry.h"

namespace tamis::python {

namespace {

const Method* method_named(const std::string& name) {
  const auto& all = methods();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Method& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

// Empty: the method has no such option.
std::string parameter_of(const std::string& method, const std::string& option) {
  const Method* known = method_named(method);
  if (known == nullptr) return {};
  const auto bound = known->bind();
  const Options options = bound->options();
  const Option* found = find_option(options, option);
  return found == nullptr ? std::string() : found->in_python();
}

std::string literal(const std::string& value) {
  if (std::all_of(value.begin(), value.end(), [](char letter) { return letter >= '0' && letter <= '9'; })) return value;
  return value.starts_with('"') ? value : concat("'", value, "'");
}

// "a,b" -> "'a', 'b'"
std::string literals(const std::string& values) {
  const std::size_t comma = values.find(',');
  if (comma == std::string::npos) return concat("'", values, "'");
  return concat("'", values.substr(0, comma), "', ", literals(values.substr(comma + 1)));
}

std::string filled(std::string pattern, const std::string& value) {
  const std::size_t list = pattern.find("[{}]"), place = pattern.find("{}");
  if (place == std::string::npos) return pattern;
  return pattern.replace(place, 2, list == std::string::npos ? value : literals(value));
}

std::string keyword(const std::string& word, const std::string& value) {
  return value.empty() ? word : concat(word, "=", literal(value));
}

}  // namespace

Speller python_names(const nb::dict& words) {
  std::map<std::string, std::string> own;
  for (const auto& [word, spelling] : words) own[to_bytes(word)] = to_bytes(spelling);
  return [own](const Name& name) {
    if (name.kind == Name::Kind::method) {
      const Method* method = method_named(name.word);
      return method == nullptr ? name.word : method->python_name;
    }
    if (const std::string parameter = parameter_of(name.method, name.word); !parameter.empty()) return parameter;
    const bool flag = name.kind == Name::Kind::flag;
    if (const auto found = own.find((flag ? "--" : "") + name.word); found != own.end()) {
      return filled(found->second, name.value);
    }
    return keyword(name.word, name.value);
  };
}

nb::list spelled(const std::vector<Warning>& warnings, const Speller& speller) {
  nb::list out;
  for (const auto& warning : warnings) out.append(to_text(warning.message.spelled(speller)));
  return out;
}

nb::list spelled_with_kinds(const std::vector<Warning>& warnings, const Speller& speller) {
  nb::list out;
  for (const auto& [words, kind] : warnings) {
    const char* name = kind == Warning::Kind::convergence ? "convergence" : "general";
    out.append(nb::make_tuple(name, to_text(words.spelled(speller))));
  }
  return out;
}

}  // namespace tamis::python
