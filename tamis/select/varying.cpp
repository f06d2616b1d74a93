#include "tamis/select/varying.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tamis/select/direct.h"

namespace tamis {

namespace {

template <class T>
std::vector<T> some_of(const std::vector<T>& all, const std::vector<Index>& keep) {
  std::vector<T> out;
  out.reserve(keep.size());
  for (const Index j : keep) out.push_back(all[j]);
  return out;
}

ColumnMoments moments_of_some(const ColumnMoments& all, const std::vector<Index>& keep) {
  ColumnMoments out;
  out.rows = all.rows;
  out.weight = all.weight;
  out.unit = all.unit;
  out.mean = some_of(all.mean, keep);
  out.scatter = some_of(all.scatter, keep);
  out.min = some_of(all.min, keep);
  out.max = some_of(all.max, keep);
  out.varying = some_of(all.varying, keep);
  out.stored = some_of(all.stored, keep);
  return out;
}

double unit_of(const ColumnMoments& moments) {
  double largest = 0;
  for (std::size_t j = 0; j < moments.min.size(); ++j) {
    largest = std::max({largest, std::abs(moments.min[j]), std::abs(moments.max[j])});
  }
  if (largest < 0x1p100 && largest > 0x1p-100) return 1;
  return std::ldexp(1.0, std::clamp(std::ilogb(largest), -1000, 1000));
}

// Columns of larger groups are copies of none.
Copies of_single_columns(const Copies& all, const ColumnGroups& groups) {
  Copies out;
  std::vector<Index> known(all.groups(), -1);
  for (Index j = 0; j < all.columns(); ++j) {
    const bool single = groups.members(groups.of(j)).size() == 1;
    Index& place = known[all.group[j]];
    const bool first = !single || place < 0;
    out.group.push_back(first ? out.groups() : place);
    if (first) out.number.push_back(0);
    if (first && single) place = out.group.back();
    ++out.number[out.group.back()];
  }
  for (const double m : out.number) out.root.push_back(std::sqrt(m));
  return out;
}

}  // namespace

Varying varying_columns(const Source& source, Context& context) {
  ColumnMoments all = checked_moments(source, context);
  Varying out;
  out.kept.reserve(source.cols());
  for (Index j = 0; j < source.cols(); ++j) {
    if (all.varies(j)) out.kept.push_back(j);
  }
  out.source = source.with_columns(out.kept);
  const bool each = static_cast<Index>(out.kept.size()) == source.cols();
  out.moments = each ? std::move(all) : moments_of_some(all, out.kept);
  out.unit = unit_of(out.moments);
  return out;
}

Distinct distinct_columns(const Varying& varying, Context& context) { return distinct_columns(varying, {}, context); }

Distinct distinct_columns(const Varying& varying, const ColumnGroups& groups, Context& context) {
  Distinct out{find_copies(varying.source, varying.moments, context), varying.source, varying.moments};
  if (out.copies.any() && groups.any()) out.copies = of_single_columns(out.copies, groups);
  if (!out.copies.any()) return out;
  const std::vector<Index> firsts = out.copies.firsts();
  out.source = varying.source.with_columns(firsts).with_column_scale(out.copies.root);
  out.moments = moments_of_some(varying.moments, firsts);
  for (std::size_t g = 0; g < firsts.size(); ++g) {
    out.moments.scatter[g] *= out.copies.number[g];
    for (auto* values : {&out.moments.mean, &out.moments.min, &out.moments.max}) (*values)[g] *= out.copies.root[g];
  }
  return out;
}

void spread_over_columns(const Matrix& w, const std::vector<Index>& kept, const Copies& copies, Index d, double unit,
                         Selection& out) {
  out.scores.assign(d, 0.0);
  out.components = Matrix(d, w.cols());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const double* row = w.row(copies.group[i]);
    const double root = copies.root[copies.group[i]];
    double norm = 0;
    for (Index k = 0; k < w.cols(); ++k) {
      norm += row[k] * row[k];
      out.components(kept[i], k) = row[k] / root / unit;
    }
    out.scores[kept[i]] = std::sqrt(norm) / root / unit;
  }
  out.ranking = rank_by_score(out.scores);
}

}  // namespace tamis
