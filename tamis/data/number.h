// Numbers in text, independent of the locale.
#pragma once

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

// The whole text must be a non-negative integer; false where it is not, or does not fit.
bool parse_index(std::string_view text, Index& value);

// Without the blanks at both ends (spaces, tabs, carriage returns).
std::string_view trimmed(std::string_view text);

// The shortest text of a number that reads back as the same; whole numbers without a point.
std::string number_text(double value);

// What is wrong with a number, for a message.
const char* explain(NumberStatus status);

}  // namespace tamis
