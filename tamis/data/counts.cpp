#include "tamis/data/counts.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/base/memory.h"
#include "tamis/base/text/quote.h"
#include "tamis/data/passes/tile.h"
#include "tamis/data/stores/csr.h"

namespace tamis {

namespace {

void require_count(const Table& table, Index row, Index column, double value) {
  if (std::isfinite(value) && value >= 0.0 && value == std::floor(value)) return;
  fail(ErrorCode::bad_data, "row ", row, ", column ",
       table.names.empty() ? std::to_string(column) : printable(table.names[column]), ": ", value, ", but ",
       Flag{"counts"}, " needs whole numbers of at least 0");
}

// x / sum * 10^4, then log(1 + x), of the numbers of one row.
template <class Values>
void normalize_row(Values values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  if (sum == 0.0) return;
  for (double& value : values) value = std::log1p(value / sum * kRowTotal);
}

// Calls work(block) for every block, on all threads.
template <class Work>
void for_blocks(const Store& store, Context& context, Work work) {
  walk_rows(context, store.block_count(), store.rows(), [&](Index b) {
    context.check_cancelled();
    work(store.block(b));
  });
}

Source dense_counts(const Table& table, Budget& budget, Context& context) {
  const Store& store = table.source.store();
  const Index cols = table.source.cols();
  budget.take(static_cast<std::uint64_t>(store.rows()) * static_cast<std::uint64_t>(cols) * sizeof(double));
  auto numbers = std::make_shared<std::vector<double>>(store.rows() * cols);
  for_blocks(store, context, [&](const Block& block) {
    for (Index i = 0; i < block.rows; ++i) {
      double* row = numbers->data() + (block.first + i) * cols;
      for (Index j = 0; j < cols; ++j) {
        row[j] = element(block.dense, i, table.source.columns()[j]);
        require_count(table, block.first + i, j, row[j]);
      }
      normalize_row(std::span(row, row + cols));
    }
  });
  DenseView view;
  view.data = numbers->data();
  view.rows = store.rows();
  view.cols = view.row_stride = cols;
  return Source(make_dense_store(view, numbers));
}

Source sparse_counts(const Table& table, Budget& budget, Context& context) {
  const Store& store = table.source.store();
  budget.take(bytes_of_table(store.rows(), store.nonzeros(), true, DType::f64));
  Csr<double> csr;
  csr.rows = store.rows();
  csr.cols = store.cols();
  csr.offsets.assign(store.rows() + 1, 0);
  for (Index b = 0; b < store.block_count(); ++b) {
    const Block block = store.block(b);
    for (Index i = 0; i < block.rows; ++i) {
      const Index row = block.first + i;
      csr.offsets[row + 1] = csr.offsets[row] + block.csr.offsets[i + 1] - block.csr.offsets[i];
    }
  }
  csr.columns.resize(csr.offsets.back());
  csr.values.resize(csr.columns.size());
  for_blocks(store, context, [&](const Block& block) {
    for (Index i = 0; i < block.rows; ++i) {
      const Index row = block.first + i, from = csr.offsets[row], to = csr.offsets[row + 1];
      for (Index at = from, in = block.csr.offsets[i]; at < to; ++at, ++in) {
        csr.columns[at] = block.csr.columns[in];
        csr.values[at] = block.csr.value(in);
        require_count(table, row, csr.columns[at], csr.values[at]);
      }
      normalize_row(std::span(csr.values.data() + from, csr.values.data() + to));
    }
  });
  return to_source(std::move(csr));
}

}  // namespace

void normalize_counts(Table& table, Context& context) {
  const Source& source = table.source;
  require(source.store().in_memory(), ErrorCode::resources, Flag{"counts"},
          " needs the table in memory, but its rows stay on disk; raise ", Flag{"memory"});
  require(source.all_columns(), ErrorCode::internal, "counts of some columns");
  Budget budget(context, table.path);
  budget.take(source.store().table_bytes());  // which stays beside
  Source normalized = source.sparse() ? sparse_counts(table, budget, context) : dense_counts(table, budget, context);
  table.as_read = std::exchange(table.source, std::move(normalized));
}

}  // namespace tamis
