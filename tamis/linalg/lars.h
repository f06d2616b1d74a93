// The lasso path by least angle regression (Efron, Hastie, Johnstone & Tibshirani: Least Angle Regression. Annals of
// Statistics 2004), for several targets y_k over one X (n x d), without intercept:
//
//   a_k(lambda) = argmin 1/2 ||y_k - X a||^2 + lambda ||a||_1
//
// lambda falls from max_j |x_j'y_k|, where the first column enters, from knot to knot. At a knot a column enters the
// active set A or leaves it. The answer for y_k are the coefficients at the end of the first step that ends with
// `active` columns, that is where the next one would enter; or at lambda = 0, a least squares fit, if that comes first.
//
// X is seen through inner products of columns alone, and the paths advance together, so that one reading of the data
// serves them all. Memory: for each path A's triangular factor and 3 d numbers, beside what LarsColumns keeps.
#pragma once

#include <functional>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/linalg/matrix.h"

namespace tamis {

// sum_i values[i] x_{columns[i]}
struct Combination {
  std::vector<Index> columns;
  std::vector<double> values;
};

// What a path asks of X.
class LarsColumns {
 public:
  virtual ~LarsColumns() = default;
  virtual Index count() const = 0;  // d
  // The given columns (rising) may be used by the functions below from now on.
  virtual void prepare(const std::vector<Index>& columns, Context& context) = 0;
  // out[i] = x_{columns[i]}'x_j; called from several threads.
  virtual void inner(Index j, const std::vector<Index>& columns, double* out) const = 0;
  // Row k: X' times the k-th combination (d numbers; 0 where it has no columns).
  virtual Matrix images(const std::vector<Combination>& directions, Context& context) = 0;
};

// X through the whole of its Gram matrix X'X.
class GramColumns final : public LarsColumns {
 public:
  explicit GramColumns(const Matrix& gram);
  Index count() const override { return count_; }
  void prepare(const std::vector<Index>&, Context&) override {}
  void inner(Index j, const std::vector<Index>& columns, double* out) const override;
  Matrix images(const std::vector<Combination>& directions, Context& context) override;

 private:
  Index count_;
  Matrix panels_;  // panel after panel of neighboring columns, all d rows of each
};

struct LarsOptions {
  Index active = 1;  // columns at which a path stops
  double ridge =
      0.0;  // added to the diagonal of X_A'X_A where directions are solved for, and nowhere else; 0: the lasso
  std::function<void(double fraction)> progress;  // may be empty; called after every step, never falls
};

struct LarsFit {
  Matrix coefficients;         // d x K
  std::vector<double> lambda;  // where each path stopped
  std::vector<Index> active, steps, drops;
  // Columns left out of a path because they depend linearly on the active ones, up to rounding. They are tied with
  // the active ones for good, so a lasso solution without them is as good as any.
  std::vector<Index> dependent;
  std::vector<char> stuck;  // 1 where the path was given up: more steps than any sane path takes
};

// `correlations`: X'Y (d x K).
LarsFit lars_lasso(LarsColumns& x, const Matrix& correlations, const LarsOptions& options, Context& context);

}  // namespace tamis
