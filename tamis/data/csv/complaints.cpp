#include "tamis/data/csv/complaints.h"

#include <algorithm>

#include "tamis/base/error.h"
#include "tamis/base/text/quote.h"

namespace tamis {
namespace {

constexpr Index kRowsAfter = 10000;     // of the first complaint
constexpr std::size_t kMostBad = 4096;  // columns
constexpr std::size_t kColumnsNamed = 10;

const char* name_of_kind(CellKind kind) {
  switch (kind) {
    case CellKind::date: return "dates";
    case CellKind::percent: return "percentages";
    case CellKind::currency: return "currency amounts";
    case CellKind::thousands: return "thousands separators";
    case CellKind::other_decimal: return "the other decimal sign";
    case CellKind::not_finite: return "not finite";
    case CellKind::too_large: return "too large for a double";
    case CellKind::boolean_among_numbers: return "TRUE or FALSE among numbers";
    case CellKind::beyond_end: return "after the delimiter that ends the other rows";
    default: return "text";
  }
}

Message option_for_thousands(std::string_view cell) { return message(Flag{"thousands", thousands_word(cell)}); }

// What a cell is, and what is needed or helps.
Message what_is_wrong(CellKind kind, std::string_view cell, const std::string& name, bool names_rows) {
  const Message leaves = message(Flag{"exclude", name}, " leaves the column out");
  switch (kind) {
    case CellKind::date: return message(" is a date, not a number (", leaves, ")");
    case CellKind::percent: return message(" is a percentage, need a plain number without % (", leaves, ")");
    case CellKind::currency:
      return message(" is an amount of money, need a plain number without the currency (", leaves, ")");
    case CellKind::thousands:
      return message(" has separators between thousands (", option_for_thousands(cell), " reads them)");
    case CellKind::other_decimal:
      return message(" is not a number with a decimal ", cell.find(',') == std::string_view::npos ? "comma" : "point",
                     ", as the others are (", leaves, ")");
    case CellKind::not_finite: return " is not finite";
    case CellKind::too_large: return " is too large for a double";
    case CellKind::boolean_among_numbers: return message(" stands among numbers other than 0 and 1 (", leaves, ")");
    case CellKind::beyond_end:
      return " stands after the delimiter that ends the other rows, in a column without a name";
    default:
      return names_rows
                 ? message(" is not a number (", Flag{"id", name}, " uses the column as row names, ", leaves, ")")
                 : message(" is not a number (", leaves, ")");
  }
}

// As it can be typed: a name that a list or a shell would cut is given by its position.
std::string typed(const std::string& name, Index j) {
  return name.find_first_of(", \t\"'\\$`;&|()<>*?[]!#~") == std::string::npos ? name : std::to_string(j);
}

}  // namespace

void Complaints::add(Index j, Index line, CellKind kind, std::string_view cell) {
  constexpr std::size_t kMostText = 256;  // more is not shown
  if (columns_.size() < kMostBad) columns_.try_emplace(j, Bad{kind, line, std::string(cell.substr(0, kMostText))});
}

void Complaints::add_missing(Index j, Index line, std::string_view cell) {
  if (missing_ == 0) {
    missing_column_ = j;
    missing_line_ = line;
    missing_cell_ = cell;
  }
  if (missing_in_.size() <= static_cast<std::size_t>(j)) missing_in_.resize(j + 1, false);
  missing_in_[j] = true;
  ++missing_;
  missing_here_ = true;
}

void Complaints::end_row() {
  missing_rows_ += missing_here_ ? 1 : 0;
  missing_here_ = false;
  ++(columns_.empty() ? rows_before_ : rows_since_);
}

// Text in the first column, from the first row on, that is no number with something around it.
bool Complaints::may_name_rows(const std::string& name) const {
  const auto& [column, bad] = *columns_.begin();
  return column == 0 && bad.kind == CellKind::text && rows_before_ == 0 &&
         (!begins_like_number(bad.cell) || is_id_like(name));
}

bool Complaints::enough() const { return rows_since_ > kRowsAfter || columns_.size() == kMostBad; }

Message Complaints::of_one(const Name& name) const {
  const auto& [j, bad] = *columns_.begin();
  if (cut_by_ != nullptr && bad.kind == CellKind::text) {
    return message("line ", bad.line, ": ", in_quotes(bad.cell), " is not a number, and no ", cut_by_,
                   " cuts the lines into cells");
  }
  return message("line ", bad.line, ", column ", name(j), ": ", in_quotes(bad.cell),
                 what_is_wrong(bad.kind, bad.cell, typed(name(j), j), may_name_rows(name(j))));
}

Message Complaints::of_all(Index columns, const Name& name) const {
  std::string which, excluded;
  Message thousands, cure;
  std::size_t count = 0;
  for (const auto& [j, bad] : columns_) {
    if (bad.kind == CellKind::thousands) {
      if (thousands.text().empty()) thousands = option_for_thousands(bad.cell);
    } else if (count < kColumnsNamed) {
      excluded += concat(excluded.empty() ? "" : ",", typed(name(j), j));
    }
    if (count++ >= kColumnsNamed) continue;
    which += concat(count == 1 ? "" : ", ", name(j), " (", name_of_kind(bad.kind), ", first ", in_quotes(bad.cell),
                    " at line ", bad.line, ")");
  }
  if (count > kColumnsNamed) which += ", ...";
  if (!thousands.text().empty()) cure = message("; ", thousands, " reads thousands");
  if (may_name_rows(name(0))) cure = message(cure, "; ", Flag{"id", typed(name(0), 0)}, " uses the first as row names");
  if (!excluded.empty()) {
    if (count > kColumnsNamed) excluded += ",...";
    cure = message(cure, "; ", Flag{"exclude", excluded}, " leaves them out");
  }
  if (static_cast<Index>(count) == columns) cure = message("; ", Flag{"skip"}, " N passes lines above the table");
  return message(count == kMostBad ? "more than " : "", count, " columns are not numbers: ", which, cure);
}

std::string Complaints::of_missing(Index rows, Index columns, const Name& name) const {
  const Index bad = std::count(missing_in_.begin(), missing_in_.end(), true);
  const std::string first = missing_cell_.empty() ? "blank" : in_quotes(missing_cell_);
  return concat(missing_, missing_ == 1 ? " missing value" : " missing values", " in ", bad, " of ", columns,
                columns == 1 ? " column" : " columns", " and ", missing_rows_, enough() ? " of the first " : " of ",
                rows, rows == 1 ? " row" : " rows", ", first at line ", missing_line_, ", column ",
                name(missing_column_), " (", first, ")");
}

void Complaints::raise(const std::string& where, bool missing_refused, Index rows, Index columns,
                       const Name& name) const {
  const bool missing = missing_refused && missing_ > 0;
  if (columns_.empty() && !missing) return;
  Message said = columns_.empty() ? Message() : columns_.size() == 1 ? of_one(name) : of_all(columns, name);
  if (missing) {
    said = message(said, columns_.empty() ? "" : "; also ", of_missing(rows, columns, name), "; ",
                   Flag{"missing", "drop-rows"}, ", drop-columns, mean or median handles them");
  }
  fail(ErrorCode::bad_data, where, ": ", said);
}

}  // namespace tamis
