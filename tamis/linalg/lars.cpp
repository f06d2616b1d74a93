#include "tamis/linalg/lars.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tamis/base/elementary.h"
#include "tamis/base/error.h"
#include "tamis/linalg/kernels.h"

namespace tamis {

namespace {

// A column whose part outside the span of the active ones is below this share of its squared norm depends on them.
constexpr double kDependent = 1e-12;
// Correlations below this share of the largest at the start are rounding.
constexpr double kRounding = 1e-12;
// Correlations closer than this share of the largest at the start are ties, and ties go to the lower index.
constexpr double kTie = 1e-13;
constexpr Index kPanelColumns = 32;  // of a Gram matrix: few enough for registers and for the cache

double dot(const double* a, const double* b, Index count) {
  double sum[4] = {0, 0, 0, 0};  // apart, so that additions need not wait for each other
  Index i = 0;
  for (; i + 4 <= count; i += 4) {
    for (Index k = 0; k < 4; ++k) sum[k] += a[i + k] * b[i + k];
  }
  for (; i < count; ++i) sum[0] += a[i] * b[i];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

// L L' = A for a symmetric positive definite matrix that gains its last row and loses any.
class GrowingCholesky {
 public:
  Index size() const { return static_cast<Index>(rows_.size()); }

  // Takes the next row of A, diagonal last, unless what is left of its diagonal is below `share` of it.
  bool append(std::vector<double> row, double share) {
    const double diagonal = row.back();
    row.pop_back();
    forward(row);
    const double left = diagonal - dot(row.data(), row.data(), size());
    if (!(left > share * diagonal)) return false;
    row.push_back(std::sqrt(left));
    rows_.push_back(std::move(row));
    return true;
  }

  // Without row p, the rows below reach one column too far; rotations of neighbouring columns bring them back.
  void remove(Index p) {
    rows_.erase(rows_.begin() + p);
    for (Index q = p; q < size(); ++q) {
      const double a = at(q)[q], b = at(q)[q + 1], length = elementary::hypot(a, b);
      const double cosine = a / length, sine = b / length;
      for (Index i = q; i < size(); ++i) {
        const double left = at(i)[q], right = at(i)[q + 1];
        at(i)[q] = cosine * left + sine * right;
        at(i)[q + 1] = cosine * right - sine * left;
      }
      rows_[q].pop_back();
    }
  }

  // x = L^-1 x, entries from `known` on.
  void forward(std::vector<double>& x, Index known = 0) const {
    for (Index i = known; i < static_cast<Index>(x.size()); ++i) {
      double& value = x[i];
      value = (value - dot(at(i), x.data(), i)) / at(i)[i];
    }
  }

  // x = L'^-1 x
  void backward(std::vector<double>& x) const {
    for (Index i = size() - 1; i >= 0; --i) {
      double& value = x[i];
      value /= at(i)[i];
      kernels<double>().axpy(i, -value, at(i), x.data());
    }
  }

 private:
  double* at(Index i) { return rows_[i].data(); }
  const double* at(Index i) const { return rows_[i].data(); }

  std::vector<std::vector<double>> rows_;  // row i has i + 1 numbers
};

// The path of one target. A step is: entering, enter, direction, move.
class Path {
 public:
  Path(const Matrix& correlations, Index k, Index active, double ridge)
      : wanted_(active), ridge_(ridge), c_(correlations.rows()), state_(c_.size(), kFree) {
    double largest = 0;
    for (std::size_t j = 0; j < c_.size(); ++j) {
      c_[j] = correlations(static_cast<Index>(j), k);
      largest = std::max(largest, std::abs(c_[j]));
    }
    floor_ = kRounding * largest;
    tie_ = kTie * largest;
    lambda_ = largest;
    done_ = wanted_ == 0 || largest == 0;
  }

  bool done() const { return done_; }
  const std::vector<Index>& columns() const { return direction_.columns; }

  // The column that enters at this knot, -1 where none does. lambda = the largest |c_j| outside A.
  Index entering() {
    double largest = -1;
    for (std::size_t j = 0; j < c_.size(); ++j) {
      if (state_[j] == kFree) largest = std::max(largest, std::abs(c_[j]));
    }
    if (largest >= 0) lambda_ = largest;
    if (lambda_ <= floor_) done_ = true;
    if (done_ || largest < 0 || dropped_ >= 0) return -1;
    for (std::size_t j = 0; j < c_.size(); ++j) {
      if (state_[j] == kFree && std::abs(c_[j]) >= largest - tie_) return static_cast<Index>(j);
    }
    return -1;
  }

  // `row`: x_i'x_j for i in A, then x_j'x_j.
  void enter(Index j, std::vector<double> row) {
    row.back() += ridge_;
    if (!factor_.append(std::move(row), kDependent)) {
      state_[j] = kDependentState;
      ++dependent_;
      return;
    }
    state_[j] = kActive;
    direction_.columns.push_back(j);
    signs_.push_back(c_[j] < 0 ? -1.0 : 1.0);
    beta_.push_back(0);
    solved_.push_back(signs_.back());
    factor_.forward(solved_, factor_.size() - 1);
  }

  // g = (X_A'X_A + ridge I)^-1 s: along it every |c_j| of A falls at the rate of lambda (without a ridge).
  const Combination& direction() {
    direction_.values = solved_;
    factor_.backward(direction_.values);
    return direction_;
  }

  // a += gamma g up to the next knot; `image` = X'X_A g.
  void move(const double* image) {
    ++steps_;
    if (beta_.empty()) {  // the only candidate was a column of zeros
      dropped_ = -1;
      done_ = std::find(state_.begin(), state_.end(), kFree) == state_.end();
      return;
    }
    const double until_entry = next_entry(image);
    double gamma = std::min(until_entry, lambda_);
    const Index leaving = next_exit(gamma);
    for (std::size_t i = 0; i < beta_.size(); ++i) beta_[i] += gamma * direction_.values[i];
    kernels<double>().axpy(static_cast<Index>(c_.size()), -gamma, image, c_.data());
    const bool least_squares = leaving < 0 && until_entry >= lambda_;
    lambda_ -= gamma;
    dropped_ = -1;
    if (leaving >= 0) drop(leaving);
    done_ = least_squares || (leaving < 0 && static_cast<Index>(beta_.size()) == wanted_);
    if (!done_ && steps_ >= kPatience * (wanted_ + 10)) done_ = stuck_ = true;
  }

  void store(Index k, LarsFit& fit) const {
    for (std::size_t i = 0; i < beta_.size(); ++i) fit.coefficients(direction_.columns[i], k) = beta_[i];
    fit.lambda[k] = lambda_;
    fit.active[k] = static_cast<Index>(beta_.size());
    fit.steps[k] = steps_;
    fit.drops[k] = drops_;
    fit.dependent[k] = dependent_;
    fit.stuck[k] = stuck_ ? 1 : 0;
  }

 private:
  static constexpr char kFree = 0, kActive = 1, kDependentState = 2;
  static constexpr Index kPatience = 20;  // steps for each active column asked for

  // The fall of lambda until some |c_j| outside A meets it: c_j falls at the rate image_j, lambda at 1.
  double next_entry(const double* image) const {
    // A copy of an active column stands at lambda and falls with it: if rounding made it an entry here, a step of
    // length 0 would bring back the column just dropped, and so on for ever.
    const auto meeting = [](double gap, double closing) {
      return closing > kRounding ? std::max(gap, 0.0) / closing : std::numeric_limits<double>::infinity();
    };
    double best = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < c_.size(); ++j) {
      if (state_[j] != kFree) continue;
      // The column just dropped stands at lambda and moves inwards: it can only come back on the other side.
      const bool here = static_cast<Index>(j) == dropped_;
      if (!here || c_[j] < 0) best = std::min(best, meeting(lambda_ - c_[j], 1 - image[j]));
      if (!here || c_[j] >= 0) best = std::min(best, meeting(lambda_ + c_[j], 1 + image[j]));
    }
    return best;
  }

  // The position in A of the first coefficient to reach 0 before gamma, which is then shortened; -1: none.
  Index next_exit(double& gamma) const {
    Index leaving = -1;
    for (std::size_t i = 0; i < beta_.size(); ++i) {
      const double g = direction_.values[i];
      // A column that entered in a tie with another may turn out to point the wrong way.
      const bool against = beta_[i] == 0 && ridge_ == 0 && g * signs_[i] < 0;
      if (!against && !(beta_[i] * g < 0)) continue;
      const double reach = -beta_[i] / g;
      if (reach < gamma) gamma = reach, leaving = static_cast<Index>(i);
    }
    return leaving;
  }

  void drop(Index i) {
    ++drops_;
    dropped_ = direction_.columns[i];
    direction_.columns.erase(direction_.columns.begin() + i);
    signs_.erase(signs_.begin() + i);
    beta_.erase(beta_.begin() + i);
    factor_.remove(i);
    solved_ = signs_;
    factor_.forward(solved_);
    // What depended on the columns of A may not depend on those that stay.
    for (char& state : state_) {
      if (state == kDependentState) state = kFree;
    }
    dependent_ = 0;
    state_[dropped_] = kFree;
  }

  Index wanted_;
  double ridge_, lambda_ = 0, floor_ = 0, tie_ = 0;
  std::vector<double> c_;       // X'(y - X a)
  std::vector<char> state_;     // of each column
  GrowingCholesky factor_;      // of X_A'X_A + ridge I
  Combination direction_;       // A and g
  std::vector<double> signs_;   // s: of c_j when j entered
  std::vector<double> solved_;  // L^-1 s
  std::vector<double> beta_;    // coefficients of A
  Index dropped_ = -1;          // the column that left in the last step
  Index steps_ = 0, drops_ = 0, dependent_ = 0;
  bool done_ = false, stuck_ = false;
};

// One step of every path.
void step(std::vector<Path*>& paths, LarsColumns& x, Context& context) {
  const auto count = static_cast<Index>(paths.size());
  std::vector<Index> entering(paths.size(), -1);
  context.pool().run(count, [&](Index k) { entering[k] = paths[k]->entering(); });
  std::vector<Index> wanted(entering);
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  if (!wanted.empty() && wanted.front() < 0) wanted.erase(wanted.begin());
  x.prepare(wanted, context);

  std::vector<Combination> directions(paths.size());
  context.pool().run(count, [&](Index k) {
    Path& path = *paths[k];
    if (path.done()) return;
    if (const Index j = entering[k]; j >= 0) {
      std::vector<Index> columns = path.columns();
      columns.push_back(j);
      std::vector<double> row(columns.size());
      x.inner(j, columns, row.data());
      path.enter(j, std::move(row));
    }
    directions[k] = path.direction();
  });
  const Matrix images = x.images(directions, context);
  context.pool().run(count, [&](Index k) {
    if (!paths[k]->done()) paths[k]->move(images.row(k));
  });
}

}  // namespace

GramColumns::GramColumns(const Matrix& gram)
    : count_(gram.rows()), panels_((count_ + kPanelColumns - 1) / kPanelColumns * count_, kPanelColumns) {
  for (Index i = 0; i < count_; ++i) {
    for (Index j = 0; j < count_; ++j) panels_(j / kPanelColumns * count_ + i, j % kPanelColumns) = gram(i, j);
  }
}

void GramColumns::inner(Index j, const std::vector<Index>& columns, double* out) const {
  const Index first = j / kPanelColumns * count_;
  for (std::size_t i = 0; i < columns.size(); ++i) out[i] = panels_(first + columns[i], j % kPanelColumns);
}

// A panel serves all paths while it is in the cache.
Matrix GramColumns::images(const std::vector<Combination>& directions, Context& context) {
  Matrix out(static_cast<Index>(directions.size()), count_);
  std::vector<std::vector<std::int32_t>> columns;
  for (const Combination& direction : directions) {
    columns.emplace_back(direction.columns.begin(), direction.columns.end());
  }
  context.pool().run((count_ + kPanelColumns - 1) / kPanelColumns, [&](Index p) {
    for (Index k = 0; k < out.rows(); ++k) {
      double sums[kPanelColumns] = {};
      kernels<double>().sparse_gather(static_cast<Index>(columns[k].size()), directions[k].values.data(),
                                      columns[k].data(), panels_.row(p * count_), kPanelColumns, sums);
      std::copy_n(sums, std::min(kPanelColumns, count_ - p * kPanelColumns), out.row(k) + p * kPanelColumns);
    }
  });
  return out;
}

LarsFit lars_lasso(LarsColumns& x, const Matrix& correlations, const LarsOptions& options, Context& context) {
  const Index d = correlations.rows(), targets = correlations.cols();
  require(x.count() == d, ErrorCode::internal, "lars: correlations of ", d, " columns, X has ", x.count());
  std::vector<Path> paths;
  for (Index k = 0; k < targets; ++k) {
    paths.emplace_back(correlations, k, std::min(options.active, d), options.ridge);
  }
  double fraction = 0;
  while (true) {
    context.check_cancelled();
    std::vector<Path*> going;
    double least = 1;
    for (Path& path : paths) {
      if (path.done()) continue;
      going.push_back(&path);
      least = std::min(least, static_cast<double>(path.columns().size()) / static_cast<double>(options.active));
    }
    if (going.empty()) break;
    step(going, x, context);
    fraction = std::max(fraction, least);
    if (options.progress) options.progress(fraction);
  }
  LarsFit fit{Matrix(d, targets),          std::vector<double>(targets), std::vector<Index>(targets),
              std::vector<Index>(targets), std::vector<Index>(targets),  std::vector<Index>(targets),
              std::vector<char>(targets)};
  for (Index k = 0; k < targets; ++k) paths[k].store(k, fit);
  return fit;
}

}  // namespace tamis
