#include "tamis/data/missing.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "tamis/base/error.h"
#include "tamis/base/memory.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/data/passes/passes.h"
#include "tamis/data/table.h"

namespace tamis {
namespace {

constexpr const char* kMissingWords[] = {"refuse", "drop-rows", "drop-columns", "mean", "median"};

// Which rows and columns have missing values.
struct Holes {
  std::vector<Index> by_column;
  std::vector<bool> in_row;
  Index cells = 0, rows = 0, columns = 0;
};

template <class T>
const T& entry(const DenseView& view, Index i, Index j) {
  return static_cast<const T*>(view.data)[i * view.row_stride + j * view.col_stride];
}

template <class T, class Visit>
void each_entry(const Store& store, Context& context, Visit visit) {
  for (Index b = 0; b < store.block_count(); ++b) {
    context.check_cancelled();
    const Block block = store.block(b);
    for (Index i = 0; i < block.rows; ++i) {
      for (Index j = 0; j < store.cols(); ++j) visit(block.first + i, j, entry<T>(block.dense, i, j));
    }
  }
}

template <class T>
Holes find_holes(const Store& store, Context& context) {
  Holes holes;
  holes.by_column.assign(store.cols(), 0);
  holes.in_row.assign(store.rows(), false);
  each_entry<T>(store, context, [&](Index i, Index j, T value) {
    if (!std::isnan(value)) return;
    ++holes.by_column[j];
    holes.in_row[i] = true;
  });
  holes.cells = std::accumulate(holes.by_column.begin(), holes.by_column.end(), Index{0});
  holes.rows = std::count(holes.in_row.begin(), holes.in_row.end(), true);
  holes.columns = std::count_if(holes.by_column.begin(), holes.by_column.end(), [](Index n) { return n > 0; });
  return holes;
}

double mean_of(const std::vector<double>& values) {
  double mean = 0.0;
  for (std::size_t k = 0; k < values.size(); ++k) mean += (values[k] - mean) / static_cast<double>(k + 1);
  return mean;
}

double median_of(std::vector<double>& values) {
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), upper, values.end());
  return values.size() % 2 == 1 ? *upper : std::midpoint(*std::max_element(values.begin(), upper), *upper);
}

// What is written in place of the missing values of each column; 0 where there are none.
template <class T>
std::vector<double> fillings(const Store& store, const Holes& holes, Missing missing, Context& context) {
  std::vector<double> out(holes.by_column.size(), 0.0);
  std::vector<double> values;
  for (Index j = 0; j < store.cols(); ++j) {
    if (holes.by_column[j] == 0 || holes.by_column[j] == store.rows()) continue;
    context.check_cancelled();
    values.clear();
    for (Index b = 0; b < store.block_count(); ++b) {
      const Block block = store.block(b);
      for (Index i = 0; i < block.rows; ++i) {
        const T value = entry<T>(block.dense, i, j);
        if (!std::isnan(value)) values.push_back(value);
      }
    }
    out[j] = missing == Missing::mean ? mean_of(values) : median_of(values);
  }
  return out;
}

// Which rows and columns stay.
struct Kept {
  std::vector<bool> rows, columns;
  Index row_count() const { return std::count(rows.begin(), rows.end(), true); }
  Index column_count() const { return std::count(columns.begin(), columns.end(), true); }
};

Kept kept_of(const Holes& holes, Missing missing) {
  const auto rows = static_cast<Index>(holes.in_row.size());
  Kept kept{std::vector<bool>(holes.in_row.size(), true), std::vector<bool>(holes.by_column.size(), true)};
  if (missing == Missing::drop_rows) {
    std::transform(holes.in_row.begin(), holes.in_row.end(), kept.rows.begin(), [](bool hole) { return !hole; });
    return kept;
  }
  const Index most = missing == Missing::drop_columns ? 0 : rows - 1;  // a column without any value has no mean
  std::transform(holes.by_column.begin(), holes.by_column.end(), kept.columns.begin(),
                 [&](Index count) { return count <= most; });
  return kept;
}

template <class T>
Source copied(const Store& store, const Kept& kept, const std::vector<double>& filling, Context& context) {
  const Index rows = kept.row_count(), cols = kept.column_count();
  auto buffer = std::make_shared<Buffer>((rows * cols) * sizeof(T));
  T* to = buffer->as<T>();
  each_entry<T>(store, context, [&](Index i, Index j, T value) {
    if (!kept.rows[i] || !kept.columns[j]) return;
    *to++ = std::isnan(value) ? static_cast<T>(filling[j]) : value;
  });
  const DenseView view{buffer->data(), store.dtype(), rows, cols, cols, 1};
  return Source(make_dense_store(view, buffer, store.block_rows()));
}

template <class Value>
void keep_some(std::vector<Value>& values, const std::vector<bool>& kept) {
  if (values.empty()) return;
  std::size_t to = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) std::swap(values[to++], values[i]);
  }
  values.resize(to);
}

// Classes whose rows are all gone go, too.
void keep_labels(Labels& labels, const std::vector<bool>& kept) {
  keep_some(labels.classes, kept);
  std::vector<bool> seen(labels.names.size(), false);
  for (const int c : labels.classes) {
    if (c >= 0) seen[c] = true;
  }
  std::vector<int> place(labels.names.size(), 0);
  for (std::size_t c = 1; c < place.size(); ++c) place[c] = place[c - 1] + (seen[c - 1] ? 1 : 0);
  for (int& c : labels.classes) c = c < 0 ? c : place[c];
  keep_some(labels.names, seen);
}

std::string name_or_position(const Table& table, Index j) {
  return table.names.empty() ? std::to_string(table.column(j)) : table.names[j];
}

// Leaves the names and positions of the columns that stay; returns the names of the others.
std::vector<std::string> keep_columns(Table& table, const std::vector<bool>& kept) {
  std::vector<std::string> dropped;
  for (Index j = 0; j < static_cast<Index>(kept.size()); ++j) {
    if (!kept[j]) dropped.push_back(name_or_position(table, j));
  }
  if (dropped.empty()) return dropped;
  if (table.columns.empty()) {
    table.columns.resize(kept.size());
    std::iota(table.columns.begin(), table.columns.end(), Index{0});
  }
  keep_some(table.columns, kept);
  keep_some(table.names, kept);
  table.excluded_columns.insert(table.excluded_columns.end(), dropped.begin(), dropped.end());
  return dropped;
}

std::string note_of(const Holes& holes, Missing missing, const std::vector<std::string>& dropped) {
  const std::string rows = concat(holes.rows, " of ", counted(static_cast<Index>(holes.in_row.size()), "row"));
  const std::string columns =
      concat(holes.columns, " of ", counted(static_cast<Index>(holes.by_column.size()), "column"));
  if (missing == Missing::drop_rows) {
    return concat(rows, holes.rows == 1 ? " has" : " have", " missing values and ", holes.rows == 1 ? "is" : "are",
                  " dropped (", counted(holes.cells, "value"), " in ", columns, ")");
  }
  if (missing == Missing::drop_columns) {
    return concat(columns, holes.columns == 1 ? " has" : " have", " missing values and ",
                  holes.columns == 1 ? "is" : "are", " left out: ", listed(dropped), " (",
                  counted(holes.cells, "value"), " in ", rows, ")");
  }
  const std::string filled =
      concat(counted(holes.cells, "missing value"), " in ", columns, " and ", rows, holes.cells == 1 ? " is" : " are",
             " replaced by the ", kMissingWords[static_cast<int>(missing)], " of the column");
  return dropped.empty() ? filled : concat(filled, "; without any value and left out: ", listed(dropped));
}

template <class T>
void treat_numbers(Table& table, Missing missing, const std::string& where, Context& context) {
  const Store& store = table.source.store();
  const Holes holes = find_holes<T>(store, context);
  if (holes.cells == 0) return;
  require_memory(context, where, 2 * store.table_bytes());
  const Kept kept = kept_of(holes, missing);
  require(kept.row_count() > 0, ErrorCode::bad_data, where, ": every row has missing values, so that ",
          Flag{"missing", "drop-rows"}, " leaves none; try ", Flag{"missing", "drop-columns"}, ", mean or median");
  require(kept.column_count() > 0 || missing != Missing::drop_columns, ErrorCode::bad_data, where,
          ": every column has missing values, so that ", Flag{"missing", "drop-columns"}, " leaves none; try ",
          Flag{"missing", "drop-rows"}, ", mean or median");
  require(kept.column_count() > 0, ErrorCode::bad_data, where, ": every column has missing values only");
  const bool fill = missing == Missing::mean || missing == Missing::median;
  const auto filling = fill ? fillings<T>(store, holes, missing, context) : std::vector<double>(holes.by_column.size());
  Source source = copied<T>(store, kept, filling, context);
  if (kept.row_count() < store.rows()) {
    table.rows_read = store.rows();
    for (Index i = 0; i < store.rows(); ++i) {
      if (kept.rows[i]) table.kept_rows.push_back(i);
    }
  }
  keep_some(table.row_ids, kept.rows);
  for (auto& [spec, labels] : table.labels) keep_labels(labels, kept.rows);
  const std::vector<std::string> dropped = keep_columns(table, kept.columns);
  table.source = std::move(source);
  table.notes.push_back(concat(where, ": ", note_of(holes, missing, dropped)));
}

}  // namespace

Missing parse_missing(const std::string& text) {
  const auto* found = std::find(std::begin(kMissingWords), std::end(kMissingWords), text);
  require(found != std::end(kMissingWords), ErrorCode::usage, "missing = ", text,
          ", need refuse, drop-rows, drop-columns, mean or median");
  return static_cast<Missing>(found - std::begin(kMissingWords));
}

void treat_missing(Table& table, Missing missing, const std::string& where, Context& context) {
  const Store& store = table.source.store();
  const DType type = store.dtype();
  if (missing == Missing::refuse || missing == Missing::keep || (type != DType::f32 && type != DType::f64)) return;
  if (store.sparse()) {
    const std::vector<Index> counts = count_not_finite(table.source, context);
    require(std::accumulate(counts.begin(), counts.end(), Index{0}) == 0, ErrorCode::bad_data, where,
            ": NaN or infinite values in a sparse table; ", Flag{"missing"}, " changes dense tables only");
    return;
  }
  if (type == DType::f32) return treat_numbers<float>(table, missing, where, context);
  treat_numbers<double>(table, missing, where, context);
}

}  // namespace tamis
