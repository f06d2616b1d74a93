// All that is wrong with the cells of a text table, so that one run tells everything.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/base/message.h"
#include "tamis/data/csv/cells.h"

namespace tamis {

class Complaints {
 public:
  // A cell of column j that is not a number of this table.
  void add(Index j, Index line, CellKind kind, std::string_view cell);
  void add_missing(Index j, Index line, std::string_view cell);
  void end_row();
  // No delimiter cuts the lines: the one that the name of the file says, or any.
  void cut_nowhere(char delimiter) { cut_by_ = delimiter == '\t' ? "tab" : "tab, semicolon, comma or bar"; }

  // Whether reading on would add little: it goes on for some rows after the first complaint, and to the end of the
  // file where values are only missing.
  bool enough() const;
  bool none() const { return columns_.empty(); }

  using Name = std::function<std::string(Index)>;
  // Error(bad_data) where there is a complaint, or a missing value that is refused. `name` gives the name of a column,
  // or its position where it has none.
  void raise(const std::string& where, bool missing_refused, Index rows, Index columns, const Name& name) const;

 private:
  struct Bad {
    CellKind kind;
    Index line;
    std::string cell;
  };
  Message of_one(const Name& name) const;
  Message of_all(Index columns, const Name& name) const;
  std::string of_missing(Index rows, Index columns, const Name& name) const;
  bool may_name_rows(const std::string& name) const;

  std::map<Index, Bad> columns_;  // the first bad cell of each
  Index rows_before_ = 0;         // the first complaint
  Index rows_since_ = 0;
  std::vector<bool> missing_in_;  // by column
  Index missing_ = 0, missing_rows_ = 0, missing_column_ = 0, missing_line_ = 0;
  std::string missing_cell_;
  bool missing_here_ = false;     // in this row
  const char* cut_by_ = nullptr;  // what would have cut the lines into cells
};

}  // namespace tamis
