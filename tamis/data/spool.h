// Numbers kept in a temporary file, for rows that are made once and read many times.
#pragma once

#include <memory>

#include "tamis/data/disk_store.h"
#include "tamis/linalg/matrix.h"

namespace tamis {

// The file lies in TMPDIR (/tmp unless set), has no name, and so is gone when the program ends, however it ends.
class Spool {
 public:
  Spool();
  ~Spool();
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  // Appends rows; all have the same number of columns. Error(io) where the disk is full.
  void add(const Matrix& rows);
  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
  Index rows_ = 0, cols_ = 0;
};

std::shared_ptr<const RowReader> spooled_rows(std::shared_ptr<const Spool> spool);

}  // namespace tamis
