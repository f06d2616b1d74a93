#include "tamis/base/error.h"

#include <gtest/gtest.h>

namespace tamis {
namespace {

TEST(Error, CarriesCodeAndOneLine) {
  try {
    fail(ErrorCode::usage, "lapscore: neighbors = ", 50, ", need 1..", 29);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_STREQ(error.what(), "lapscore: neighbors = 50, need 1..29");
  }
}

}  // namespace
}  // namespace tamis
