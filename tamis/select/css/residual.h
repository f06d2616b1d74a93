// What the chosen columns leave of the others: R = X'(I - QQ')X, Q a basis of the chosen columns. Used by css only.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/passes/passes.h"
#include "tamis/linalg/matrix.h"
#include "tamis/select/groups.h"

namespace tamis {

// R = X'X + sum_t sign_t u_t u_t', its diagonal, and the squared norms of its columns.
class CssResidual {
 public:
  using Vector = std::vector<double>;

  static constexpr std::size_t kPending = 32;  // rank-one terms that are folded into R together
  static constexpr Index kPiece = 64;          // rows of R, or columns of products with X, at a time

  static double dot(const Vector& a, const Vector& b);

  virtual ~CssResidual() = default;
  CssResidual(const CssResidual&) = delete;
  CssResidual& operator=(const CssResidual&) = delete;

  // From now on blocks of R and R^2 are known for each of these groups that has two columns or more.
  void follow(const ColumnGroups& groups);
  // R_GG and (R^2)_GG
  struct Block {
    Matrix left, square;
  };
  const Block& block(Index group) const { return blocks_[group]; }

  Index size() const { return static_cast<Index>(left_.size()); }
  double left(Index j) const { return left_[j]; }      // R_jj
  double square(Index j) const { return square_[j]; }  // ||R_:j||^2
  double trace() const;

  Vector direction(Index j) const;      // R_:j / sqrt(R_jj)
  Vector times(const Vector& v) const;  // R v

  // R <- R + sign u u', where Ru is R u.
  void add(double sign, const Vector& u, const Vector& ru);

  // Diagonal and norms by recurrence lose digits as R gets smaller; `chosen` are the columns that R is orthogonal to.
  void refresh_if_due(const std::vector<Index>& chosen);
  void refresh(const std::vector<Index>& chosen);

 protected:
  using Terms = std::vector<std::pair<double, Vector>>;

  explicit CssResidual(Context& context) : context_(context) {}

  virtual Vector base_column(Index j) const = 0;
  virtual Matrix base_columns(const std::vector<Index>& columns) const = 0;  // one a row
  virtual Vector base_times(const Vector& v) const = 0;
  virtual void make_fresh(const std::vector<Index>& chosen) = 0;
  virtual bool is_due() const = 0;

  Context& context_;
  Terms terms_;
  Vector left_, square_;
  std::size_t since_ = 0;  // terms since sums were made anew

 private:
  void add_terms(Index j, Vector& out) const;
  void add_to_block(double sign, const Vector& u, const Vector& ru, double norm, Index group);
  void make_blocks();
  void set_blocks(std::size_t first, std::size_t last, const std::vector<Index>& columns);

  const ColumnGroups* groups_ = nullptr;
  std::vector<Block> blocks_;  // of the groups of two columns or more
  double fresh_trace_ = 0;
};

// With R as a matrix, into which the terms are folded now and then.
std::unique_ptr<CssResidual> residual_by_columns(const Centered& z, Context& context);
// With R as a product, beside XX' of few rows. `z` must outlive it.
std::unique_ptr<CssResidual> residual_by_rows(const Centered& z, Context& context);

}  // namespace tamis
