#include "tamis/select/groups.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace tamis {

ColumnGroups::ColumnGroups(const std::vector<Index>& numbers) {
  std::unordered_map<Index, Index> known;
  of_.reserve(numbers.size());
  for (const Index number : numbers) {
    of_.push_back(known.emplace(number, count_).first->second);
    count_ = std::max(count_, of_.back() + 1);
  }
  if (!any()) return;
  starts_.resize(count_ + 1);
  for (const Index group : of_) ++starts_[group + 1];
  std::partial_sum(starts_.begin(), starts_.end(), starts_.begin());
  members_.resize(of_.size());
  std::vector<Index> next = starts_;
  for (Index j = 0; j < columns(); ++j) members_[next[of_[j]]++] = j;
}

ColumnGroups ColumnGroups::each(Index columns) {
  ColumnGroups out;
  out.of_.resize(columns);
  std::iota(out.of_.begin(), out.of_.end(), Index{0});
  out.count_ = columns;
  return out;
}

double ColumnGroups::pairs() const {
  double out = 0;
  for (Index g = 0; g < count_; ++g) {
    const auto size = static_cast<double>(members(g).size());
    out += size * size;
  }
  return out;
}

ColumnGroups ColumnGroups::among(const std::vector<Index>& columns) const {
  if (!given()) return {};
  std::vector<Index> numbers;
  for (const Index j : columns) numbers.push_back(of_[j]);
  return ColumnGroups(numbers);
}

std::vector<Index> ColumnGroups::in_order(const std::vector<Index>& columns) const {
  std::vector<Index> out;
  std::vector<char> seen(count_, 0);
  for (const Index j : columns) {
    if (!seen[of_[j]]++) out.push_back(of_[j]);
  }
  return out;
}

std::vector<Index> ColumnGroups::expand(const std::vector<Index>& groups) const {
  std::vector<Index> out;
  for (const Index g : groups) out.insert(out.end(), members(g).begin(), members(g).end());
  return out;
}

ColumnGroups groups_or_columns(const ColumnGroups& groups, Index count) {
  return groups.given() ? groups : ColumnGroups::each(count);
}

ForcedGroups forced_among(const ColumnGroups& all, const ColumnGroups& some, const std::vector<Index>& kept,
                          const std::vector<Index>& columns) {
  std::vector<Index> place(all.count(), -1);  // of the groups that vary
  for (std::size_t i = 0; i < kept.size(); ++i) place[all.of(kept[i])] = some.of(static_cast<Index>(i));
  ForcedGroups out;
  for (const Index group : all.in_order(columns)) {
    place[group] >= 0 ? out.varying.push_back(place[group]) : static_cast<void>(++out.constant);
  }
  std::sort(out.varying.begin(), out.varying.end());
  return out;
}

std::vector<Index> order_among_all(const std::vector<Index>& order, const ColumnGroups& some, const ColumnGroups& all,
                                   const std::vector<Index>& kept) {
  std::vector<Index> out;
  std::vector<char> varies(all.count(), 0);
  for (const Index g : order) {
    out.push_back(all.of(kept[some.members(g).front()]));
    varies[out.back()] = 1;
  }
  for (Index g = 0; g < all.count(); ++g) {
    if (!varies[g]) out.push_back(g);
  }
  return out;
}

std::vector<double> sums_of_groups(const ColumnGroups& groups, const std::vector<double>& values) {
  std::vector<double> out(groups.count());
  for (Index j = 0; j < groups.columns(); ++j) out[groups.of(j)] += values[j];
  return out;
}

void rank_groups(const ColumnGroups& groups, const std::vector<double>& scores, Selection& out) {
  for (Index j = 0; j < groups.columns(); ++j) out.scores[j] = scores[groups.of(j)];
  out.ranking = groups.expand(rank_by_score(scores));
}

void order_groups(const ColumnGroups& groups, const std::vector<Index>& order, std::size_t varying, Selection& out) {
  const std::vector<double> scores = scores_of_order(order, varying);
  out.scores.resize(groups.columns());
  for (Index j = 0; j < groups.columns(); ++j) out.scores[j] = scores[groups.of(j)];
  out.ranking = groups.expand(order);
}

void rank_groups_by_mean_square(const ColumnGroups& groups, Selection& out) {
  std::vector<double> scores;
  for (Index g = 0; g < groups.count(); ++g) {
    const auto& members = groups.members(g);
    double sum = 0;
    for (const Index j : members) sum += (out.scores[j] - out.flat) * (out.scores[j] - out.flat);
    const double mean = sum / static_cast<double>(members.size());
    scores.push_back(members.size() == 1 ? out.scores[members.front()] : out.flat + std::sqrt(mean));
  }
  rank_groups(groups, scores, out);
}

}  // namespace tamis
