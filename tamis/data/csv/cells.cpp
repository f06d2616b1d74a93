#include "tamis/data/csv/cells.h"

#include <algorithm>
#include <array>
#include <limits>

#include "tamis/base/error.h"
#include "tamis/base/text/number.h"

namespace tamis {
namespace {

constexpr std::string_view kMinus = "\xE2\x88\x92";  // U+2212
constexpr std::string_view kEnDash = "\xE2\x80\x93", kEmDash = "\xE2\x80\x94";
constexpr std::string_view kApostrophe =
    "\xE2\x80\x99";  // U+2019, between thousands as Excel writes them in Switzerland
// No-break, narrow no-break and thin spaces, which typists put between thousands.
constexpr std::array<std::string_view, 3> kSpaces = {"\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x89"};

bool is_one_of(std::string_view cell, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), cell) != words.end();
}

bool is_figure(char c) { return c >= '0' && c <= '9'; }

// With plain minus signs, apostrophes and spaces.
std::string plain_signs(std::string_view cell) {
  std::string out;
  while (!cell.empty()) {
    std::pair<std::string_view, char> sign = {cell.substr(0, 1), cell[0]};
    if (cell.starts_with(kMinus)) sign = {kMinus, '-'};
    if (cell.starts_with(kApostrophe)) sign = {kApostrophe, '\''};
    for (const std::string_view space : kSpaces) {
      if (cell.starts_with(space)) sign = {space, ' '};
    }
    out.push_back(sign.second);
    cell.remove_prefix(sign.first.size());
  }
  return out;
}

bool has_odd_signs(std::string_view cell) {
  return std::any_of(cell.begin(), cell.end(), [](char c) { return static_cast<unsigned char>(c) >= 0xC2; });
}

// Whether [+-] d{1,3} (separator d{3})+ begins the cell and a decimal sign, an exponent or nothing follows; the first
// group of 0 alone is none (0,123 has decimals).
bool is_grouped(std::string_view cell, char separator) {
  std::size_t at = !cell.empty() && (cell[0] == '-' || cell[0] == '+') ? 1 : 0;
  const auto figures = [&] {
    const std::size_t from = at;
    while (at < cell.size() && is_figure(cell[at])) ++at;
    return at - from;
  };
  const bool zero = at < cell.size() && cell[at] == '0';
  const std::size_t first = figures();
  if (first == 0 || first > 3 || zero || at == cell.size() || cell[at] != separator) return false;
  while (at < cell.size() && cell[at] == separator) {
    ++at;
    if (figures() != 3) return false;
  }
  return at == cell.size() || cell[at] == '.' || cell[at] == ',' || cell[at] == 'e' || cell[at] == 'E';
}

// One of the words that letters make up in a name: "Sample_ID" has two, "sampleId" as well.
bool has_word(std::string_view name, std::initializer_list<std::string_view> words) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  std::string word;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    const bool goes_on = i < name.size() && is_letter(name[i]);
    const bool begins = goes_on && i > 0 && is_capital(name[i]) && is_letter(name[i - 1]) && !is_capital(name[i - 1]);
    if (!goes_on || begins) {
      if (is_one_of(word, words)) return true;
      word.clear();
    }
    if (goes_on) word.push_back(is_capital(name[i]) ? static_cast<char>(name[i] - 'A' + 'a') : name[i]);
  }
  return false;
}

std::string without(std::string_view cell, char separator) {
  std::string out(cell);
  std::erase(out, separator);
  return out;
}

// With separators between thousands or without, with either decimal sign.
bool is_some_number(std::string_view cell) {
  double value = 0.0;
  cell = trimmed(cell);
  const char separator = group_separator(cell);
  const std::string plain = separator != 0 ? without(cell, separator) : std::string(cell);
  return std::any_of(cell.begin(), cell.end(), is_figure) &&
         (parse_number(plain, value, '.') == NumberStatus::ok || parse_number(plain, value, ',') == NumberStatus::ok);
}

bool is_currency(std::string_view cell) {
  constexpr std::string_view kSigns[] = {"$",   "\xE2\x82\xAC", "\xC2\xA3", "\xC2\xA5", "EUR", "USD",
                                         "GBP", "CHF",          "JPY",      "US$",      "kr",  "\xE2\x82\xB9"};
  std::string unsigned_cell(cell);
  if (!cell.empty() && (cell[0] == '-' || cell[0] == '+')) unsigned_cell.erase(0, 1);
  const std::string_view amount = unsigned_cell;
  return std::any_of(std::begin(kSigns), std::end(kSigns), [&](std::string_view sign) {
    return (amount.starts_with(sign) && is_some_number(amount.substr(sign.size()))) ||
           (amount.ends_with(sign) && is_some_number(amount.substr(0, amount.size() - sign.size())));
  });
}

// Three numbers with one of - / . between them, the year first or last; a time may follow.
bool is_date(std::string_view cell) {
  std::array<std::size_t, 3> lengths{};
  std::size_t part = 0, at = 0;
  char mark = 0;
  for (; at < cell.size() && part < 3; ++at) {
    if (is_figure(cell[at])) {
      ++lengths[part];
    } else if (part < 2 && (cell[at] == '-' || cell[at] == '/' || cell[at] == '.') && (mark == 0 || cell[at] == mark)) {
      mark = cell[at];
      ++part;
    } else {
      break;
    }
  }
  const auto is = [&](std::size_t k, std::size_t least, std::size_t most) {
    return lengths[k] >= least && lengths[k] <= most;
  };
  const bool ends = at == cell.size() || cell[at] == ' ' || cell[at] == 'T';
  return part == 2 && ends && is(1, 1, 2) &&
         ((is(0, 4, 4) && is(2, 1, 2)) || (is(0, 1, 2) && (is(2, 4, 4) || is(2, 2, 2))));
}

}  // namespace

bool is_missing(std::string_view cell) {
  if (cell.size() > 9 || (!cell.empty() && is_figure(cell.back()))) return false;
  return is_one_of(
      cell, {"",      "NA",     "na",     "N/A",      "n/a",       "NaN",     "nan",      "NAN",    "-nan",    "NULL",
             "null",  "Null",   "None",   "none",     "<NA>",      "NaT",     "\\N",      "(null)", "[NULL]",  "#N/A",
             "#NA",   "#NV",    "#N/D",   "#DIV/0!",  "#VALUE!",   "#WERT!",  "#VALEUR!", "#REF!",  "#BEZUG!", "#NAME?",
             "#NUM!", "#ZAHL!", "#NULL!", "nan(ind)", "-nan(ind)", "1.#QNAN", "-1.#IND",  "n.d.",   "-",       "--",
             "?",     ".",      "..",     ":",        kEnDash,     kEmDash});
}

bool is_boolean(std::string_view cell) {
  if (cell.size() != 4 && cell.size() != 5) return false;
  return is_one_of(cell, {"TRUE", "True", "true", "FALSE", "False", "false"});
}

bool begins_like_number(std::string_view cell) {
  const std::size_t at = cell.find_first_not_of("'(<>~+- ");
  return at != std::string_view::npos && (is_figure(cell[at]) || (cell[at] == '.' && at + 1 < cell.size()));
}

bool is_id_like(std::string_view name) {
  return has_word(
      name, {"id",   "ids",    "uid",     "uuid",   "guid",    "key",       "name", "names", "index",  "idx",   "row",
             "rows", "sample", "samples", "record", "barcode", "accession", "no",   "nr",    "number", "serial"});
}

bool is_time_like(std::string_view name) {
  return has_word(name, {"time", "times", "timestamp", "ts", "date", "datetime", "epoch", "zeit", "datum", "uhrzeit",
                         "heure", "hora", "fecha", "t", "seconds", "sec", "ms"});
}

bool reads_as_number(std::string_view cell, char delimiter) {
  double value = 0.0;
  switch (CellParser(delimiter, "").parse(cell, value)) {
    case CellKind::boolean:
    case CellKind::missing:
    case CellKind::text:
    case CellKind::date: return false;
    default: return true;
  }
}

char group_separator(std::string_view cell) {
  const std::string plain = has_odd_signs(cell) ? plain_signs(cell) : std::string();
  if (!plain.empty()) cell = plain;
  for (const char separator : {',', '.', '\'', ' '}) {
    if (!is_grouped(cell, separator)) continue;
    // A single point is a decimal sign unless a comma follows it.
    const bool one = std::count(cell.begin(), cell.end(), separator) == 1;
    if (separator == '.' && one && cell.find(',') == std::string_view::npos) continue;
    return separator;
  }
  return 0;
}

std::string thousands_word(std::string_view cell) {
  const char separator = group_separator(cell);
  return separator == ' ' ? "space" : std::string(1, separator == 0 ? '.' : separator);
}

void require_thousands(const std::string& thousands) {
  require(thousands.empty() || is_one_of(thousands, {",", ".", "'", " ", "space"}), ErrorCode::usage,
          "thousands = ", thousands, ", need one of , . ' and space");
}

CellParser::CellParser(char delimiter, const std::string& thousands)
    : decimal_(delimiter == ',' ? '.' : '?'),
      thousands_(thousands.empty()      ? '\0'
                 : thousands == "space" ? ' '
                                        : thousands[0]) {
  if (thousands_ == ',') decimal_ = '.';
  if (thousands_ == '.') decimal_ = ',';
}

// Whether the sign cannot stand between thousands.
bool CellParser::decides(std::string_view cell, char sign) const {
  return thousands_ != 0 || !is_grouped(cell, sign) || cell.find_first_of("eE") != std::string_view::npos;
}

CellKind CellParser::parse(std::string_view cell, double& value) {
  value = std::numeric_limits<double>::quiet_NaN();
  cell = trimmed(cell);
  if (is_missing(cell)) return CellKind::missing;
  if (is_boolean(cell)) {
    value = cell[0] == 'T' || cell[0] == 't' ? 1.0 : 0.0;
    return CellKind::boolean;
  }
  if (!has_odd_signs(cell)) return parse_decimal(cell, value);
  const std::string plain = plain_signs(cell);
  const std::string_view inner = trimmed(plain);
  return is_missing(inner) ? CellKind::missing : parse_decimal(inner, value);
}

CellKind CellParser::parse_decimal(std::string_view cell, double& value) {
  std::string joined;
  double found = 0.0;
  const auto read = [&](std::string_view number, char decimal) {
    switch (parse_number(number, found, decimal)) {
      case NumberStatus::ok: value = found; return CellKind::number;
      case NumberStatus::not_finite: return CellKind::not_finite;
      case NumberStatus::too_large: return CellKind::too_large;
      case NumberStatus::not_number: break;
    }
    return CellKind::text;
  };
  if (thousands_ != 0 && is_grouped(cell, thousands_)) {
    joined = without(cell, thousands_);
    cell = joined;
  }
  char sign = decimal_;
  if (decimal_ == '?') {
    const bool comma = cell.find(',') != std::string_view::npos;
    sign = comma ? ',' : '.';
    const bool has_sign = comma || cell.find('.') != std::string_view::npos;
    if (has_sign && read(cell, sign) != CellKind::text && decides(cell, sign)) decimal_ = sign;
  }
  const CellKind kind = read(cell, sign);
  if (kind != CellKind::text) return kind;
  return decimal_ != ',' && parse_fortran(cell, value) ? CellKind::number : kind_of_others(cell);
}

// 1.5D+02, as Fortran writes 1.5e+02.
bool CellParser::parse_fortran(std::string_view cell, double& value) const {
  const std::size_t at = cell.find_first_of("dD");
  if (at == std::string_view::npos || cell.substr(0, at).find('.') == std::string_view::npos) return false;
  std::string plain(cell);
  plain[at] = 'e';
  double found = 0.0;
  if (parse_number(plain, found, '.') != NumberStatus::ok) return false;
  value = found;
  return true;
}

CellKind CellParser::kind_of_others(std::string_view cell) const {
  const bool points = decimal_ == ',' && is_grouped(cell, '.');
  if (thousands_ == 0 && (points || group_separator(cell) != 0) && is_some_number(cell)) return CellKind::thousands;
  double value = 0.0;
  const char other = decimal_ == ',' ? '.' : ',';
  if (parse_number(cell, value, other) == NumberStatus::ok) return CellKind::other_decimal;
  if (cell.ends_with('%') && is_some_number(cell.substr(0, cell.size() - 1))) return CellKind::percent;
  if (is_currency(cell)) return CellKind::currency;
  return is_date(cell) ? CellKind::date : CellKind::text;
}

}  // namespace tamis
