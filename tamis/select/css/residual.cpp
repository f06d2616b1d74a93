#include "tamis/select/css/residual.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "tamis/linalg/blas.h"
#include "tamis/linalg/dense.h"
#include "tamis/linalg/orthogonal.h"

namespace tamis {

namespace {

using Vector = CssResidual::Vector;

constexpr double kFallen = 1e-2;  // of the variance left, after which sums are made anew

void add_scaled(double by, const Vector& u, Vector& out) {
  for (std::size_t j = 0; j < out.size(); ++j) out[j] += by * u[j];
}

// With R as a matrix, into which the terms are folded now and then.
class ColumnResidual final : public CssResidual {
 public:
  ColumnResidual(const Centered& z, Context& context) : CssResidual(context), r_(gram(z, context)) {
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
    context_.pool().run((d + kPiece - 1) / kPiece,
                        [&](Index q) { work(q * kPiece, std::min(kPiece, d - q * kPiece)); });
  }

  Matrix r_;
};

// With R as a product: X'(I - QQ')X, Q a basis of the chosen columns, beside XX' of few rows.
class RowResidual final : public CssResidual {
 public:
  RowResidual(const Centered& z, Context& context) : CssResidual(context), z_(z), k_(products_of_rows()) {
    refresh({});
  }

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
    for (Index first = 0; first < n; first += kPiece) {
      const Index count = std::min(kPiece, n - first);
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
    for (Index first = 0; first < n; first += kPiece) {
      const Index count = std::min(kPiece, n - first);
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

}  // namespace

double CssResidual::dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double CssResidual::trace() const { return std::accumulate(left_.begin(), left_.end(), 0.0); }

void CssResidual::follow(const ColumnGroups& groups) {
  groups_ = &groups;
  blocks_.resize(groups.count());
  make_blocks();
}

CssResidual::Vector CssResidual::direction(Index j) const {
  Vector out = base_column(j);
  add_terms(j, out);
  const double root = std::sqrt(out[j]);
  for (double& value : out) value /= root;
  return out;
}

CssResidual::Vector CssResidual::times(const Vector& v) const {
  Vector out = base_times(v);
  for (const auto& [sign, u] : terms_) add_scaled(sign * dot(u, v), u, out);
  return out;
}

void CssResidual::add(double sign, const Vector& u, const Vector& ru) {
  const double norm = dot(u, u);
  for (std::size_t j = 0; j < left_.size(); ++j) {
    left_[j] = std::max(0.0, left_[j] + sign * u[j] * u[j]);
    square_[j] = std::max(0.0, square_[j] + 2 * sign * u[j] * ru[j] + u[j] * u[j] * norm);
  }
  for (std::size_t g = 0; g < blocks_.size(); ++g) add_to_block(sign, u, ru, norm, static_cast<Index>(g));
  terms_.emplace_back(sign, u);
  ++since_;
}

void CssResidual::refresh_if_due(const std::vector<Index>& chosen) {
  if (!is_due() && trace() > kFallen * fresh_trace_) return;
  refresh(chosen);
}

void CssResidual::refresh(const std::vector<Index>& chosen) {
  make_fresh(chosen);
  make_blocks();
  fresh_trace_ = trace();
  since_ = 0;
  context_.check_cancelled();
}

void CssResidual::add_terms(Index j, Vector& out) const {
  for (const auto& [sign, u] : terms_) add_scaled(sign * u[j], u, out);
}

// R_GG + s u u' and (R^2)_GG + s (u Ru' + Ru u') + u u' ||u||^2
void CssResidual::add_to_block(double sign, const Vector& u, const Vector& ru, double norm, Index group) {
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
void CssResidual::make_blocks() {
  std::vector<Index> columns;
  std::size_t first = 0;
  for (std::size_t g = 0; g < blocks_.size(); ++g) {
    const std::span<const Index> members = groups_->members(static_cast<Index>(g));
    if (members.size() > 1) columns.insert(columns.end(), members.begin(), members.end());
    if (columns.empty() || (static_cast<Index>(columns.size()) < kPiece && g + 1 < blocks_.size())) continue;
    set_blocks(first, g + 1, columns);
    columns.clear();
    first = g + 1;
  }
}

// Of the groups [first, last), whose columns are `columns`.
void CssResidual::set_blocks(std::size_t first, std::size_t last, const std::vector<Index>& columns) {
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

std::unique_ptr<CssResidual> residual_by_columns(const Centered& z, Context& context) {
  return std::make_unique<ColumnResidual>(z, context);
}

std::unique_ptr<CssResidual> residual_by_rows(const Centered& z, Context& context) {
  return std::make_unique<RowResidual>(z, context);
}

}  // namespace tamis
