// Gram matrices of passes.h.

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "tamis/data/passes/pass.h"
#include "tamis/data/passes/row_entries.h"
#include "tamis/data/passes/tile.h"
#include "tamis/linalg/blas.h"

namespace tamis {

namespace {

// Columns of a panel of Z'Z, and the rows that are loaded for it at a time.
constexpr Index kGramCols = 512;
constexpr Index kGramRows = 256;
// Rows of a panel of ZZ'. Its sums run along a tree of stretches of columns, loaded a few at a time.
constexpr Index kPanelRows = 256;
constexpr Index kStretchCols = 1024;
constexpr Index kLoadedCols = 256;
// Columns of a Gram matrix of sparse rows that are made together.
constexpr Index kSparseCols = 64;

// Copies the computed triangle onto the other.
void symmetrize(Matrix& a) {
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < i; ++j) a(i, j) = a(j, i);
  }
}

// Two panels of the upper triangle's rows and columns.
struct PanelPair {
  Index left0, left, right0, right;
  bool diagonal() const { return left0 == right0; }
};

// Pairs of panels of `width`, left <= right, row by row.
std::vector<PanelPair> upper_pairs(Index total, Index width) {
  std::vector<PanelPair> out;
  for (Index left = 0; left < total; left += width) {
    for (Index right = left; right < total; right += width) {
      out.push_back({left, std::min(width, total - left), right, std::min(width, total - right)});
    }
  }
  return out;
}

void put(const PanelPair& at, const Matrix& sum, Matrix& out) {
  for (Index i = 0; i < at.left; ++i) std::copy_n(sum.row(i), at.right, out.row(at.left0 + i) + at.right0);
}

// Z'Z, a pair of panels at a time.
class GramPass {
 public:
  static constexpr const char* kName = "gram";
  static constexpr Index kReadings = 1;
  using Result = Sums;

  explicit GramPass(const Centered& z) : z_(z), pairs_(upper_pairs(z.cols(), kGramCols)) {}
  auto given() const { return std::tie(z_); }

  const std::vector<PanelPair>& pairs() const { return pairs_; }
  Index pieces() const { return static_cast<Index>(pairs_.size()); }
  bool fits(const Sums& sums) const {
    return std::ranges::equal(sums, pairs_,
                              [](const Matrix& sum, const PanelPair& at) { return has_shape(sum, at.left, at.right); });
  }
  // Few pairs are under way at a time, unless rows are costly to read.
  Order order() const { return z_.source().store().in_memory() ? Order::by_piece : Order::by_leaf; }

  Matrix partial(const Block& block, Index q) const {
    const PanelPair& at = pairs_[q];
    const Index left = at.left, right = at.right;
    Matrix sum(left, right), a(kGramRows, left), b(at.diagonal() ? 0 : kGramRows, right);
    for (Index row0 = 0; row0 < block.rows; row0 += kGramRows) {
      const Index rows = std::min(kGramRows, block.rows - row0);
      load_tile(z_, block, row0, rows, at.left0, left, a.data(), left);
      if (at.diagonal()) {
        blas::syrk(false, left, rows, a.data(), left, sum.data(), right);
        continue;
      }
      load_tile(z_, block, row0, rows, at.right0, right, b.data(), right);
      blas::gemm(true, false, left, right, rows, 1.0, a.data(), left, b.data(), right, 1.0, sum.data(), right);
    }
    return sum;
  }

 private:
  const Centered& z_;
  const std::vector<PanelPair> pairs_;
};

// Z'Z_S, a panel of Z's columns at a time.
class GramWithPass {
 public:
  static constexpr const char* kName = "gram_with";
  static constexpr Index kReadings = 1;
  using Result = Sums;

  GramWithPass(const Centered& z, const std::vector<Index>& columns)
      : z_(z), columns_(columns), some_(z.with_columns(checked(columns, z.cols()))) {}
  auto given() const { return std::tie(z_, columns_); }

  Index pieces() const { return tamis::pieces(z_.cols(), kGramCols); }
  bool fits(const Sums& sums) const {
    if (static_cast<Index>(sums.size()) != pieces()) return false;
    for (Index q = 0; q < pieces(); ++q) {
      if (!has_shape(sums[q], width(q), some_.cols())) return false;
    }
    return true;
  }
  Order order() const { return z_.source().store().in_memory() ? Order::by_piece : Order::by_leaf; }

  Matrix partial(const Block& block, Index q) const {
    const Index left = width(q), right = some_.cols();
    Matrix sum(left, right), a(kGramRows, left), b(kGramRows, right);
    for (Index row0 = 0; row0 < block.rows; row0 += kGramRows) {
      const Index rows = std::min(kGramRows, block.rows - row0);
      load_tile(z_, block, row0, rows, q * kGramCols, left, a.data(), left);
      load_tile(some_, block, row0, rows, 0, right, b.data(), right);
      blas::gemm(true, false, left, right, rows, 1.0, a.data(), left, b.data(), right, 1.0, sum.data(), right);
    }
    return sum;
  }

 private:
  static const std::vector<Index>& checked(const std::vector<Index>& columns, Index end) {
    require(rises_below(columns, end), ErrorCode::internal, kName, ": positions that do not rise below ", end);
    return columns;
  }
  Index width(Index q) const { return std::min(kGramCols, z_.cols() - q * kGramCols); }

  const Centered& z_;
  const std::vector<Index>& columns_;
  const Centered some_;
};

// [E_S r]'E of sparse rows for few columns S, E being Z without what is taken off in sum, and r the roots of the
// weights of rows, or 1: a row costs as many multiplications as it has pairs of an entry and one in S.
class SparseGramPass {
 public:
  static constexpr const char* kName = "sparse_gram";
  static constexpr Index kReadings = 1;
  using Result = Sums;

  SparseGramPass(const Centered& z, const std::vector<Index>& columns)
      : z_(z), columns_(columns), place_(z.cols(), -1) {
    require(rises_below(columns, z.cols()), ErrorCode::internal, kName, ": positions that do not rise below ",
            z.cols());
    for (std::size_t k = 0; k < columns.size(); ++k) place_[columns[k]] = static_cast<std::int32_t>(k);
  }
  auto given() const { return std::tie(z_, columns_); }

  Index pieces() const { return 1; }
  bool fits(const Sums& sums) const {
    return sums.size() == 1 && has_shape(sums[0], std::ssize(columns_) + 1, z_.cols());
  }

  Matrix partial(const Block& block, Index) const {
    Matrix sum(std::ssize(columns_) + 1, z_.cols());
    RowEntries entries;
    for (Index i = 0; i < block.rows; ++i) {
      entries.load(z_, block, i);
      for (Index k = 0; k < entries.count; ++k) {
        const std::int32_t place = place_[entries.columns[k]];
        if (place >= 0) add_row(entries, entries.values[k], sum.row(place));
      }
      add_row(entries, z_.root(block.first + i), sum.row(std::ssize(columns_)));
    }
    return sum;
  }

 private:
  static void add_row(const RowEntries& entries, double factor, double* to) {
    for (Index k = 0; k < entries.count; ++k) to[entries.columns[k]] += factor * entries.values[k];
  }

  const Centered& z_;
  const std::vector<Index>& columns_;
  std::vector<std::int32_t> place_;  // in S, or -1
};

// ZZ' of rows that are all in one place: a sum over columns, along a tree of stretches of them.
class RowGramPass {
 public:
  static constexpr const char* kName = "gram_of_rows";
  static constexpr Index kReadings = 1;
  using Result = Matrix;

  explicit RowGramPass(const Centered& z) : z_(z) {}
  auto given() const { return std::tie(z_); }
  Index row_count() const { return z_.rows(); }
  Index row_width() const { return z_.rows(); }

  Matrix whole(Context& context) const {
    const auto pairs = upper_pairs(z_.rows(), kPanelRows);
    const Order order = z_.source().store().in_memory() ? Order::by_piece : Order::by_leaf;
    Matrix out(z_.rows(), z_.rows());
    reduce_leaves<Matrix>(
        tamis::pieces(z_.cols(), kStretchCols), static_cast<Index>(pairs.size()), z_.rows(), order, context,
        [&](Index stretch, Index q) { return of_stretch(stretch, pairs[q]); }, add_matrix,
        [&](Index q, Matrix&& sum) { put(pairs[q], sum, out); });
    symmetrize(out);
    return out;
  }

 private:
  Matrix of_stretch(Index stretch, const PanelPair& at) const {
    const Index end = std::min(z_.cols(), (stretch + 1) * kStretchCols);
    Matrix sum(at.left, at.right), a(at.left, kLoadedCols), b(at.diagonal() ? 0 : at.right, kLoadedCols);
    for (Index col0 = stretch * kStretchCols; col0 < end; col0 += kLoadedCols) {
      const Index cols = std::min(kLoadedCols, end - col0);
      load_part(z_, at.left0, at.left, col0, cols, a.data());
      if (at.diagonal()) {
        blas::syrk(true, at.left, cols, a.data(), cols, sum.data(), at.right);
        continue;
      }
      load_part(z_, at.right0, at.right, col0, cols, b.data());
      blas::gemm(false, true, at.left, at.right, cols, 1.0, a.data(), cols, b.data(), cols, 1.0, sum.data(), at.right);
    }
    return sum;
  }

  const Centered& z_;
};

double squared_roots(const Centered& z) {
  if (z.roots().empty()) return static_cast<double>(z.rows());
  double sum = 0;
  for (const double root : z.roots()) sum += root * root;
  return sum;
}

// Z_S'Z out of [E_S r]'E: Z = E - r o', so that Z'Z = E'E - (E'r) o' - o (E'r)' + r'r o o'.
void take_off(const Centered& z, const std::vector<Index>& columns, Matrix& products) {
  const std::vector<double> offset = implicit_center(z);
  const double rows = squared_roots(z);
  const double* total = products.row(products.rows() - 1);  // r'E
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const double here = offset[columns[k]], rest = total[columns[k]] - rows * here;
    double* to = products.row(static_cast<Index>(k));
    for (Index j = 0; j < products.cols(); ++j) to[j] -= total[j] * here + offset[j] * rest;
  }
}

Matrix sparse_gram_with(const Centered& z, const std::vector<Index>& columns, Context& context) {
  Matrix out(z.cols(), std::ssize(columns));
  for (Index first = 0; first < out.cols(); first += kSparseCols) {
    const Index count = std::min(kSparseCols, out.cols() - first);
    const std::vector<Index> some(columns.begin() + first, columns.begin() + first + count);
    Matrix products = std::move(reduce(SparseGramPass(z, some), context).front());
    take_off(z, some, products);
    for (Index j = 0; j < out.rows(); ++j) {
      for (Index k = 0; k < count; ++k) out(j, first + k) = products(k, j);
    }
  }
  return out;
}

// ZZ', a few of its columns at a time.
Matrix sparse_gram_of_rows(const Centered& z, Context& context) {
  Matrix out(z.rows(), z.rows());
  for (Index first = 0; first < out.cols(); first += kSparseCols) {
    const Index count = std::min(kSparseCols, out.cols() - first);
    Matrix unit(z.rows(), count);
    for (Index k = 0; k < count; ++k) unit(first + k, k) = 1;
    const Matrix columns = multiply(z, multiply_transposed(z, unit, context), context);
    for (Index i = 0; i < out.rows(); ++i) std::copy_n(columns.row(i), count, out.row(i) + first);
  }
  symmetrize(out);
  return out;
}

}  // namespace

Matrix gram(const Centered& z, Context& context) {
  if (z.source().sparse()) {
    std::vector<Index> all(z.cols());
    std::iota(all.begin(), all.end(), Index{0});
    Matrix whole = sparse_gram_with(z, all, context);
    symmetrize(whole);
    return whole;
  }
  Matrix out(z.cols(), z.cols());
  const GramPass pass(z);
  reduce(pass, context, [&](Index q, Matrix&& sum) { put(pass.pairs()[q], sum, out); });
  symmetrize(out);
  return out;
}

Matrix gram_with(const Centered& z, const std::vector<Index>& columns, Context& context) {
  if (z.source().sparse()) return sparse_gram_with(z, columns, context);
  Matrix out(z.cols(), std::ssize(columns));
  const GramWithPass pass(z, columns);
  reduce(pass, context, [&](Index q, Matrix&& sum) { std::copy_n(sum.data(), sum.size(), out.row(q * kGramCols)); });
  return out;
}

Matrix gram_of_rows(const Centered& z, Context& context) {
  if (z.source().sparse()) return sparse_gram_of_rows(z, context);
  return reduce(RowGramPass(z), context);
}

std::vector<WirePass> gram_passes() {
  return {wire_pass<GramPass>(), wire_pass<GramWithPass>(), wire_pass<SparseGramPass>(), wire_pass<RowGramPass>()};
}

}  // namespace tamis
