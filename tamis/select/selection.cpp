#include "tamis/select/selection.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tamis {

const char* name_of(Status status) {
  switch (status) {
    case Status::converged: return "converged";
    case Status::max_iterations: return "max_iterations";
    case Status::direct: return "direct";
  }
  return "?";
}

std::vector<double> scores_of_order(const std::vector<Index>& order, std::size_t varying) {
  const auto d = static_cast<double>(order.size());
  std::vector<double> out(order.size());
  for (std::size_t i = 0; i < varying; ++i) out[order[i]] = (d - static_cast<double>(i)) / d;
  return out;
}

std::vector<Index> rank_by_score(const std::vector<double>& scores) {
  std::vector<Index> order(scores.size());
  std::iota(order.begin(), order.end(), Index{0});
  const auto score = [&](Index i) { return scores[i]; };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return score(a) > score(b); });
  double largest = 0.0;
  for (const double value : scores) largest = std::max(largest, std::abs(value));
  const double tie = 1e-9 * largest;
  // A run of ties begins at its highest score and is put in order of position.
  for (auto begin = order.begin(); begin != order.end();) {
    auto end = begin;
    while (end != order.end() && score(*begin) - score(*end) <= tie) ++end;
    std::sort(begin, end);
    begin = end;
  }
  return order;
}

}  // namespace tamis
