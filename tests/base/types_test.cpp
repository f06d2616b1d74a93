#include "tamis/base/types.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <type_traits>

namespace tamis {
namespace {

constexpr DType kAll[] = {DType::f32, DType::f64, DType::i8,  DType::i16, DType::i32,
                          DType::i64, DType::u8,  DType::u16, DType::u32, DType::u64};

TEST(DType, EachHasASizeAndANameOfItsOwn) {
  for (const DType type : kAll) {
    EXPECT_EQ(dtype_named(name_of(type)), type);
    EXPECT_EQ(with_type(type, []<class T>() { return sizeof(T); }), size_of(type)) << name_of(type);
  }
  EXPECT_EQ(dtype_named("float16"), std::nullopt);
  EXPECT_EQ(size_of(static_cast<DType>(10)), 0u);
}

TEST(DType, TheVisitedTypeIsTheNamedOne) {
  for (const DType type : kAll) {
    const std::string name = name_of(type);
    with_type(type, [&]<class T>() {
      EXPECT_EQ(std::is_floating_point_v<T>, name.starts_with("float")) << name;
      EXPECT_EQ(std::is_unsigned_v<T>, name.starts_with("uint")) << name;
    });
  }
}

}  // namespace
}  // namespace tamis
