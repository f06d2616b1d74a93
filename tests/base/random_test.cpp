#include "tamis/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace tamis {
namespace {

TEST(Random, PureFunctionOfSeedStreamCounter) {
  const Random a(5, 9), b(5, 9);
  for (std::uint64_t k = 1000; k-- > 0;) ASSERT_EQ(a.bits(k), b.bits(k));
  EXPECT_EQ(a.normal(17), b.normal(17));
  EXPECT_EQ(a.below(17, 1000), b.below(17, 1000));
}

TEST(Random, SeedsStreamsAndCountersDoNotRepeatEachOther) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (std::uint64_t stream = 0; stream < 20; ++stream) {
      const Random random(seed, stream);
      for (std::uint64_t k = 0; k < 50; ++k) seen.insert(random.bits(k));
    }
  }
  EXPECT_EQ(seen.size(), 20u * 20u * 50u);
}

TEST(Random, Mix64IsSplitMix64) {
  // The first outputs of SplitMix64 from state 0 (the reference implementation by Vigna).
  EXPECT_EQ(mix64(0x9e3779b97f4a7c15ULL), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(mix64(2 * 0x9e3779b97f4a7c15ULL), 0x6e789e6aa1b965f4ULL);
  EXPECT_EQ(mix64(3 * 0x9e3779b97f4a7c15ULL), 0x06c45d188009454fULL);
}

TEST(Random, UniformFillsTheInterval) {
  const Random random(1, 2);
  constexpr int kDraws = 100000, kBins = 50;
  std::vector<int> bins(kBins);
  double sum = 0;
  for (int k = 0; k < kDraws; ++k) {
    const double u = random.uniform(static_cast<std::uint64_t>(k));
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++bins[static_cast<std::size_t>(u * kBins)];
    sum += u;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(1.0 / 12 / kDraws));
  double chi2 = 0;
  for (const int bin : bins) chi2 += std::pow(bin - kDraws / kBins, 2) / (kDraws / kBins);
  EXPECT_LT(chi2, 100.0);  // 49 degrees of freedom: 5 standard deviations above
  EXPECT_GT(chi2, 15.0);
}

TEST(Random, BelowStaysInRangeAndReachesAll) {
  const Random random(3, 4);
  for (const Index n : {Index{1}, Index{2}, Index{7}, Index{100}}) {
    std::vector<int> hits(static_cast<std::size_t>(n));
    for (std::uint64_t k = 0; k < 10000; ++k) {
      const Index value = random.below(k, n);
      ASSERT_GE(value, 0);
      ASSERT_LT(value, n);
      ++hits[static_cast<std::size_t>(value)];
    }
    for (const int hit : hits) EXPECT_GT(hit, 10000 / n / 2);
  }
  const Index huge = Index{1} << 62;
  for (std::uint64_t k = 0; k < 1000; ++k) {
    ASSERT_GE(random.below(k, huge), 0);
    ASSERT_LT(random.below(k, huge), huge);
  }
}

TEST(Random, NormalHasMomentsOfTheNormal) {
  const Random random(6, 7);
  constexpr int kDraws = 200000;
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0;
  for (int k = 0; k < kDraws; ++k) {
    const double x = random.normal(static_cast<std::uint64_t>(k));
    ASSERT_TRUE(std::isfinite(x));
    m1 += x, m2 += x * x, m3 += x * x * x, m4 += x * x * x * x;
  }
  EXPECT_NEAR(m1 / kDraws, 0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(m2 / kDraws, 1, 5 * std::sqrt(2.0 / kDraws));
  EXPECT_NEAR(m3 / kDraws, 0, 5 * std::sqrt(15.0 / kDraws));
  EXPECT_NEAR(m4 / kDraws, 3, 5 * std::sqrt(96.0 / kDraws));
}

TEST(Random, NeighboursAreUncorrelated) {
  const Random random(8, 1), next(8, 2);
  double along = 0, across = 0;
  constexpr int kDraws = 100000;
  for (int k = 0; k < kDraws; ++k) {
    const auto counter = static_cast<std::uint64_t>(k);
    along += (random.uniform(counter) - 0.5) * (random.uniform(counter + 1) - 0.5);
    across += (random.uniform(counter) - 0.5) * (next.uniform(counter) - 0.5);
  }
  EXPECT_NEAR(along / kDraws * 12, 0, 5 / std::sqrt(kDraws));
  EXPECT_NEAR(across / kDraws * 12, 0, 5 / std::sqrt(kDraws));
}

}  // namespace
}  // namespace tamis
