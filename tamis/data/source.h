// Where the rows come from. A Store yields blocks of rows: dense in memory, sparse in memory, or of files
// (disk_store.h); that of a cluster yields none (remote.h). A Source is what selectors are given: a store seen through
// a choice of columns and a scaling, cheap to copy. Selectors never touch blocks; they call the passes in passes.h.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "tamis/base/types.h"
#include "tamis/linalg/matrix.h"

namespace tamis {

// A strided dense matrix that somebody else owns; strides count elements.
struct DenseView {
  const void* data = nullptr;
  DType dtype = DType::f64;
  Index rows = 0;
  Index cols = 0;
  Index row_stride = 0;
  Index col_stride = 1;
};

// Compressed sparse rows that somebody else owns. Column indices within a row must increase.
// `values` is f32 or f64. offsets[0] need not be 0 (a block of rows shares the arrays of the whole).
struct CsrView {
  Index rows = 0;
  Index cols = 0;
  const std::int64_t* offsets = nullptr;  // rows + 1
  const std::int32_t* columns = nullptr;
  const void* values = nullptr;
  DType dtype = DType::f64;

  Index nonzeros() const { return rows == 0 ? 0 : offsets[rows] - offsets[0]; }
  double value(Index entry) const;
};

// visit(values), a pointer to the numbers in their type.
template <class Visit>
decltype(auto) with_values(const CsrView& csr, Visit&& visit) {
  if (csr.dtype == DType::f32) return visit(static_cast<const float*>(csr.values));
  return visit(static_cast<const double*>(csr.values));
}

inline double CsrView::value(Index entry) const {
  return with_values(*this, [&](const auto* numbers) { return static_cast<double>(numbers[entry]); });
}

// Rows [first, first + rows) of a store; `lease` keeps the memory alive while the block is used.
struct Block {
  Index first = 0;
  Index rows = 0;
  bool sparse = false;
  DenseView dense;
  CsrView csr;
  std::shared_ptr<const void> lease;
};

// Rows [first, first + count) of a block, which holds them.
Block part_of(Block block, Index first, Index count);

// The number of rows in a block: a constant of the program, so that sums have one fixed tree.
inline constexpr Index kBlockRows = 2048;
// Rows of a block that passes take together where they need not see all of it.
inline constexpr Index kPieceRows = 256;

// What is known of a table without a look at its numbers: all that a forecast asks for.
struct TableSize {
  Index rows = 0, cols = 0;
  Index entries = 0;  // stored; rows * cols where dense
  bool sparse = false;
  DType dtype = DType::f64;
  bool in_memory = true;             // so that reading a block again costs nothing
  std::uint64_t table_bytes = 0;     // of all numbers of the store, as they are stored
  std::uint64_t resident_bytes = 0;  // that they take of the memory
};
// Of `entries` stored numbers in so many rows.
std::uint64_t bytes_of_table(Index rows, Index entries, bool sparse, DType dtype);

class Store {
 public:
  Store(Index rows, Index cols, Index block_rows) : rows_(rows), cols_(cols), block_rows_(block_rows) {}
  virtual ~Store() = default;

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index block_rows() const { return block_rows_; }
  Index block_count() const { return (rows_ + block_rows_ - 1) / block_rows_; }

  virtual bool sparse() const = 0;
  virtual Index nonzeros() const = 0;  // stored entries; rows * cols where dense
  virtual DType dtype() const = 0;
  virtual Block block(Index b) const = 0;  // thread-safe
  // Rows [first, first + count) of one block, read alone where that is cheaper than the whole block.
  virtual Block some_rows(Index first, Index count) const;
  // Piece p of kPieceRows rows, or what is left of them in block b; every piece of it is about to be used, once.
  virtual Block piece(Index b, Index p) const;
  virtual bool in_memory() const { return true; }  // the others as TableSize has them
  std::uint64_t table_bytes() const { return bytes_of_table(rows_, nonzeros(), sparse(), dtype()); }
  virtual std::uint64_t resident_bytes() const { return table_bytes(); }

 private:
  Index rows_, cols_, block_rows_;
};

// Dense rows in memory. `owner` keeps the array alive (null: the caller does).
std::shared_ptr<const Store> make_dense_store(const DenseView& view, std::shared_ptr<const void> owner = nullptr,
                                              Index block_rows = kBlockRows);
// Sparse rows in memory. Checks the structure: Error(bad_data) on indices that are out of range or do not increase.
std::shared_ptr<const Store> make_sparse_store(const CsrView& view, std::shared_ptr<const void> owner = nullptr,
                                               Index block_rows = kBlockRows);

struct ColumnMoments;

// A place for the column statistics of a source, filled by the first pass that computes them (passes.h).
struct MomentsMemo {
  std::mutex mutex;
  std::shared_ptr<const ColumnMoments> moments;
};

class Source {
 public:
  Source() = default;
  explicit Source(std::shared_ptr<const Store> store);

  Index rows() const { return store_ ? store_->rows() : 0; }
  Index cols() const { return static_cast<Index>(columns_.size()); }
  bool sparse() const { return store_->sparse(); }
  const Store& store() const { return *store_; }

  // The store's column behind column j; increasing.
  const std::vector<Index>& columns() const { return columns_; }
  bool all_columns() const { return cols() == store_->cols(); }
  // Multipliers of columns (one per column of this source) and of rows; empty where all are 1.
  const std::vector<double>& column_scale() const { return column_scale_; }
  const std::vector<double>& row_scale() const { return row_scale_; }

  // What rows count in sums over rows (weights.h): moments, Z'Z and what follows from them. Empty where each counts
  // once.
  const std::vector<double>& weights() const { return weights_ == nullptr ? kNoWeights : *weights_; }
  bool weighted() const { return weights_ != nullptr; }

  // Keeps the given columns of this source (increasing positions).
  Source with_columns(const std::vector<Index>& keep) const;
  // Multiplies columns, or rows, by the given numbers.
  Source with_column_scale(const std::vector<double>& scale) const;
  Source with_row_scale(const std::vector<double>& scale) const;
  Source without_column_scale() const;
  // In the place of those it has. Those that are all 1 are none. Throws as require_weights() does.
  Source with_weights(const std::vector<double>& weights) const;
  // Weights of rows that are some of more: all of them may be 0, or 1. Error(internal) unless they can be weights.
  Source with_some_weights(const std::vector<double>& weights) const;

  TableSize size() const;
  MomentsMemo& memo() const { return *memo_; }  // shared by the copies of a source

 private:
  std::shared_ptr<const Store> store_;
  std::vector<Index> columns_;
  std::vector<double> column_scale_;
  std::vector<double> row_scale_;
  static inline const std::vector<double> kNoWeights;
  std::shared_ptr<const std::vector<double>> weights_;  // null: none
  std::shared_ptr<MomentsMemo> memo_ = std::make_shared<MomentsMemo>();
};

// A matrix as a view of it, and as a source that owns it.
DenseView view_of(const Matrix& matrix);
Source source_over(Matrix matrix);

}  // namespace tamis
