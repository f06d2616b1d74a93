// What each column of a CSV text holds, whether or not it can be read as numbers: nothing in a cell is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tamis/data/table.h"

namespace tamis {

enum class Content : std::uint8_t { number, text, date, yes_no, empty };
const char* name_of(Content content);  // "number", "text", "date", "yes/no", "empty"

struct SurveyedColumn {
  std::string name;  // exact bytes; its position where the file has no names
  Content content = Content::empty;
  Index missing = 0;       // blank cells, NA and the like
  std::string missing_as;  // as the first of them is spelled
  Index not_numbers = 0;   // other cells that are no numbers
  std::string example;     // the first of them
  Index example_line = 0;
  Index grouped = 0;          // of these, numbers with separators between thousands
  std::string thousands;      // their separator, as --thousands takes it
  bool constant = false;      // all cells but missing ones are the same
  bool counts_rows = false;   // 0, 1, 2, ... or 1, 2, 3, ...
  bool rises = false;         // rises or falls from row to row, as identifiers and times do
  bool falls = false;         // ...falls
  bool may_be_index = false;  // whole numbers from 0 on, in any order
  bool distinct = false;      // text of which no two cells are the same, as names of rows
  double sentinel = 0.0;      // a number that stands for missing values...
  Index sentinels = 0;        // ...so many times
  Index copy_of = -1;         // the first column with the same cells
};

struct Survey {
  std::vector<SurveyedColumn> columns;
  Index rows = 0;
  bool header = false;
  bool row_names = false;  // the first column, which the header does not name, as R writes them
  char delimiter = ',';
  Index ragged = 0;  // rows with more or fewer cells than the first line
  Index ragged_line = 0;
};

// Numbers, or TRUE and FALSE, which are read as 1 and 0.
bool holds_numbers(const SurveyedColumn& column);
// The columns that cannot be used as numbers: text, dates, and columns without any value.
std::vector<Index> columns_to_exclude(const Survey& survey);
// Whether the reader takes the first column as the names of the rows without being told: R's row names, and a column
// without a name that counts the rows or holds text.
bool names_rows_by_itself(const Survey& survey);
// Whether the first column has no name and holds whole numbers that do not count the rows, as the index of pandas that
// was shuffled; --id 0 makes it the names of the rows.
bool has_shuffled_index(const Survey& survey);
// The column that names the rows: an unnamed one of whole numbers, or else the first of text without repetition; -1:
// none.
Index column_of_names(const Survey& survey);

// Reads the whole text once. Nothing where it is no CSV file that can be read twice (a pipe, another format).
std::optional<Survey> survey_text(const std::string& path, const ReadOptions& options, Context& context);

}  // namespace tamis
