#include "tamis/select/guided/alignment.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tamis/linalg/matrix.h"

namespace tamis {

namespace {

constexpr Index kProductsAtOnce = 64;  // columns of Z'Z that one pass over Z computes
constexpr Index kMostHeld = 256;       // of them that wait to be asked for

// (x_i'x_j)^2 of the columns of Z. All at once where there are few; else column by column as they are asked for, and
// with each those that the caller finds most promising, since a pass over Z costs nearly the same for many.
class SquaredProducts {
 public:
  SquaredProducts(const Centered& z, Context& context) : z_(z), context_(context), squares_(z.cols()) {
    if (z.cols() > kLongestPath) return;
    const Matrix products = gram(z, context);
    for (Index j = 0; j < z.cols(); ++j) hold(j, products.row(j), 1);
  }

  Index count() const { return z_.cols(); }
  bool has(Index j) const { return !squares_[j].empty(); }
  Index held() const { return held_; }
  const std::vector<double>& of(Index j) const { return squares_[j]; }

  // ||X_G X_G'||_F^2 = sum_{i, j in G} (x_i'x_j)^2
  double of_group(std::span<const Index> columns) const {
    if (z_.cols() <= kLongestPath) {
      double sum = 0;
      for (const Index i : columns) {
        for (const Index j : columns) sum += squares_[i][j];
      }
      return sum;
    }
    const Centered own = z_.with_columns(std::vector<Index>(columns.begin(), columns.end()));
    double sum = 0;
    for (Index first = 0; first < own.cols(); first += kProductsAtOnce) {
      const Index width = std::min(kProductsAtOnce, own.cols() - first);
      Matrix units(own.cols(), width);
      for (Index k = 0; k < width; ++k) units(first + k, k) = 1;
      const Matrix products = multiply_transposed(own, multiply(own, units, context_), context_);
      for (Index i = 0; i < products.size(); ++i) sum += products.data()[i] * products.data()[i];
    }
    return sum;
  }

  void compute(std::vector<Index> columns) {
    std::sort(columns.begin(), columns.end());
    const auto width = static_cast<Index>(columns.size());
    Matrix identity(width, width);
    for (Index k = 0; k < width; ++k) identity(k, k) = 1;
    const Matrix own = multiply(z_.with_columns(columns), identity, context_);
    const Matrix products = multiply_transposed(z_, own, context_);
    for (Index k = 0; k < width; ++k) hold(columns[k], products.data() + k, width);
  }

  void drop(Index j) {
    if (!has(j)) return;
    squares_[j] = {};
    --held_;
  }

 private:
  void hold(Index j, const double* products, Index stride) {
    std::vector<double>& to = squares_[j];
    to.resize(count());
    for (Index i = 0; i < count(); ++i) to[i] = products[i * stride] * products[i * stride];
    ++held_;
  }

  const Centered& z_;
  Context& context_;
  std::vector<std::vector<double>> squares_;
  Index held_ = 0;
};

// S, with f(S) and what f would be with one more group of columns.
class GreedyPath {
 public:
  GreedyPath(const Centered& z, const ColumnMerits& merits, const ColumnGroups& groups, Context& context)
      : products_(z, context),
        groups_(groups),
        excess_of_(sums_of_groups(groups, merits.excess)),
        with_chosen_(z.cols()),
        free_(groups.count(), 1) {
    for (Index g = 0; g < groups.count(); ++g) {
      const std::span<const Index> members = groups.members(g);
      const double scatter = merits.scatter[members.front()];
      own_norm_.push_back(members.size() == 1 ? scatter * scatter : products_.of_group(members));
    }
  }

  double value_with(Index g) const {
    const double norm = norm_ + 2 * with_chosen(g) + own_norm_[g];
    return (excess_ + excess_of_[g]) / std::sqrt(norm);
  }

  Index best() const {
    Index found = -1;
    double most = -std::numeric_limits<double>::infinity();
    for (Index g = 0; g < groups_.count(); ++g) {
      if (!free_[g]) continue;
      const double value = value_with(g);
      if (found >= 0 && !(value > most)) continue;
      found = g;
      most = value;
    }
    return found;
  }

  void take(Index g) {
    const double together = with_chosen(g);
    excess_ += excess_of_[g];
    norm_ += 2 * together + own_norm_[g];
    free_[g] = 0;
    for (const Index j : groups_.members(g)) {
      if (!products_.has(j)) products_.compute(groups_.members(g).size() == 1 ? promising(j) : missing_from(j));
      const std::vector<double>& squares = products_.of(j);
      for (std::size_t i = 0; i < with_chosen_.size(); ++i) with_chosen_[i] += squares[i];
      products_.drop(j);
    }
    path_.groups.push_back(g);
    path_.alignment.push_back(excess_ / std::sqrt(norm_));
  }

  AlignedPath finish() { return std::move(path_); }

 private:
  // sum_{i in S, j in G} (x_i'x_j)^2
  double with_chosen(Index g) const {
    const std::span<const Index> members = groups_.members(g);
    double sum = with_chosen_[members.front()];
    for (std::size_t k = 1; k < members.size(); ++k) sum += with_chosen_[members[k]];
    return sum;
  }

  // j, and the columns of its group after it whose products are not there.
  std::vector<Index> missing_from(Index j) const {
    std::vector<Index> out;
    for (const Index i : groups_.members(groups_.of(j))) {
      if (i >= j && !products_.has(i) && static_cast<Index>(out.size()) < kProductsAtOnce) out.push_back(i);
    }
    return out;
  }

  // j, and the columns of free groups that would come next if none repeated another.
  std::vector<Index> promising(Index j) {
    std::vector<Index> others;
    const bool crowded = products_.held() > kMostHeld;
    for (Index i = 0; i < products_.count(); ++i) {
      if (crowded) products_.drop(i);
      if (free_[groups_.of(i)] && i != j && !products_.has(i)) others.push_back(i);
    }
    const auto more = std::min(static_cast<std::ptrdiff_t>(others.size()), std::ptrdiff_t{kProductsAtOnce - 1});
    std::vector<double> value(groups_.count());
    for (Index g = 0; g < groups_.count(); ++g) {
      if (free_[g]) value[g] = value_with(g);
    }
    std::partial_sort(others.begin(), others.begin() + more, others.end(), [&](Index a, Index b) {
      const double left = value[groups_.of(a)], right = value[groups_.of(b)];
      return left != right ? left > right : a < b;
    });
    others.resize(more);
    others.push_back(j);
    return others;
  }

  SquaredProducts products_;
  const ColumnGroups& groups_;
  std::vector<double> excess_of_, own_norm_;  // of groups
  std::vector<double> with_chosen_;           // of columns: sum_{i in S} (x_i'x_j)^2
  std::vector<char> free_;
  double excess_ = 0, norm_ = 0;  // sum_{j in S} x_j'(P - t I)x_j, ||X_S X_S'||_F^2
  AlignedPath path_;
};

// The groups that take part, their columns, and where they stand among all.
struct Candidates {
  Candidates(const Centered& z, const ColumnMerits& all, const ColumnGroups& groups, std::vector<Index> taking_part)
      : numbers(std::move(taking_part)),
        place(groups.count(), -1),
        columns(columns_of(groups, numbers)),
        view(z.with_columns(columns)),
        own(groups.among(columns)) {
    for (const Index j : columns) {
      merits.scatter.push_back(all.scatter[j]);
      merits.excess.push_back(all.excess[j]);
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Index g = groups.of(columns[i]), here = own.of(static_cast<Index>(i));
      place[g] = here;
      numbers[here] = g;
    }
  }
  AlignedPath among_all(AlignedPath path) const {
    for (Index& g : path.groups) g = numbers[g];
    return path;
  }

  static std::vector<Index> columns_of(const ColumnGroups& groups, const std::vector<Index>& taking_part) {
    std::vector<Index> out = groups.expand(taking_part);
    std::sort(out.begin(), out.end());
    return out;
  }

  std::vector<Index> numbers, place, columns;
  Centered view;
  ColumnGroups own;
  ColumnMerits merits;
};

}  // namespace

AlignedPath aligned_path(const Centered& z, const ColumnMerits& merits, const ColumnGroups& groups,
                         const std::vector<Index>& forced, const std::vector<char>& may_enter, Context& context) {
  std::vector<char> taking_part = may_enter;
  for (const Index g : forced) taking_part[g] = 1;
  std::vector<Index> some;
  for (Index g = 0; g < groups.count(); ++g) {
    if (taking_part[g]) some.push_back(g);
  }
  if (some.empty()) return {};
  const Candidates candidates(z, merits, groups, std::move(some));
  GreedyPath path(candidates.view, candidates.merits, candidates.own, context);
  for (const Index g : forced) path.take(candidates.place[g]);
  const Index most = std::max(static_cast<Index>(forced.size()), std::min(kLongestPath, candidates.own.count()));
  for (auto k = static_cast<Index>(forced.size()); k < most; ++k) {
    if (k % 64 == 0) context.check_cancelled();
    path.take(path.best());
  }
  return candidates.among_all(path.finish());
}

AlignedPath alignment_along(const Centered& z, const ColumnMerits& merits, const ColumnGroups& groups,
                            const std::vector<Index>& order, Context& context) {
  const Index length = std::min<Index>(kLongestPath, std::ssize(order));
  return aligned_path(z, merits, groups, {order.begin(), order.begin() + length}, std::vector<char>(groups.count()),
                      context);
}

Index columns_worth_taking(const std::vector<double>& alignment, Index least) {
  if (alignment.empty()) return 0;
  const double enough = kEnough * *std::max_element(alignment.begin(), alignment.end());
  const auto first = std::find_if(alignment.begin(), alignment.end(), [&](double f) { return f >= enough; });
  return std::max(static_cast<Index>(first - alignment.begin()) + 1,
                  std::min(least, static_cast<Index>(alignment.size())));
}

}  // namespace tamis
