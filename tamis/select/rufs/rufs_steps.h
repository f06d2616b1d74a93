// The three sub-problems of RUFS (see rufs.h), each with the other two variables fixed. None of them can raise J.
//
// All that they ask of the data are products X V and X'T with c columns, and one reduction of the smaller Gram
// matrix to tridiagonal form where min(n, d) <= kDecomposed. F never meets X row by row:
//   ||g_i F - x_i||^2 = ||x_i||^2 - 2 g_i.(X F')_i + g_i F F' g_i'
#pragma once

#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/passes/passes.h"
#include "tamis/graph/graph.h"
#include "tamis/linalg/anderson.h"
#include "tamis/linalg/dense.h"
#include "tamis/linalg/matrix.h"
#include "tamis/linalg/tridiagonal.h"

namespace tamis {

// A quarter of it where X is sparse, and products are cheap.
inline constexpr Index kDecomposed = 4096;

// X in units of `unit`: W is multiplied and F divided by it, beta divided, and the weights of F multiplied.
struct RufsProblem {
  const Centered& x;  // n x d, not centered
  const Graph& graph;
  double alpha, beta, nu, mu, shrink, zeta;
  double fit = 1;               // weight of ||X - GF||_21
  std::vector<double> squares;  // ||x_i||^2
  // sqrt(m) of each column, which stands for m copies of x / sqrt(m) (copies.h): what the norms of the rows of W and of
  // the columns of F count for.
  std::vector<double> roots;
};

struct RufsState {
  Matrix w, f, g;  // d x c, c x d, n x c
  Matrix xw, xf;   // X W and X F', n x c
};

// The terms of J with their weights.
struct RufsTerms {
  double fit = 0, shrink = 0, mass = 0, graph = 0, regression = 0, sparsity = 0, penalty = 0;
  double sum() const { return fit + shrink + mass + graph + regression + sparsity + penalty; }
};
RufsTerms rufs_terms(const RufsProblem& problem, const RufsState& state, Context& context);
// How much of J may be rounding: most of it is lost where ||g_i F - x_i|| is far below ||x_i||.
double rounding_of(const RufsProblem& problem, const RufsState& state, double objective);

// F = max((G'G)^-1 G'X, 0) + 0.2 (mean of its positive entries).
Matrix first_basis(const RufsProblem& problem, const Matrix& g, Context& context);

// By which square matrix the W step solves its systems, or by products with the data where none is small enough.
enum class RidgePath { columns, rows, iterated };
RidgePath ridge_path(Index rows, Index cols, bool sparse, Index decomposed = kDecomposed);
const char* name_of(RidgePath path);

// minimize ||X W - T||^2 + r ||W - C||^2 for many T, C and r.
class RidgeSystem {
 public:
  RidgeSystem(const Centered& x, Index decomposed, Context& context);
  // `w` and `xw` hold the point to start from where it iterates, and the solution afterwards.
  void solve(const Matrix& t, Matrix c, double r, Matrix& w, Matrix& xw, Context& context) const;
  bool iterates() const { return path_ == RidgePath::iterated; }  // there is no decomposition
  const char* path() const { return name_of(path_); }

 private:
  Matrix solve_columns(const Matrix& t, Matrix c, double r, Matrix& xw, Context& context) const;
  Matrix solve_rows(const Matrix& t, Matrix c, double r, Matrix& xw, Context& context) const;
  void iterate(const Matrix& t, const Matrix& c, double r, Matrix& w, Matrix& xw, Context& context) const;

  const Centered& x_;
  RidgePath path_;
  Tridiagonal gram_;  // X'X or XX'
};

// W: minimize alpha ||XW - G||_21 + beta ||W||_21 by ADMM on the splits R = XW - G and V = W, until the duality gap is
// a small part of the value. The dual: maximize -<U, G> subject to ||u_i|| <= alpha, ||(X'U)_j|| <= beta. Where columns
// stand for copies, beta is beta sqrt(m_j).
class WeightStep {
 public:
  // `effort` multiplies the arithmetic that one run may cost.
  WeightStep(const RufsProblem& problem, Context& context, Index decomposed = kDecomposed, double effort = 1);
  // (X'X + (beta / alpha) I)^-1 X'G.
  void start(RufsState& state, Context& context) const;
  // Returns the relative gap: 1e-8 is fine, 1e-5 rough; more where the problem is large, and iterations ran out.
  enum class Gap { rough, fine };
  double run(RufsState& state, Gap wanted, Context& context);
  const char* path() const { return system_.path(); }
  Index iterations() const { return iterations_; }  // so far

 private:
  struct Bounds;
  Index most_iterations(Gap wanted, Index columns) const;
  void begin(const RufsState& state);
  void iterate(const Matrix& g, Anderson& ahead, Context& context);
  double value_of(const RufsState& state, const Matrix& v, const Matrix& xv) const;
  void raise_dual(const Matrix& g, const Matrix& u, Bounds& bounds, Context& context) const;
  Matrix scaled_dual() const;
  void balance(const Matrix& g);

  const RufsProblem& problem_;
  RidgeSystem system_;
  const double effort_;
  Matrix w_, xw_;  // the ridge solution of an iteration
  Matrix r_, v_;
  double moved_r_ = 0, moved_v_ = 0;  // how far the last iteration took them
  Matrix dual_r_, dual_v_;            // divided by their rho
  double rho_r_ = 0, rho_v_ = 0;
  Index iterations_ = 0;
};

// G >= 0: projected steps with the curvature of the penalty and a majorant of the rest, and backtracking, on
//   fit ||X - GF||_21 + mu sum(G) + nu tr(G'LG) + alpha ||XW - G||_21 + zeta/4 ||G'G - I||^2.
Matrix label_gradient(const RufsProblem& problem, const RufsState& state, Context& context);
void label_step(const RufsProblem& problem, RufsState& state, Context& context);

// F >= 0: ||X - GF||_21 + shrink sum_k ||f_k|| by its quadratic majorants, the weights 1 / ||(GF - X)_i|| fresh in
// each.
Matrix basis_gradient(const RufsProblem& problem, const RufsState& state, Context& context);
void basis_step(const RufsProblem& problem, RufsState& state, Context& context);

struct RufsFit {
  RufsState state;
  std::vector<RufsTerms> trace;  // the start, then one a round
  double gap = 0;                // of the last W
  bool converged = false;
};
// From labels G: F and W of the start, W, then rounds of G, F, W until one gains at most `tolerance` of J.
RufsFit fit_rufs(const RufsProblem& problem, Matrix g, Index rounds, double tolerance, Context& context);

}  // namespace tamis
