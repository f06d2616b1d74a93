// Compressed sparse rows while they are being read.
#pragma once

#include <cstdint>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/base/memory.h"
#include "tamis/data/source.h"

namespace tamis {

template <class T>
struct Csr {
  Index rows = 0;
  Index cols = 0;
  std::vector<std::int64_t> offsets;  // rows + 1
  std::vector<std::int32_t> columns;
  std::vector<T> values;

  // Columns of each row increasing, duplicates summed, zeros dropped. In place.
  void make_canonical();
  // The rows of the transposed matrix; the entries of a row come out in increasing order of columns.
  Csr transposed() const;
};

// Whether rows, with values of type T and offsets that rise, are as make_canonical() leaves them, their columns in
// range.
template <class T>
bool is_canonical(const CsrView& view);

// Moves the rows into a source; the structure is checked there once more.
template <class T>
Source to_source(Csr<T>&& csr);

// Takes entries in any order. As long as they come by rows, columns increasing, they are stored as they will stay;
// from the first that does not, the row of each entry is kept too, and finish() sorts.
class CsrBuilder {
 public:
  explicit CsrBuilder(Budget& budget) : budget_(budget) {}

  void reserve(std::size_t entries);
  void add(Index row, Index col, double value) {
    if (value == 0.0) return;
    if (ordered_ && row > last_row_) begin_row(row);
    if (ordered_ && (row < last_row_ || col <= last_col_)) keep_rows();
    if (values_.size() == asked_entries_) ask();
    last_col_ = col;
    if (!ordered_) entry_rows_.push_back(static_cast<std::int32_t>(row));
    columns_.push_back(static_cast<std::int32_t>(col));
    values_.push_back(value);
  }
  std::size_t entries() const { return values_.size(); }
  Csr<double> finish(Index rows, Index cols);

 private:
  void begin_row(Index row);
  void keep_rows();
  void ask();
  std::uint64_t bytes(Index rows) const;
  void sort_by_row(Csr<double>& csr);

  Budget& budget_;
  std::size_t asked_entries_ = 0;  // up to which the budget was asked
  bool ordered_ = true;
  Index last_row_ = -1, last_col_ = -1;
  std::vector<std::int64_t> offsets_;     // of rows 0 .. last_row_, while ordered
  std::vector<std::int32_t> entry_rows_;  // afterwards
  std::vector<std::int32_t> columns_;
  std::vector<double> values_;
};

// Refuses rows or columns of which nearly all must be empty, since each takes memory throughout a run, and more of them
// than an index can name: Error(bad_data), or Error(resources) beyond the memory limit.
void require_sparse_shape(const std::string& where, Index rows, Index cols, std::uint64_t entries,
                          const Context& context);

}  // namespace tamis
