#include "tamis/data/formats/csv_columns.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>

#include "tamis/base/error.h"
#include "tamis/base/text/number.h"
#include "tamis/base/text/quote.h"
#include "tamis/data/csv/cells.h"

namespace tamis {
namespace {

bool counts_up(const FirstLine& line) {
  for (Index j = 1; j < line.size(); ++j) {
    Index value = 0;
    if (!parse_index(line.cell(j), value) || value != j - 1) return false;
  }
  return line.size() > 1 && line.cell(0).empty();
}

// -1, 0 or 1: numbers that fall, do neither, or rise.
int direction(const double* row, Index width) {
  if (std::any_of(row, row + width, [](double x) { return std::isnan(x); })) return 0;
  const bool rises = std::adjacent_find(row, row + width, std::greater_equal<>()) == row + width;
  const bool falls = std::adjacent_find(row, row + width, std::less_equal<>()) == row + width;
  return width < 2 ? 0 : rises ? 1 : falls ? -1 : 0;
}

bool steps_by_one(const double* row, Index width) {
  for (Index j = 1; j < width; ++j) {
    if (row[j] != row[0] + static_cast<double>(j)) return false;
  }
  const bool year = row[0] >= 1500.0 && row[0] <= 2200.0;
  return row[0] == 0.0 || row[0] == 1.0 || (year && row[0] == std::floor(row[0]));
}

// Whether a column has no whole number below its first, or none near it.
bool sets_first_apart(const double* rows, Index width, Index count, Index j) {
  const double first = rows[j];
  double low = rows[width + j], high = low;
  bool any_whole = false;
  for (Index i = 1; i < count; ++i) {
    const double value = rows[i * width + j];
    low = std::min(low, value), high = std::max(high, value);
    any_whole = any_whole || value == std::floor(value);
  }
  return low < high && (!any_whole || std::min(std::abs(first - low), std::abs(first - high)) > high - low);
}

bool looks_like_codes(const double* rows, Index width, Index count) {
  constexpr Index kFewestRows = 5, kFewest = 2;
  if (count < kFewestRows || width < kFewest) return false;
  std::vector<double> names(rows, rows + width);
  std::sort(names.begin(), names.end());
  if (!(names[0] >= 0.0) || std::adjacent_find(names.begin(), names.end()) != names.end()) return false;
  if (std::any_of(names.begin(), names.end(), [](double x) { return x != std::floor(x); })) return false;
  Index apart = 0;
  for (Index j = 0; j < width; ++j) apart += sets_first_apart(rows, width, count, j) ? 1 : 0;
  return apart >= kFewest && 2 * apart > width;
}

// Positions of columns by name, or by number: of those that the options name, since a line may have millions of others.
class ColumnFinder {
 public:
  ColumnFinder(const std::string& where, const FirstLine& line, bool header, const ReadOptions& options)
      : where_(where), size_(line.size()) {
    for (const auto* names : {&options.text_columns, &options.labels}) {
      for (const std::string& name : *names) by_name_[name];
    }
    by_name_[options.id_column];
    for (Index j = 0; header && j < size_; ++j) {
      const auto found = by_name_.find(line.cell(j));
      if (found != by_name_.end()) found->second.push_back(j);
    }
  }

  std::vector<Index> all(const std::string& name) const {
    const auto& found = by_name_.at(name);
    if (!found.empty()) return found;
    Index position = 0;
    if (parse_index(name, position) && position < size_) return {position};
    return {};
  }

  // -1 where there is none.
  Index one(const std::string& name) const {
    const std::vector<Index> found = all(name);
    require(found.size() < 2, ErrorCode::usage, where_, ": ", found.size(), " columns are named ", printable(name),
            ", need one");
    return found.empty() ? -1 : found[0];
  }

 private:
  const std::string& where_;
  Index size_;
  std::unordered_map<std::string_view, std::vector<Index>> by_name_;
};

}  // namespace

void read_first_line(CsvScanner& scanner, const CsvLayout& layout, FirstLine& line) {
  constexpr Index kMostColumns = Index{1} << 24;
  if (layout.row_names) line.add("");
  while (!scanner.at_end()) {
    require(line.size() < kMostColumns, ErrorCode::bad_data, scanner.where(), ": line ", scanner.line(), ": more than ",
            kMostColumns, " columns");
    line.add(scanner.cell().text);
    if (scanner.row_ended()) break;
  }
  if (layout.header_short) line.add("");
  scanner.skip_lines(layout.unit_lines);
}

bool is_header(const FirstLine& line, const CsvLayout& layout, ReadOptions::Header asked) {
  using enum ReadOptions::Header;
  return asked == yes || (asked == automatic && (layout.names_of_numbers || looks_like_header(line, layout.delimiter)));
}

bool looks_like_header(const FirstLine& line, char delimiter) {
  if (counts_up(line)) return true;
  bool numbers = false;
  for (Index j = 0; j < line.size(); ++j) {
    const std::string_view cell = trimmed(line.cell(j));
    const bool number = reads_as_number(cell, delimiter);
    if (!number && !is_missing(cell) && !is_boolean(cell)) return true;
    numbers = numbers || number;
  }
  return !numbers;
}

bool has_fractions(const FirstLine& line, char delimiter) {
  for (Index j = 0; j < line.size(); ++j) {
    const std::string_view cell = trimmed(line.cell(j));
    if (cell.find_first_of(".,") != std::string_view::npos && reads_as_number(cell, delimiter)) return true;
  }
  return false;
}

bool looks_like_names(const double* rows, Index width, Index count) {
  constexpr Index kFew = 3, kMany = 6;  // fewer numbers than kMany are often in order by chance
  if (looks_like_codes(rows, width, count)) return true;
  const int along = direction(rows, width);
  if (width < kFew || along == 0 || (width < kMany && !steps_by_one(rows, width))) return false;
  for (Index i = 1; i < count; ++i) {
    if (direction(rows + i * width, width) == along) return false;
  }
  return true;
}

CsvColumns::CsvColumns(const std::string& where, const FirstLine& line, bool header, const ReadOptions& options)
    : kinds(line.size(), ColumnKind::number) {
  if (options.id_column.empty() && options.labels.empty() && options.text_columns.empty()) return;
  const ColumnFinder finder(where, line, header, options);
  for (const std::string& name : options.text_columns) {
    for (const Index j : finder.all(name)) kinds[j] = ColumnKind::number_or_text;
  }
  if (!options.id_column.empty()) {
    id = finder.one(options.id_column);
    require(id >= 0, ErrorCode::usage, where, ": no column ", printable(options.id_column), " for the identifiers",
            header ? "" : " (the file has no header: name it by its position)");
    kinds[id] = ColumnKind::text;
  }
  if (options.transpose) return;  // a column of a file that is transposed is not one label a row
  for (const std::string& name : options.labels) {
    const Index j = finder.one(name);
    if (j < 0) continue;
    kinds[j] = ColumnKind::text;
    labels.emplace_back(j, name);
  }
}

}  // namespace tamis
