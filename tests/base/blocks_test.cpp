#include "tamis/base/blocks.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <utility>
#include <vector>

namespace tamis {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST(Blocks, AnySizeIsAlignedAndHoldsWhatIsWritten) {
  for (const std::size_t bytes : {std::size_t{16}, kMiB, 2 * kMiB - 8, 2 * kMiB, 2 * kMiB + 8, 5 * kMiB}) {
    std::vector<double, BlockAllocator<double>> block(bytes / sizeof(double), 1.5);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % alignof(std::max_align_t), 0u) << bytes;
    block.back() = 2.5;
    const auto moved = std::move(block);
    EXPECT_EQ(moved.front(), 1.5) << bytes;
    EXPECT_EQ(moved.back(), 2.5) << bytes;
  }
}

TEST(Blocks, MoreThanThereIsThrows) {
  BlockAllocator<double> allocator;
  EXPECT_THROW(allocator.allocate(std::numeric_limits<std::size_t>::max() / 16), std::bad_alloc);
  EXPECT_THROW(allocator.allocate(std::numeric_limits<std::size_t>::max() / 4), std::bad_array_new_length);
}

}  // namespace
}  // namespace tamis
