#include "tamis/data/sample.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

#include "tamis/base/error.h"
#include "tamis/base/random.h"
#include "tamis/data/passes.h"
#include "tamis/data/remote_pass.h"
#include "tamis/data/sparse_rows.h"
#include "tamis/data/tile.h"

namespace tamis {

namespace {

constexpr std::uint64_t kDrawStream = 0x64726177;  // its own stream of the seed

// The rows that were asked for, as they are met: one list of stored values (and of columns, where sparse) a row.
class RowTaker {
 public:
  RowTaker(const Source& source, const std::vector<Index>& rows, DType dtype)
      : source_(source),
        rows_(rows),
        dtype_(dtype),
        position_(column_positions_of(source)),
        values_(rows.size()),
        columns_(rows.size()) {}

  // From any thread; each block once.
  void take(const Block& block) {
    const auto begin = std::lower_bound(rows_.begin(), rows_.end(), block.first);
    const auto end = std::lower_bound(begin, rows_.end(), block.first + block.rows);
    for (auto row = begin; row != end; ++row) {
      const auto at = static_cast<std::size_t>(row - rows_.begin());
      block.sparse ? take_sparse(block, *row - block.first, at) : take_dense(block, *row - block.first, at);
    }
  }

  std::vector<Bytes>& values() { return values_; }
  std::vector<std::vector<std::int32_t>>& columns() { return columns_; }

  Source finish() const {
    Source out(source_.sparse() ? sparse_store() : dense_store());
    if (!source_.column_scale().empty()) out = out.with_column_scale(source_.column_scale());
    if (source_.row_scale().empty()) return out;
    std::vector<double> scale;
    for (const Index row : rows_) scale.push_back(source_.row_scale()[static_cast<std::size_t>(row)]);
    return out.with_row_scale(scale);
  }

 private:
  static std::vector<std::int32_t> column_positions_of(const Source& source) {
    return source.sparse() ? column_positions(source) : std::vector<std::int32_t>();
  }

  void take_dense(const Block& block, Index row, std::size_t at) {
    const DenseView& view = block.dense;
    const std::size_t size = size_of(view.dtype);
    const auto* from = static_cast<const std::uint8_t*>(view.data) + row * view.row_stride * static_cast<Index>(size);
    Bytes& to = values_[at];
    to.resize(source_.columns().size() * size);
    for (std::size_t j = 0; j < source_.columns().size(); ++j) {
      std::memcpy(&to[j * size], from + source_.columns()[j] * view.col_stride * static_cast<Index>(size), size);
    }
  }

  void take_sparse(const Block& block, Index row, std::size_t at) {
    const CsrView& csr = block.csr;
    const std::size_t size = size_of(csr.dtype);
    const auto* from = static_cast<const std::uint8_t*>(csr.values);
    for (Index k = csr.offsets[row]; k < csr.offsets[row + 1]; ++k) {
      const std::int32_t j = position_.empty() ? csr.columns[k] : position_[static_cast<std::size_t>(csr.columns[k])];
      if (j < 0) continue;
      columns_[at].push_back(j);
      const auto* value = from + static_cast<std::size_t>(k) * size;
      values_[at].insert(values_[at].end(), value, value + size);
    }
  }

  std::shared_ptr<Bytes> joined_values() const {
    auto out = std::make_shared<Bytes>();
    std::size_t size = 0;
    for (const Bytes& row : values_) size += row.size();
    out->reserve(size);
    for (const Bytes& row : values_) out->insert(out->end(), row.begin(), row.end());
    return out;
  }

  std::shared_ptr<const Store> dense_store() const {
    const auto data = joined_values();
    const auto n = static_cast<Index>(rows_.size()), d = source_.cols();
    require(data->size() == static_cast<std::size_t>(n * d) * size_of(dtype_), ErrorCode::internal,
            "sample: ", data->size(), " bytes for ", n, " rows of ", d, " columns");
    return make_dense_store({data->data(), dtype_, n, d, d, 1}, data);
  }

  struct Csr {
    std::vector<std::int64_t> offsets = {0};
    std::vector<std::int32_t> columns;
    std::shared_ptr<Bytes> values;
  };

  std::shared_ptr<const Store> sparse_store() const {
    const auto csr = std::make_shared<Csr>();
    csr->values = joined_values();
    for (const auto& row : columns_) {
      csr->columns.insert(csr->columns.end(), row.begin(), row.end());
      csr->offsets.push_back(static_cast<std::int64_t>(csr->columns.size()));
    }
    require(csr->values->size() == csr->columns.size() * size_of(dtype_), ErrorCode::internal,
            "sample: ", csr->values->size(), " bytes for ", csr->columns.size(), " entries");
    const CsrView view{static_cast<Index>(rows_.size()),
                       source_.cols(),
                       csr->offsets.data(),
                       csr->columns.data(),
                       csr->values->data(),
                       dtype_};
    return make_sparse_store(view, csr);
  }

  const Source& source_;
  const std::vector<Index>& rows_;
  const DType dtype_;  // of the values
  const std::vector<std::int32_t> position_;
  std::vector<Bytes> values_;
  std::vector<std::vector<std::int32_t>> columns_;
};

// Chunks may be of several types.
Bytes as_doubles(const Bytes& values, DType dtype) {
  const auto count = static_cast<Index>(values.size() / size_of(dtype));
  const DenseView view{values.data(), dtype, 1, count, count, 1};
  Bytes out(static_cast<std::size_t>(count) * sizeof(double));
  for (Index j = 0; j < count; ++j) {
    const double value = element(view, 0, j);
    std::memcpy(&out[static_cast<std::size_t>(j) * sizeof value], &value, sizeof value);
  }
  return out;
}

Source take_remote_rows(const Source& source, const std::vector<Index>& rows, Context& context) {
  context.count_pass();
  RowTaker taker(source, rows, DType::f64);
  std::size_t at = 0;
  // The columns are chosen where the rows are; the scales are put on here.
  for (RemotePart& part : RemoteRequest("take_rows", source).with(rows).by_chunk(source.rows(), context)) {
    Unpacker parts(part.bytes);
    const auto count = parts.number<std::size_t>();
    require(count <= rows.size() - at, ErrorCode::internal, "take_rows: more rows than were asked for");
    for (std::size_t i = 0; i < count; ++i, ++at) {
      taker.values()[at] = parts.list<std::uint8_t>();
      taker.columns()[at] = parts.list<std::int32_t>();
    }
  }
  require(at == rows.size(), ErrorCode::internal, "take_rows: ", at, " rows, need ", rows.size());
  return taker.finish();
}

}  // namespace

std::vector<Index> draw_rows(Index n, Index count, std::uint64_t seed) {
  std::vector<Index> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), Index{0});
  if (count >= n) return rows;
  const Random random(seed, kDrawStream);
  const auto number = [&](Index row) { return random.bits(static_cast<std::uint64_t>(row)); };
  std::nth_element(rows.begin(), rows.begin() + count, rows.end(),
                   [&](Index a, Index b) { return number(a) != number(b) ? number(a) < number(b) : a < b; });
  rows.resize(static_cast<std::size_t>(count));
  std::sort(rows.begin(), rows.end());
  return rows;
}

Source take_rows(const Source& source, const std::vector<Index>& rows, Context& context) {
  if (is_remote(source)) return take_remote_rows(source, rows, context);
  RowTaker taker(source, rows, source.store().dtype());
  const Store& store = source.store();
  const auto take = [&](const Block& block) { taker.take(block); };
  if (!store.in_memory() && column_moments_and(source, take, context)) return taker.finish();
  context.pool().run(store.block_count(), [&](Index b) {
    context.check_cancelled();
    const auto next = std::lower_bound(rows.begin(), rows.end(), b * store.block_rows());
    if (next != rows.end() && *next < (b + 1) * store.block_rows()) taker.take(store.block(b));
  });
  return taker.finish();
}

Bytes taken_rows_of_chunk(ChunkTask& task, Context& context) {
  std::vector<Index> own;
  for (const Index row : task.shared.list<Index>()) {
    if (row >= task.first && row < task.first + task.source.rows()) own.push_back(row - task.first);
  }
  const DType dtype = task.source.store().dtype();
  RowTaker taker(task.source, own, dtype);
  for (Index b = 0; b < task.source.store().block_count(); ++b) {
    context.check_cancelled();
    taker.take(task.source.store().block(b));
  }
  Packer packer;
  packer.put(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) packer.put(as_doubles(taker.values()[i], dtype)).put(taker.columns()[i]);
  return packer.take();
}

}  // namespace tamis
