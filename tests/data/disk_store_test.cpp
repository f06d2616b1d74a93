#include "tamis/data/stores/disk_store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>
#include <thread>

#include "tamis/base/error.h"

namespace tamis {
namespace {

// Row i is i, i + 1/8, ...: rows and their order can be told. Counts what is read; fails on demand.
class CountingRows final : public RowReader {
 public:
  CountingRows(Index rows, Index cols) : RowReader({rows, cols, DType::f64, {}}) {}

  void read(Index first, Index count, std::byte* out) const override {
    if (broken) fail(ErrorCode::io, "disk: gone");
    rows_read += count;
    auto* numbers = reinterpret_cast<double*>(out);
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < cols(); ++j) *numbers++ = value(first + i, j);
    }
  }
  static double value(Index row, Index column) {
    return static_cast<double>(row) + 0.125 * static_cast<double>(column);
  }

  mutable std::atomic<Index> rows_read = 0;
  std::atomic<bool> broken = false;
};

constexpr std::uint64_t kAhead = 1 << 20;

double first_of(const Block& block) { return static_cast<const double*>(block.dense.data)[0]; }

TEST(DiskStore, GivesEveryBlockInAnyOrder) {
  const auto rows = std::make_shared<CountingRows>(1003, 3);
  const auto store = make_disk_store(rows, 1, kAhead, 10);
  ASSERT_EQ(store->block_count(), 101);
  std::vector<Index> order(101);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  for (const Index b : order) {
    const Block block = store->block(b);
    EXPECT_EQ(block.first, 10 * b);
    EXPECT_EQ(block.rows, b == 100 ? 3 : 10);
    for (Index i = 0; i < block.rows; ++i) {
      for (Index j = 0; j < 3; ++j) {
        EXPECT_EQ(static_cast<const double*>(block.dense.data)[3 * i + j], CountingRows::value(block.first + i, j));
      }
    }
  }
}

TEST(DiskStore, HoldsNoMoreThanItsRing) {
  const auto store = make_disk_store(std::make_shared<CountingRows>(1 << 22, 100), 2, kAhead);
  EXPECT_LT(store->resident_bytes(), store->table_bytes() / 50);
  EXPECT_FALSE(store->in_memory());
}

// Of blocks (and pieces of them) larger than 128 MB there are as many as threads; nothing is allocated before it is
// read.
TEST(DiskStore, HoldsNoSpareBlocksOfWideTables) {
  const auto resident = [](Index cols) {
    return make_disk_store(std::make_shared<CountingRows>(20000, cols), 2, kAhead)->resident_bytes();
  };
  const auto bytes = [](Index rows, Index cols) { return static_cast<std::uint64_t>(rows * cols) * sizeof(double); };
  EXPECT_EQ(resident(8192), 4 * bytes(kBlockRows, 8192) + 4 * bytes(kPieceRows, 8192));
  EXPECT_EQ(resident(8193), 2 * bytes(kBlockRows, 8193) + 4 * bytes(kPieceRows, 8193));
  EXPECT_EQ(resident(200000), 2 * bytes(kBlockRows, 200000) + 2 * bytes(kPieceRows, 200000));
}

TEST(DiskStore, ReadsSmallTablesOnce) {
  const auto rows = std::make_shared<CountingRows>(500, 2);
  const auto store = make_disk_store(rows, 2, kAhead, 100);
  for (int pass = 0; pass < 5; ++pass) {
    for (Index b = 0; b < 5; ++b) EXPECT_EQ(first_of(store->block(b)), 100.0 * static_cast<double>(b));
  }
  EXPECT_EQ(rows->rows_read, 500);
}

// Passes in rising order read about the table each: nothing that is needed is thrown away.
TEST(DiskStore, ReadsEachBlockOnceAPass) {
  const Index n = 1 << 20;
  const auto rows = std::make_shared<CountingRows>(n, 16);
  const auto store = make_disk_store(rows, 1, kAhead, 4096);
  for (int pass = 0; pass < 4; ++pass) {
    for (Index b = 0; b < store->block_count(); ++b) store->block(b);
  }
  EXPECT_LT(rows->rows_read, 4 * n + n / 2);
}

TEST(DiskStore, LendsMoreBlocksThanItHasSlots) {
  const auto store = make_disk_store(std::make_shared<CountingRows>(5000, 2), 1, kAhead, 10);
  std::vector<Block> held;
  for (Index b = 0; b < store->block_count(); ++b) held.push_back(store->block(b));
  for (const Block& block : held) EXPECT_EQ(first_of(block), static_cast<double>(block.first));
}

TEST(DiskStore, ManyThreadsAtOnce) {
  const auto store = make_disk_store(std::make_shared<CountingRows>(20000, 4), 4, kAhead, 16);
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 3000; ++i) {
        const auto b = static_cast<Index>(random() % static_cast<unsigned>(store->block_count()));
        const Block block = store->block(b);
        wrong += first_of(block) != static_cast<double>(block.first);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST(DiskStore, TellsWhatTheDiskSaysAndGoesOn) {
  const auto rows = std::make_shared<CountingRows>(5000, 2);
  const auto store = make_disk_store(rows, 1, kAhead, 10);
  store->block(0);
  rows->broken = true;
  EXPECT_THROW(
      {
        for (Index b = 0; b < store->block_count(); ++b) store->block(b);
      },
      Error);
  rows->broken = false;
  for (Index b = 0; b < store->block_count(); ++b) EXPECT_EQ(first_of(store->block(b)), 10.0 * static_cast<double>(b));
}

}  // namespace
}  // namespace tamis
