#include "tamis/data/formats/npy_numbers.h"

#include <bit>
#include <cstring>

#include "tamis/base/error.h"

namespace tamis {

namespace {

template <class T>
void swap_all(std::byte* data, std::size_t size) {
  for (std::size_t i = 0; i < size; i += sizeof(T)) {
    T value;
    std::memcpy(&value, data + i, sizeof(T));
    if constexpr (sizeof(T) == 2) value = __builtin_bswap16(value);
    if constexpr (sizeof(T) == 4) value = __builtin_bswap32(value);
    if constexpr (sizeof(T) == 8) value = __builtin_bswap64(value);
    std::memcpy(data + i, &value, sizeof(T));
  }
}

void swap_bytes(std::byte* data, std::size_t size, std::size_t item) {
  if (item == 2) swap_all<std::uint16_t>(data, size);
  if (item == 4) swap_all<std::uint32_t>(data, size);
  if (item == 8) swap_all<std::uint64_t>(data, size);
}

// IEEE binary16 to binary32: the exponent is re-biased by multiplying with 2^112, which also normalises subnormals.
float widen(std::uint16_t half) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(half & 0x7FFFU) << 13;
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  if ((half & 0x7C00U) == 0x7C00U) return std::bit_cast<float>(sign | magnitude | 0x7F800000U);  // inf, nan
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112F) | sign);
}

}  // namespace

DType dtype_of(const NpyHeader& header) {
  const int log_size = std::countr_zero(header.item);
  constexpr DType kSigned[] = {DType::i8, DType::i16, DType::i32, DType::i64};
  constexpr DType kUnsigned[] = {DType::u8, DType::u16, DType::u32, DType::u64};
  switch (header.kind) {
    case 'f': return header.item == 8 ? DType::f64 : DType::f32;
    case 'i': return kSigned[log_size];
    default: return kUnsigned[log_size];
  }
}

std::size_t payload_size(const ByteStream& bytes, const NpyHeader& header) {
  std::uint64_t size = 0;
  require(!__builtin_mul_overflow(static_cast<std::uint64_t>(header.count), header.item, &size), ErrorCode::bad_data,
          bytes.where(), ": the shape multiplies to more than 2^64 bytes");
  const auto remaining = bytes.remaining();
  if (remaining) {
    require(*remaining >= size, ErrorCode::bad_data, bytes.where(), ": truncated, the header promises ", size,
            " bytes and ", *remaining, " are there");
    require(*remaining == size, ErrorCode::bad_data, bytes.where(), ": ", *remaining - size,
            " bytes too many after the array");
  }
  return size;
}

void settle_numbers(const NpyHeader& header, std::byte* data, std::size_t size) {
  if (header.kind == 'b') {
    for (std::size_t i = 0; i < size; ++i) data[i] = std::byte{data[i] != std::byte{0}};
  } else if (header.swapped) {
    swap_bytes(data, size, header.item);
  }
}

void widen_halves(std::byte* data, std::size_t size) {
  const std::byte* const raw = data + size;
  for (std::size_t i = 0; i < size; i += 2) {
    std::uint16_t value = 0;
    std::memcpy(&value, raw + i, 2);
    const float wide = widen(value);
    std::memcpy(data + 2 * i, &wide, 4);
  }
}

}  // namespace tamis
