// Rows kept in temporary files: made once, read many times.
#pragma once

#include <memory>
#include <vector>

#include "tamis/data/stores/disk_store.h"

namespace tamis {

// A file in TMPDIR (/tmp unless set) without a name, so that it is gone when the program ends, however it ends.
// Error(io) where the disk is full.
class TemporaryFile {
 public:
  TemporaryFile();
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  void add(const void* bytes, std::size_t count);
  void read(std::uint64_t offset, void* out, std::size_t count) const;
  void expect(std::uint64_t offset, std::size_t count) const;  // it will be read soon

 private:
  int descriptor_ = -1;
};

// Dense rows of one type. They come whole, or in panels of columns: all rows of the first columns, then all rows of the
// next ones.
class TemporaryRows {
 public:
  TemporaryRows(Index cols, DType dtype) : cols_(cols), dtype_(dtype) {}
  // The rows after those of this panel that were added before.
  void add(const DenseView& rows, Index first_column = 0);
  Index rows() const { return panels_.empty() ? 0 : panels_[0].rows; }
  Index cols() const { return cols_; }
  std::shared_ptr<const RowReader> finish();

  struct Panel {
    Index first_column, cols, rows;
  };

 private:
  Index cols_;
  DType dtype_;
  std::vector<Panel> panels_;
  std::shared_ptr<TemporaryFile> file_ = std::make_shared<TemporaryFile>();
};

// Sparse rows, their values f32 or f64.
class TemporarySparseRows {
 public:
  TemporarySparseRows(Index cols, DType dtype) : cols_(cols), dtype_(dtype) {}
  void add(const CsrView& rows);
  Index rows() const { return static_cast<Index>(offsets_.size()) - 1; }
  std::shared_ptr<const RowReader> finish();

 private:
  Index cols_;
  DType dtype_;
  std::vector<std::int64_t> offsets_ = {0};
  std::shared_ptr<TemporaryFile> columns_ = std::make_shared<TemporaryFile>(),
                                 values_ = std::make_shared<TemporaryFile>();
};

}  // namespace tamis
