#include "tamis/data/stores/temporary_rows.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "tamis/base/descriptor.h"
#include "tamis/base/error.h"

namespace tamis {

namespace {

constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // Linux reads and writes no more at a time
constexpr Index kTransposedNumbers = 1 << 18;              // laid out in rows together before they are written

std::string folder() {
  const char* set = std::getenv("TMPDIR");
  return set != nullptr && *set != '\0' ? set : "/tmp";
}

[[noreturn]] void failed(const char* what) {
  fail(ErrorCode::io, folder(), ": ", what, " a temporary file: ", std::generic_category().message(errno),
       " (TMPDIR names another folder)");
}

std::size_t bytes_in(Index count, std::size_t item) { return count * item; }

// Numbers of `item` bytes in rows that lie `to_stride` of them apart.
void copy_numbers(const std::byte* from, Index row_stride, Index col_stride, Index rows, Index cols, std::byte* to,
                  Index to_stride, std::size_t item) {
  for (Index i = 0; i < rows; ++i) {
    const std::byte* row = from + bytes_in(i * row_stride, item);
    std::byte* out = to + bytes_in(i * to_stride, item);
    if (col_stride == 1) {
      std::memcpy(out, row, bytes_in(cols, item));
      continue;
    }
    for (Index j = 0; j < cols; ++j) std::memcpy(out + bytes_in(j, item), row + bytes_in(j * col_stride, item), item);
  }
}

class DenseFileRows final : public RowReader {
 public:
  DenseFileRows(Index rows, Index cols, DType dtype, std::vector<TemporaryRows::Panel> panels,
                std::shared_ptr<const TemporaryFile> file)
      : RowReader({rows, cols, dtype, {}}), panels_(std::move(panels)), file_(std::move(file)) {}

  void read(Index first, Index count, std::byte* out) const override {
    const std::size_t item = size_of(dtype());
    std::vector<std::byte> part;
    for (const TemporaryRows::Panel& panel : panels_) {
      if (panels_.size() == 1) return file_->read(offset_of(panel, first), out, bytes_in(count * panel.cols, item));
      part.resize(bytes_in(count * panel.cols, item));
      file_->read(offset_of(panel, first), part.data(), part.size());
      copy_numbers(part.data(), panel.cols, 1, count, panel.cols, out + bytes_in(panel.first_column, item), cols(),
                   item);
    }
  }

  void expect(Index first, Index count) const override {
    for (const TemporaryRows::Panel& panel : panels_) {
      file_->expect(offset_of(panel, first), bytes_in(count * panel.cols, size_of(dtype())));
    }
  }

 private:
  std::uint64_t offset_of(const TemporaryRows::Panel& panel, Index row) const {
    return bytes_in(rows() * panel.first_column + row * panel.cols, size_of(dtype()));
  }

  const std::vector<TemporaryRows::Panel> panels_;
  const std::shared_ptr<const TemporaryFile> file_;
};

class SparseFileRows final : public RowReader {
 public:
  SparseFileRows(Index cols, DType dtype, std::vector<std::int64_t> offsets,
                 std::shared_ptr<const TemporaryFile> columns, std::shared_ptr<const TemporaryFile> values)
      : RowReader({static_cast<Index>(offsets.size()) - 1, cols, dtype, std::move(offsets)}),
        columns_(std::move(columns)),
        values_(std::move(values)) {}

  void read(Index first, Index count, std::byte* out) const override {
    auto* offsets = reinterpret_cast<std::int64_t*>(out);
    for (Index i = 0; i <= count; ++i) offsets[i] = offset(first + i) - offset(first);
    const Index stored = shape().entries_of(first, count);
    std::byte* values = out + bytes_in(count + 1, sizeof(std::int64_t));
    values_->read(bytes_in(offset(first), size_of(dtype())), values, bytes_in(stored, size_of(dtype())));
    columns_->read(bytes_in(offset(first), sizeof(std::int32_t)), values + bytes_in(stored, size_of(dtype())),
                   bytes_in(stored, sizeof(std::int32_t)));
  }

  void expect(Index first, Index count) const override {
    const auto begin = static_cast<std::uint64_t>(offset(first));
    const Index stored = shape().entries_of(first, count);
    values_->expect(begin * size_of(dtype()), bytes_in(stored, size_of(dtype())));
    columns_->expect(begin * sizeof(std::int32_t), bytes_in(stored, sizeof(std::int32_t)));
  }

 private:
  std::int64_t offset(Index row) const { return shape().offsets[row]; }

  const std::shared_ptr<const TemporaryFile> columns_, values_;
};

}  // namespace

TemporaryFile::TemporaryFile() {
  std::string name = folder() + "/tamis-XXXXXX";
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) failed("making");
  ::unlink(name.c_str());
}

TemporaryFile::~TemporaryFile() { ::close(descriptor_); }

void TemporaryFile::add(const void* bytes, std::size_t count) {
  const auto* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t put = ::write(descriptor_, at, std::min(count, kMostAtOnce));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) failed("writing");
    at += put;
    count -= put;
  }
}

void TemporaryFile::read(std::uint64_t offset, void* out, std::size_t count) const {
  auto* to = static_cast<char*>(out);
  while (count > 0) {
    const ssize_t got = ::pread(descriptor_, to, std::min(count, kMostAtOnce), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) failed("reading");
    to += got;
    offset += static_cast<std::uint64_t>(got);
    count -= got;
  }
}

void TemporaryFile::expect(std::uint64_t offset, std::size_t count) const {
  announce_reading(descriptor_, offset, count);
}

void TemporaryRows::add(const DenseView& rows, Index first_column) {
  require(rows.dtype == dtype_, ErrorCode::internal, "rows of ", name_of(rows.dtype), " after ", name_of(dtype_));
  if (panels_.empty() || panels_.back().first_column != first_column) panels_.push_back({first_column, rows.cols, 0});
  Panel& panel = panels_.back();
  require(rows.cols == panel.cols, ErrorCode::internal, "rows of ", rows.cols, " columns after ", panel.cols);
  panel.rows += rows.rows;
  const std::size_t item = size_of(dtype_);
  const auto* data = static_cast<const std::byte*>(rows.data);
  if (rows.col_stride == 1 && rows.row_stride == rows.cols)
    return file_->add(data, bytes_in(rows.rows * rows.cols, item));
  const Index together = std::max<Index>(1, kTransposedNumbers / std::max<Index>(1, rows.cols));
  std::vector<std::byte> transposed;
  for (Index first = 0; first < rows.rows; first += together) {
    const Index count = std::min(together, rows.rows - first);
    transposed.resize(bytes_in(count * rows.cols, item));
    copy_numbers(data + bytes_in(first * rows.row_stride, item), rows.row_stride, rows.col_stride, count, rows.cols,
                 transposed.data(), rows.cols, item);
    file_->add(transposed.data(), transposed.size());
  }
}

std::shared_ptr<const RowReader> TemporaryRows::finish() {
  Index columns = 0;
  for (const Panel& panel : panels_) {
    require(panel.first_column == columns && panel.rows == rows(), ErrorCode::internal, "panel of ", panel.rows,
            " rows at column ", panel.first_column, ", need ", rows(), " at ", columns);
    columns += panel.cols;
  }
  require(columns == cols_, ErrorCode::internal, "panels of ", columns, " columns, need ", cols_);
  return std::make_shared<DenseFileRows>(rows(), cols_, dtype_, std::move(panels_), std::move(file_));
}

void TemporarySparseRows::add(const CsrView& rows) {
  require(rows.dtype == dtype_ && rows.cols == cols_, ErrorCode::internal, "sparse rows of ", name_of(rows.dtype),
          " and ", rows.cols, " columns, need ", name_of(dtype_), " and ", cols_);
  if (rows.rows == 0) return;
  const Index begin = rows.offsets[0];
  const std::int64_t before = offsets_.back() - begin;
  for (Index i = 1; i <= rows.rows; ++i) offsets_.push_back(before + rows.offsets[i]);
  const std::size_t item = size_of(dtype_);
  columns_->add(rows.columns + begin, bytes_in(rows.nonzeros(), sizeof(std::int32_t)));
  values_->add(static_cast<const std::byte*>(rows.values) + bytes_in(begin, item), bytes_in(rows.nonzeros(), item));
}

std::shared_ptr<const RowReader> TemporarySparseRows::finish() {
  return std::make_shared<SparseFileRows>(cols_, dtype_, std::move(offsets_), std::move(columns_), std::move(values_));
}

}  // namespace tamis
