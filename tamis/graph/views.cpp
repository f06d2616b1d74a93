#include "tamis/graph/views.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tamis/data/passes/passes.h"
#include "tamis/graph/all_pairs.h"

namespace tamis {

namespace {

constexpr Index kSharedCols = 4096;  // past so many columns products in float say too little
constexpr double kFarFromZero = 32;  // squared distance of the mean from 0, in mean squared distances of rows from it
constexpr double kLeastLength = 0x1p-40, kMostLength = 0x1p40;  // of rows, in the unit of the data

// f(j) summed over [begin, end) in eight lanes.
template <class Term>
double sum_in_lanes(Index begin, Index end, Term term) {
  double lanes[8] = {};
  Index j = begin;
  for (; j + 8 <= end; j += 8) {
    for (Index lane = 0; lane < 8; ++lane) lanes[lane] += term(j + lane);
  }
  for (; j < end; ++j) lanes[0] += term(j);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

double square(double value) { return value * value; }

// The table in the unit of its moments, columns of the first half first.
struct SharedRows {
  Matrix x;
  std::vector<double> mean, scale;  // 1 / deviation
  std::vector<Index> ends;          // of the stretches of columns
};

SharedRows shared_rows(const Source& source, const std::vector<char>& half, Context& context) {
  const ColumnMoments moments = column_moments(source, context);
  SharedRows out{gather(source, context), {}, {}, {}};
  std::vector<Index> order;
  for (const char which : {char{0}, char{1}}) {
    for (Index j = 0; j < source.cols(); ++j) {
      if (half.empty() ? which == 0 : half[j] == which) order.push_back(j);
    }
    if (half.empty() || which == 1 || order.size() < half.size()) out.ends.push_back(static_cast<Index>(order.size()));
    if (half.empty()) break;
  }
  for (const Index j : order) {
    out.mean.push_back(moments.mean[j] / moments.unit);
    out.scale.push_back(1 / std::sqrt(moments.scatter[j] / static_cast<double>(moments.rows)));
  }
  context.pool().run((out.x.rows() + kPairTile - 1) / kPairTile, [&](Index tile) {
    std::vector<double> row(order.size());
    for (Index i = tile * kPairTile; i < std::min((tile + 1) * kPairTile, out.x.rows()); ++i) {
      for (std::size_t k = 0; k < order.size(); ++k) row[k] = out.x(i, order[k]) / moments.unit;
      std::copy(row.begin(), row.end(), out.x.row(i));
    }
  });
  return out;
}

// Stretches of columns of which there is a search.
struct Part {
  std::vector<Index> stretches;
  Index begin, end;
};

std::vector<Part> parts_of(const std::vector<Index>& ends) {
  if (ends.size() == 1) return {{{0}, 0, ends[0]}};
  return {{{0, 1}, 0, ends[1]}, {{0}, 0, ends[0]}, {{1}, ends[0], ends[1]}};
}

// What makes `distance` for every task.
template <class Distance>
std::function<std::function<double(Index, Index)>()> for_every_task(Distance distance) {
  return [distance] { return std::function<double(Index, Index)>(distance); };
}

class SharedSearch {
 public:
  SharedSearch(const SharedRows& rows, Index count, Context& context)
      : rows_(rows), parts_(parts_of(rows.ends)), context_(context), found_(parts_.size()) {
    for (ViewNeighbors& views : found_) {
      for (Neighbors& found : views) {
        found.count = std::min(count, rows.x.rows() - 1);
        found.index.resize(rows.x.rows() * found.count);
        found.distance.resize(found.index.size());
      }
    }
    lengths_.resize(parts_.size());
    for (std::size_t p = 0; p < parts_.size(); ++p)
      lengths_[p] = squares(parts_[p], [&](Index i, Index j) { return x(i, j); });
  }

  // Whether products of the rows as they are say enough.
  bool can_share() const {
    for (const Part& part : parts_) {
      double offset = 0, spread = 0;
      for (Index j = part.begin; j < part.end; ++j) {
        offset += square(rows_.mean[j]);
        spread += square(1 / rows_.scale[j]);
      }
      if (!(offset <= kFarFromZero * spread)) return false;
    }
    for (const std::vector<double>& part : lengths_) {
      for (const double length : part) {
        if (length != 0 && !(length >= square(kLeastLength) && length <= square(kMostLength))) return false;
      }
    }
    return true;
  }

  std::vector<ViewNeighbors> run() {
    as_they_are();
    unit_deviations();
    return std::move(found_);
  }

 private:
  double x(Index i, Index j) const { return rows_.x(i, j); }

  template <class Value>
  std::vector<double> squares(const Part& part, Value value) const {
    std::vector<double> out(rows_.x.rows());
    context_.pool().run((rows_.x.rows() + kPairTile - 1) / kPairTile, [&](Index tile) {
      for (Index i = tile * kPairTile; i < std::min((tile + 1) * kPairTile, rows_.x.rows()); ++i) {
        out[i] = sum_in_lanes(part.begin, part.end, [&](Index j) { return square(value(i, j)); });
      }
    });
    return out;
  }

  PairDistance distance_in(std::size_t p, std::size_t view) {
    PairDistance out;
    out.stretches = parts_[p].stretches;
    out.rounding = rounding_of_panels<float>(rows_.x.cols());
    out.underflow = underflow_of_products<float>(rows_.x.cols());
    out.found = &found_[p][view];
    out.ordered = false;
    return out;
  }

  // Distances of the rows, and of the rows at unit length.
  void as_they_are() {
    std::vector<PairDistance> distances;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const Part& part = parts_[p];
      PairDistance plain = distance_in(p, 0), unit = distance_in(p, 2);
      plain.square = lengths_[p];
      plain.exact = for_every_task([this, &part](Index i, Index j) {
        const double *a = rows_.x.row(i), *b = rows_.x.row(j);
        return sum_in_lanes(part.begin, part.end, [&](Index k) { return square(a[k] - b[k]); });
      });
      double most = 1;
      for (const double length : lengths_[p]) {
        unit.square.push_back(length > 0 ? 1 : 0);
        unit.factor.push_back(length > 0 ? 1 / std::sqrt(length) : 1);
        most = std::max(most, unit.factor.back());
      }
      unit.underflow *= most * most;
      unit.exact = for_every_task([this, &part, factor = unit.factor](Index i, Index j) {
        const double *a = rows_.x.row(i), *b = rows_.x.row(j), f = factor[i], g = factor[j];
        return sum_in_lanes(part.begin, part.end, [&](Index k) { return square(a[k] * f - b[k] * g); });
      });
      distances.push_back(std::move(plain));
      distances.push_back(std::move(unit));
    }
    search([&](Index i, Index j) { return x(i, j); }, std::move(distances));
  }

  void unit_deviations() {
    const auto value = [&](Index i, Index j) { return (x(i, j) - rows_.mean[j]) * rows_.scale[j]; };
    std::vector<PairDistance> distances;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const Part& part = parts_[p];
      PairDistance one = distance_in(p, 1);
      one.square = squares(part, value);
      one.exact = for_every_task([this, &part](Index i, Index j) {
        const double *a = rows_.x.row(i), *b = rows_.x.row(j), *scale = rows_.scale.data();
        return sum_in_lanes(part.begin, part.end, [&](Index k) { return square((a[k] - b[k]) * scale[k]); });
      });
      distances.push_back(std::move(one));
    }
    search(value, std::move(distances));
  }

  template <class Value>
  void search(Value value, std::vector<PairDistance> distances) {
    const PanelRows<float> panels(
        rows_.x.rows(), rows_.x.cols(), true,
        [&](Index first, Index count, Index col0, Index cols, float* out) {
          for (Index i = 0; i < count; ++i) {
            for (Index j = 0; j < cols; ++j) out[i * cols + j] = static_cast<float>(value(first + i, col0 + j));
          }
        },
        context_);
    AllPairs<float>(panels, rows_.ends, std::move(distances)).run(context_);
  }

  const SharedRows& rows_;
  const std::vector<Part> parts_;
  Context& context_;
  std::vector<ViewNeighbors> found_;
  std::vector<std::vector<double>> lengths_;  // of the rows, squared, in each part
};

}  // namespace

bool shares_views(Index rows, Index cols, bool sparse) {
  return !sparse && cols <= kSharedCols && PanelRows<float>::packs_once(rows, cols);
}

std::optional<std::vector<ViewNeighbors>> nearest_in_views(const Source& source, const std::vector<char>& half,
                                                           Index count, Context& context) {
  if (!shares_views(source.rows(), source.cols(), source.sparse()) || source.weighted()) return std::nullopt;
  context.phase("nearest rows");
  const SharedRows rows = shared_rows(source, half, context);
  SharedSearch search(rows, count, context);
  if (!search.can_share()) return std::nullopt;
  return search.run();
}

}  // namespace tamis
