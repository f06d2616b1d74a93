#include "tamis/base/text/spelling.h"

#include <array>
#include <charconv>
#include <cmath>

#include "tamis/base/error.h"
#include "tamis/base/text/utf8.h"

namespace tamis {

namespace {

void append_hex(std::string& out, const char* prefix, unsigned value, int digits) {
  constexpr char kHex[] = "0123456789abcdef";
  out += prefix;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += kHex[value >> shift & 15];
}

void append_json_character(std::string& out, std::string_view bytes, const Character& character) {
  switch (character.code) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  // Besides the controls JSON forbids: DEL and C1, which a terminal may obey, and the two line ends of JavaScript.
  const bool escape = character.code < 0x20 || (character.code >= 0x7F && character.code < 0xA0) ||
                      character.code == 0x2028 || character.code == 0x2029;
  if (escape) {
    append_hex(out, "\\u", character.code, 4);
  } else {
    out += bytes;
  }
}

// Nothing where the unit is unknown.
double unit_size(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 10> kUnits = {{{"", 1.0},
                                                                           {"B", 1.0},
                                                                           {"KiB", 1024.0},
                                                                           {"MiB", 1024.0 * 1024},
                                                                           {"GiB", 1024.0 * 1024 * 1024},
                                                                           {"TiB", 1024.0 * 1024 * 1024 * 1024},
                                                                           {"kB", 1e3},
                                                                           {"MB", 1e6},
                                                                           {"GB", 1e9},
                                                                           {"TB", 1e12}}};
  for (const auto& [name, size] : kUnits) {
    if (name == unit) return size;
  }
  return 0.0;
}

}  // namespace

std::string number_text(float value) {
  char buffer[40];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

std::string short_number(double value, int digits) {
  char buffer[48];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, digits).ptr};
}

std::string counted(Index count, std::string_view noun) {
  return concat(count, " ", noun, count == 1 ? "" : noun.ends_with('s') ? "es" : "s");
}

std::string fixed_number(double value, int decimals) {
  char buffer[400];
  const std::string text = {
      buffer, std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, decimals).ptr};
  const bool zero = text.find_first_not_of("-0.") == std::string::npos;
  return zero && text.front() == '-' ? text.substr(1) : text;
}

std::string json_string(std::string_view bytes) {
  std::string out = "\"";
  out.reserve(bytes.size() + 2);
  for (std::size_t at = 0; at < bytes.size();) {
    const Character character = first_character(bytes.substr(at));
    if (character.bytes == 0) {
      out += "\xEF\xBF\xBD";
      ++at;
    } else {
      append_json_character(out, bytes.substr(at, character.bytes), character);
      at += character.bytes;
    }
  }
  return out += '"';
}

std::string csv_cell(std::string_view bytes) {
  const bool formula = !bytes.empty() && std::string_view("=+-@\t\r").find(bytes.front()) != std::string_view::npos;
  const bool spaced = !bytes.empty() && (bytes.front() == ' ' || bytes.back() == ' ');
  if (!formula && !spaced && bytes.find_first_of(",;\"\r\n\t") == std::string_view::npos) return std::string(bytes);
  std::string out = formula ? "\"'" : "\"";
  for (const char byte : bytes) {
    if (byte == '"') out += '"';
    out += byte;
  }
  return out += '"';
}

std::uint64_t parse_size(const std::string& text, const std::string& where) {
  const std::string complaint =
      concat(where, " = ", text, ", need a number of bytes above 0, as in 4GiB, 500MB or 1000000");
  double number = 0.0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  require(error == std::errc() && std::isfinite(number), ErrorCode::usage, complaint);
  std::string_view unit(end, last);
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const double bytes = number * unit_size(unit);
  require(bytes >= 1.0 && bytes < 0x1.0p63, ErrorCode::usage, complaint);
  return static_cast<std::uint64_t>(bytes);
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < kUnits.size()) value /= 1024.0, ++unit;
  value = unit == 0 ? value : std::ceil(value * 10.0) / 10.0;
  return concat(value, " ", kUnits[unit]);
}

}  // namespace tamis
