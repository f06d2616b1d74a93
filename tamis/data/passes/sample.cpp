#include "tamis/data/passes/sample.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "tamis/base/random.h"
#include "tamis/data/passes/pass.h"
#include "tamis/data/passes/taken_rows.h"
#include "tamis/data/passes/tile.h"
#include "tamis/data/stores/sparse_rows.h"
#include "tamis/data/stores/temporary_rows.h"

namespace tamis {

// --- Rows of blocks ------------------------------------------------------------------------------------------------

namespace {

Bytes dense_row(const Source& source, const DenseView& view, Index row) {
  const std::size_t size = size_of(view.dtype);
  const auto* from = static_cast<const std::uint8_t*>(view.data) + row * view.row_stride * static_cast<Index>(size);
  Bytes to(source.columns().size() * size);
  for (std::size_t j = 0; j < source.columns().size(); ++j) {
    std::memcpy(&to[j * size], from + source.columns()[j] * view.col_stride * static_cast<Index>(size), size);
  }
  return to;
}

void add_sparse_row(const CsrView& csr, const std::vector<std::int32_t>& position, Index row, TakenRows& out) {
  const std::size_t size = size_of(csr.dtype);
  const auto* from = static_cast<const std::uint8_t*>(csr.values);
  Bytes values;
  std::vector<std::int32_t> columns;
  for (Index k = csr.offsets[row]; k < csr.offsets[row + 1]; ++k) {
    const std::int32_t j = position.empty() ? csr.columns[k] : position[csr.columns[k]];
    if (j < 0) continue;
    columns.push_back(j);
    const auto* value = from + k * size;
    values.insert(values.end(), value, value + size);
  }
  out.values.push_back(std::move(values));
  out.columns.push_back(std::move(columns));
}

void widen(TakenRows& rows) {
  for (Bytes& values : rows.values) {
    const auto count = static_cast<Index>(values.size() / size_of(rows.dtype));
    const DenseView view{values.data(), rows.dtype, 1, count, count, 1};
    Bytes wide(count * sizeof(double));
    for (Index j = 0; j < count; ++j) {
      const double value = element(view, 0, j);
      std::memcpy(&wide[j * sizeof value], &value, sizeof value);
    }
    values = std::move(wide);
  }
  rows.dtype = DType::f64;
}

}  // namespace

TakenRows rows_of_block(const Source& source, const Block& block, const std::vector<Index>& rows) {
  TakenRows out;
  const auto begin = std::lower_bound(rows.begin(), rows.end(), block.first);
  const auto end = std::lower_bound(begin, rows.end(), block.first + block.rows);
  if (begin == end) return out;
  out.dtype = block.sparse ? block.csr.dtype : block.dense.dtype;
  const std::vector<std::int32_t> position = block.sparse ? column_positions(source) : std::vector<std::int32_t>();
  for (auto row = begin; row != end; ++row) {
    if (block.sparse) {
      add_sparse_row(block.csr, position, *row - block.first, out);
    } else {
      out.values.push_back(dense_row(source, block.dense, *row - block.first));
    }
  }
  return out;
}

bool taken_fit(const TakenRows& taken, const Source& source, std::size_t rows) {
  const std::size_t size = size_of(taken.dtype);
  if (taken.values.size() != rows || taken.columns.size() != (source.sparse() ? rows : 0)) return false;
  if (!source.sparse()) {
    return std::ranges::all_of(taken.values,
                               [&](const Bytes& row) { return is_times(row.size(), source.cols(), size); });
  }
  for (std::size_t i = 0; i < rows; ++i) {
    const auto& columns = taken.columns[i];
    if (!rises_below(columns, source.cols()) || taken.values[i].size() != columns.size() * size) return false;
  }
  return rows == 0 || taken.dtype == DType::f32 || taken.dtype == DType::f64;
}

void append(TakenRows& into, TakenRows&& from) {
  if (into.values.empty()) into.dtype = from.dtype;
  if (!from.values.empty() && into.dtype != from.dtype) {
    widen(into);
    widen(from);
  }
  std::move(from.values.begin(), from.values.end(), std::back_inserter(into.values));
  std::move(from.columns.begin(), from.columns.end(), std::back_inserter(into.columns));
}

namespace {

class TakePass {
 public:
  static constexpr const char* kName = "take_rows";
  static constexpr Index kReadings = 0;  // of a few rows
  using Result = TakenRows;

  TakePass(const Source& source, const std::vector<Index>& rows) : source_(source), rows_(rows) {}
  auto given() const { return std::tuple<const Source&, RowList>(source_, RowList{rows_}); }

  TakenRows partial(const Block& block) const { return rows_of_block(source_, block, rows_); }
  static void merge(TakenRows& into, TakenRows&& from) { append(into, std::move(from)); }
  bool fits(const TakenRows& taken) const { return taken_fit(taken, source_, rows_.size()); }

 private:
  const Source& source_;
  const std::vector<Index>& rows_;
};

}  // namespace

std::vector<WirePass> sample_passes() { return {wire_pass<TakePass>()}; }

// --- A sample ------------------------------------------------------------------------------------------------------

namespace {

constexpr std::uint64_t kDrawStream = 0x64726177;  // its own stream of the seed

std::shared_ptr<Bytes> joined(std::vector<Bytes> rows) {
  auto out = std::make_shared<Bytes>();
  std::size_t size = 0;
  for (const Bytes& row : rows) size += row.size();
  out->reserve(size);
  for (Bytes& row : rows) {
    out->insert(out->end(), row.begin(), row.end());
    row = {};
  }
  return out;
}

std::shared_ptr<const Store> dense_store_of(TakenRows taken, Index n, Index d, DType dtype) {
  const auto data = joined(std::move(taken.values));
  return make_dense_store({data->data(), dtype, n, d, d, 1}, data);
}

struct SampledCsr {
  std::vector<std::int64_t> offsets = {0};
  std::vector<std::int32_t> columns;
  std::shared_ptr<Bytes> values;
};

std::shared_ptr<const Store> sparse_store_of(TakenRows taken, Index n, Index d, DType dtype) {
  const auto csr = std::make_shared<SampledCsr>();
  csr->values = joined(std::move(taken.values));
  for (const auto& row : taken.columns) {
    csr->columns.insert(csr->columns.end(), row.begin(), row.end());
    csr->offsets.push_back(static_cast<std::int64_t>(csr->columns.size()));
  }
  return make_sparse_store({n, d, csr->offsets.data(), csr->columns.data(), csr->values->data(), dtype}, csr);
}

// The scales and weights of `source` on some of its rows.
Source scaled_alike(const Source& source, const std::vector<Index>& rows, Source out) {
  if (!source.column_scale().empty()) out = out.with_column_scale(source.column_scale());
  if (source.weighted()) {
    std::vector<double> weights;
    for (const Index row : rows) weights.push_back(source.weights()[row]);
    out = out.with_weights(weights);
  }
  if (source.row_scale().empty()) return out;
  std::vector<double> scale;
  for (const Index row : rows) scale.push_back(source.row_scale()[row]);
  return out.with_row_scale(scale);
}

Source sampled_source(const Source& source, const std::vector<Index>& rows, TakenRows taken, DType dtype) {
  const auto n = static_cast<Index>(rows.size()), d = source.cols();
  return scaled_alike(source, rows,
                      Source(source.sparse() ? sparse_store_of(std::move(taken), n, d, dtype)
                                             : dense_store_of(std::move(taken), n, d, dtype)));
}

// Calls add(rows of a block) for the given rows, block by block, in order.
template <class Add>
void for_blocks_of(const Source& source, const std::vector<Index>& rows, Context& context, Add add) {
  context.count_pass();
  const Index blocks = source.store().block_count();
  Walk walk(context, blocks, source.rows());
  for (Index b = 0; b < blocks; ++b) {
    context.check_cancelled();
    TakenRows taken = rows_of_block(source, source.store().block(b), rows);
    if (!taken.values.empty()) add(std::move(taken));
    walk.task_done();
  }
}

std::shared_ptr<const RowReader> dense_rows_on_disk(const Source& source, const std::vector<Index>& rows,
                                                    Context& context) {
  TemporaryRows file(source.cols(), source.store().dtype());
  for_blocks_of(source, rows, context, [&](TakenRows taken) {
    const auto count = static_cast<Index>(taken.values.size());
    const auto data = joined(std::move(taken.values));
    file.add({data->data(), source.store().dtype(), count, source.cols(), source.cols(), 1});
  });
  return file.finish();
}

std::shared_ptr<const RowReader> sparse_rows_on_disk(const Source& source, const std::vector<Index>& rows,
                                                     Context& context) {
  TemporarySparseRows file(source.cols(), source.store().dtype());
  for_blocks_of(source, rows, context, [&](TakenRows taken) {
    const auto count = static_cast<Index>(taken.values.size());
    const auto block = sparse_store_of(std::move(taken), count, source.cols(), source.store().dtype());
    for (Index b = 0; b < block->block_count(); ++b) file.add(block->block(b).csr);
  });
  return file.finish();
}

}  // namespace

std::vector<Index> draw_rows(Index n, Index count, std::uint64_t seed) {
  std::vector<Index> rows;
  if (count >= n) {
    rows.resize(n);
    std::iota(rows.begin(), rows.end(), Index{0});
    return rows;
  }
  const Random random(seed, kDrawStream);
  using Drawn = std::pair<std::uint64_t, Index>;
  std::vector<Drawn> smallest;  // and some more, from time to time cut back to `count`
  const auto cut = [&] {
    std::nth_element(smallest.begin(), smallest.begin() + count - 1, smallest.end());
    smallest.resize(count);
  };
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  for (Index row = 0; row < n; ++row) {
    const std::uint64_t number = random.bits(static_cast<std::uint64_t>(row));
    if (number > most) continue;
    smallest.emplace_back(number, row);
    if (static_cast<Index>(smallest.size()) < 2 * count) continue;
    cut();
    most = smallest.back().first;
  }
  cut();
  for (const Drawn& drawn : smallest) rows.push_back(drawn.second);
  std::sort(rows.begin(), rows.end());
  return rows;
}

Source take_rows(const Source& source, const std::vector<Index>& rows, Context& context) {
  TakenRows taken;
  if (!moments_and_rows(source, rows, taken, context)) taken = reduce(TakePass(source, rows), context);
  const DType dtype = taken.values.empty() ? source.store().dtype() : taken.dtype;
  return sampled_source(source, rows, std::move(taken), dtype);
}

Source take_rows_to_disk(const Source& source, const std::vector<Index>& rows, Context& context) {
  const auto reader =
      source.sparse() ? sparse_rows_on_disk(source, rows, context) : dense_rows_on_disk(source, rows, context);
  return scaled_alike(source, rows, on_disk(reader, context));
}

std::optional<Source> take_rows_there(const Source& source, const std::vector<Index>& rows) {
  const RemoteStore* there = remote_under(source);
  const auto taken = there == nullptr ? nullptr : there->take(rows);
  if (taken == nullptr) return std::nullopt;
  Source out(taken);
  if (!source.all_columns()) out = out.with_columns(source.columns());
  return scaled_alike(source, rows, out);
}

}  // namespace tamis
