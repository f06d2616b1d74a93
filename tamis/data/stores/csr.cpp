#include "tamis/data/stores/csr.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/base/memory.h"

namespace tamis {
namespace {

// A column takes some 200 bytes throughout a run, empty or not. Feature hashing makes 2^20 .. 2^24 of them, and raw
// counts of single cells have millions of empty rows: more than kFreeSize must be filled a little.
constexpr std::uint64_t kFreeSize = std::uint64_t{1} << 20;
constexpr std::uint64_t kSizePerEntry = 100;

// The most rows or columns that so many entries may stand in.
std::uint64_t most_size(std::uint64_t entries) {
  return entries > UINT64_MAX / kSizePerEntry ? UINT64_MAX : std::max(kFreeSize, entries * kSizePerEntry);
}

// Sorts entries [first, last) by column; equal columns keep their order, so that sums are repeatable.
template <class T>
void sort_row(Csr<T>& csr, std::int64_t first, std::int64_t last, std::vector<std::pair<std::int32_t, T>>& scratch) {
  scratch.clear();
  for (std::int64_t e = first; e < last; ++e) scratch.emplace_back(csr.columns[e], csr.values[e]);
  std::stable_sort(scratch.begin(), scratch.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::int64_t e = first; e < last; ++e) {
    std::tie(csr.columns[e], csr.values[e]) = scratch[e - first];
  }
}

// Of the `count` entries of one row.
template <class T>
bool is_canonical_row(Index count, const std::int32_t* columns, const T* values) {
  bool wrong = false;
  for (Index e = 0; e < count; ++e) wrong |= values[e] == T(0);
  for (Index e = 1; e < count; ++e) wrong |= columns[e] <= columns[e - 1];
  return !wrong;
}

}  // namespace

template <class T>
void Csr<T>::make_canonical() {
  std::vector<std::pair<std::int32_t, T>> scratch;
  std::int64_t to = 0;
  std::int64_t first = offsets[0];
  offsets[0] = 0;
  for (Index i = 0; i < rows; ++i) {
    const std::int64_t last = offsets[i + 1];
    if (to == first && is_canonical_row(last - first, columns.data() + first, values.data() + first)) {
      first = to = last;
      continue;
    }
    if (!std::is_sorted(columns.begin() + first, columns.begin() + last)) sort_row(*this, first, last, scratch);
    for (std::int64_t e = first; e < last;) {
      const std::int32_t column = columns[e];
      T sum = values[e++];
      while (e < last && columns[e] == column) sum += values[e++];
      if (sum == T(0)) continue;
      columns[to] = column;
      values[to++] = sum;
    }
    first = last;
    offsets[i + 1] = to;
  }
  columns.resize(to);
  values.resize(to);
}

template <class T>
bool is_canonical(const CsrView& view) {
  const auto* values = static_cast<const T*>(view.values);
  for (Index i = 0; i < view.rows; ++i) {
    const Index first = view.offsets[i], count = view.offsets[i + 1] - first;
    if (count == 0) continue;
    const std::int32_t* const columns = view.columns + first;
    if (columns[0] < 0 || columns[count - 1] >= view.cols || !is_canonical_row(count, columns, values + first)) {
      return false;
    }
  }
  return true;
}

template <class T>
Csr<T> Csr<T>::transposed() const {
  Csr out;
  out.rows = cols;
  out.cols = rows;
  out.offsets.assign(cols + 1, 0);
  out.columns.resize(columns.size());
  out.values.resize(values.size());
  for (const std::int32_t column : columns) ++out.offsets[column + Index{1}];
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  std::vector<std::int64_t> next(out.offsets.begin(), out.offsets.end() - 1);
  for (Index i = 0; i < rows; ++i) {
    for (std::int64_t e = offsets[i]; e < offsets[i + 1]; ++e) {
      const std::int64_t to = next[columns[e]]++;
      out.columns[to] = static_cast<std::int32_t>(i);
      out.values[to] = values[e];
    }
  }
  return out;
}

template <class T>
Source to_source(Csr<T>&& csr) {
  auto owner = std::make_shared<const Csr<T>>(std::move(csr));
  CsrView view;
  view.rows = owner->rows;
  view.cols = owner->cols;
  view.offsets = owner->offsets.data();
  view.columns = owner->columns.data();
  view.values = owner->values.data();
  view.dtype = sizeof(T) == sizeof(double) ? DType::f64 : DType::f32;
  return Source(make_sparse_store(view, owner));
}

template struct Csr<float>;
template struct Csr<double>;
template bool is_canonical<float>(const CsrView&);
template bool is_canonical<double>(const CsrView&);
template Source to_source(Csr<float>&&);
template Source to_source(Csr<double>&&);

void CsrBuilder::reserve(std::size_t entries) {
  columns_.reserve(entries);
  values_.reserve(entries);
}

std::uint64_t CsrBuilder::bytes(Index rows) const {
  constexpr std::uint64_t kEntry = sizeof(double) + sizeof(std::int32_t);
  const std::uint64_t offsets = static_cast<std::uint64_t>(rows + 1) * sizeof(std::int64_t);
  // Values are held twice while their vector grows. Sorting holds every entry twice, its row once, the rows twice.
  if (ordered_) return offsets + values_.size() * (kEntry + sizeof(double));
  return 2 * offsets + values_.size() * (2 * kEntry + sizeof(std::int32_t));
}

void CsrBuilder::ask() {
  constexpr std::size_t kAtOnce = 4096;
  budget_.require(bytes(last_row_));
  asked_entries_ = values_.size() + kAtOnce;
}

// Rows without entries take memory too: where the first entries stand far down, only the rows of entries are kept.
void CsrBuilder::begin_row(Index row) {
  if (static_cast<std::uint64_t>(row) >= most_size(entries())) return keep_rows();
  if (static_cast<std::size_t>(row) >= offsets_.capacity()) budget_.require(bytes(row));
  offsets_.resize(row + 1, static_cast<std::int64_t>(columns_.size()));
  last_row_ = row;
  last_col_ = -1;
}

void CsrBuilder::keep_rows() {
  ordered_ = false;
  last_row_ = 0;
  entry_rows_.reserve(columns_.capacity());
  offsets_.push_back(static_cast<std::int64_t>(columns_.size()));
  for (std::size_t i = 0; i + 1 < offsets_.size(); ++i) {
    entry_rows_.insert(entry_rows_.end(), offsets_[i + 1] - offsets_[i], static_cast<std::int32_t>(i));
  }
  offsets_ = {};
}

// A stable counting sort, so that entries that came by columns need no sorting within their rows.
void CsrBuilder::sort_by_row(Csr<double>& csr) {
  csr.offsets.assign(csr.rows + 1, 0);
  for (const std::int32_t row : entry_rows_) ++csr.offsets[row + Index{1}];
  std::partial_sum(csr.offsets.begin(), csr.offsets.end(), csr.offsets.begin());
  std::vector<std::int64_t> next(csr.offsets.begin(), csr.offsets.end() - 1);
  csr.columns.resize(columns_.size());
  csr.values.resize(values_.size());
  for (std::size_t e = 0; e < columns_.size(); ++e) {
    const std::size_t to = next[entry_rows_[e]]++;
    csr.columns[to] = columns_[e];
    csr.values[to] = values_[e];
  }
  entry_rows_ = {};
  columns_ = {};
  values_ = {};
}

Csr<double> CsrBuilder::finish(Index rows, Index cols) {
  Csr<double> csr;
  csr.rows = rows;
  csr.cols = cols;
  budget_.require(bytes(rows));
  if (ordered_) {
    csr.offsets = std::move(offsets_);
    csr.offsets.resize(rows + 1, static_cast<std::int64_t>(columns_.size()));
    csr.columns = std::move(columns_);
    csr.values = std::move(values_);
  } else {
    sort_by_row(csr);
    csr.make_canonical();
  }
  return csr;
}

void require_sparse_shape(const std::string& where, Index rows, Index cols, std::uint64_t entries,
                          const Context& context) {
  for (const Index size : {rows, cols}) {
    require(size >= 0 && size < std::numeric_limits<std::int32_t>::max(), ErrorCode::bad_data, where, ": ", rows, " x ",
            cols, ", need at most 2147483646 each way");
    require(static_cast<std::uint64_t>(size) <= most_size(entries), ErrorCode::bad_data, where, ": ", rows, " x ", cols,
            " with only ", entries, " entries, need at most ", kFreeSize, " rows and columns or ", kSizePerEntry,
            " for each entry");
  }
  const std::uint64_t entry = sizeof(double) + sizeof(std::int32_t);
  require_memory(context, where, entries * entry + static_cast<std::uint64_t>(rows + cols) * sizeof(std::int64_t));
}

}  // namespace tamis
