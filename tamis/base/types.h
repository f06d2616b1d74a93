// The index type and the small value types every room uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace tamis {

using Index = std::int64_t;

inline constexpr double kUlp = std::numeric_limits<double>::epsilon();  // the spacing of doubles at 1

// Element types a table may hold. float16 and bool are widened when read.
enum class DType { f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 };

std::size_t size_of(DType type);  // in bytes; 0 of a number that is no DType
const char* name_of(DType type);  // as NumPy calls it
std::optional<DType> dtype_named(std::string_view name);

// visit.operator()<T>() with the C++ type of the elements.
template <class Visit>
decltype(auto) with_type(DType type, Visit&& visit) {
  switch (type) {
    case DType::f32: return visit.template operator()<float>();
    case DType::i8: return visit.template operator()<std::int8_t>();
    case DType::i16: return visit.template operator()<std::int16_t>();
    case DType::i32: return visit.template operator()<std::int32_t>();
    case DType::i64: return visit.template operator()<std::int64_t>();
    case DType::u8: return visit.template operator()<std::uint8_t>();
    case DType::u16: return visit.template operator()<std::uint16_t>();
    case DType::u32: return visit.template operator()<std::uint32_t>();
    case DType::u64: return visit.template operator()<std::uint64_t>();
    case DType::f64: break;
  }
  return visit.template operator()<double>();
}

}  // namespace tamis
