// Numbers in text, independent of the locale.
#pragma once

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "tamis/base/types.h"

namespace tamis {

enum class NumberStatus {
  ok,
  not_number,  // also hexadecimal, thousands separators, an empty text
  not_finite,  // nan, inf
  too_large    // overflows a double; what underflows is 0
};

// The whole text must be one decimal number: [+-] digits [decimal digits] [e [+-] digits].
NumberStatus parse_number(std::string_view text, double& value, char decimal = '.');

// The digits that [from, end) begins with, appended to the decimal number `digits` modulo 2^64; returns where they
// stop.
inline const char* take_digits(const char* from, const char* end, std::uint64_t& digits) {
  for (; from < end; ++from) {
    const auto digit = static_cast<unsigned>(*from) - '0';
    if (digit > 9) break;
    digits = 10 * digits + digit;
  }
  return from;
}

// The same eight at a time, as the bytes of a word, where many are expected: those behind a decimal point.
inline const char* take_many_digits(const char* from, const char* end, std::uint64_t& digits) {
  if constexpr (std::endian::native == std::endian::little) {
    for (; end - from >= 8; from += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, from, sizeof word);
      word ^= 0x3030303030303030U;  // of each digit its value; 10 or more of anything else
      if (((word | (word + 0x7676767676767676U)) & 0x8080808080808080U) != 0) break;
      word = word * 10 + (word >> 8);  // every other byte: two digits
      constexpr std::uint64_t kEven = 0x000000FF000000FFU;
      word = ((word & kEven) * (100 + (1000000ULL << 32)) + ((word >> 16) & kEven) * (1 + (10000ULL << 32))) >> 32;
      digits = digits * 100000000 + word;
    }
  }
  return take_digits(from, end, digits);
}

// value = digits 10^exponent, to the nearest double, for exponents of -27 to 27; false for others.
bool scale_decimal(std::uint64_t digits, Index exponent, double& value);

// The decimal number that [from, end) begins with, to the nearest double, where it has at most 19 digits and a small
// exponent: whole numbers below 2^53, times or divided by a power of ten up to 10^22, are one rounding away (Clinger
// 1990); scale_decimal() has the others. Returns where it stops, or null for all others. Up to three times as
// fast as from_chars on the numbers most tables hold.
inline const char* parse_short_decimal(const char* from, const char* end, double& value) {
  constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  constexpr std::ptrdiff_t kMostDigits = 19;  // of 64 bits
  const bool negative = from < end && *from == '-';
  if (negative) ++from;
  std::uint64_t digits = 0;
  const char* const point = take_digits(from, end, digits);
  const char* stop = point;
  std::ptrdiff_t count = point - from;
  Index exponent = 0;
  if (point < end && *point == '.') {
    stop = take_many_digits(point + 1, end, digits);
    exponent = point + 1 - stop;
    count -= exponent;
  }
  for (const char* zero = from; count > kMostDigits && zero < stop && (*zero == '0' || *zero == '.'); ++zero) {
    count -= *zero == '0';
  }
  if (count == 0 || count > kMostDigits) return nullptr;
  if (stop < end && (*stop | 0x20) == 'e') {
    const char* power = stop + 1;
    const bool down = power < end && *power == '-';
    if (power < end && (*power == '-' || *power == '+')) ++power;
    std::uint64_t size = 0;
    stop = take_digits(power, end, size);
    if (stop == power || stop - power > 3) return nullptr;
    exponent += down ? -static_cast<Index>(size) : static_cast<Index>(size);
  }
  const auto whole = static_cast<double>(static_cast<std::int64_t>(digits));  // where it is below 2^53
  if (digits >> 53 == 0 && exponent == 0) {
    value = whole;
  } else if (digits >> 53 == 0 && exponent < 0 && exponent >= -22) {
    value = whole / kPowers[-exponent];
  } else if (digits >> 53 == 0 && exponent > 0 && exponent <= 22) {
    value = whole * kPowers[exponent];
  } else if (!scale_decimal(digits, exponent, value)) {
    return nullptr;
  }
  if (negative) value = -value;
  return stop;
}

// The non-negative integer that [from, end) begins with; returns where it stops, or null where there is none of at most
// 18 digits.
inline const char* parse_short_index(const char* from, const char* end, Index& value) {
  std::uint64_t digits = 0;
  const char* const stop = take_digits(from, end, digits);
  if (stop == from || stop - from > 18) return nullptr;
  value = static_cast<Index>(digits);
  return stop;
}

// The whole text must be a non-negative integer; false where it is not, or does not fit.
bool parse_index(std::string_view text, Index& value);

// The whole text must be a number as std::from_chars reads it.
template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Without the blanks at both ends (spaces, tabs, carriage returns).
std::string_view trimmed(std::string_view text);

// The shortest text of a number that reads back as the same; whole numbers without a point.
std::string number_text(double value);

// What is wrong with a number, for a message.
const char* explain(NumberStatus status);

}  // namespace tamis
