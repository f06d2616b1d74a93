#include "tamis/base/cpu.h"

#include <cstdlib>
#include <string>

#include "tamis/base/error.h"

namespace tamis {

bool cpu_is_baseline() {
  static const bool baseline = [] {
    const char* value = std::getenv(kCpuVariable);
    const std::string wanted = value == nullptr || *value == '\0' ? "auto" : value;
    require(wanted == "auto" || wanted == "baseline", ErrorCode::usage, kCpuVariable, " = ", wanted,
            ", need auto or baseline");
    return wanted == "baseline";
  }();
  return baseline;
}

}  // namespace tamis
