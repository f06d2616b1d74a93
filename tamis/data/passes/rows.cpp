// Passes that add, pick or measure single rows.

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "tamis/base/memory.h"
#include "tamis/base/random.h"
#include "tamis/data/passes/blocks.h"
#include "tamis/data/passes/tile.h"
#include "tamis/data/stores/remote_pass.h"
#include "tamis/linalg/kernels.h"

namespace tamis {

// --- Sums of clusters --------------------------------------------------------------------------------------------

namespace {

void move_dense(const Centered& z, const Block& block, Index q, const int* before, const int* after, Matrix& sums) {
  const Index col0 = q * kTileCols, cols = sums.cols();
  std::vector<double> row(static_cast<std::size_t>(cols));
  for (Index i = 0; i < block.rows; ++i) {
    if (before[i] == after[i]) continue;
    load_tile(z, block, i, 1, col0, cols, row.data(), cols);
    if (after[i] >= 0) kernels<double>().axpy(cols, 1.0, row.data(), sums.row(after[i]));
    if (before[i] >= 0) kernels<double>().axpy(cols, -1.0, row.data(), sums.row(before[i]));
  }
}

void move_sparse(const Centered& z, const Block& block, const int* before, const int* after,
                 const std::vector<double>& center, Matrix& sums) {
  std::vector<Index> gained(static_cast<std::size_t>(sums.rows()));
  for (Index i = 0; i < block.rows; ++i) {
    if (before[i] == after[i]) continue;
    double* plus = after[i] >= 0 ? sums.row(after[i]) : nullptr;
    double* minus = before[i] >= 0 ? sums.row(before[i]) : nullptr;
    if (plus != nullptr) ++gained[static_cast<std::size_t>(after[i])];
    if (minus != nullptr) --gained[static_cast<std::size_t>(before[i])];
    for_each_shifted(z, block, i, 1, [&](Index, Index j, double value) {
      if (plus != nullptr) plus[j] += value;
      if (minus != nullptr) minus[j] -= value;
    });
  }
  for (Index k = 0; k < sums.rows(); ++k) {
    const auto count = static_cast<double>(gained[static_cast<std::size_t>(k)]);
    if (count != 0) kernels<double>().axpy(sums.cols(), -count, center.data(), sums.row(k));
  }
}

Index moved_width(const Centered& z) { return z.source().sparse() ? z.cols() : kTileCols; }

Sums moved_sums(const Centered& z, const std::vector<int>& before, const std::vector<int>& after, Index clusters,
                Context& context) {
  const Index d = z.cols(), width = moved_width(z);
  const bool sparse = z.source().sparse();
  const std::vector<double> center = sparse ? implicit_center(z) : std::vector<double>();
  return reduce_sums(z.source().store(), pieces(d, width), context, [&](const Block& block, Index q) {
    const int* from = before.data() + block.first;
    const int* to = after.data() + block.first;
    if (std::equal(from, from + block.rows, to)) return Matrix();
    Matrix sum(clusters, std::min(width, d - q * width));
    if (sparse) {
      move_sparse(z, block, from, to, center, sum);
    } else {
      move_dense(z, block, q, from, to, sum);
    }
    return sum;
  });
}

Sums remote_moved_sums(const Centered& z, const std::vector<int>& before, const std::vector<int>& after, Index clusters,
                       Context& context) {
  context.count_pass();
  RemoteRequest request("move_rows", z);
  request.with(clusters).by_row(before.data(), 1).by_row(after.data(), 1);
  return Unpacker(request.merged(context).bytes).matrices();
}

}  // namespace

void move_rows(const Centered& z, const std::vector<int>& before, const std::vector<int>& after, Matrix& sums,
               Context& context) {
  const Sums moved = is_remote(z.source()) ? remote_moved_sums(z, before, after, sums.rows(), context)
                                           : moved_sums(z, before, after, sums.rows(), context);
  require(static_cast<Index>(moved.size()) == pieces(z.cols(), moved_width(z)), ErrorCode::internal, "sums of ",
          moved.size(), " pieces");
  for (std::size_t q = 0; q < moved.size(); ++q) {
    const Index cols = std::min(moved_width(z), z.cols() - static_cast<Index>(q) * moved_width(z));
    require(moved[q].empty() || (moved[q].rows() == sums.rows() && moved[q].cols() == cols), ErrorCode::internal,
            "sums of other shapes");
    for (Index k = 0; k < moved[q].rows(); ++k) {
      kernels<double>().axpy(moved[q].cols(), 1.0, moved[q].row(k),
                             sums.row(k) + static_cast<Index>(q) * moved_width(z));
    }
  }
}

Bytes moved_sums_of_chunk(ChunkTask& task, Context& context) {
  const Centered z = task.centered();
  const auto clusters = task.shared.number<Index>();
  const auto before = take_numbers<int>(task.by_row, z.rows()), after = take_numbers<int>(task.by_row, z.rows());
  require(clusters >= 0 && clusters <= std::numeric_limits<int>::max(), ErrorCode::internal, clusters, " clusters");
  for (const auto* labels : {&before, &after}) {
    const bool sound = std::all_of(labels->begin(), labels->end(), [&](int k) { return k >= -1 && k < clusters; });
    require(sound, ErrorCode::internal, "a row of no such cluster, need -1..", clusters - 1);
  }
  require_memory(context, "move_rows", static_cast<std::uint64_t>(clusters * z.cols()) * sizeof(double));
  return Packer().put(moved_sums(z, before, after, clusters, context)).take();
}

// --- Copies of a few rows or columns -----------------------------------------------------------------------------

namespace {

// The source itself as a "centred" matrix with centre 0.
Centered uncentered(const Source& source) {
  return Centered(source, std::vector<double>(static_cast<std::size_t>(source.cols())), 1.0);
}

void copy_rows(const Centered& x, const Block& block, Index row0, Index rows, double* out) {
  if (!block.sparse) {
    load_tile(x, block, row0, rows, 0, x.cols(), out, x.cols());
    return;
  }
  const Index first = block.first + row0;
  for_each_shifted(x, block, row0, rows,
                   [&](Index row, Index j, double value) { out[(row - first) * x.cols() + j] = value; });
}

}  // namespace

std::vector<Index> sample_rows(Index n, Index count, std::uint64_t seed) {
  constexpr std::uint64_t kStream = 0x726f7773;  // its own stream of the seed
  const Random random(seed, kStream);
  std::vector<Index> rows(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) {
    const Index begin = i * n / count, end = (i + 1) * n / count;
    rows[static_cast<std::size_t>(i)] = begin + random.below(static_cast<std::uint64_t>(i), end - begin);
  }
  return rows;
}

Matrix gather_rows(const Source& source, const std::vector<Index>& rows, Context& context) {
  if (is_remote(source)) {
    const auto count = static_cast<Index>(rows.size());
    return RemoteRequest("gather_rows", source).with(rows).rows_of_all(count, source.cols(), context);
  }
  const Centered x = uncentered(source);
  Matrix out(static_cast<Index>(rows.size()), source.cols());
  const Index block_rows = source.store().block_rows();
  context.pool().run(source.store().block_count(), [&](Index b) {
    const auto begin = std::lower_bound(rows.begin(), rows.end(), b * block_rows);
    const auto end = std::lower_bound(begin, rows.end(), (b + 1) * block_rows);
    context.check_cancelled();
    for (auto at = begin; at != end; ++at) {
      copy_rows(x, source.store().some_rows(*at, 1), 0, 1, out.row(at - rows.begin()));
    }
  });
  return out;
}

Bytes gathered_rows_of_chunk(ChunkTask& task, Context& context) {
  std::vector<Index> own;
  for (const Index row : task.shared.list<Index>()) {
    if (row >= task.first && row < task.first + task.source.rows()) own.push_back(row - task.first);
  }
  return Packer().put(gather_rows(task.source, own, context)).take();
}

Matrix gather(const Source& source, Context& context) {
  const Centered x = uncentered(source);
  Matrix out(source.rows(), source.cols());
  for_each_piece(source, context, [&](const Block& block, Index row0, Index rows) {
    copy_rows(x, block, row0, rows, out.row(block.first + row0));
  });
  return out;
}

void load_rows(const Centered& z, Index first, Index count, double* out) {
  assert(!z.source().sparse());
  load_part(z, first, count, 0, z.cols(), out);
}

namespace {

// Rows of a store may come in any order of columns.
void sort_rows(Entries& entries) {
  std::vector<std::pair<std::int32_t, double>> row;
  for (std::size_t i = 0; i + 1 < entries.offsets.size(); ++i) {
    const auto begin = entries.offsets[i], end = entries.offsets[i + 1];
    if (std::is_sorted(entries.columns.begin() + begin, entries.columns.begin() + end)) continue;
    row.clear();
    for (Index k = begin; k < end; ++k) {
      row.emplace_back(entries.columns[static_cast<std::size_t>(k)], entries.values[static_cast<std::size_t>(k)]);
    }
    std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (Index k = begin; k < end; ++k) {
      std::tie(entries.columns[static_cast<std::size_t>(k)], entries.values[static_cast<std::size_t>(k)]) =
          row[static_cast<std::size_t>(k - begin)];
    }
  }
}

}  // namespace

Entries gather_entries(const Centered& z, Context& context) {
  assert(z.source().sparse());
  Entries out;
  out.offsets.assign(static_cast<std::size_t>(z.rows() + 1), 0);
  context.count_pass();
  for (Index b = 0; b < z.source().store().block_count(); ++b) {
    context.check_cancelled();
    const Block block = z.source().store().block(b);
    for_each_shifted(z, block, 0, block.rows, [&](Index row, Index j, double value) {
      out.columns.push_back(static_cast<std::int32_t>(j));
      out.values.push_back(value);
      ++out.offsets[static_cast<std::size_t>(row + 1)];
    });
  }
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  sort_rows(out);
  return out;
}

Entries transposed(const Entries& entries, Index cols) {
  Entries out;
  out.offsets.assign(static_cast<std::size_t>(cols + 1), 0);
  for (const std::int32_t j : entries.columns) ++out.offsets[static_cast<std::size_t>(j) + 1];
  std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
  out.columns.resize(entries.columns.size());
  out.values.resize(entries.values.size());
  std::vector<Index> next(out.offsets.begin(), out.offsets.end() - 1);
  for (std::size_t i = 0; i + 1 < entries.offsets.size(); ++i) {
    for (auto k = static_cast<std::size_t>(entries.offsets[i]); k < static_cast<std::size_t>(entries.offsets[i + 1]);
         ++k) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(entries.columns[k])]++);
      out.columns[at] = static_cast<std::int32_t>(i);
      out.values[at] = entries.values[k];
    }
  }
  return out;
}

std::vector<std::uint64_t> column_fingerprints(const Source& source, Context& context) {
  using Prints = std::vector<std::uint64_t>;
  const Centered x = uncentered(source);
  context.count_pass();
  return reduce_blocks<Prints>(
      source.store(), context,
      [&](const Block& block) {
        Prints prints(static_cast<std::size_t>(source.cols()));
        const auto add = [&](Index row, Index j, double value) {
          if (value == 0) return;  // sparse and dense twins agree
          int exponent = 0;
          const auto digits =
              static_cast<std::uint64_t>(static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53)));
          prints[static_cast<std::size_t>(j)] += mix64(digits ^ mix64(static_cast<std::uint64_t>(row)));
        };
        if (block.sparse) {
          for_each_shifted(x, block, 0, block.rows, add);
          return prints;
        }
        std::vector<double> values(static_cast<std::size_t>(x.cols()));
        for (Index i = 0; i < block.rows; ++i) {
          load_tile(x, block, i, 1, 0, x.cols(), values.data(), x.cols());
          for (std::size_t j = 0; j < values.size(); ++j) add(block.first + i, static_cast<Index>(j), values[j]);
        }
        return prints;
      },
      [](Prints& into, Prints&& from) {
        for (std::size_t j = 0; j < into.size(); ++j) into[j] += from[j];
      });
}

std::vector<double> row_squared_norms(const Source& source, Context& context) {
  const Centered x = uncentered(source);
  std::vector<double> out(static_cast<std::size_t>(source.rows()));
  for_each_piece(source, context, [&](const Block& block, Index row0, Index rows) {
    if (block.sparse) {
      for_each_shifted(x, block, row0, rows,
                       [&](Index row, Index, double value) { out[static_cast<std::size_t>(row)] += value * value; });
      return;
    }
    std::vector<double> row(static_cast<std::size_t>(x.cols()));
    for (Index i = 0; i < rows; ++i) {
      load_tile(x, block, row0 + i, 1, 0, x.cols(), row.data(), x.cols());
      for (const double value : row) out[static_cast<std::size_t>(block.first + row0 + i)] += value * value;
    }
  });
  return out;
}

}  // namespace tamis
