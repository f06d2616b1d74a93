// column_moments and count_not_finite of passes.h.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tamis/base/error.h"
#include "tamis/base/text/spelling.h"
#include "tamis/data/passes/pass.h"
#include "tamis/data/passes/taken_rows.h"
#include "tamis/data/passes/tile.h"
#include "tamis/data/stores/sparse_rows.h"
#include "tamis/data/weights.h"
#include "tamis/linalg/kernels.h"

namespace tamis {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct Position {
  Index row = -1, column = -1;
  double value = 0;
  bool found() const { return row >= 0; }
};

// Centered statistics of some rows; values are relative to a reference row where dense.
struct Partial {
  explicit Partial(Index d = 0, bool weighted = false)
      : count(d),
        mass(weighted ? d : 0),
        weighed(mass.size()),
        mean(count.size()),
        scatter(count.size()),
        low(count.size(), kInf),
        high(count.size(), -kInf) {}
  std::vector<Index> count;    // entries
  std::vector<double> mass;    // their weights together; empty where rows have none: count
  std::vector<Index> weighed;  // those whose weight is not 0; empty as mass
  std::vector<double> mean, scatter, low, high;
  Position bad;
  TakenRows rows;  // those that were asked for

  template <class Archive>
  void exchange(Archive& archive) {
    archive(count), archive(mass), archive(weighed);
    archive(mean), archive(scatter), archive(low), archive(high), archive(bad);
    rows.exchange(archive);
    require_counts(count), require_counts(weighed);
    const bool sound = mass.size() == weighed.size() && (mass.empty() || mass.size() == count.size());
    require(sound, ErrorCode::internal, "moments of ", mass.size(), " weighted columns, need ", count.size());
    for (const auto* values : {&mean, &scatter, &low, &high}) {
      require(values->size() == count.size(), ErrorCode::internal, "moments of ", values->size(), " columns, need ",
              count.size());
    }
  }
};

// Entries of one column: how many, how many of them weigh anything, and how much together.
struct Amount {
  Index count, weighed;
  double mass;
};
Amount amount_of(const Partial& partial, std::size_t j) {
  const Index count = partial.count[j];
  if (partial.mass.empty()) return {count, count, static_cast<double>(count)};
  return {count, partial.weighed[j], partial.mass[j]};
}

// Chan, Golub & LeVeque: the statistics of the union from those of its two parts.
void merge_column(Partial& into, std::size_t j, const Amount& from, double mean, double scatter) {
  const double na = amount_of(into, j).mass, nb = from.mass, delta = mean - into.mean[j];
  into.count[j] += from.count;
  if (nb == 0) return;
  into.mean[j] += delta * (nb / (na + nb));
  into.scatter[j] += scatter + delta * delta * (na * nb / (na + nb));
  if (into.mass.empty()) return;
  into.mass[j] += nb;
  into.weighed[j] += from.weighed;
}

void merge(Partial& into, Partial&& from) {
  require(into.mean.size() == from.mean.size() && into.mass.size() == from.mass.size(), ErrorCode::internal,
          "moments of ", into.mean.size(), " and ", from.mean.size(), " columns");
  for (std::size_t j = 0; j < into.mean.size(); ++j) {
    merge_column(into, j, amount_of(from, j), from.mean[j], from.scatter[j]);
    into.low[j] = std::min(into.low[j], from.low[j]);
    into.high[j] = std::max(into.high[j], from.high[j]);
  }
  if (!into.bad.found()) into.bad = from.bad;
  append(into.rows, std::move(from.rows));
}

// What is stored in a row of a block.
double value_at(const Block& block, Index row, Index column) {
  if (!block.sparse) return element(block.dense, row, column);
  const CsrView& csr = block.csr;
  const std::int32_t* first = csr.columns + csr.offsets[row];
  const std::int32_t* last = csr.columns + csr.offsets[row + 1];
  const Index entry = std::lower_bound(first, last, static_cast<std::int32_t>(column)) - csr.columns;
  return csr.value(entry);
}

Position first_not_finite(const Source& source, const Block& block) {
  for (Index i = 0; i < block.rows; ++i) {
    for (Index j = 0; j < source.cols(); ++j) {
      const Index column = source.columns()[j];
      const double value = value_at(block, i, column);
      if (!std::isfinite(value)) return {block.first + i, column, value};
    }
  }
  return {};
}

// The union of the statistics of `before` rows with those of one tile of `rows`, from column col0 on: merge_column()
// where all columns count the same.
void merge_tile(Partial& into, Index before, Index rows, Index col0, const std::vector<double>& mean,
                const std::vector<double>& scatter, Index cols) {
  const auto na = static_cast<double>(before), nb = static_cast<double>(rows);
  const double share = nb / (na + nb), weight = na * nb / (na + nb);
  double* into_mean = into.mean.data() + col0;
  double* into_scatter = into.scatter.data() + col0;
  for (Index j = 0; j < cols; ++j) {
    const double delta = mean[j] - into_mean[j];
    into_mean[j] += delta * share;
    into_scatter[j] += scatter[j] + delta * delta * weight;
  }
  std::fill_n(into.count.begin() + col0, cols, before + rows);
}

// The columns of tiles of rows, relative to the center: where they lie if that can be, in runs of neighbors, else
// copied.
class TileColumns {
 public:
  TileColumns(const Centered& z, const Block& block)
      : z_(z), block_(block), in_place_(can_stay(z, block)), tile_(in_place_ ? 0 : kTileRows * widest(z)) {}

  // visit(first column, columns) for each stretch of [col0, col0 + cols).
  template <class Visit>
  void for_each_run(Index row0, Index rows, Index col0, Index cols, Visit visit) {
    if (!in_place_) {
      load_tile(z_, block_, row0, rows, col0, cols, tile_.data(), cols);
      visit(col0, RowsOfColumns{tile_.data(), DType::f64, cols, rows, cols, nullptr, nullptr});
      return;
    }
    for (Index j = col0; j < col0 + cols;) {
      const Index end = std::min(z_.run_end(j), col0 + cols);
      visit(j, run_of(z_, block_, row0, rows, j, end - j));
      j = end;
    }
  }

 private:
  static Index widest(const Centered& z) { return std::min(z.cols(), kTileCols); }
  static bool can_stay(const Centered& z, const Block& block) {
    const DenseView& view = block.dense;
    return view.col_stride == 1 && z.source().row_scale().empty() &&
           (view.dtype == DType::f32 || view.dtype == DType::f64);
  }

  const Centered& z_;
  const Block& block_;
  const bool in_place_;
  std::vector<double> tile_;
};

// visit(first row, rows, first column, columns) for each tile of a block.
template <class Visit>
void for_each_tile(Index rows, Index cols, Visit visit) {
  for (Index col0 = 0; col0 < cols; col0 += kTileCols) {
    for (Index row0 = 0; row0 < rows; row0 += kTileRows) {
      visit(row0, std::min(kTileRows, rows - row0), col0, std::min(kTileCols, cols - col0));
    }
  }
}

// The same of a tile of rows with weights. Those of weight 0 add nothing but what is not finite.
void add_weighted_tile(const double* tile, const double* weights, Index rows, Index cols, Index col0,
                       std::vector<double>& mean, std::vector<double>& scatter, Partial& out) {
  mean.assign(cols, 0.0);
  scatter.assign(cols, 0.0);
  Amount amount{rows, 0, 0.0};
  for (Index i = 0; i < rows; ++i) {
    const double* row = tile + i * cols;
    const double w = weights[i];
    for (Index j = 0; j < cols; ++j) mean[j] += w * row[j];
    if (w == 0) continue;
    amount.mass += w;
    ++amount.weighed;
    for (Index j = 0; j < cols; ++j) {
      out.low[col0 + j] = std::min(row[j], out.low[col0 + j]);
      out.high[col0 + j] = std::max(row[j], out.high[col0 + j]);
    }
  }
  if (amount.mass > 0) {
    for (auto& value : mean) value /= amount.mass;
  }
  for (Index i = 0; i < rows; ++i) {
    if (weights[i] == 0) continue;
    for (Index j = 0; j < cols; ++j) {
      const double delta = tile[i * cols + j] - mean[j];
      scatter[j] += weights[i] * delta * delta;
    }
  }
  for (Index j = 0; j < cols; ++j) {
    if (std::isnan(mean[j])) out.mean[col0 + j] = mean[j];
    merge_column(out, col0 + j, amount, mean[j], scatter[j]);
  }
}

void add_weighted(const Centered& relative, const Block& block, Partial& out) {
  const Index d = relative.cols();
  std::vector<double> tile(kTileRows * std::min(d, kTileCols)), mean, scatter;
  for_each_tile(block.rows, d, [&](Index row0, Index rows, Index col0, Index cols) {
    load_tile(relative, block, row0, rows, col0, cols, tile.data(), cols);
    const double* weights = relative.source().weights().data() + block.first + row0;
    add_weighted_tile(tile.data(), weights, rows, cols, col0, mean, scatter, out);
  });
}

void add_unweighted(const Centered& relative, const Block& block, Partial& out) {
  const Index d = relative.cols();
  TileColumns columns(relative, block);
  std::vector<double> mean(std::min(d, kTileCols)), scatter(mean.size());
  for_each_tile(block.rows, d, [&](Index row0, Index rows, Index col0, Index cols) {
    columns.for_each_run(row0, rows, col0, cols, [&](Index j, const RowsOfColumns& x) {
      kernels<double>().column_sums(
          x, {mean.data() + (j - col0), scatter.data() + (j - col0), out.low.data() + j, out.high.data() + j});
    });
    merge_tile(out, row0, rows, col0, mean, scatter, cols);
  });
}

Partial dense_partial(const Centered& relative, const Block& block) {
  const bool weighted = relative.source().weighted();
  Partial out(relative.cols(), weighted);
  weighted ? add_weighted(relative, block, out) : add_unweighted(relative, block, out);
  const bool finite = std::all_of(out.mean.begin(), out.mean.end(), [](double m) { return std::isfinite(m); });
  if (!finite) out.bad = first_not_finite(relative.source(), block);
  return out;
}

Partial sparse_partial(const Source& source, const std::vector<std::int32_t>& position,
                       const std::vector<double>& reference, const Block& block) {
  Partial out(source.cols(), source.weighted());
  for_each_entry(source, position, block, [&](Index row, Index j, double entry) {
    if (!std::isfinite(entry) && !out.bad.found()) {
      const Index column = source.columns()[j];
      out.bad = {row, column, value_at(block, row - block.first, column)};
    }
    const double value = entry - reference[j];
    // Welford's update.
    const double delta = value - out.mean[j];
    ++out.count[j];
    if (source.weighted()) {
      const double w = source.weights()[row];
      if (w == 0) return;
      ++out.weighed[j];
      out.mean[j] += delta * (w / (out.mass[j] += w));
      out.scatter[j] += w * delta * (value - out.mean[j]);
    } else {
      out.mean[j] += delta / static_cast<double>(out.count[j]);
      out.scatter[j] += delta * (value - out.mean[j]);
    }
    out.low[j] = std::min(out.low[j], value);
    out.high[j] = std::max(out.high[j], value);
  });
  return out;
}

// Rows that are not stored are zeros: merge them in as a part without scatter.
void add_zeros(Partial& out, const Source& source, const std::vector<double>& reference) {
  const bool weighted = source.weighted();
  const Index weighed = weighted ? count_weighted(source.weights()) : source.rows();
  const double mass = weighted ? total_weight(source.weights()) : static_cast<double>(source.rows());
  for (std::size_t j = 0; j < out.mean.size(); ++j) {
    const Amount stored = amount_of(out, j);
    const Amount zeros{source.rows() - stored.count, weighed - stored.weighed, std::max(0.0, mass - stored.mass)};
    if (zeros.weighed == 0) continue;
    const double zero = -reference[j];
    merge_column(out, j, zeros, zero, 0.0);
    out.low[j] = std::min(out.low[j], zero);
    out.high[j] = std::max(out.high[j], zero);
  }
}

void rescale(Partial& partial, double factor) {
  for (std::size_t j = 0; j < partial.mean.size(); ++j) {
    partial.mean[j] *= factor;
    partial.low[j] *= factor;
    partial.high[j] *= factor;
    partial.scatter[j] *= factor * factor;
  }
}

double widest_range(const Partial& partial) {
  double widest = 0;
  for (std::size_t j = 0; j < partial.low.size(); ++j) {
    const double range = partial.high[j] / 2 - partial.low[j] / 2;
    widest = std::max(widest, std::min(range, std::numeric_limits<double>::max()));
  }
  return widest;
}

// A power of two near the widest range, where that is far from 1: squares of the data then stay in the range of
// double, and the data themselves in that of float.
double unit_for(double widest) {
  const bool ordinary = widest == 0 || (widest < 0x1p20 && widest > 0x1p-20);
  return ordinary ? 1.0 : std::ldexp(1.0, std::clamp(std::ilogb(widest) + 1, -1000, 1000));
}

std::vector<double> inverse(const std::vector<double>& values, Index count) {
  std::vector<double> out(count, 1.0);
  for (std::size_t j = 0; j < values.size(); ++j) out[j] = values[j] == 0 ? 0 : 1 / values[j];
  return out;
}

// What column_moments needs besides the partial: the reference row and the factor on the columns.
ColumnMoments finish(const Source& source, const Partial& partial, const std::vector<double>& reference, double unit) {
  const Index d = source.cols();
  ColumnMoments out{source.rows(),
                    total_weight(source.weights()),
                    unit,
                    std::vector<double>(d),
                    partial.scatter,
                    std::vector<double>(d),
                    std::vector<double>(d),
                    std::vector<char>(d),
                    {}};
  for (Index j = 0; j < d; ++j) {
    const double scale = source.column_scale().empty() ? 1.0 : source.column_scale()[j];
    const auto natural = [&](double value) { return reference[j] * scale + value * unit; };
    out.mean[j] = natural(partial.mean[j]);
    out.min[j] = natural(partial.low[j]);
    out.max[j] = natural(partial.high[j]);
    out.varying[j] = partial.low[j] < partial.high[j];
  }
  return out;
}

Index first_that_counts(const Source& source) {
  const std::vector<double>& weights = source.weights();
  return weights.empty() ? 0 : std::ranges::find_if(weights, [](double w) { return w > 0; }) - weights.begin();
}

// The first row that counts stands for the offset (before the columns' scale): differences from it are exact where the
// offset is large, and no value of a column is farther than sqrt(n) standard deviations from another.
std::vector<double> reference_row(const Source& source, Context& context) {
  if (source.rows() == 0) return std::vector<double>(source.cols());
  const Source unscaled = source.sparse() ? source.with_column_scale(inverse(source.column_scale(), source.cols()))
                                          : source.without_column_scale();
  const Matrix row = gather_rows(unscaled, {first_that_counts(source)}, context);
  return {row.data(), row.data() + row.size()};
}

// The reference as it is subtracted from scaled entries.
std::vector<double> scaled_by(std::vector<double> reference, const std::vector<double>& scale) {
  for (std::size_t j = 0; j < scale.size(); ++j) reference[j] *= scale[j];
  return reference;
}

// Of rows of each column.
bool are_counts(const std::vector<Index>& counts, const Source& source) {
  return static_cast<Index>(counts.size()) == source.cols() &&
         std::ranges::all_of(counts, [&](Index n) { return n >= 0 && n <= source.rows(); });
}

// The statistics of what is stored, relative to the reference, in `unit`; and the given rows.
class MomentsPass {
 public:
  static constexpr const char* kName = "moments";
  static constexpr Index kReadings = 1;
  using Result = Partial;

  MomentsPass(const Source& source, const std::vector<double>& reference, double unit, const std::vector<Index>& rows,
              Index first = 0)
      : source_(source),
        reference_(reference),
        unit_(unit),
        rows_(rows),
        first_(first),
        relative_(source, reference, unit),
        scaled_reference_(scaled_by(reference, relative_.scale())),
        scaled_(source.with_column_scale(std::vector<double>(reference.size(), 1.0 / unit))) {}
  auto given() const {
    return std::tuple<const Source&, const std::vector<double>&, double, RowList, FirstRow>(
        source_, reference_, unit_, RowList{rows_}, FirstRow{first_});
  }

  Partial partial(const Block& block) const {
    Partial out = block.sparse ? sparse_partial(scaled_, relative_.position(), scaled_reference_, block)
                               : dense_partial(relative_, block);
    if (out.bad.found()) out.bad.row += first_;
    out.rows = rows_of_block(source_, block, rows_);
    return out;
  }

  static void merge(Partial& into, Partial&& from) { tamis::merge(into, std::move(from)); }
  bool fits(const Partial& sum) const {
    const bool weighted = source_.weighted();
    return are_counts(sum.count, source_) && (!weighted || are_counts(sum.weighed, source_)) &&
           sum.mass.empty() != weighted && taken_fit(sum.rows, source_, rows_.size());
  }

  const std::vector<double>& scaled_reference() const { return scaled_reference_; }

 private:
  const Source& source_;
  const std::vector<double>& reference_;
  const double unit_;
  const std::vector<Index>& rows_;
  const Index first_;
  const Centered relative_;
  const std::vector<double> scaled_reference_;
  const Source scaled_;
};

// The statistics, zeros that are not stored included. `stored` counts entries.
Partial collect(const Source& source, const std::vector<double>& reference, double unit, const std::vector<Index>& rows,
                std::vector<Index>& stored, Context& context) {
  const MomentsPass pass(source, reference, unit, rows);
  Partial out = reduce(pass, context);
  stored = out.count;
  if (source.sparse()) add_zeros(out, source, pass.scaled_reference());
  return out;
}

// How many numbers are like the one that is refused, and what helps where they can be changed: dense and in memory.
Message others_like(const Position& bad, const Source& source, Context& context) {
  if (!std::isnan(bad.value) || source.sparse() || !source.store().in_memory()) return {};
  const std::vector<Index> counts = count_not_finite(source, context);
  const Index values = std::accumulate(counts.begin(), counts.end(), Index{0});
  const auto columns = std::count_if(counts.begin(), counts.end(), [](Index count) { return count > 0; });
  return message(" (", counted(values, "value"), values == 1 ? " is" : " are", " missing or infinite, in ", columns,
                 " of ", counted(std::ssize(counts), "column"), "; ", Flag{"missing", "mean"},
                 ", median or drop-columns handles NaN)");
}

void require_finite(const Position& bad, const Source& source, Context& context) {
  if (!bad.found()) return;
  fail(ErrorCode::bad_data, "row ", bad.row, ", column ", bad.column, ": ",
       std::isnan(bad.value) ? "NaN"
       : bad.value < 0       ? "-inf"
                             : "inf",
       ", need finite numbers", others_like(bad, source, context));
}

}  // namespace

double ColumnMoments::variance(Index j) const { return scatter[j] * unit * unit / degrees(); }

double ColumnMoments::degrees() const {
  return weight > 0 ? weighted_degrees(weight) : static_cast<double>(std::max<Index>(rows - 1, 1));
}

namespace {

ColumnMoments compute_moments(const Source& source, const std::vector<Index>& rows, TakenRows& taken,
                              Context& context) {
  const std::vector<double> reference = reference_row(source, context);
  std::vector<Index> stored;
  for (std::size_t j = 0; j < reference.size(); ++j) {
    if (std::isfinite(reference[j])) continue;
    require_finite({first_that_counts(source), source.columns()[j], reference[j]}, source, context);
  }
  Partial partial = collect(source, reference, 1.0, rows, stored, context);
  require_finite(partial.bad, source, context);
  taken = std::move(partial.rows);
  for (std::size_t j = 0; j < reference.size(); ++j) {
    require(std::isfinite(partial.mean[j]), ErrorCode::bad_data, "column ", source.columns()[j],
            ": values so large that their differences overflow: scale the data");
  }
  const double widest = widest_range(partial), unit = unit_for(widest);
  if (widest > 1e100 || (widest > 0 && widest < 1e-100)) {
    partial = collect(source, reference, unit, {}, stored, context);  // the squares of the first pass are lost
  } else if (unit != 1.0) {
    rescale(partial, 1.0 / unit);
  }
  ColumnMoments out = finish(source, partial, reference, unit);
  out.stored = std::move(stored);
  return out;
}

}  // namespace

ColumnMoments column_moments(const Source& source, Context& context) {
  TakenRows none;
  moments_and_rows(source, {}, none, context);
  return *source.memo().moments;
}

bool moments_and_rows(const Source& source, const std::vector<Index>& rows, TakenRows& taken, Context& context) {
  MomentsMemo& memo = source.memo();
  const std::lock_guard lock(memo.mutex);
  if (memo.moments) return false;
  memo.moments = std::make_shared<const ColumnMoments>(compute_moments(source, rows, taken, context));
  return true;
}

namespace {

class NotFinitePass {
 public:
  static constexpr const char* kName = "count_not_finite";
  static constexpr Index kReadings = 1;
  using Result = std::vector<Index>;

  explicit NotFinitePass(const Source& source) : source_(source), position_(column_positions(source)) {}
  auto given() const { return std::tie(source_); }

  Result partial(const Block& block) const {
    Result counts(source_.cols());
    const auto look = [&](Index, Index j, double value) { counts[j] += !std::isfinite(value); };
    if (block.sparse) {
      for_each_entry(source_, position_, block, look);
      return counts;
    }
    for (Index i = 0; i < block.rows; ++i) {
      for (Index j = 0; j < source_.cols(); ++j) {
        look(i, j, element(block.dense, i, source_.columns()[j]));
      }
    }
    return counts;
  }

  static void merge(Result& into, Result&& from) { add_counts(into, from); }
  bool fits(const Result& counts) const { return are_counts(counts, source_); }

 private:
  const Source& source_;
  const std::vector<std::int32_t> position_;
};

}  // namespace

std::vector<Index> count_not_finite(const Source& source, Context& context) {
  return reduce(NotFinitePass(source), context);
}

std::vector<WirePass> moments_passes() { return {wire_pass<MomentsPass>(), wire_pass<NotFinitePass>()}; }

}  // namespace tamis
