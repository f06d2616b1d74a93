// What the cells of a text table say: numbers in several spellings, missing values, and what is neither.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tamis/base/types.h"

namespace tamis {

enum class CellKind : std::uint8_t {
  number,
  boolean,  // TRUE or FALSE: 1 or 0
  missing,
  // All others are refused by name.
  text,
  date,
  percent,
  currency,
  thousands,      // with separators that no option announces
  other_decimal,  // a decimal comma where there are points, or the other way round
  not_finite,
  too_large,
  boolean_among_numbers,
  beyond_end,  // of the other rows, which end with a delimiter
};

// Blank, NA, N/A, NaN, null, None, -, ?, ., #N/A and the other errors of spreadsheets.
bool is_missing(std::string_view cell);
// TRUE, True, true, FALSE, False, false.
bool is_boolean(std::string_view cell);
// What is a number, or would be with an option or without a % or a currency: not the name of a column.
bool reads_as_number(std::string_view cell, char delimiter);
// Digits in groups of three, as 1,234 or 1,234.5: the separator, or 0. "space" stands for spaces of all kinds.
char group_separator(std::string_view cell);

// --thousands: one of , . ' and space, or empty. Error(usage) for anything else.
void require_thousands(const std::string& thousands);

// Reads the numbers of one file. The decimal sign is a point where commas stand between cells; elsewhere the first
// number that has one decides, and so does --thousands: a comma between thousands means decimal points, and the other
// way round.
class CellParser {
 public:
  CellParser(char delimiter, const std::string& thousands);

  // Whether what reads as a number with a decimal point is one here; otherwise parse() says what it is.
  bool reads_plainly(std::string_view number) const {
    return points_only_ || number.find('.') == std::string_view::npos;
  }
  // `value` is NaN where the cell is not a number.
  CellKind parse(std::string_view cell, double& value);

  char decimal() const { return decimal_; }  // '?': no number had one yet
  // Every number with a comma was like 1,234: either its thousands or its decimals.
  bool commas_in_doubt() const { return decimal_ == ',' && thousands_ == 0 && !sure_of_comma_; }

 private:
  CellKind parse_decimal(std::string_view cell, double& value);
  bool parse_fortran(std::string_view cell, double& value) const;
  CellKind kind_of_others(std::string_view cell) const;

  char decimal_;
  char thousands_;
  bool points_only_;
  bool sure_of_comma_ = false;
};

}  // namespace tamis
