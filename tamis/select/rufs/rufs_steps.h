// The three sub-problems of RUFS (see rufs.h), each with the other two variables fixed. None of them can raise J.
//
// All that they ask of the data are products X V and X'T with c columns, and one reduction of the smaller Gram
// matrix to tridiagonal form where min(n, d) <= kDecomposed. F never meets X row by row:
//   ||g_i F - x_i||^2 = ||x_i||^2 - 2 g_i.(X F')_i + g_i F F' g_i'
#pragma once

#include <optional>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/passes/passes.h"
#include "tamis/graph/graph.h"
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

// Quadratic majorants of the W step's function: with lengths l_i and m_j,
//   alpha ||r_i|| <= a_i/2 (||r_i||^2 + l_i^2), a_i = alpha / l_i,   beta_j ||w_j|| <= b_j/2 (||w_j||^2 + m_j^2),
// so W = (X'AX + B)^-1 X'AG cannot raise the function where l_i = ||r_i|| and m_j = ||w_j||.
struct MajorantLengths {
  std::vector<double> rows, columns;  // 1 / a_i and 1 / b_j
};
struct Majorant {
  Matrix w, xw;  // where it is least
  Matrix u;      // A (XW - G), a point of the dual: X'U = -B W
};
Majorant minimum_of_majorant(const Centered& x, const Matrix& g, const MajorantLengths& at, Context& context);

// y that is least for alpha ||R + sum_k y_k XM_k||_21 + sum_j beta_j ||(W + sum_k y_k M_k)_j|| by Newton's method, from
// y = (1, 0, ...).
std::vector<double> best_along(const Matrix& r, const Matrix& w, const std::vector<const Matrix*>& xw_moves,
                               const std::vector<const Matrix*>& w_moves, double alpha,
                               const std::vector<double>& betas);

// W: minimize alpha ||XW - G||_21 + beta ||W||_21 until the duality gap is a small part of the value. The dual:
// maximize -<U, G> subject to ||u_i|| <= alpha, ||(X'U)_j|| <= beta. Where columns stand for copies, beta is
// beta sqrt(m_j). Where min(n, d) is small, by majorants and the best step along their last moves; they come near fast.
// What is left of the gap, and large problems, are ADMM's, on the splits R = XW - G and V = W.
class WeightStep {
 public:
  // `effort` multiplies the arithmetic that one run may cost.
  WeightStep(const RufsProblem& problem, Context& context, Index decomposed = kDecomposed, double effort = 1);
  // (X'X + (beta / alpha) I)^-1 X'G.
  void start(RufsState& state, Context& context) const;
  // Returns a bound of the relative gap. A fine one is 1e-8, more where iterations ran out or rounding has the rest; a
  // rough step ends after a few majorants (of large problems: at 1e-5), and J has fallen all the same.
  enum class Gap { rough, fine };
  double run(RufsState& state, Gap wanted, Context& context);
  const char* path() const { return name_of(path_); }
  Index majorants() const { return majorants_; }    // so far
  Index iterations() const { return iterations_; }  // of ADMM, so far

 private:
  struct Bounds;
  struct Iterate;
  Index most_majorants(double flops, Index least, Index most) const;
  Index most_iterations(Gap wanted, Index columns) const;
  MajorantLengths lengths_at(const Matrix& g, const Iterate& at) const;
  void look_at_zero(RufsState& state, Bounds& bounds, Context& context) const;
  void descend(RufsState& state, Gap wanted, Bounds& bounds, Context& context);
  void move(const Matrix& g, Majorant to, Iterate& at, Context& context) const;
  void alternate(RufsState& state, double enough, int most_stalls, Index& left, Bounds& bounds, Context& context);
  void close(RufsState& state, Bounds& bounds, Context& context);
  void begin(const RufsState& state, Context& context);
  void drop_vanished(RufsState& state, Bounds& bounds, Context& context) const;
  void iterate(const Matrix& g, Context& context);
  double value_of(const Matrix& g, const Matrix& v, const Matrix& xv) const;
  void raise_dual(const Matrix& g, const Matrix& u, Bounds& bounds, Context& context) const;
  Matrix scaled_dual() const;
  void balance(const Matrix& g);

  const RufsProblem& problem_;
  const RidgePath path_;
  const Index decomposed_;
  const double effort_;
  std::vector<double> betas_;
  std::optional<RidgeSystem> system_;  // of ADMM, which may never be needed
  Matrix u_;                           // of the last majorant
  Matrix w_, xw_;                      // the ridge solution of an iteration
  Matrix r_, v_;
  double moved_r_ = 0, moved_v_ = 0;  // how far the last iteration took them
  Matrix dual_r_, dual_v_;            // divided by their rho
  double rho_r_ = 0, rho_v_ = 0;
  Index majorants_ = 0, iterations_ = 0;
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
