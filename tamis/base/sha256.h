// SHA-256 (FIPS 180-4), to tell whether bytes are the ones expected.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tamis {

class Sha256 {
 public:
  void add(const void* bytes, std::size_t size);
  void add(std::string_view bytes) { add(bytes.data(), bytes.size()); }
  std::string finish();  // 64 hexadecimal digits; nothing may be added afterwards

 private:
  void compress(const unsigned char* chunk);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> rest_{};
  std::size_t held_ = 0;  // bytes in rest_
  std::uint64_t total_ = 0;
};

std::string sha256(std::string_view bytes);

}  // namespace tamis
