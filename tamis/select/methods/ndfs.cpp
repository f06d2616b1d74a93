#include "tamis/select/methods/ndfs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/base/text/spelling.h"
#include "tamis/data/passes/passes.h"
#include "tamis/graph/given.h"
#include "tamis/graph/laplacian.h"
#include "tamis/linalg/cholesky.h"
#include "tamis/linalg/dense.h"
#include "tamis/select/direct.h"
#include "tamis/select/row_clusters.h"
#include "tamis/select/shared_options.h"
#include "tamis/select/varying.h"

namespace tamis {

namespace {

constexpr double kGuard = std::numeric_limits<double>::epsilon();  // the original code's guard of every division
constexpr double kOffset = 0.02;                                   // of the first F, so that no entry stays 0 for ever
constexpr Index kSystem = 16384;                                   // equations at most: 2 GB a matrix
constexpr Index kPieceCells = Index{1} << 21;                      // numbers of X made dense at a time: 16 MB
constexpr double kFar = 1e4;  // standard deviations between a column and 0 that are worth a warning

void check_ndfs(const Source& source, const NdfsOptions& options, const Context& context) {
  require_valid(options, "ndfs");
  require_fitting(options.graph, source.rows(), "ndfs");
  const Index n = source.rows(), d = source.cols(), c = options.clusters;
  require(n >= 2, ErrorCode::bad_data, n, " row", n == 1 ? "" : "s", ", need at least 2");
  require(d >= 1, ErrorCode::bad_data, "0 features, need at least 1");
  require(c <= n, ErrorCode::usage, MethodName{"ndfs"}, ": ", OptionName{"clusters"}, " = ", c, ", need 1..n = ", n);
  const Index m = std::min(n, d);
  require(m <= kSystem, ErrorCode::resources, MethodName{"ndfs"}, ": a system of min(n, d) = ", m,
          " equations, need at most ", kSystem);
  const auto bytes = 2 * static_cast<std::uint64_t>(m) * static_cast<std::uint64_t>(m) * sizeof(double);
  require(context.memory_limit == 0 || bytes <= context.memory_limit, ErrorCode::resources, MethodName{"ndfs"},
          ": a system of ", m, " equations takes ", bytes, " bytes, ", OptionName{"memory"}, " = ",
          context.memory_limit);
  const Matrix& f = options.init;
  if (f.empty()) return;
  require(f.rows() == n && f.cols() == c, ErrorCode::usage, MethodName{"ndfs"}, ": init is ", f.rows(), " x ", f.cols(),
          ", need n x ", OptionName{"clusters"}, " = ", n, " x ", c);
  const bool fine =
      std::all_of(f.data(), f.data() + f.size(), [](double value) { return value >= 0 && std::isfinite(value); });
  require(fine, ErrorCode::usage, MethodName{"ndfs"},
          ": init has entries that are negative or not finite, need F >= 0");
}

// --- X -----------------------------------------------------------------------------------------------------------

// The columns that vary, as they are, and the distinct ones among them, divided by a power of two that keeps their
// squares in range.
struct NdfsTable {
  std::vector<Index> kept;
  Source source;
  Copies copies;
  Source x;  // distinct columns / unit
  double unit = 1;
  double distance = 0;  // of a mean from 0, in standard deviations of its column, at most
};

NdfsTable ndfs_table(const Source& source, Context& context) {
  Varying varying = varying_columns(source, context);
  const ColumnMoments& moments = varying.moments;
  NdfsTable out;
  for (std::size_t j = 0; j < moments.mean.size(); ++j) {
    const double deviation = std::sqrt(moments.scatter[j] / static_cast<double>(source.rows())) * moments.unit;
    if (deviation > 0) out.distance = std::max(out.distance, std::abs(moments.mean[j]) / deviation);
  }
  Distinct distinct = distinct_columns(varying, context);
  out.kept = std::move(varying.kept);
  out.unit = varying.unit;
  out.source = std::move(varying.source);
  out.copies = std::move(distinct.copies);
  out.x = std::move(distinct.source);
  if (out.unit != 1) out.x = out.x.with_column_scale(std::vector<double>(out.copies.number.size(), 1 / out.unit));
  return out;
}

Centered uncentred(const Source& x) { return {x, std::vector<double>(x.cols()), 1.0}; }

// --- The first F -------------------------------------------------------------------------------------------------

// F = Y (Y'Y)^-1/2 + 0.02, Y the indicators of the clusters of k-means.
Matrix first_labels(const Source& x, const NdfsOptions& options, Context& context) {
  const KMeansResult found = cluster_rows(x, options.clusters, options.restarts, context);
  Matrix f(x.rows(), options.clusters, kOffset);
  for (Index i = 0; i < f.rows(); ++i) {
    const int k = found.labels[i];
    f(i, k) += 1 / std::sqrt(static_cast<double>(found.counts[k]));
  }
  return f;
}

// --- The regression ----------------------------------------------------------------------------------------------

// What depends on B = (X'X + beta D)^-1, by the smaller system, with P = (beta D)^-1:
//   d <= n: B = P^1/2 (I + P^1/2 X'X P^1/2)^-1 P^1/2,   d > n: I - XBX' = (I + XPX')^-1 and BX' = PX'(I + XPX')^-1.
class Regression {
 public:
  Regression(const Source& x, bool by_columns, Context& context)
      : x_(x), z_(uncentred(x)), context_(context), by_columns_(by_columns) {
    if (by_columns_) gram_ = x.sparse() ? sparse_gram() : gram(z_, context);
  }

  // Takes the diagonal of P.
  void reweigh(const std::vector<double>& p) {
    root_.resize(p.size());
    std::transform(p.begin(), p.end(), root_.begin(), [](double value) { return std::sqrt(value); });
    system_ = Cholesky();  // the old one makes room
    Matrix system = by_columns_ ? gram_ : weighted_rows();
    for (Index i = 0; i < system.rows(); ++i) {
      for (Index j = 0; by_columns_ && j < system.cols(); ++j) system(i, j) *= root(i) * root(j);
      system(i, i) += 1;
    }
    system_ = Cholesky(std::move(system));
  }

  // W = BX'F and, in place of F, the residual F - XW.
  Matrix fit(const Matrix& projected, Matrix& f) const {
    if (by_columns_) {
      Matrix w = solve_columns(projected);
      const Matrix xw = multiply(z_, w, context_);
      for (Index i = 0; i < f.size(); ++i) f.data()[i] -= xw.data()[i];
      return w;
    }
    f = system_.solve(std::move(f));
    Matrix w = multiply_transposed(z_, f, context_);
    for (Index j = 0; j < w.rows(); ++j) scale_row(root(j) * root(j), w, j);
    return w;
  }

  // X'F, which the other two take; on the side of rows they do without.
  Matrix project(const Matrix& f) const { return by_columns_ ? multiply_transposed(z_, f, context_) : Matrix(); }

  // tr(F'(I - XBX')F).
  double misfit(const Matrix& f, const Matrix& projected) const {
    if (!by_columns_) return dot(f, system_.solve(f));
    return std::max(0.0, squared_norm(f) - dot(projected, solve_columns(projected)));
  }

 private:
  double root(Index j) const { return root_[j]; }
  static void scale_row(double by, Matrix& a, Index i) {
    for (Index k = 0; k < a.cols(); ++k) a(i, k) *= by;
  }

  // B times a d x c matrix.
  Matrix solve_columns(Matrix a) const {
    scale_rows(root_, a);
    a = system_.solve(std::move(a));
    scale_rows(root_, a);
    return a;
  }

  // X'X, a few columns of X made dense at a time.
  Matrix sparse_gram() const {
    const Index d = x_.cols(), width = std::clamp<Index>(kPieceCells / x_.rows(), 1, 256);
    Matrix out(d, d);
    for (Index first = 0; first < d; first += width) {
      std::vector<Index> columns;
      for (Index j = first; j < std::min(d, first + width); ++j) columns.push_back(j);
      const Matrix piece = multiply_transposed(z_, gather(x_.with_columns(columns), context_), context_);
      for (Index i = 0; i < d; ++i) std::copy_n(piece.row(i), piece.cols(), out.row(i) + first);
    }
    return out;
  }

  // XPX'; of sparse X a few rows made dense at a time.
  Matrix weighted_rows() const {
    const Source weighted = x_.with_column_scale(root_);
    const Centered z = uncentred(weighted);
    if (!x_.sparse()) return gram_of_rows(z, context_);
    const Index n = x_.rows(), width = std::clamp<Index>(kPieceCells / x_.cols(), 1, 256);
    Matrix out(n, n);
    for (Index first = 0; first < n; first += width) {
      std::vector<Index> rows;
      for (Index i = first; i < std::min(n, first + width); ++i) rows.push_back(i);
      const Matrix piece = multiply(z, transposed(gather_rows(weighted, rows, context_)), context_);
      for (Index i = 0; i < n; ++i) std::copy_n(piece.row(i), piece.cols(), out.row(i) + first);
    }
    return out;
  }

  const Source& x_;
  const Centered z_;
  Context& context_;
  const bool by_columns_;
  Matrix gram_;  // X'X
  std::vector<double> root_;
  Cholesky system_;
};

// --- The iteration -----------------------------------------------------------------------------------------------

// P = (beta D)^-1 with D_jj = 1 / (2 sqrt(||w_j||^2 + eps)), w_j of one of the copies; W is in 1 / unit, beta in
// unit^2.
std::vector<double> weights_of(const Matrix& w, const NdfsTable& data, double beta) {
  std::vector<double> p(w.rows());
  for (Index j = 0; j < w.rows(); ++j) {
    double norm = 0;
    for (Index k = 0; k < w.cols(); ++k) norm += (w(j, k) / data.unit) * (w(j, k) / data.unit);
    norm /= data.copies.number[j];
    p[j] = 2 * std::sqrt(norm + kGuard) / beta;
  }
  return p;
}

// F <- F .* (gamma F + eps) ./ (MF + gamma FF'F + eps), MF = LF + alpha (F - XW); then columns of length 1.
void update_labels(const Matrix& lf, const Matrix& residual, const NdfsOptions& options, Matrix& f) {
  const Matrix fff = product(f, product_transposed_left(f, f));
  std::vector<double> squares(f.cols(), kGuard);
  for (Index i = 0; i < f.rows(); ++i) {
    for (Index k = 0; k < f.cols(); ++k) {
      const double mf = lf(i, k) + options.alpha * residual(i, k);
      double value = f(i, k) * (options.gamma * f(i, k) + kGuard) / (mf + options.gamma * fff(i, k) + kGuard);
      if (!std::isfinite(value) || (options.clip && value < 0)) value = 0;
      f(i, k) = value;
      squares[k] += value * value;
    }
  }
  for (double& square : squares) square = 1 / std::sqrt(square);
  for (Index i = 0; i < f.rows(); ++i) {
    for (Index k = 0; k < f.cols(); ++k) f(i, k) *= squares[k];
  }
}

// ||F'F - I||^2.
double overlap(const Matrix& f) {
  Matrix ff = product_transposed_left(f, f);
  for (Index k = 0; k < ff.rows(); ++k) ff(k, k) -= 1;
  return squared_norm(ff);
}

struct NdfsFit {
  Matrix w, f;
  std::vector<double> objective, smoothness, misfit, overlap;
  bool converged = false;
};

NdfsFit iterate(const NdfsTable& data, Regression& regression, const Graph& graph, const NdfsOptions& options,
                Matrix first, Context& context) {
  const Laplacian kind = options.laplacian == "plain" ? Laplacian::plain : Laplacian::normalized;
  const double beta = options.beta / data.unit / data.unit;
  require(beta < 1e150 && beta > 1e-150, ErrorCode::bad_data, MethodName{"ndfs"}, ": ", OptionName{"beta"}, " = ",
          options.beta, " is out of all proportion to the squares of the data: scale the data");
  NdfsFit fit;
  Matrix& f = fit.f = std::move(first);
  Matrix lf = laplacian_times(graph, kind, f, context), projected = regression.project(f);
  std::vector<double> p(data.copies.number.size(), 1 / beta);  // D = I
  const auto most = static_cast<double>(options.iterations);
  context.phase("iterations", {0, most, options.tolerance > 0});
  for (Index t = 0; t < options.iterations && !fit.converged; ++t) {
    context.check_cancelled();
    regression.reweigh(p);
    Matrix residual = f;
    fit.w = regression.fit(projected, residual);
    p = weights_of(fit.w, data, beta);
    update_labels(lf, residual, options, f);

    // tr(F'MF) + gamma/2 ||F'F - I||^2, F the new one and M = L + alpha (I - XBX') of this iteration.
    lf = laplacian_times(graph, kind, f, context);
    projected = regression.project(f);
    fit.smoothness.push_back(dot(f, lf));
    fit.misfit.push_back(regression.misfit(f, projected));
    fit.overlap.push_back(overlap(f));
    const double value =
        fit.smoothness.back() + options.alpha * fit.misfit.back() + options.gamma / 2 * fit.overlap.back();
    require(std::isfinite(value), ErrorCode::usage, MethodName{"ndfs"}, ": the objective overflows at ",
            OptionName{"alpha"}, " = ", options.alpha, ", ", OptionName{"gamma"}, " = ", options.gamma);
    if (options.tolerance > 0 && t > 0) {
      fit.converged = std::abs(value - fit.objective.back()) <= options.tolerance * std::abs(value);
    }
    fit.objective.push_back(value);
    context.phase("iterations", {static_cast<double>(t + 1), most, options.tolerance > 0},
                  concat("objective ", short_number(value)));
  }
  return fit;
}

// --- The result --------------------------------------------------------------------------------------------------

std::vector<int> clusters_of(const Matrix& f) {
  std::vector<int> out;
  for (Index i = 0; i < f.rows(); ++i) {
    out.push_back(static_cast<int>(std::max_element(f.row(i), f.row(i) + f.cols()) - f.row(i)));
  }
  return out;
}

// How often the objective rose: the published update does not rule it out.
double count_rises(const std::vector<double>& objective) {
  double rises = 0;
  for (std::size_t t = 1; t < objective.size(); ++t) {
    if (objective[t] > objective[t - 1] * (1 + 1e-12)) ++rises;
  }
  return rises;
}

Selection ndfs_selection(const NdfsTable& data, const NdfsFit& fit, Index d) {
  Selection out;
  spread_over_columns(fit.w, data.kept, data.copies, d, data.unit, out);
  out.clusters = clusters_of(fit.f);
  out.report.status = fit.converged ? Status::converged : Status::max_iterations;
  out.report.iterations = static_cast<Index>(fit.objective.size());
  out.report.objective = fit.objective;
  out.report.terms = {{"smoothness", fit.smoothness}, {"misfit", fit.misfit}, {"overlap", fit.overlap}};
  return out;
}

const char* system_name(const NdfsPlan& plan) { return plan.by_columns ? "d x d system" : "n x n system"; }

Selection solve(const Source& source, const NdfsTable& data, const NdfsPlan& plan, const Graph& graph,
                const NdfsOptions& options, Context& context, Matrix* labels) {
  require(graph.rows == source.rows(), ErrorCode::usage, MethodName{"ndfs"}, ": a graph of ", graph.rows,
          " rows, need n = ", source.rows());
  Matrix first = options.init.empty() ? first_labels(data.x, options, context) : options.init;
  Regression regression(data.x, plan.by_columns, context);
  NdfsFit fit = iterate(data, regression, graph, options, std::move(first), context);
  Selection out = ndfs_selection(data, fit, source.cols());
  out.report.path = system_name(plan);
  out.report.resolved = {{"objective_rises", count_rises(fit.objective)}};
  report_graph(graph, options.graph, out.report);
  if (data.distance > kFar) {
    out.report.warnings.push_back(message(MethodName{"ndfs"}, ": the mean of a column is ", data.distance,
                                          " standard deviations from 0, and columns are not centered: ",
                                          "their offsets hide their differences; subtract the means first"));
  }
  if (labels != nullptr) *labels = std::move(fit.f);
  return out;
}

// Fitted to the peaks and times of bench/forecast.py.
double system_numbers(const NdfsPlan& plan, const Shape& x, double c) {
  constexpr double kColumnSquares = 2.1, kRowSquares = 1.45, kFactors = 6;
  const double side = std::min(x.n(), x.d());
  return (plan.by_columns ? kColumnSquares : kRowSquares) * side * side + kFactors * (x.n() + x.d()) * c;
}

double ndfs_gram_numbers(const NdfsPlan& plan, const Shape& x, int threads) {
  if (plan.by_columns) return column_gram_numbers(x, threads);
  const double piece = std::min({256.0, x.n(), static_cast<double>(kPieceCells) / x.d()});
  return row_gram_numbers(x, threads) + (x.sparse ? 2 * x.d() * piece : 0);
}

double system_seconds(const Shape& x, double c, int threads) {
  constexpr double kGram = 9.6e-10, kSparseGram = 1.07e-8, kSolve = 1e-10, kFactor = 5e-7, kSystemEntry = 3e-7;
  const double side = std::min(x.n(), x.d());
  const double grams = (x.sparse ? kSparseGram : kGram) * x.entries * side + kSolve * side * side * side;
  return grams / threads + kFactor * (x.n() + x.d()) * c + kSystemEntry * side * side;
}

}  // namespace

NdfsPlan::NdfsPlan(const Shape& shape, const NdfsOptions& options, int threads)
    : Plan(shape, Code::systems, threads), by_columns(shape.cols <= shape.rows) {
  constexpr double kPasses = 45, kSmallBuffers = 1.5e5;
  const GraphCost graph(shape, options.graph, threads);
  const auto c = static_cast<double>(options.clusters);
  path = system_name(*this);
  path += options.graph.given ? ", given graph" : searches_cells(options.graph, shape.rows) ? ", graph in cells" : "";
  if (!options.graph.given && samples_bandwidth(options.graph, shape.rows)) {
    path += ", bandwidth from a sample of pairs";
  }
  kept += kSmallBuffers * std::min(1.0, c / kSmallPieces);
  phases = {{"nearest rows", graph.searching},
            {"graph", graph.making},
            {"clusters of rows", graph.kept + row_clusters_numbers(shape, threads)},
            {"gram", graph.kept + ndfs_gram_numbers(*this, shape, threads)},
            {"systems", graph.kept + system_numbers(*this, shape, c)}};
  seconds = graph.seconds + system_seconds(shape, c, threads);
  passes = graph.passes + kPasses;
}

Options describe(NdfsOptions& o) {
  const Options own = {
      shared::clusters(o.clusters),
      {.name = "alpha", .value = &o.alpha, .range = at_least(0), .help = "weight of the regression of the labels on X"},
      {.name = "beta", .value = &o.beta, .range = above(0), .help = "weight of the row sparsity of W"},
      {.name = "gamma", .value = &o.gamma, .range = above(0), .help = "weight of the penalty that keeps F'F near I"},
      {.name = "laplacian",
       .value = &o.laplacian,
       .choices = {"normalized", "plain"},
       .help = "normalized: I - D^-1/2 W D^-1/2, plain: D - W"},
      shared::iterations(o.iterations),
      shared::tolerance(o.tolerance, "change of the objective"),
      {.name = "clip", .value = &o.clip, .help = "set negative entries of F to 0; no: the update as published"},
      shared::restarts(o.restarts, "for the initial F"),
  };
  return join(own, describe(o.graph));
}

Selection ndfs(const Source& source, const NdfsOptions& options, Context& context) {
  const Stopwatch watch(context);
  check_ndfs(source, options, context);
  const NdfsTable data = ndfs_table(source, context);
  const auto graph = graph_of_rows(data.source, options.graph, context);
  const NdfsPlan plan(shape_of(data.x), options, context.threads());
  Selection out = solve(source, data, plan, *graph, options, context, nullptr);
  out.report.path = plan.path;
  watch.write(out.report);
  return out;
}

Selection ndfs(const Source& source, const Graph& graph, const NdfsOptions& options, Context& context, Matrix* labels) {
  const Stopwatch watch(context);
  check_ndfs(source, options, context);
  const NdfsTable data = ndfs_table(source, context);
  const NdfsPlan plan(shape_of(data.x), options, context.threads());
  Selection out = solve(source, data, plan, graph, options, context, labels);
  watch.write(out.report);
  return out;
}

Method ndfs_method() {
  return {
      .name = "ndfs",
      .python_name = "NDFS",
      .summary = "nonnegative spectral labels and a row-sparse regression on them",
      .formula =
          "minimize tr(F'LF) + alpha (||XW - F||^2 + beta sum_j ||w_j||) over F >= 0, F'F = I, W; score_j = "
          "||w_j||",
      .reference =
          "Li, Yang, Liu, Zhou & Lu: Unsupervised Feature Selection Using Nonnegative Spectral Analysis. AAAI "
          "2012",
      .bind = bind<NdfsOptions, NdfsPlan, ndfs>,
      .in_paper = true,
      .grid = {{"alpha", {"0.01", "1", "100"}}, {"beta", {"0.01", "1", "100"}}},
      .reasons = {.text = "Why: the cluster (counted from 0) with the largest weight for the feature, and that weight.",
                  .column = "cluster"},
  };
}

}  // namespace tamis
