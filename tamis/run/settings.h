// Settings of a method by name and text, all combinations of them, and a method's failure as a value: what runs of
// many settings share.
#pragma once

#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "tamis/base/error.h"
#include "tamis/select/registry.h"

namespace tamis {

using Settings = std::map<std::string, std::string>;  // option -> value, as text
std::string settings_text(const Settings& settings);  // "a=1 b=2", or "defaults"

// The method with `clusters`, where it has that option, and the settings. Throws Error(usage) on an option it has not.
std::unique_ptr<BoundMethod> bound_with(const Method& method, Index clusters, const Settings& settings);

// The values tried for an option.
struct GridAxis {
  std::string method, option;
  std::vector<std::string> values;
};
// Every combination of the method's axes, less those of the options in `given`; one empty one where none is left.
std::vector<Settings> combinations(const std::vector<GridAxis>& axes, const std::string& method,
                                   const Settings& given = {});

struct Failure {
  ErrorCode code;
  Message reason;  // one line
};

// What goes wrong for one method is that method's affair; only the user's wish to stop is not.
template <class Work>
std::optional<Failure> failure_of(Work work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::interrupted) throw;
    return Failure{error.code(), error.message()};
  } catch (const std::bad_alloc&) {
    return Failure{ErrorCode::resources, "out of memory"};
  }
  return std::nullopt;
}

}  // namespace tamis
