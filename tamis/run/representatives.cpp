#include "tamis/run/representatives.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/base/text/spelling.h"
#include "tamis/data/scale.h"
#include "tamis/data/weights.h"
#include "tamis/linalg/blas.h"
#include "tamis/linalg/dense.h"

namespace tamis {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kRepeated = 1e-10;  // what is left of a selected column that others repeat
constexpr double kTied = 1e-9;       // of the largest coefficient; between correlations
constexpr Index kGroupRows = 2048;   // an |r| of .8 has a deviation of .008 there,
constexpr Index kLeastRows = 512;    // and of .016 there
constexpr Index kLeaders = 64;       // columns that are compared with all others together
constexpr Index kPanel = 512;        // of these others
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
  context.pool().run((r.rows() + kPanel - 1) / kPanel, [&](Index q) {
    const Index first = q * kPanel, count = std::min(kPanel, r.rows() - first);
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
// rows; one column a row.
Matrix standing_columns(const Source& source, Index rows, Context& context) {
  const WeightedRows drawn = sample_weighted_rows(source.weights(), rows, 0);
  const bool weighted = source.weighted();
  Matrix a = gather_rows(source, weighted ? drawn.rows : sample_rows(source.rows(), rows, 0), context);
  const double m = weighted ? total_weight(drawn.weights) : static_cast<double>(a.rows());
  std::vector<double> mean(a.cols()), norm(a.cols());
  for (Index i = 0; i < a.rows(); ++i) {
    const double weight = weighted ? drawn.weights[i] : 1.0;
    for (Index j = 0; j < a.cols(); ++j) mean[j] += weight * a(i, j) / m;
  }
  for (Index i = 0; i < a.rows(); ++i) {
    const double root = weighted ? std::sqrt(drawn.weights[i]) : 1.0;
    for (Index j = 0; j < a.cols(); ++j) {
      a(i, j) = root * (a(i, j) - mean[j]);
      norm[j] += a(i, j) * a(i, j);
    }
  }
  for (Index j = 0; j < a.cols(); ++j) norm[j] = std::sqrt(norm[j]);
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.cols(); ++j) a(i, j) = norm[j] > kTied ? a(i, j) / norm[j] : 0;
  }
  return transposed(a);
}

// Products of the first `count` rows of `a` with all of them, so many of which are in use.
Matrix32 products_of_first(const Matrix32& a, Index count, Index used, Context& context) {
  Matrix32 out(count, used);
  context.pool().run((used + kPanel - 1) / kPanel, [&](Index q) {
    const Index first = q * kPanel, width = std::min(kPanel, used - first);
    blas::gemm(false, true, count, width, a.cols(), 1.0F, a.data(), a.cols(), a.row(first), a.cols(), 0.0F,
               out.data() + first, used);
  });
  return out;
}

// The columns that are free, in order: those that lead next, and all that may join them. Compared in single precision;
// what comes near the threshold once more in double.
void group_all(const Matrix& columns, const std::vector<Index>& order, double threshold, Groups& groups,
               Context& context) {
  std::vector<Index> left = order;
  const auto is_free = [&](Index j) { return groups.is_free(j); };
  std::erase_if(left, std::not_fn(is_free));
  Matrix32 near(std::ssize(left), columns.cols());
  for (Index p = 0; p < near.rows(); ++p) {
    std::transform(columns.row(left[p]), columns.row(left[p]) + near.cols(), near.row(p),
                   [](double value) { return static_cast<float>(value); });
  }
  while (!left.empty()) {
    const Index leaders = std::min<Index>(kLeaders, std::ssize(left));
    const Matrix32 r = products_of_first(near, leaders, std::ssize(left), context);
    for (Index k = 0; k < leaders; ++k) {
      const double* leader = columns.row(left[k]);
      groups.lead(left[k], left, [&](Index p) {
        const double rough = r(k, p);
        if (std::abs(rough) < threshold - kSingle) return rough;
        return std::inner_product(leader, leader + columns.cols(), columns.row(left[p]), 0.0);
      });
    }
    Index kept = 0;
    for (std::size_t p = 0; p < left.size(); ++p) {
      if (!is_free(left[p])) continue;
      left[kept] = left[p];
      std::copy_n(near.row(static_cast<Index>(p)), near.cols(), near.row(kept++));
    }
    left.resize(kept);
    context.check_cancelled();
  }
}

std::string note_of(const RedundancyWork& work, const Shape& shape, Index selected) {
  const bool some_left = selected < shape.cols;
  const std::string few = concat(selected, " columns of ", shape.rows, " rows explain anything");
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
    plan.phases.push_back({"redundancy groups", 2 * m * shape.d() + kLeaders * (shape.d() + m)});
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
    group_all(standing_columns(unit.source, work.rows, context), order, threshold, groups, context);
  }
  out.groups = groups.take();
  return out;
}

}  // namespace tamis
