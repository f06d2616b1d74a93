// Counter-based random numbers: the k-th number of a stream is a pure function of (seed, stream, k), so no
// result depends on which thread drew first.
#pragma once

#include <cstdint>

#include "tamis/base/types.h"

namespace tamis {

// The finaliser of SplitMix64 (Steele, Lea & Flood, 2014): a bijection of 64 bits that mixes well.
constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream)
      : key_(mix64(mix64(seed + kGolden) ^ (stream * kGolden + 0x632be59bd9b4e019ULL))) {}

  std::uint64_t bits(std::uint64_t counter) const { return mix64(key_ + (counter + 1) * kGolden); }
  // Uniform in [0, 1), 53 bits.
  double uniform(std::uint64_t counter) const { return static_cast<double>(bits(counter) >> 11) * 0x1.0p-53; }
  // Uniform in 0 .. n-1.
  Index below(std::uint64_t counter, Index n) const {
    return static_cast<Index>((static_cast<unsigned __int128>(bits(counter)) * static_cast<std::uint64_t>(n)) >> 64);
  }
  double normal(std::uint64_t counter) const;

 private:
  static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  std::uint64_t key_;
};

}  // namespace tamis
