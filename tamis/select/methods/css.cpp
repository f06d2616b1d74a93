#include "tamis/select/methods/css.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "tamis/data/scale.h"
#include "tamis/linalg/blas.h"
#include "tamis/linalg/dense.h"
#include "tamis/linalg/orthogonal.h"
#include "tamis/select/direct.h"
#include "tamis/select/varying.h"

namespace tamis {

namespace {

// A column is explained where so little of its variance is left: rounding of X'X comes near it.
constexpr double kExplained = 1e-10;
constexpr double kTie = 1e-9;         // of the best gain
constexpr double kRounding = 1e-13;   // of R_jj before the first step, times what R_jj and ||R_:j||^2 may be off by
constexpr double kSwapGain = 1e-9;    // of all variance: a smaller one is not worth a swap
constexpr double kFallen = 1e-2;      // of the variance left, after which sums are made anew
constexpr std::size_t kPending = 32;  // rank-one terms that are folded into R together
constexpr Index kResidualPiece = 64;  // rows of R, or columns of products with X, at a time

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

// R = X'X + sum_t sign_t u_t u_t', its diagonal, and the squared norms of its columns.
class Residual {
 public:
  explicit Residual(Context& context) : context_(context) {}
  virtual ~Residual() = default;
  Residual(const Residual&) = delete;
  Residual& operator=(const Residual&) = delete;

  // From now on blocks of R and R^2 are known for each of these groups that has two columns or more.
  void follow(const ColumnGroups& groups) {
    groups_ = &groups;
    blocks_.resize(groups.count());
    make_blocks();
  }
  // R_GG and (R^2)_GG
  struct Block {
    Matrix left, square;
  };
  const Block& block(Index group) const { return blocks_[group]; }

  Index size() const { return static_cast<Index>(left_.size()); }
  double left(Index j) const { return left_[j]; }      // R_jj
  double square(Index j) const { return square_[j]; }  // ||R_:j||^2
  double trace() const { return std::accumulate(left_.begin(), left_.end(), 0.0); }

  // R_:j
  Vector column(Index j) const {
    Vector out = base_column(j);
    add_terms(j, out);
    return out;
  }
  // R v
  Vector times(const Vector& v) const {
    Vector out = base_times(v);
    for (const auto& [sign, u] : terms_) add_scaled(sign * dot(u, v), u, out);
    return out;
  }

  // R <- R + sign u u', where Ru is R u.
  void add(double sign, const Vector& u, const Vector& ru) {
    const double norm = dot(u, u);
    for (std::size_t j = 0; j < left_.size(); ++j) {
      left_[j] = std::max(0.0, left_[j] + sign * u[j] * u[j]);
      square_[j] = std::max(0.0, square_[j] + 2 * sign * u[j] * ru[j] + u[j] * u[j] * norm);
    }
    for (std::size_t g = 0; g < blocks_.size(); ++g) add_to_block(sign, u, ru, norm, static_cast<Index>(g));
    terms_.emplace_back(sign, u);
    ++since_;
  }

  // Diagonal and norms by recurrence lose digits as R gets smaller; `chosen` are the columns that R is orthogonal to.
  void refresh_if_due(const std::vector<Index>& chosen) {
    if (!is_due() && trace() > kFallen * fresh_trace_) return;
    refresh(chosen);
  }
  void refresh(const std::vector<Index>& chosen) {
    make_fresh(chosen);
    make_blocks();
    fresh_trace_ = trace();
    since_ = 0;
    context_.check_cancelled();
  }

 protected:
  using Terms = std::vector<std::pair<double, Vector>>;

  virtual Vector base_column(Index j) const = 0;
  virtual Matrix base_columns(const std::vector<Index>& columns) const = 0;  // one a row
  virtual Vector base_times(const Vector& v) const = 0;
  virtual void make_fresh(const std::vector<Index>& chosen) = 0;
  virtual bool is_due() const = 0;

  static void add_scaled(double by, const Vector& u, Vector& out) {
    for (std::size_t j = 0; j < out.size(); ++j) out[j] += by * u[j];
  }
  void add_terms(Index j, Vector& out) const {
    for (const auto& [sign, u] : terms_) add_scaled(sign * u[j], u, out);
  }

  Context& context_;
  Terms terms_;
  Vector left_, square_;
  std::size_t since_ = 0;  // terms since sums were made anew

 private:
  // R_GG + s u u' and (R^2)_GG + s (u Ru' + Ru u') + u u' ||u||^2
  void add_to_block(double sign, const Vector& u, const Vector& ru, double norm, Index group) {
    Block& block = blocks_[group];
    if (block.left.empty()) return;
    const std::span<const Index> members = groups_->members(group);
    for (Index a = 0; a < block.left.rows(); ++a) {
      for (Index b = 0; b < block.left.rows(); ++b) {
        const Index i = members[a], j = members[b];
        block.left(a, b) += sign * u[i] * u[j];
        block.square(a, b) += sign * (u[i] * ru[j] + ru[i] * u[j]) + u[i] * u[j] * norm;
      }
    }
  }

  // A product with the data serves several small groups.
  void make_blocks() {
    std::vector<Index> columns;
    std::size_t first = 0;
    for (std::size_t g = 0; g < blocks_.size(); ++g) {
      const std::span<const Index> members = groups_->members(static_cast<Index>(g));
      if (members.size() > 1) columns.insert(columns.end(), members.begin(), members.end());
      if (columns.empty() || (static_cast<Index>(columns.size()) < kResidualPiece && g + 1 < blocks_.size())) continue;
      set_blocks(first, g + 1, columns);
      columns.clear();
      first = g + 1;
    }
  }

  // Of the groups [first, last), whose columns are `columns`.
  void set_blocks(std::size_t first, std::size_t last, const std::vector<Index>& columns) {
    Matrix rows = base_columns(columns);
    Index begin = 0;
    for (std::size_t g = first; g < last; ++g) {
      const std::span<const Index> members = groups_->members(static_cast<Index>(g));
      const auto size = static_cast<Index>(members.size());
      if (size < 2) continue;
      Matrix own(size, rows.cols());
      for (Index a = 0; a < size; ++a) {
        Vector one(rows.row(begin + a), rows.row(begin + a) + rows.cols());
        add_terms(members[a], one);
        std::copy(one.begin(), one.end(), own.row(a));
      }
      begin += size;
      blocks_[g] = {Matrix(size, size), product_transposed_right(own, own)};
      for (Index a = 0; a < size; ++a) {
        for (Index b = 0; b < size; ++b) blocks_[g].left(a, b) = own(a, members[b]);
      }
    }
  }

  const ColumnGroups* groups_ = nullptr;
  std::vector<Block> blocks_;  // of the groups of two columns or more
  double fresh_trace_ = 0;
};

// With R as a matrix, into which the terms are folded now and then.
class ColumnResidual final : public Residual {
 public:
  ColumnResidual(const Centered& z, Context& context) : Residual(context), r_(gram(z, context)) {
    left_.resize(r_.rows()), square_.resize(r_.rows());
    refresh({});
  }

 protected:
  Vector base_column(Index j) const override { return {r_.row(j), r_.row(j) + r_.cols()}; }
  Matrix base_columns(const std::vector<Index>& columns) const override {
    Matrix out(static_cast<Index>(columns.size()), r_.cols());
    for (Index a = 0; a < out.rows(); ++a) std::copy_n(r_.row(columns[a]), r_.cols(), out.row(a));
    return out;
  }
  Vector base_times(const Vector& v) const override {
    Vector out(v.size());
    by_pieces([&](Index first, Index count) {
      for (Index i = first; i < first + count; ++i) {
        out[i] = std::inner_product(v.begin(), v.end(), r_.row(i), 0.0);
      }
    });
    return out;
  }
  bool is_due() const override { return since_ >= kPending; }

  void make_fresh(const std::vector<Index>&) override {
    const auto m = static_cast<Index>(terms_.size()), d = r_.rows();
    Matrix u(m, d), signed_u(m, d);
    for (Index t = 0; t < m; ++t) {
      const auto& [sign, term] = terms_[t];
      std::copy(term.begin(), term.end(), u.row(t));
      for (Index j = 0; j < d; ++j) signed_u(t, j) = sign * term[j];
    }
    terms_.clear();
    by_pieces([&](Index first, Index count) {
      if (m > 0) {
        blas::gemm(true, false, count, d, m, 1.0, u.data() + first, d, signed_u.data(), d, 1.0, r_.row(first), d);
      }
      for (Index i = first; i < first + count; ++i) {
        left_[i] = std::max(0.0, r_(i, i));
        square_[i] = std::inner_product(r_.row(i), r_.row(i) + d, r_.row(i), 0.0);
      }
    });
  }

 private:
  template <class Work>
  void by_pieces(Work work) const {
    const Index d = r_.rows();
    context_.pool().run((d + kResidualPiece - 1) / kResidualPiece,
                        [&](Index q) { work(q * kResidualPiece, std::min(kResidualPiece, d - q * kResidualPiece)); });
  }

  Matrix r_;
};

// With R as a product: X'(I - QQ')X, Q a basis of the chosen columns, beside XX' of few rows.
class RowResidual final : public Residual {
 public:
  RowResidual(const Centered& z, Context& context) : Residual(context), z_(z), k_(products_of_rows()) { refresh({}); }

 protected:
  Vector base_column(Index j) const override {
    Vector unit(z_.cols());
    unit[j] = 1;
    return base_times(unit);
  }
  Matrix base_columns(const std::vector<Index>& columns) const override {
    Matrix units(z_.cols(), static_cast<Index>(columns.size()));
    for (std::size_t a = 0; a < columns.size(); ++a) units(columns[a], static_cast<Index>(a)) = 1;
    return transposed(scatter_product(z_, units, context_));
  }
  Vector base_times(const Vector& v) const override {
    Matrix column(z_.cols(), 1);
    std::copy(v.begin(), v.end(), column.data());
    const Matrix out = scatter_product(z_, column, context_);
    return {out.data(), out.data() + out.size()};
  }
  bool is_due() const override { return false; }

  // With P = X'(I - QQ') and T = PXX'(I - QQ'): R_jj = sum_i P_ji^2 and ||R_:j||^2 = sum_i P_ji T_ji.
  void make_fresh(const std::vector<Index>& chosen) override {
    const Index n = z_.rows(), d = z_.cols();
    Matrix p(n, n);
    for (Index i = 0; i < n; ++i) p(i, i) = 1;
    Matrix k = k_;
    if (!chosen.empty()) {
      const Matrix q = basis_of(chosen);
      add_product(-1.0, q, transposed(q), p);
      k = product(p, product(k_, p));
    }
    left_.assign(d, 0.0), square_.assign(d, 0.0);
    for (Index first = 0; first < n; first += kResidualPiece) {
      const Index count = std::min(kResidualPiece, n - first);
      Matrix both(n, 2 * count);
      for (Index i = 0; i < n; ++i) {
        std::copy_n(p.row(i) + first, count, both.row(i));
        std::copy_n(k.row(i) + first, count, both.row(i) + count);
      }
      const Matrix found = multiply_transposed(z_, both, context_);
      for (Index j = 0; j < d; ++j) {
        const double* row = found.row(j);
        left_[j] += std::inner_product(row, row + count, row, 0.0);
        square_[j] += std::inner_product(row, row + count, row + count, 0.0);
      }
    }
    for (double& square : square_) square = std::max(0.0, square);
  }

 private:
  // XX'. Rows of several blocks may be in several places.
  Matrix products_of_rows() const {
    const Index n = z_.rows();
    if (n <= kBlockRows) return gram_of_rows(z_, context_);
    Matrix out(n, n);
    for (Index first = 0; first < n; first += kResidualPiece) {
      const Index count = std::min(kResidualPiece, n - first);
      Matrix unit(n, count);
      for (Index i = 0; i < count; ++i) unit(first + i, i) = 1;
      const Matrix found = multiply(z_, multiply_transposed(z_, unit, context_), context_);
      for (Index i = 0; i < n; ++i) std::copy_n(found.row(i), count, out.row(i) + first);
    }
    return out;
  }
  Matrix basis_of(const std::vector<Index>& chosen) const {
    Matrix units(z_.cols(), static_cast<Index>(chosen.size()));
    for (std::size_t t = 0; t < chosen.size(); ++t) units(chosen[t], static_cast<Index>(t)) = 1;
    return orthonormalized(multiply(z_, units, context_));
  }

  const Centered& z_;
  const Matrix k_;
};

// What a block of columns explains together: with R_GG = V diag(l) V', sum_t v_t'(R^2)_GG v_t / l_t, columns in units
// of their deviations. Eigenvalues that are no more than rounding are left out.
double gain_of_block(const Residual::Block& block, const Vector& whole) {
  const Index size = block.left.rows();
  Matrix left = block.left, square = block.square;
  for (Index a = 0; a < size; ++a) {
    for (Index b = 0; b < size; ++b) {
      const double unit = std::sqrt(whole[a] * whole[b]);
      left(a, b) /= unit, square(a, b) /= unit;
    }
  }
  const EigenPairs pairs = symmetric_eigen(std::move(left));
  const Matrix turned = product(square, pairs.vectors);
  double gain = 0;
  for (Index t = 0; t < size && pairs.values[t] > kExplained; ++t) {
    double along = 0;
    for (Index a = 0; a < size; ++a) along += pairs.vectors(a, t) * turned(a, t);
    gain += std::max(0.0, along) / pairs.values[t];
  }
  return gain;
}

// The path, and swaps after it. Groups of columns enter as one; without groups each column is one.
class Subset {
 public:
  Subset(Residual& residual, const ColumnGroups& groups, const CssOptions& options, const CssPlan& plan,
         Context& context)
      : residual_(residual),
        groups_(groups),
        options_(options),
        plan_(plan),
        context_(context),
        is_chosen_(static_cast<std::size_t>(groups.count()), 0) {
    if (groups.any()) residual.follow(groups);
    for (Index j = 0; j < residual.size(); ++j) whole_.push_back(residual.left(j));
    total_ = residual.trace();
    for (Index g = 0; g < groups.count(); ++g) alone_.push_back(gain_of(g));
  }

  // Groups that enter first; those that the others explain add nothing, but count.
  void force(std::vector<Index> groups) {
    while (!groups.empty()) {
      const Index best = best_of(groups, open_gains());
      if (best < 0) break;
      enter_group(best);
      std::erase(groups, best);
    }
    for (const Index g : groups) count(g);
  }

  void grow() {
    std::vector<Index> all(alone_.size());
    std::iota(all.begin(), all.end(), 0);
    while (static_cast<Index>(chosen_.size()) < plan_.length && !is_enough()) {
      const Index best = best_of(all, open_gains());
      if (best < 0) break;
      enter_group(best);
      context_.check_cancelled();
      context_.phase("columns", {static_cast<double>(chosen_.size()), static_cast<double>(plan_.length), true});
    }
  }

  // For each column but the first `kept`: leave it out, and take what then adds most.
  Index swap(std::size_t kept) {
    Index swapped = 0;
    if (chosen_.size() == whole_.size() || entered_.size() < chosen_.size()) return 0;
    for (Index round = 0; round < options_.swaps; ++round) {
      Index now = 0;
      for (std::size_t place = kept; place < chosen_.size(); ++place) now += swap_one(place) ? 1 : 0;
      swapped += now;
      residual_.refresh(chosen_);
      if (now == 0) break;
    }
    if (swapped > 0 && !explained_.empty()) explained_.back() = share();
    return swapped;
  }

  bool is_enough() const {
    if (options_.variance && share() >= *options_.variance - kExplained) return true;
    return options_.r2 && least_r2() >= *options_.r2 - kExplained;
  }
  double share() const { return total_ > 0 ? std::clamp(1 - residual_.trace() / total_, 0.0, 1.0) : 1; }
  double least_r2() const {
    double least = 1;
    for (std::size_t j = 0; j < whole_.size(); ++j) {
      if (whole_[j] > 0) least = std::min(least, 1 - residual_.left(static_cast<Index>(j)) / whole_[j]);
    }
    return std::max(0.0, least);
  }

  const std::vector<Index>& chosen() const { return chosen_; }
  const Vector& explained() const { return explained_; }

  // Groups: the chosen ones, then by gain, then by what they explain alone.
  std::vector<Index> order() const {
    const Vector gains = open_gains().size;
    std::vector<Index> out = chosen_;
    for (const Index j : rank_by_score(gains)) {
      if (gains[j] > 0) out.push_back(j);
    }
    for (const Index j : rank_by_score(alone_)) {
      if (!is_chosen_[j] && gains[j] == 0) out.push_back(j);
    }
    return out;
  }

 private:
  // By group; `tie`: the part of a gain that decides nothing.
  struct Gains {
    Vector size, tie;
  };

  // ||R_:j||^2 / R_jj
  double gain(Index j) const { return ratio(j, residual_.square(j), residual_.left(j)); }
  double ratio(Index j, double square, double left) const { return left > kExplained * whole_[j] ? square / left : 0; }
  double gain_of(Index group) const {
    const std::span<const Index> members = groups_.members(group);
    if (members.size() == 1) return gain(members.front());
    Vector whole;
    for (const Index j : members) whole.push_back(whole_[j]);
    return gain_of_block(residual_.block(group), whole);
  }
  // Where little of a column is left, its gain is a quotient of two small numbers.
  double tie(Index j, double left) const {
    return left > kExplained * whole_[j] ? std::max(kTie, kRounding * whole_[j] / left) : kTie;
  }
  Gains open_gains() const {
    Gains out{Vector(alone_.size()), Vector(alone_.size(), kTie)};
    for (Index g = 0; g < groups_.count(); ++g) {
      out.size[g] = is_chosen_[g] ? 0 : gain_of(g);
      const std::span<const Index> members = groups_.members(g);
      if (members.size() == 1) out.tie[g] = tie(members.front(), residual_.left(members.front()));
    }
    return out;
  }

  // The best of `groups` (increasing) by gain, of ties that which explains most alone; -1 where none adds anything.
  Index best_of(const std::vector<Index>& groups, const Gains& gains) const {
    double most = 0;
    for (const Index j : groups) most = std::max(most, gains.size[j] * (1 - (gains.tie[j] - kTie)));
    if (most <= 0) return -1;
    Index best = -1;
    for (const Index j : groups) {
      if (gains.size[j] < most - gains.tie[j] * most) continue;
      if (best < 0 || alone_[j] > alone_[best] + kTie * alone_[best]) best = j;
    }
    return best;
  }

  Vector direction(Vector column, Index j) const {
    const double root = std::sqrt(column[j]);
    for (double& value : column) value /= root;
    return column;
  }

  void count(Index group) {
    chosen_.push_back(group);
    is_chosen_[group] = 1;
    explained_.push_back(share());
  }
  void enter(Index j) {
    const Vector u = direction(residual_.column(j), j);
    residual_.add(-1, u, residual_.times(u));
    entered_.push_back(j);
    if (options_.swaps > 0) basis_.push_back(u);
    residual_.refresh_if_due(entered_);
  }
  // Its columns one after the other, always the one that adds most, until none adds anything.
  void enter_group(Index group) {
    std::vector<Index> rest(groups_.members(group).begin(), groups_.members(group).end());
    while (!rest.empty()) {
      const auto best = std::ranges::max_element(rest, {}, [&](Index j) { return gain(j); });
      if (gain(*best) <= 0) break;
      enter(*best);
      rest.erase(best);
    }
    count(group);
  }

  // With U (d x k) of UU' = X'QQ'X and M = (X_S'X_S)^-1: without column i, R grows by uu', u = U w, w = U_S'M e_i /
  // sqrt(M_ii), and ||u||^2 is what i adds to the others.
  bool swap_one(std::size_t place) {
    const Vector w = direction_of(place);
    Vector u(whole_.size());
    for (std::size_t t = 0; t < basis_.size(); ++t) {
      for (std::size_t j = 0; j < u.size(); ++j) u[j] += w[t] * basis_[t][j];
    }
    const Vector ru = residual_.times(u);
    const double own = dot(u, u);
    Gains gains{Vector(whole_.size()), Vector(whole_.size())};
    for (std::size_t j = 0; j < whole_.size(); ++j) {
      const auto at = static_cast<Index>(j);
      const double left = residual_.left(at) + u[j] * u[j];
      const double square = residual_.square(at) + 2 * u[j] * ru[j] + u[j] * u[j] * own;
      gains.size[j] = is_chosen_[j] ? 0 : ratio(at, square, left);
      gains.tie[j] = tie(at, left);
    }
    std::vector<Index> all(whole_.size());
    std::iota(all.begin(), all.end(), 0);
    const Index best = best_of(all, gains);
    if (best < 0 || gains.size[best] <= own + kSwapGain * total_) return false;
    residual_.add(1, u, ru);
    const Vector entering = direction(residual_.column(best), best);
    residual_.add(-1, entering, residual_.times(entering));
    replace_direction(w, entering);
    is_chosen_[chosen_[place]] = 0, is_chosen_[best] = 1;  // here a group is a column
    chosen_[place] = entered_[place] = best;
    context_.check_cancelled();
    return true;
  }

  Vector direction_of(std::size_t place) const {
    const auto k = static_cast<Index>(basis_.size());
    Matrix at_chosen(k, k);  // U_S
    for (Index s = 0; s < k; ++s) {
      for (Index t = 0; t < k; ++t) at_chosen(s, t) = basis_[t][chosen_[s]];
    }
    Matrix gram = product_transposed_right(at_chosen, at_chosen), solution(k, 1);
    solution(static_cast<Index>(place), 0) = 1;
    require(blas::cholesky(k, gram.data()), ErrorCode::internal, "css: dependent columns among the chosen ones");
    blas::cholesky_solve(k, 1, gram.data(), solution.data());
    const double root = std::sqrt(solution(static_cast<Index>(place), 0));
    Vector w(basis_.size());
    for (Index s = 0; s < k; ++s) {
      for (Index t = 0; t < k; ++t) w[t] += at_chosen(s, t) * solution(s, 0) / root;
    }
    return w;
  }

  // Reflects U so that its last column is U w (w of length 1), and puts `by` there.
  void replace_direction(Vector w, const Vector& by) {
    w.back() -= 1;
    const double norm = dot(w, w);
    if (norm > 0) {
      for (std::size_t j = 0; j < whole_.size(); ++j) {
        double along = 0;
        for (std::size_t t = 0; t < w.size(); ++t) along += basis_[t][j] * w[t];
        for (std::size_t t = 0; t < w.size(); ++t) basis_[t][j] -= 2 * along / norm * w[t];
      }
    }
    basis_.back() = by;
  }

  Residual& residual_;
  const ColumnGroups& groups_;
  const CssOptions& options_;
  const CssPlan& plan_;
  Context& context_;
  std::vector<char> is_chosen_;
  std::vector<Index> chosen_, entered_;  // groups; columns that entered, each of which added something
  Vector whole_, alone_;                 // R_jj of columns and gains of groups before the first step
  Vector explained_;                     // share of the variance after each group
  std::vector<Vector> basis_;            // U, for swaps
  double total_ = 0;
};

// Positions in `kept` (increasing) of those `columns` that are there, increasing.
std::vector<Index> kept_positions(const std::vector<Index>& kept, std::vector<Index> columns) {
  std::sort(columns.begin(), columns.end());
  std::vector<Index> out;
  for (const Index j : columns) {
    const auto found = std::lower_bound(kept.begin(), kept.end(), j);
    if (found != kept.end() && *found == j) out.push_back(found - kept.begin());
  }
  return out;
}

void css_report(const Subset& subset, Index swapped, const CssOptions& options, Report& report) {
  report.terms = {{"explained", subset.explained()}};
  report.resolved.emplace_back("explained", subset.share());
  report.resolved.emplace_back("least_r2", subset.least_r2());
  if (options.swaps > 0) report.resolved.emplace_back("swapped", static_cast<double>(swapped));
}

}  // namespace

CssPlan::CssPlan(const Shape& shape, const CssOptions& options, int threads)
    : Plan(shape, Code::systems, threads),
      by_rows(shape.cols > shape.rows),
      length(std::min(shape.cols, options.length.value_or(shape.cols))) {
  const double n = shape.n(), d = shape.d();
  const auto steps = static_cast<double>(std::min(length, shape.rows));
  const double work = steps * (1 + static_cast<double>(options.swaps));
  const double basis = options.swaps > 0 ? 2 * d * steps : 0;
  if (options.groups.any()) kept += 2 * options.groups.pairs() + std::sqrt(options.groups.pairs()) * d;
  path = by_rows ? "gram of rows, products" : "gram";
  constexpr double kTouched = 1.5e-9, kSparseProduct = 1e-9, kProduct = 4e-10;  // seconds of a number
  if (by_rows) {
    constexpr double kRowMatrices = 6;
    const double pieces = std::ceil(n / static_cast<double>(kResidualPiece));
    passes = 2 + 2 * work + pieces;
    phases = {{"gram", row_gram_numbers(shape, threads)},
              {"path", kRowMatrices * n * n + d * (steps + 4 * static_cast<double>(kResidualPiece)) + basis}};
    const double product = shape.sparse ? kSparseProduct : kProduct;
    seconds = (3 * product * shape.entries * n + 8 * product * shape.entries * work) / threads + kTouched * d * steps;
  } else {
    const double terms = static_cast<double>(kPending);
    passes = shape.sparse ? 1 + std::ceil(d / static_cast<double>(kResidualPiece)) : 2;
    phases = {{"gram", column_gram_numbers(shape, threads)}, {"path", d * d + 4 * terms * d + basis}};
    seconds = (shape.sparse ? kSparseProduct * 2 * shape.entries * d : shape.entries * d / kSquareFlops) / threads +
              kTouched * d * (d / threads + terms) * work;
  }
  seconds += kStatisticsSeconds * shape.entries / threads;
}

Options describe(CssOptions& o) {
  const Range share = {.low = 0, .high = 1, .low_open = true};
  return {
      {.name = "variance",
       .value = &o.variance,
       .range = share,
       .help = "select no more columns once they explain this share of the variance of all",
       .unset_text = "no such limit"},
      {.name = "r2",
       .value = &o.r2,
       .range = share,
       .help = "select no more columns once every column has this R^2 on them",
       .unset_text = "no such limit"},
      {.name = "swaps",
       .python_name = "n_swaps",
       .value = &o.swaps,
       .range = at_least(0),
       .help = "maximum number of rounds in which each selected column is exchanged for a better one"},
      {.name = "standardize",
       .value = &o.standardize,
       .help = "divide columns by their standard deviation first, unless a scaling is asked for explicitly"},
  };
}

Selection css(const Source& source, const CssOptions& options, Context& context) {
  CssOptions copy = options;
  validate(describe(copy), "css");
  require(options.swaps == 0 || !options.groups.any(), ErrorCode::usage, MethodName{"css"}, ": ", OptionName{"swaps"},
          " = ", options.swaps, " with groups, need 0");
  const Stopwatch watch(context);
  context.phase("moments of the columns");
  const Varying table = varying_columns(source, context);
  const UnitDeviations x = options.standardize ? unit_deviations(table.source, table.moments, context)
                                               : UnitDeviations{table.source, table.moments};
  const CssPlan plan(shape_of(x.source), options, context.threads());
  const Centered z(x.source, x.moments);
  context.phase("products of columns");
  std::unique_ptr<Residual> residual;
  if (plan.by_rows) {
    residual = std::make_unique<RowResidual>(z, context);
  } else {
    residual = std::make_unique<ColumnResidual>(z, context);
  }
  const ColumnGroups all = groups_or_columns(options.groups, source.cols()), groups = all.among(table.kept);
  Subset subset(*residual, groups, options, plan, context);
  std::vector<Index> first = groups.in_order(kept_positions(table.kept, options.forced));
  std::sort(first.begin(), first.end());
  subset.force(first);
  const std::size_t forced = subset.chosen().size();
  subset.grow();
  const Index swapped = options.swaps > 0 ? subset.swap(forced) : 0;

  Selection out;
  order_groups(all, order_among_all(subset.order(), groups, all, table.kept), static_cast<std::size_t>(groups.count()),
               out);
  if (options.variance || options.r2) out.limit = std::max<Index>(1, static_cast<Index>(subset.chosen().size()));
  out.report.path = plan.path;
  css_report(subset, swapped, options, out.report);
  watch.write(out.report);
  return out;
}

Method css_method() {
  return {
      .name = "css",
      .python_name = "CSS",
      .summary =
          "greedy column subset selection: columns from which all others can be reconstructed; avoids redundancy",
      .formula =
          "minimize ||X - X_S X_S^+ X||^2 greedily, columns of unit deviation; R = X'X, j = argmax ||R_:j||^2 / R_jj, "
          "R <- R - R_:j R_j: / R_jj; score_j = (d - rank_j + 1) / d",
      .reference =
          "Farahat, Ghodsi & Kamel: An Efficient Greedy Method for Unsupervised Feature Selection. ICDM 2011; Puggini "
          "& "
          "McLoone: Forward Selection Component Analysis. TPAMI 2017",
      .bind = bind<CssOptions, CssPlan, css>,
      .is_order = true,
      .seeded = false,
      .weighs = true,
      .remote = true,
      .reasons = {.text =
                      "In the order of entry: each column adds most to the variance of all columns that the columns "
                      "above it explain. Columns that are repeated by others above them come late."},
  };
}

}  // namespace tamis
