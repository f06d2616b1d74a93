// What each column of a CSV file is for: found from its first line and the options.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tamis/base/memory.h"
#include "tamis/data/formats/csv_scanner.h"
#include "tamis/data/labels.h"
#include "tamis/data/table.h"

namespace tamis {

// The first line as text, in one piece: a line may have millions of cells.
class FirstLine {
 public:
  explicit FirstLine(Budget& budget) : budget_(budget) {}

  void add(std::string_view cell) {
    grow(text_, cell.size(), budget_);
    grow(ends_, 1, budget_);
    text_.append(cell);
    ends_.push_back(text_.size());
  }
  Index size() const { return static_cast<Index>(ends_.size()); }
  std::string_view cell(Index j) const {
    const std::size_t begin = j == 0 ? 0 : ends_[j - 1];
    return std::string_view(text_).substr(begin, ends_[j] - begin);
  }

 private:
  Budget& budget_;
  std::string text_;
  std::vector<std::size_t> ends_;
};

// Reads the first line: a cell more where the layout says that the header lacks one.
void read_first_line(CsvScanner& scanner, const CsvLayout& layout, FirstLine& line);
// Whether it names the columns, by the options or by itself.
bool is_header(const FirstLine& line, const CsvLayout& layout, ReadOptions::Header asked);

// Whether the first line looks like the names of columns. A line of numbers only does not; neither does one of numbers
// and missing values (NA, nan, blank) or TRUE and FALSE, whose row would be lost in silence. A blank first cell before
// 0, 1, 2, ... does: so pandas writes an index and columns without names.
bool looks_like_header(const FirstLine& line, char delimiter);

// Whether a line taken for a header has numbers with a decimal sign: perhaps it is a row of a table with text.
bool has_fractions(const FirstLine& line, char delimiter);

// Whether the first of some rows of numbers looks like the names of columns: years, wavelengths, positions. They rise
// or fall along the line, as no other row does; where there are few, they also do so by one step, from 0 or 1 or as
// years. Or they are different whole numbers (identifiers of genes, codes) above numbers of which none is whole, or
// which are far from them, in two columns at least and in no order.
bool looks_like_names(const double* rows, Index width, Index count);

enum class ColumnKind : std::uint8_t {
  number,          // must hold numbers
  number_or_text,  // left out where a cell is not a number
  text             // left out of the numbers: identifiers and labels
};

struct CsvColumns {
  std::vector<ColumnKind> kinds;
  Index id = -1;
  std::vector<std::pair<Index, std::string>> labels;  // column, the words it was asked for with

  // Names are looked up in `line` where there is a header; a name of digits that no column has, and any name
  // without a header, is a position counted from 0. Throws Error(usage) for an id that is nowhere, and for a name
  // that several columns have. Label words that name no column are left to others.
  CsvColumns(const std::string& where, const FirstLine& line, bool header, const ReadOptions& options);
};

}  // namespace tamis
