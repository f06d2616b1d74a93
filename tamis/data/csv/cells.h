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

// Blank, NA, N/A, NaN, NaT, null, None, \N, -, ?, ., .., :, #N/A and the other errors of spreadsheets.
bool is_missing(std::string_view cell);
// TRUE, True, true, FALSE, False, false.
bool is_boolean(std::string_view cell);
// What is a number, or would be with an option or without a % or a currency: not the name of a column.
bool reads_as_number(std::string_view cell, char delimiter);
// A digit, perhaps after a sign, a parenthesis or an apostrophe: what follows may be a number with something around it.
bool begins_like_number(std::string_view cell);
// "id", "sample", "row", "name" and the like: a column with that name tells rows apart.
bool is_id_like(std::string_view name);
// "time", "date", "timestamp" and the like.
bool is_time_like(std::string_view name);
// Digits in groups of three, as 1,234 or 1,234.5: the separator, or 0. A space stands for spaces of all kinds.
char group_separator(std::string_view cell);
// As --thousands takes it: the separator of a cell that the parser calls thousands, which may be 1.234.
std::string thousands_word(std::string_view cell);

// --thousands: one of , . ' and space, or empty. Error(usage) for anything else.
void require_thousands(const std::string& thousands);

// Reads the numbers of one file. The decimal sign is a point where commas stand between cells; elsewhere the first
// number decides whose sign cannot stand between thousands, as that of 1,5 or 0,123 and not that of 1,234; until then
// each number is read by its own sign. --thousands decides, too: a comma between thousands means decimal points, and
// the other way round.
class CellParser {
 public:
  CellParser(char delimiter, const std::string& thousands);

  // Whether what reads as a number with a decimal point is one here; otherwise parse() says what it is.
  bool reads_plainly(std::string_view number) const {
    return decimal_ == '.' || number.find('.') == std::string_view::npos;
  }
  // `value` is NaN where the cell is not a number.
  CellKind parse(std::string_view cell, double& value);

  char decimal() const { return decimal_; }  // '?': no number has decided yet

 private:
  CellKind parse_decimal(std::string_view cell, double& value);
  bool parse_fortran(std::string_view cell, double& value) const;
  CellKind kind_of_others(std::string_view cell) const;
  bool decides(std::string_view cell, char sign) const;

  char decimal_;
  char thousands_;
};

}  // namespace tamis
