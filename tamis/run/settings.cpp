#include "tamis/run/settings.h"

#include <utility>

namespace tamis {

namespace {

std::string option_names(const Options& options) {
  std::string names;
  for (const auto& option : options) names += (names.empty() ? "" : ", ") + option.name;
  return names.empty() ? "none" : names;
}

}  // namespace

std::string settings_text(const Settings& settings) {
  std::string out;
  for (const auto& [name, value] : settings) out += concat(out.empty() ? "" : " ", name, "=", value);
  return out.empty() ? "defaults" : out;
}

std::unique_ptr<BoundMethod> bound_with(const Method& method, Index clusters, const Settings& settings) {
  auto bound = method.bind();
  const Options options = bound->options();
  const Option* wanted = find_option(options, "clusters");
  if (wanted != nullptr && std::holds_alternative<Index*>(wanted->value)) {  // guided does without
    set_from_text(*wanted, method.name, std::to_string(clusters));
  }
  for (const auto& [name, value] : settings) {
    const Option* option = find_option(options, name);
    require(option != nullptr, ErrorCode::usage, MethodName{method.name}, ": no option ", name,
            ", need one of: ", option_names(options));
    set_from_text(*option, method.name, value);
  }
  return bound;
}

std::vector<Settings> combinations(const std::vector<GridAxis>& axes, const std::string& method,
                                   const Settings& given) {
  std::vector<Settings> grid = {{}};
  for (const auto& axis : axes) {
    if (axis.method != method || given.contains(axis.option)) continue;
    std::vector<Settings> longer;
    for (const auto& settings : grid) {
      for (const auto& value : axis.values) {
        longer.push_back(settings);
        longer.back()[axis.option] = value;
      }
    }
    grid = std::move(longer);
  }
  return grid;
}

}  // namespace tamis
