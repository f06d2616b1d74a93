#include "tamis/base/types.h"

#include <iterator>

namespace tamis {

namespace {

constexpr struct {
  const char* name;
  std::size_t size;
} kTypes[] = {{"float32", 4}, {"float64", 8}, {"int8", 1},   {"int16", 2},  {"int32", 4},
              {"int64", 8},   {"uint8", 1},   {"uint16", 2}, {"uint32", 4}, {"uint64", 8}};

bool known(DType type) { return static_cast<std::size_t>(type) < std::size(kTypes); }

}  // namespace

std::size_t size_of(DType type) { return known(type) ? kTypes[static_cast<std::size_t>(type)].size : 0; }
const char* name_of(DType type) { return known(type) ? kTypes[static_cast<std::size_t>(type)].name : "unknown"; }

std::optional<DType> dtype_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kTypes); ++i) {
    if (name == kTypes[i].name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace tamis
