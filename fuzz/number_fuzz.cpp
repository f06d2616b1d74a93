// Fuzzes numbers in text against the C library, and what becomes of any bytes in a message.
#include <charconv>
#include <cmath>
#include <string>

#include "fuzz/harness.h"
#include "tamis/base/text/number.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/utf8.h"

namespace tamis {
namespace {

// What is accepted has the value that the standard library gives it, and its text reads back as the same.
void check_number(std::string_view text) {
  double value = 0, again = 0, short_value = 0;
  if (parse_number(text, value) != NumberStatus::ok) return;
  expect(std::isfinite(value));
  const std::string_view digits = text.substr(text.starts_with('+') ? 1 : 0);
  double wanted = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), wanted);
  expect(end.ptr == digits.data() + digits.size());
  expect(end.ec == std::errc::result_out_of_range ? value == 0 : value == wanted);
  const char* stop = parse_short_decimal(text.data(), text.data() + text.size(), short_value);
  if (stop == text.data() + text.size()) expect(short_value == value);
  expect(parse_number(number_text(value), again) == NumberStatus::ok && again == value);
}

// Any bytes become one line of valid UTF-8.
void check_message(std::string_view bytes) {
  const std::string line = printable(bytes);
  for (std::string_view rest = line; !rest.empty();) {
    const Character next = first_character(rest);
    expect(next.bytes > 0 && next.code >= 0x20 && next.code != 0x7f);
    rest.remove_prefix(next.bytes);
  }
}

void read(std::string_view bytes, Context&) {
  check_number(bytes);
  check_message(bytes);
  Index index = 0;
  if (parse_index(bytes, index)) expect(index >= 0);
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tamis::fuzz_one(data, size, tamis::read);
}
