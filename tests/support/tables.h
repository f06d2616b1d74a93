// Tables to test with: random, structured and awkward ones, and every way to lay one out in memory.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tamis/data/source.h"
#include "tamis/data/stores/temporary_rows.h"
#include "tamis/linalg/matrix.h"
#include "tests/support/seeds.h"

namespace tamis::support {

inline Matrix random_matrix(Index rows, Index cols, std::uint64_t seed) {
  const Random random = seeded(seed, 77);
  Matrix out(rows, cols);
  for (Index i = 0; i < out.size(); ++i) out.data()[i] = random.normal(static_cast<std::uint64_t>(i));
  return out;
}

// `groups` clusters in the first `informative` columns, `spread` apart, noise elsewhere.
inline Matrix mixture(Index rows, Index cols, Index groups, Index informative, double spread, std::uint64_t seed) {
  Matrix out = random_matrix(rows, cols, seed);
  const Random random = seeded(seed, 78);
  const Matrix centers = random_matrix(groups, cols, seed + 1000);
  for (Index i = 0; i < rows; ++i) {
    const Index k = random.below(static_cast<std::uint64_t>(i), groups);
    for (Index j = 0; j < std::min(informative, cols); ++j) out(i, j) += spread * centers(k, j);
  }
  return out;
}

// Zeroes all but about `density` of the entries.
inline Matrix thinned(Matrix a, double density, std::uint64_t seed) {
  const Random random = seeded(seed, 79);
  for (Index i = 0; i < a.size(); ++i) {
    if (random.uniform(static_cast<std::uint64_t>(i)) >= density) a.data()[i] = 0;
  }
  return a;
}

// Whole numbers 0 .. below-1: exact in every element type.
inline Matrix whole_numbers(Index rows, Index cols, Index below, std::uint64_t seed) {
  const Random random = seeded(seed, 80);
  Matrix out(rows, cols);
  for (Index i = 0; i < out.size(); ++i) {
    out.data()[i] = static_cast<double>(random.below(static_cast<std::uint64_t>(i), below));
  }
  return out;
}

// Less the means of the columns.
inline Matrix centered_columns(Matrix x) {
  for (Index j = 0; j < x.cols(); ++j) {
    double mean = 0;
    for (Index i = 0; i < x.rows(); ++i) mean += x(i, j) / static_cast<double>(x.rows());
    for (Index i = 0; i < x.rows(); ++i) x(i, j) -= mean;
  }
  return x;
}

inline Matrix columns_of(const Matrix& a, const std::vector<Index>& columns) {
  Matrix out(a.rows(), static_cast<Index>(columns.size()));
  for (Index i = 0; i < out.rows(); ++i) {
    for (Index j = 0; j < out.cols(); ++j) out(i, j) = a(i, columns[static_cast<std::size_t>(j)]);
  }
  return out;
}

// Makes the columns of each group copies of its first.
inline void copy_columns(Matrix& a, const std::vector<std::vector<Index>>& groups) {
  for (const auto& group : groups) {
    for (const Index j : group) {
      for (Index i = 0; i < a.rows(); ++i) a(i, j) = a(i, group.front());
    }
  }
}

// A permutation of 0 .. n-1.
inline std::vector<Index> shuffled(Index n, std::uint64_t seed) {
  const Random random = seeded(seed, 81);
  std::vector<Index> out(static_cast<std::size_t>(n));
  std::iota(out.begin(), out.end(), Index{0});
  for (Index i = n - 1; i > 0; --i) {
    std::swap(out[static_cast<std::size_t>(i)],
              out[static_cast<std::size_t>(random.below(static_cast<std::uint64_t>(i), i + 1))]);
  }
  return out;
}

template <class T>
constexpr DType type_of() {
  if (std::is_floating_point_v<T>) return sizeof(T) == sizeof(float) ? DType::f32 : DType::f64;
  const DType first = std::is_signed_v<T> ? DType::i8 : DType::u8;
  return static_cast<DType>(static_cast<int>(first) + std::countr_zero(sizeof(T)));
}

// Element (i, j) at i * row_stride + j * col_stride of an array of T; what lies between is 99.
template <class T>
Source strided(const Matrix& a, Index row_stride, Index col_stride, Index block_rows = kBlockRows) {
  const Index last = std::max<Index>(a.rows() - 1, 0) * row_stride + std::max<Index>(a.cols() - 1, 0) * col_stride;
  auto values = std::make_shared<std::vector<T>>(static_cast<std::size_t>(last + 1), T(99));
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) {
      (*values)[static_cast<std::size_t>(i * row_stride + j * col_stride)] = static_cast<T>(a(i, j));
    }
  }
  return Source(
      make_dense_store({values->data(), type_of<T>(), a.rows(), a.cols(), row_stride, col_stride}, values, block_rows));
}

template <class T = double>
Source dense(const Matrix& a, Index block_rows = kBlockRows) {
  return strided<T>(a, std::max<Index>(a.cols(), 1), 1, block_rows);
}

template <class T = double>
Source fortran(const Matrix& a, Index block_rows = kBlockRows) {
  return strided<T>(a, 1, std::max<Index>(a.rows(), 1), block_rows);
}

struct CsrArrays {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<double> f64;
  std::vector<float> f32;
};

// Stores the entries that `keep(i, j)` names, by default those that are not 0.
template <class T = double>
Source sparse(const Matrix& a, Index block_rows = kBlockRows, const std::function<bool(Index, Index)>& keep = {}) {
  auto arrays = std::make_shared<CsrArrays>();
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) {
      if (keep ? !keep(i, j) : a(i, j) == 0) continue;
      arrays->columns.push_back(static_cast<std::int32_t>(j));
      arrays->f64.push_back(a(i, j));
      arrays->f32.push_back(static_cast<float>(a(i, j)));
    }
    arrays->offsets.push_back(static_cast<std::int64_t>(arrays->columns.size()));
  }
  const bool single = type_of<T>() == DType::f32;
  const CsrView view{a.rows(),
                     a.cols(),
                     arrays->offsets.data(),
                     arrays->columns.data(),
                     single ? static_cast<const void*>(arrays->f32.data()) : arrays->f64.data(),
                     type_of<T>()};
  return Source(make_sparse_store(view, arrays, block_rows));
}

// The same rows in a temporary file.
inline Source left_on_disk(const Source& here) {
  const Store& store = here.store();
  std::shared_ptr<const RowReader> rows;
  if (here.sparse()) {
    TemporarySparseRows written(here.cols(), store.dtype());
    for (Index b = 0; b < store.block_count(); ++b) written.add(store.block(b).csr);
    rows = written.finish();
  } else {
    TemporaryRows written(here.cols(), store.dtype());
    for (Index b = 0; b < store.block_count(); ++b) written.add(store.block(b).dense);
    rows = written.finish();
  }
  return Source(make_disk_store(rows, 2, 0, store.block_rows()));
}

// Every layout of whole numbers 0 .. 100, which all element types hold exactly.
struct Layout {
  std::string name;
  Source (*make)(const Matrix&, Index block_rows);
};

inline const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {
      {"f64", dense<double>},
      {"f32", dense<float>},
      {"i8", dense<std::int8_t>},
      {"i16", dense<std::int16_t>},
      {"i32", dense<std::int32_t>},
      {"i64", dense<std::int64_t>},
      {"u8", dense<std::uint8_t>},
      {"u16", dense<std::uint16_t>},
      {"u32", dense<std::uint32_t>},
      {"u64", dense<std::uint64_t>},
      {"fortran f64", fortran<double>},
      {"fortran f32", fortran<float>},
      {"fortran u8", fortran<std::uint8_t>},
      {"strided f64", [](const Matrix& a, Index b) { return strided<double>(a, 3 * a.cols() + 5, 3, b); }},
      {"strided i16", [](const Matrix& a, Index b) { return strided<std::int16_t>(a, 2 * a.cols() + 1, 2, b); }},
      {"padded rows f32", [](const Matrix& a, Index b) { return strided<float>(a, a.cols() + 7, 1, b); }},
      {"f64 on disk", [](const Matrix& a, Index b) { return left_on_disk(dense<double>(a, b)); }},
      {"u8 on disk", [](const Matrix& a, Index b) { return left_on_disk(fortran<std::uint8_t>(a, b)); }},
      {"sparse f64", [](const Matrix& a, Index b) { return sparse<double>(a, b); }},
      {"sparse f32", [](const Matrix& a, Index b) { return sparse<float>(a, b); }},
      {"sparse f32 on disk", [](const Matrix& a, Index b) { return left_on_disk(sparse<float>(a, b)); }},
      {"sparse with stored zeros",
       [](const Matrix& a, Index b) {
         return sparse<double>(a, b, [&](Index i, Index j) { return a(i, j) != 0 || j % 2 == 0 || i % 3 == 0; });
       }},
  };
  return all;
}

}  // namespace tamis::support
