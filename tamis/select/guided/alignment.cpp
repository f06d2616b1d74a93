#include "tamis/select/guided/alignment.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tamis/linalg/matrix.h"

namespace tamis {

namespace {

constexpr double kEnough = 0.98;
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

// S, with f(S) and what f would be with one more column.
class GreedyPath {
 public:
  GreedyPath(const Centered& z, const ColumnMerits& merits, Context& context)
      : products_(z, context), merits_(merits), with_chosen_(z.cols()), free_(z.cols(), 1) {}

  double value_with(Index j) const {
    const double norm = norm_ + 2 * with_chosen_[j] + merits_.scatter[j] * merits_.scatter[j];
    return (excess_ + merits_.excess[j]) / std::sqrt(norm);
  }

  Index best() const {
    Index found = -1;
    double most = -std::numeric_limits<double>::infinity();
    for (Index j = 0; j < products_.count(); ++j) {
      if (!free_[j]) continue;
      const double value = value_with(j);
      if (found >= 0 && !(value > most)) continue;
      found = j;
      most = value;
    }
    return found;
  }

  void take(Index j) {
    if (!products_.has(j)) products_.compute(promising(j));
    excess_ += merits_.excess[j];
    norm_ += 2 * with_chosen_[j] + merits_.scatter[j] * merits_.scatter[j];
    free_[j] = 0;
    const std::vector<double>& squares = products_.of(j);
    for (std::size_t i = 0; i < with_chosen_.size(); ++i) with_chosen_[i] += squares[i];
    products_.drop(j);
    path_.columns.push_back(j);
    path_.alignment.push_back(excess_ / std::sqrt(norm_));
  }

  AlignedPath finish() { return std::move(path_); }

 private:
  // j, and the free columns that would come next if none repeated another.
  std::vector<Index> promising(Index j) {
    std::vector<Index> others;
    const bool crowded = products_.held() > kMostHeld;
    for (Index i = 0; i < products_.count(); ++i) {
      if (crowded) products_.drop(i);
      if (free_[i] && i != j && !products_.has(i)) others.push_back(i);
    }
    const auto more = std::min(static_cast<std::ptrdiff_t>(others.size()), std::ptrdiff_t{kProductsAtOnce - 1});
    std::vector<double> value(with_chosen_.size());
    for (const Index i : others) value[i] = value_with(i);
    std::partial_sort(others.begin(), others.begin() + more, others.end(), [&](Index a, Index b) {
      const double left = value[a], right = value[b];
      return left != right ? left > right : a < b;
    });
    others.resize(more);
    others.push_back(j);
    return others;
  }

  SquaredProducts products_;
  const ColumnMerits& merits_;
  std::vector<double> with_chosen_;  // sum_{i in S} (x_i'x_j)^2
  std::vector<char> free_;
  double excess_ = 0, norm_ = 0;  // sum_{j in S} x_j'(P - t I)x_j, ||X_S X_S'||_F^2
  AlignedPath path_;
};

// The columns that take part, and where they stand among all.
struct Candidates {
  Candidates(const Centered& z, const ColumnMerits& all, std::vector<Index> columns)
      : positions(std::move(columns)), place(z.cols(), -1), view(z.with_columns(positions)) {
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const Index j = positions[i];
      place[j] = static_cast<Index>(i);
      merits.scatter.push_back(all.scatter[j]);
      merits.excess.push_back(all.excess[j]);
    }
  }
  AlignedPath among_all(AlignedPath path) const {
    for (Index& j : path.columns) j = positions[j];
    return path;
  }

  std::vector<Index> positions, place;
  Centered view;
  ColumnMerits merits;
};

}  // namespace

AlignedPath aligned_path(const Centered& z, const ColumnMerits& merits, const std::vector<Index>& forced,
                         const std::vector<char>& may_enter, Context& context) {
  std::vector<char> taking_part = may_enter;
  for (const Index j : forced) taking_part[j] = 1;
  std::vector<Index> columns;
  for (Index j = 0; j < z.cols(); ++j) {
    if (taking_part[j]) columns.push_back(j);
  }
  if (columns.empty()) return {};
  const Candidates candidates(z, merits, std::move(columns));
  GreedyPath path(candidates.view, candidates.merits, context);
  for (const Index j : forced) path.take(candidates.place[j]);
  const Index most = std::max(static_cast<Index>(forced.size()), std::min(kLongestPath, candidates.view.cols()));
  for (auto k = static_cast<Index>(forced.size()); k < most; ++k) {
    if (k % 64 == 0) context.check_cancelled();
    path.take(path.best());
  }
  return candidates.among_all(path.finish());
}

AlignedPath alignment_along(const Centered& z, const ColumnMerits& merits, const std::vector<Index>& order,
                            Context& context) {
  const auto length = static_cast<std::size_t>(std::min(kLongestPath, static_cast<Index>(order.size())));
  return aligned_path(z, merits, {order.begin(), order.begin() + static_cast<std::ptrdiff_t>(length)},
                      std::vector<char>(z.cols()), context);
}

Index columns_worth_taking(const std::vector<double>& alignment, Index least) {
  if (alignment.empty()) return 0;
  const double enough = kEnough * *std::max_element(alignment.begin(), alignment.end());
  const auto first = std::find_if(alignment.begin(), alignment.end(), [&](double f) { return f >= enough; });
  return std::max(static_cast<Index>(first - alignment.begin()) + 1,
                  std::min(least, static_cast<Index>(alignment.size())));
}

}  // namespace tamis
