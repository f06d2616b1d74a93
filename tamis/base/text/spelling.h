// How numbers, and arbitrary bytes that came out of a file, are spelled in JSON and in CSV (on a terminal: quote.h).
// Names are never trusted: they may hold escapes, formulas, quotes or bytes that are no UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tamis/base/text/number.h"
#include "tamis/base/types.h"

namespace tamis {

// The shortest text that reads back as the same float; for double see number.h.
std::string number_text(float value);
// For people: at most `digits` significant ones.
std::string short_number(double value, int digits = 6);
// "1 row", "2 rows", "1 pass", "0 passes".
std::string counted(Index count, std::string_view noun);
// So many decimals, and no minus before a zero.
std::string fixed_number(double value, int decimals);

// Quoted and escaped; valid UTF-8 stands exactly, every byte that is no part of it becomes U+FFFD (JSON has no way
// to hold such a byte).
std::string json_string(std::string_view bytes);

// One CSV cell. Text that a spreadsheet would run as a formula (it begins with = + - @ tab or CR) gets a leading
// apostrophe and quotes; text with separators, quotes or line ends is quoted. The bytes are otherwise kept.
std::string csv_cell(std::string_view bytes);

// "4GiB", "500 MB", "1048576": bytes. KiB MiB GiB TiB count by 1024, kB MB GB TB by 1000. Throws Error(usage).
std::uint64_t parse_size(const std::string& text, const std::string& where);
// "1.5 GiB", rounded up to the next tenth, so that giving it back as a limit is enough.
std::string size_text(std::uint64_t bytes);

}  // namespace tamis
