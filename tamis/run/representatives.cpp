#include "tamis/run/representatives.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/base/text/spelling.h"
#include "tamis/data/scale.h"
#include "tamis/data/weights.h"
#include "tamis/linalg/blas.h"

namespace tamis {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kRepeated = 1e-10;  // what is left of a selected column that others repeat
constexpr double kTied = 1e-9;       // of the largest coefficient; between correlations
constexpr Index kGroupRows = 2048;   // an |r| of .8 has a deviation of .008 there,
constexpr Index kLeastRows = 512;    // and of .016 there
constexpr Index kLeaders = 64;       // columns that are compared with all others together
constexpr Index kOthers = 512;       // of these others
constexpr double kSingle = 2.5e-4;   // above what single precision loses of a product of kGroupRows numbers

constexpr double kMostSampled = 1e6;  // numbers, where that leaves enough rows

// A few seconds of one core at most, and 32 MB.
constexpr double kMostProducts = 1e11, kMostPairs = 2e10, kMostNumbers = 4e6, kMostSolved = 4e9;

using Matrix32 = BasicMatrix<float>;

struct Standing {
  Centered z;
  ColumnMoments moments;
};

// Correlations of all columns with `columns` (increasing); 0 where one does not vary.
Matrix correlations_with(const Standing& x, const std::vector<Index>& columns, Context& context) {
  Matrix out = gram_with(x.z, columns, context);
  for (Index j = 0; j < out.rows(); ++j) {
    for (Index s = 0; s < out.cols(); ++s) {
      const double norm = std::sqrt(x.moments.scatter[j]) * std::sqrt(x.moments.scatter[columns[s]]);
      out(j, s) = norm > 0 ? std::clamp(out(j, s) / norm, -1.0, 1.0) : 0;
    }
  }
  return out;
}

// Positions in `order` (of columns of `r`, each at its row rows[s]) of those that the ones before do not explain.
std::vector<Index> independent(const Matrix& r, const std::vector<Index>& rows, const std::vector<Index>& order) {
  std::vector<Index> kept;
  std::vector<std::vector<double>> factor;  // rows of L, of r(kept, kept) = LL'
  for (const Index s : order) {
    std::vector<double> y;
    double rest = r(rows[s], s);
    for (std::size_t t = 0; t < kept.size(); ++t) {
      double sum = r(rows[s], kept[t]);
      for (std::size_t i = 0; i < t; ++i) sum -= factor[t][i] * y[i];
      y.push_back(sum / factor[t][t]);
      rest -= y.back() * y.back();
    }
    if (rest <= kRepeated) continue;
    y.push_back(std::sqrt(rest));
    factor.push_back(std::move(y));
    kept.push_back(s);
  }
  return kept;
}

// The coefficients of every column (one each) on the columns `kept` of r.
Matrix coefficients(const Matrix& r, const std::vector<Index>& rows, const std::vector<Index>& kept, Context& context) {
  const auto k = static_cast<Index>(kept.size());
  Matrix among(k, k), out(k, r.rows());
  for (Index a = 0; a < k; ++a) {
    for (Index b = 0; b < k; ++b) among(a, b) = r(rows[kept[a]], kept[b]);
    for (Index j = 0; j < r.rows(); ++j) out(a, j) = r(j, kept[a]);
  }
  require(blas::cholesky(k, among.data()), ErrorCode::internal, "redundancy: dependent columns");
  context.pool().run((r.rows() + kOthers - 1) / kOthers, [&](Index q) {
    const Index first = q * kOthers, count = std::min(kOthers, r.rows() - first);
    Matrix piece(k, count);
    for (Index a = 0; a < k; ++a) std::copy_n(out.row(a) + first, count, piece.row(a));
    blas::cholesky_solve(k, count, among.data(), piece.data());
    for (Index a = 0; a < k; ++a) std::copy_n(piece.row(a), count, out.row(a) + first);
  });
  return out;
}

// R^2 and representatives from the correlations r with the selected columns, which are sorted; `order` are their
// positions by rank.
void represent(const Matrix& r, const std::vector<Index>& sorted, const std::vector<Index>& order,
               const ColumnMoments& moments, Redundancy& out, Context& context) {
  const Index d = r.rows();
  out.r2.assign(d, kNone), out.correlation.assign(d, kNone), out.representative.assign(d, -1);
  std::vector<Index> varying;
  for (const Index s : order) {
    if (moments.varies(sorted[s]) && moments.scatter[sorted[s]] > 0) varying.push_back(s);
  }
  const std::vector<Index> kept = independent(r, sorted, varying);
  const Matrix b = coefficients(r, sorted, kept, context);
  for (Index j = 0; j < d; ++j) {
    if (!moments.varies(j)) continue;
    double explained = 0;
    Index best = 0;
    for (Index a = 0; a < b.rows(); ++a) {
      explained += b(a, j) * r(j, kept[a]);
      if (std::abs(b(a, j)) > std::abs(b(best, j)) * (1 + kTied)) best = a;
    }
    out.r2[j] = std::clamp(explained, 0.0, 1.0);
    if (kept.empty()) continue;
    out.representative[j] = sorted[kept[best]];
    out.correlation[j] = r(j, kept[best]);
  }
  for (const Index s : sorted) out.r2[s] = 1, out.representative[s] = -1, out.correlation[s] = kNone;
}

// Columns that nobody claimed, put into groups by those that lead.
class Groups {
 public:
  Groups(Index columns, double threshold) : free_(columns, 1), threshold_(threshold) {}

  bool is_free(Index j) const { return free_[j] != 0; }
  void leave_out(Index j) { free_[j] = 0; }
  // r(p): the correlation of the column others[p] with `leader`.
  template <class Correlation>
  void lead(Index leader, const std::vector<Index>& others, Correlation r) {
    if (!is_free(leader)) return;
    free_[leader] = 0;
    std::vector<std::pair<double, Index>> members;
    for (std::size_t p = 0; p < others.size(); ++p) {
      if (!is_free(others[p])) continue;
      const double size = std::abs(r(static_cast<Index>(p)));
      if (size >= threshold_ - kTied) members.emplace_back(-size, others[p]);
    }
    if (members.empty()) return;
    std::sort(members.begin(), members.end());
    for (std::size_t i = 1; i < members.size(); ++i) {  // ties follow by index
      if (members[i].first <= members[i - 1].first + kTied) members[i].first = members[i - 1].first;
    }
    std::sort(members.begin(), members.end());
    std::vector<Index> group = {leader};
    for (const auto& [size, j] : members) group.push_back(j), free_[j] = 0;
    groups_.push_back(std::move(group));
  }
  std::vector<std::vector<Index>> take() { return std::move(groups_); }

 private:
  std::vector<char> free_;
  const double threshold_;
  std::vector<std::vector<Index>> groups_;
};

// Columns in some rows, times the roots of their weights, of mean 0 and norm 1, or 0 where they do not vary in these
// rows; one column a row. In single precision, once the mean of all rows is off.
struct StandingColumns {
  Matrix32 values;
  std::vector<double> norms;  // of what was rounded; 1 where all is 0

  double correlation(Index a, Index b) const {
    const float *x = values.row(a), *y = values.row(b);
    double sum = 0;
    for (Index i = 0; i < values.cols(); ++i) sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
    return sum / (norms[a] * norms[b]);
  }
};

// A quarter of the rows at a time: as they are read they are twice as large.
Matrix32 columns_of_rows(const Source& source, const std::vector<Index>& rows, const std::vector<double>& mean,
                         Context& context) {
  constexpr Index kTogether = 16;  // a line of the cache in each row of the result
  const Index count = std::ssize(rows), some = std::max<Index>(1, (count + 3) / 4);
  Matrix32 out(source.cols(), count);
  for (Index first = 0; first < count; first += some) {
    const Index end = std::min(first + some, count);
    const Matrix a = gather_rows(source, {rows.begin() + first, rows.begin() + end}, context);
    for (Index i = 0; i < a.rows(); i += kTogether) {
      for (Index j = 0; j < a.cols(); ++j) {
        for (Index r = i; r < std::min(i + kTogether, a.rows()); ++r) {
          out(j, first + r) = static_cast<float>(a(r, j) - mean[j]);
        }
      }
    }
  }
  return out;
}

StandingColumns standing_columns(const Source& source, const std::vector<double>& mean, Index rows, Context& context) {
  const WeightedRows drawn = sample_weighted_rows(source.weights(), rows, 0);
  const bool weighted = source.weighted();
  StandingColumns out{
      columns_of_rows(source, weighted ? drawn.rows : sample_rows(source.rows(), rows, 0), mean, context),
      std::vector<double>(source.cols(), 1.0)};
  const Index m = out.values.cols();
  const std::vector<double> weights = weighted ? drawn.weights : std::vector<double>(m, 1.0);
  const double total = total_weight(weights);
  std::vector<double> roots(m);
  std::transform(weights.begin(), weights.end(), roots.begin(), [](double weight) { return std::sqrt(weight); });
  for (Index j = 0; j < out.values.rows(); ++j) {
    float* x = out.values.row(j);
    double center = 0, square = 0, rounded = 0;
    for (Index i = 0; i < m; ++i) center += weights[i] * static_cast<double>(x[i]) / total;
    const auto standing = [&](Index i) { return roots[i] * (static_cast<double>(x[i]) - center); };
    for (Index i = 0; i < m; ++i) square += standing(i) * standing(i);
    const double norm = std::sqrt(square);
    for (Index i = 0; i < m; ++i) {
      x[i] = norm > kTied ? static_cast<float>(standing(i) / norm) : 0.0F;
      rounded += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    }
    if (rounded > 0) out.norms[j] = std::sqrt(rounded);
  }
  return out;
}

// Products of the first `leaders` of these columns with all of them.
Matrix32 products_of_leaders(const Matrix32& a, const std::vector<Index>& columns, Index leaders, Context& context) {
  const auto copied = [&](Index first, Index count) {
    Matrix32 out(count, a.cols());
    for (Index p = 0; p < count; ++p) std::copy_n(a.row(columns[first + p]), a.cols(), out.row(p));
    return out;
  };
  const Matrix32 some = copied(0, leaders);
  Matrix32 out(leaders, std::ssize(columns));
  context.pool().run((out.cols() + kOthers - 1) / kOthers, [&](Index q) {
    const Index first = q * kOthers, width = std::min(kOthers, out.cols() - first);
    const Matrix32 others = copied(first, width);
    blas::gemm(false, true, leaders, width, a.cols(), 1.0F, some.data(), a.cols(), others.data(), a.cols(), 0.0F,
               out.data() + first, out.cols());
  });
  return out;
}

// The columns that are free, in order: those that lead next, and all that may join them. Multiplied in single
// precision; what comes near the threshold once more with sums in double.
void group_all(const StandingColumns& columns, const std::vector<Index>& order, double threshold, Groups& groups,
               Context& context) {
  std::vector<Index> left = order;
  for (;;) {
    std::erase_if(left, [&](Index j) { return !groups.is_free(j); });
    if (left.empty()) return;
    const Index leaders = std::min<Index>(kLeaders, std::ssize(left));
    const Matrix32 r = products_of_leaders(columns.values, left, leaders, context);
    for (Index k = 0; k < leaders; ++k) {
      groups.lead(left[k], left, [&](Index p) {
        const double rough = r(k, p);
        return std::abs(rough) < threshold - kSingle ? rough : columns.correlation(left[k], left[p]);
      });
    }
    context.check_cancelled();
  }
}

std::string note_of(const RedundancyWork& work, const Shape& shape, Index selected) {
  const bool some_left = selected < shape.cols;
  const std::string few = concat(selected, " selected columns explain any column of ", shape.rows, " rows");
  if (some_left && selected >= shape.rows - 1) {
    return concat("no R^2: ", few, work.all_groups ? "" : "; no groups: too many columns");
  }
  const std::string size = concat(shape.rows, " rows x ", shape.cols, " columns");
  if (some_left && !work.r2) {
    return concat("no R^2", work.all_groups ? "" : " and no groups", ": ", selected, " selected of ", size,
                  " would take too long");
  }
  if (work.all_groups) return {};
  return work.r2 ? concat("only groups that a selected column leads: comparing all pairs of ", shape.cols,
                          " columns would take too long")
                 : concat("no groups: comparing all pairs of ", shape.cols, " columns would take too long");
}

}  // namespace

std::optional<double> parse_redundancy(const std::string& text) {
  if (text == "off") return std::nullopt;
  double value = kNone;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = error == std::errc() && end == text.data() + text.size();
  require(number && value > 0 && value <= 1, ErrorCode::usage, OptionName{"redundancy"}, " = ", text,
          ", need a correlation 0 < r <= 1, or off");
  return value;
}

void require_redundancy(const std::optional<double>& threshold) {
  require(!threshold || (*threshold > 0 && *threshold <= 1), ErrorCode::usage, OptionName{"redundancy"}, " = ",
          threshold.value_or(0), ", need a correlation 0 < r <= 1");
}

RedundancyWork::RedundancyWork(const Shape& shape, Index selected) : rows(std::min(shape.rows, kGroupRows)) {
  const auto k = static_cast<double>(selected);
  const double d = shape.d();
  rows = std::min(rows, std::max(kLeastRows, static_cast<Index>(kMostSampled / std::max(d, 1.0))));
  r2 = selected >= 1 && selected < shape.cols && selected < shape.rows - 1 && shape.entries * k <= kMostProducts &&
       d * k <= kMostNumbers && d * k * k <= kMostSolved;
  all_groups = static_cast<double>(rows) * d * d <= kMostPairs;
}

void add_cost(const RedundancyWork& work, const Shape& shape, Index selected, int threads, Plan& plan) {
  const auto k = static_cast<double>(selected), m = static_cast<double>(work.rows);
  constexpr double kPanels = 3 * 512, kSparsePieces = 64;
  if (work.r2) {
    const double passes = shape.sparse ? std::ceil(k / kSparsePieces) : 1;
    plan.phases.push_back({"R^2", 2 * shape.d() * k + k * k + kPanels * (k + 256) * threads});
    plan.passes += passes;
    const double products = shape.sparse ? sparse_gram_seconds(shape, k) : 2 * shape.entries * k / kSkinnyFlops;
    plan.seconds += (products + kStatisticsSeconds * shape.entries * passes) / threads;
  }
  if (work.all_groups) {
    const double others = std::min(shape.d(), static_cast<double>(kOthers * threads));
    plan.phases.push_back({"redundancy groups", 0.75 * m * shape.d() + kLeaders * (shape.d() + m) + others * m / 2});
    plan.seconds += m * shape.d() * shape.d() / (2 * kSquareFlops) / threads;  // half of the pairs, in float
  }
}

Redundancy find_redundancy(const Source& source, const std::vector<Index>& ranking, const std::vector<Index>& selected,
                           double threshold, Context& context) {
  const Shape shape = shape_of(source);
  const RedundancyWork work(shape, static_cast<Index>(selected.size()));
  Redundancy out;
  out.threshold = threshold;
  out.note = note_of(work, shape, static_cast<Index>(selected.size()));
  if (!work.r2 && !work.all_groups) return out;
  const UnitDeviations unit = unit_deviations(source, column_moments(source, context), context);
  std::vector<Index> sorted = selected;
  std::sort(sorted.begin(), sorted.end());
  const auto place = [&](Index j) { return std::lower_bound(sorted.begin(), sorted.end(), j) - sorted.begin(); };
  Groups groups(source.cols(), threshold);
  for (Index j = 0; j < source.cols(); ++j) {
    if (!unit.moments.varies(j)) groups.leave_out(j);
  }
  Matrix r;
  if (work.r2) {
    std::vector<Index> order;
    for (const Index j : selected) order.push_back(place(j));
    r = correlations_with({Centered(unit.source, unit.moments), unit.moments}, sorted, context);
    represent(r, sorted, order, unit.moments, out, context);
  }
  // Of these the correlations in all rows are known: in a sample, columns that are nearly always 0 look alike.
  if (work.r2) {
    std::vector<Index> all(source.cols());
    std::iota(all.begin(), all.end(), Index{0});
    for (const Index s : selected) {
      groups.lead(s, all, [&, column = place(s)](Index j) { return r(j, column); });
    }
  }
  if (work.all_groups) {
    std::vector<Index> order = work.r2 ? std::vector<Index>() : selected;
    for (const Index j : ranking) {
      if (!std::binary_search(sorted.begin(), sorted.end(), j)) order.push_back(j);
    }
    out.rows = work.rows;
    group_all(standing_columns(unit.source, unit.moments.mean, work.rows, context), order, threshold, groups, context);
  }
  out.groups = groups.take();
  return out;
}

}  // namespace tamis
