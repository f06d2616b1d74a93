// The index type and the small value types every room uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace tamis {

using Index = std::int64_t;

inline constexpr double kUlp = std::numeric_limits<double>::epsilon();  // the spacing of doubles at 1

// Element types a table may hold. float16 and bool are widened when read.
enum class DType { f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 };

std::size_t size_of(DType type);
const char* name_of(DType type);

}  // namespace tamis
