#include "tamis/data/formats/npy_rows.h"

#include <cstring>

#include "tamis/base/error.h"
#include "tamis/data/formats/npy_numbers.h"

namespace tamis {

namespace {

struct Layout {
  NpyHeader header;
  std::uint64_t offset = 0;  // of the first number
  Index rows = 0, cols = 0;
  bool by_columns = false;  // the numbers of a column are neighbours
};

Layout layout_of(const std::string& path, bool transpose, Context& context) {
  const auto bytes = open_file(path, &context);
  const std::uint64_t whole = bytes->remaining().value_or(0);
  Layout layout;
  layout.header = read_npy_header(*bytes);
  const NpyHeader& header = layout.header;
  require_matrix(bytes->where(), header);
  require(header.kind != 'U' && header.kind != 'S', ErrorCode::bad_data, bytes->where(),
          ": an array of text, need numbers");
  layout.offset = whole - payload_size(*bytes, header);
  layout.rows = header.shape[transpose ? 1 : 0];
  layout.cols = header.shape[transpose ? 0 : 1];
  layout.by_columns = header.fortran != transpose;
  return layout;
}

class NpyRows final : public RowReader {
 public:
  NpyRows(const std::string& path, const Layout& layout)
      : RowReader({layout.rows, layout.cols, dtype_of(layout.header), {}}),
        layout_(layout),
        file_(open_random_file(path)) {}

  void read(Index first, Index count, std::byte* out) const override {
    const std::size_t item = layout_.header.item;
    const std::size_t size = (count * cols()) * item;
    std::byte* const raw = out + (is_half(layout_.header) ? size : 0);
    if (layout_.by_columns) {
      read_columns(first, count, raw);
    } else {
      file_->read_at(layout_.offset + static_cast<std::uint64_t>(first * cols()) * item, raw, size);
    }
    settle_numbers(layout_.header, raw, size);
    if (is_half(layout_.header)) widen_halves(out, size);
  }

  void expect(Index first, Index count) const override {
    if (layout_.by_columns) return;  // pieces too small to announce
    const std::size_t row = cols() * layout_.header.item;
    file_->expect(layout_.offset + static_cast<std::uint64_t>(first) * row, count * row);
  }

 private:
  // Piece by piece of each column, turned into rows.
  void read_columns(Index first, Index count, std::byte* out) const {
    const std::size_t item = layout_.header.item, step = cols() * item;
    std::vector<std::byte> column(count * item);
    for (Index j = 0; j < cols(); ++j) {
      file_->read_at(layout_.offset + static_cast<std::uint64_t>(j * rows() + first) * item, column.data(),
                     column.size());
      std::byte* to = out + j * item;
      for (std::size_t at = 0; at < column.size(); at += item, to += step) std::memcpy(to, column.data() + at, item);
    }
  }

  const Layout layout_;
  const std::unique_ptr<RandomBytes> file_;
};

}  // namespace

std::shared_ptr<const RowReader> open_npy_rows(const std::string& path, bool transpose, Context& context) {
  return std::make_shared<NpyRows>(path, layout_of(path, transpose, context));
}

}  // namespace tamis
