#include "tamis/data/source.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tamis/base/error.h"
#include "tamis/data/weights.h"

namespace tamis {

namespace {

const void* advance(const void* data, DType dtype, Index elements) {
  return static_cast<const char*>(data) + elements * static_cast<Index>(size_of(dtype));
}

// A whole table in memory, dense or sparse.
class MemoryStore final : public Store {
 public:
  MemoryStore(const Block& whole, Index cols, std::shared_ptr<const void> owner, Index block_rows)
      : Store(whole.rows, cols, block_rows), whole_(whole), owner_(std::move(owner)) {}

  bool sparse() const override { return whole_.sparse; }
  Index nonzeros() const override { return sparse() ? whole_.csr.nonzeros() : rows() * cols(); }
  DType dtype() const override { return sparse() ? whole_.csr.dtype : whole_.dense.dtype; }

  Block block(Index b) const override {
    const Index first = b * block_rows();
    return part_of(whole_, first, std::min(block_rows(), rows() - first));
  }

 private:
  const Block whole_;
  const std::shared_ptr<const void> owner_;
};

void check_row(const CsrView& view, Index row) {
  const Index begin = view.offsets[row], end = view.offsets[row + 1];
  require(begin <= end, ErrorCode::bad_data, "sparse rows: offsets fall at row ", row);
  bool wrong = begin < end && (view.columns[begin] < 0 || view.columns[end - 1] >= view.cols);
  for (Index k = begin + 1; k < end; ++k) wrong |= view.columns[k] <= view.columns[k - 1];
  if (!wrong) return;
  Index previous = -1;
  for (Index k = begin; k < end; ++k) {
    const Index column = view.columns[k];
    require(column > previous && column < view.cols, ErrorCode::bad_data, "sparse rows: row ", row, " has column ",
            column, " after ", previous, ", need increasing columns below ", view.cols);
    previous = column;
  }
}

}  // namespace

Block part_of(Block block, Index first, Index count) {
  const Index skipped = first - block.first;
  block.first = first;
  block.rows = block.dense.rows = block.csr.rows = count;
  if (block.sparse) {
    block.csr.offsets += skipped;
  } else {
    block.dense.data = advance(block.dense.data, block.dense.dtype, skipped * block.dense.row_stride);
  }
  return block;
}

Block Store::some_rows(Index first, Index count) const { return part_of(block(first / block_rows_), first, count); }

Block Store::piece(Index b, Index p) const {
  const Block whole = block(b);
  const Index first = whole.first + p * kPieceRows;
  return part_of(whole, first, std::min(kPieceRows, whole.first + whole.rows - first));
}

std::uint64_t bytes_of_table(Index rows, Index entries, bool sparse, DType dtype) {
  const auto cells = static_cast<std::uint64_t>(entries);
  if (!sparse) return cells * size_of(dtype);
  return cells * (size_of(dtype) + sizeof(std::int32_t)) + static_cast<std::uint64_t>(rows + 1) * sizeof(std::int64_t);
}

std::shared_ptr<const Store> make_dense_store(const DenseView& view, std::shared_ptr<const void> owner,
                                              Index block_rows) {
  require(view.rows >= 0 && view.cols >= 0 && block_rows >= 1, ErrorCode::usage, "dense rows: shape (", view.rows, ", ",
          view.cols, "), block of ", block_rows, " rows");
  return std::make_shared<MemoryStore>(Block{0, view.rows, false, view, {}, {}}, view.cols, std::move(owner),
                                       block_rows);
}

std::shared_ptr<const Store> make_sparse_store(const CsrView& view, std::shared_ptr<const void> owner,
                                               Index block_rows) {
  require(view.rows >= 0 && view.cols >= 0 && block_rows >= 1, ErrorCode::usage, "sparse rows: shape (", view.rows,
          ", ", view.cols, "), block of ", block_rows, " rows");
  require(view.dtype == DType::f32 || view.dtype == DType::f64, ErrorCode::usage, "sparse rows: values are ",
          name_of(view.dtype), ", need float32 or float64");
  for (Index i = 0; i < view.rows; ++i) check_row(view, i);
  return std::make_shared<MemoryStore>(Block{0, view.rows, true, {}, view, {}}, view.cols, std::move(owner),
                                       block_rows);
}

DenseView view_of(const Matrix& matrix) {
  return {matrix.data(), DType::f64, matrix.rows(), matrix.cols(), matrix.cols(), 1};
}

Source source_over(Matrix matrix) {
  const auto owner = std::make_shared<const Matrix>(std::move(matrix));
  return Source(make_dense_store(view_of(*owner), owner));
}

Source::Source(std::shared_ptr<const Store> store) : store_(std::move(store)), columns_(store_->cols()) {
  std::iota(columns_.begin(), columns_.end(), Index{0});
}

TableSize Source::size() const {
  const Index entries = sparse() ? store_->nonzeros() : rows() * cols();
  return {rows(),
          cols(),
          entries,
          sparse(),
          store_->dtype(),
          store_->in_memory(),
          store_->table_bytes(),
          store_->resident_bytes()};
}

Source Source::with_columns(const std::vector<Index>& keep) const {
  Source out = *this;
  out.memo_ = std::make_shared<MomentsMemo>();
  out.columns_.clear();
  out.column_scale_.clear();
  for (const Index j : keep) {
    require(j >= 0 && j < cols() && (out.columns_.empty() || columns_[j] > out.columns_.back()), ErrorCode::usage,
            "columns: position ", j, ", need increasing positions below ", cols());
    out.columns_.push_back(columns_[j]);
    if (!column_scale_.empty()) out.column_scale_.push_back(column_scale_[j]);
  }
  return out;
}

namespace {
std::vector<double> times(const std::vector<double>& old, const std::vector<double>& scale) {
  std::vector<double> out = scale;
  for (std::size_t i = 0; i < old.size(); ++i) out[i] *= old[i];
  return out;
}
}  // namespace

Source Source::with_column_scale(const std::vector<double>& scale) const {
  require(static_cast<Index>(scale.size()) == cols(), ErrorCode::usage, "column scale: ", scale.size(),
          " numbers, need ", cols());
  Source out = *this;
  out.memo_ = std::make_shared<MomentsMemo>();
  out.column_scale_ = times(column_scale_, scale);
  return out;
}

Source Source::without_column_scale() const {
  Source out = *this;
  out.memo_ = std::make_shared<MomentsMemo>();
  out.column_scale_.clear();
  return out;
}

Source Source::with_weights(const std::vector<double>& weights) const {
  require_weights(weights, rows());
  Source out = with_some_weights(weights);
  if (std::ranges::all_of(weights, [](double weight) { return weight == 1; })) out.weights_ = nullptr;
  return out;
}

Source Source::with_some_weights(const std::vector<double>& weights) const {
  const bool sound = std::ranges::all_of(weights, [](double w) { return w >= 0 && std::isfinite(w); });
  require(sound && std::ssize(weights) == rows(), ErrorCode::internal, "weights of some rows");
  Source out = *this;
  out.memo_ = std::make_shared<MomentsMemo>();
  out.weights_ = std::make_shared<const std::vector<double>>(weights);
  return out;
}

Source Source::with_row_scale(const std::vector<double>& scale) const {
  require(static_cast<Index>(scale.size()) == rows(), ErrorCode::usage, "row scale: ", scale.size(), " numbers, need ",
          rows());
  Source out = *this;
  out.memo_ = std::make_shared<MomentsMemo>();
  out.row_scale_ = times(row_scale_, scale);
  return out;
}

}  // namespace tamis
