#include <algorithm>
#include <string_view>

#include "app/digits.h"

namespace tamis::app {

namespace {

// The inverse of character() in make_digits.py.
int code_of(char character) {
  int code = character;
  code -= code > '\\';
  code -= code > '?';
  return code - '#';
}

}  // namespace

Table read_digits() {
  constexpr Index kPixels = kDigitSide * kDigitSide;
  auto pixels = std::make_shared<std::vector<std::uint8_t>>();
  pixels->reserve(static_cast<std::size_t>(kDigitRows * kPixels));
  for (const char* at = kDigitPixels; *at != '\0'; at += 2) {
    const int number = 71 * code_of(at[0]) + code_of(at[1]);
    for (const int pixel : {number / 289, number / 17 % 17, number % 17})
      pixels->push_back(static_cast<std::uint8_t>(pixel));
  }
  Table table;
  table.source = Source(make_dense_store({pixels->data(), DType::u8, kDigitRows, kPixels, kPixels, 1}, pixels));
  table.path = "digits (embedded)";
  table.format = "npy";
  Labels& labels = table.labels["digit"];
  for (const char digit : std::string_view(kDigitClasses)) labels.classes.push_back(digit - '0');
  for (char digit = '0'; digit <= '9'; ++digit) labels.names.emplace_back(1, digit);
  for (Index j = 0; j < kPixels; ++j) {
    table.names.push_back("row " + std::to_string(j / kDigitSide) + " col " + std::to_string(j % kDigitSide));
  }
  return table;
}

}  // namespace tamis::app
