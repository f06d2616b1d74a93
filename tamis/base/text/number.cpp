#include "tamis/base/text/number.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace tamis {
namespace {

// Whether a number that does not fit a double is so because it is tiny. Such a number is beyond 1e-300 or
// 1e300, so the decimal place of its first non-zero digit decides.
bool is_tiny(std::string_view text) {
  const std::size_t e = text.find_first_of("eE");
  const std::string_view digits = text.substr(0, e);
  std::int64_t exponent = 0;
  if (e != std::string_view::npos) {
    std::string_view power = text.substr(e + 1);
    const bool negative = power.starts_with('-');
    if (negative || power.starts_with('+')) power.remove_prefix(1);
    const auto [end, status] = std::from_chars(power.data(), power.data() + power.size(), exponent);
    if (status == std::errc::result_out_of_range) exponent = std::int64_t{1} << 40;  // longer than any text
    if (negative) exponent = -exponent;
  }
  const auto point = static_cast<std::int64_t>(std::min(digits.find('.'), digits.size()));
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  return point - static_cast<std::int64_t>(first) + exponent < 0;
}

using Wide = unsigned __int128;

constexpr Index kMostPower = 27;  // 5^27 is the last that fits 64 bits
constexpr auto kFives = [] {
  std::array<std::uint64_t, kMostPower + 1> out{1};
  for (std::size_t i = 1; i < out.size(); ++i) out[i] = 5 * out[i - 1];
  return out;
}();

// `whole` and a rest beyond it (of which only is known whether there is one), times 2^power, to the nearest double;
// ties to even. For results well within the range of doubles.
double nearest_double(std::uint64_t whole, bool rest, int power) {
  const int excess = 64 - std::countl_zero(whole) - 53;
  if (excess > 0) {
    const std::uint64_t below = whole & ((std::uint64_t{1} << excess) - 1), half = std::uint64_t{1} << (excess - 1);
    whole >>= excess;
    power += excess;
    if (below > half || (below == half && (rest || (whole & 1) != 0))) ++whole;
  }
  const auto scale = std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);  // 2^power
  return static_cast<double>(whole) * scale;
}

}  // namespace

// 10^e = 5^e 2^e. Of the quotient or product there are at least 62 bits, and whether anything is beyond them.
bool scale_decimal(std::uint64_t digits, Index exponent, double& value) {
  if (exponent < -kMostPower || exponent > kMostPower) return false;
  value = 0;
  if (digits == 0) return true;
  std::uint64_t five = kFives[std::abs(exponent)];
  const int up = std::countl_zero(digits), up_five = std::countl_zero(five);
  digits <<= up;
  five <<= up_five;  // both have their highest bit
  const int shift = static_cast<int>(exponent) - up;
  if (exponent < 0) {
    const Wide numerator = static_cast<Wide>(digits) << 63;
    const auto quotient = static_cast<std::uint64_t>(numerator / five);
    const bool rest = static_cast<std::uint64_t>(numerator) != quotient * five;
    value = nearest_double(quotient, rest, shift + up_five - 63);
  } else {
    const Wide product = static_cast<Wide>(digits) * five;
    const auto high = static_cast<std::uint64_t>(product >> 64);
    value = nearest_double(high, static_cast<std::uint64_t>(product) != 0, shift - up_five + 64);
  }
  return true;
}

NumberStatus parse_number(std::string_view text, double& value, char decimal) {
  std::string dotted;
  if (decimal != '.') {
    if (text.find('.') != std::string_view::npos) return NumberStatus::not_number;
    dotted = text;
    std::replace(dotted.begin(), dotted.end(), decimal, '.');  // a second one ends the number below
    text = dotted;
  }
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return NumberStatus::not_number;
  }
  if (parse_short_decimal(text.data(), text.data() + text.size(), value) == text.data() + text.size() &&
      !text.empty()) {
    return NumberStatus::ok;
  }
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status == std::errc::invalid_argument || end != text.data() + text.size()) return NumberStatus::not_number;
  if (status == std::errc::result_out_of_range || std::isinf(value)) {
    if (text.find_first_of("0123456789") == std::string_view::npos) return NumberStatus::not_finite;
    if (!is_tiny(text)) return NumberStatus::too_large;
    value = 0.0;
  }
  return std::isfinite(value) ? NumberStatus::ok : NumberStatus::not_finite;
}

bool parse_index(std::string_view text, Index& value) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() && end == text.data() + text.size();
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string number_text(double value) {
  char text[64];
  const bool whole = std::abs(value) < 0x1p53 && value == std::trunc(value);
  const auto end = whole ? std::to_chars(text, text + sizeof text, static_cast<std::int64_t>(value)).ptr
                         : std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

const char* explain(NumberStatus status) {
  switch (status) {
    case NumberStatus::ok: return "a number";
    case NumberStatus::not_number: return "not a number";
    case NumberStatus::not_finite: return "not finite";
    case NumberStatus::too_large: return "too large for a double";
  }
  return "not a number";
}

}  // namespace tamis
