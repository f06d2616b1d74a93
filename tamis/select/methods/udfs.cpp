#include "tamis/select/methods/udfs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "tamis/graph/graph.h"
#include "tamis/graph/neighbors.h"
#include "tamis/linalg/blas.h"
#include "tamis/linalg/dense.h"
#include "tamis/select/direct.h"
#include "tamis/select/shared_options.h"
#include "tamis/select/varying.h"

namespace tamis {

namespace {

constexpr double kSolved = 1e-6;  // of the local scatter: with a smaller lambda a solve would lose too many digits
constexpr double kNoScatter =
    1e-12;  // of the local scatter: a direction with less is one in which the rows do not differ
constexpr double kMostRidge = 1e150;   // where the data are that much smaller
constexpr double kUndecided = 1e-10;   // of M and gamma: eigenvectors of less than that are rounding
constexpr double kNoRow = 1e-10;       // in ||w^i||^2, as in UFCM
constexpr double kRankOfRows = 1e-12;  // of the largest eigenvalue of XX'
constexpr Index kProductRows = 512;

// L, symmetric, in triples by rows.
class LocalScatter {
 public:
  // B = H (HGH + lambda I)^-1 H for the products G of the rows `members`; HGH is what centering makes of it.
  static Matrix local_inverse(Matrix products, double lambda) {
    const Index m = products.rows();
    center_both(products);
    double trace = 0;
    for (Index a = 0; a < m; ++a) trace += products(a, a);
    const double ridge = std::max(lambda, std::numeric_limits<double>::min());
    if (ridge < kSolved * trace) return inverse_by_directions(products, lambda, kNoScatter * trace);
    for (Index a = 0; a < m; ++a) products(a, a) += ridge;
    Matrix inverse(m, m);
    for (Index a = 0; a < m; ++a) inverse(a, a) = 1;
    require(blas::cholesky(m, products.data()), ErrorCode::internal, "udfs: a local scatter is not positive");
    blas::cholesky_solve(m, m, products.data(), inverse.data());
    center_both(inverse);
    return inverse;
  }

  // L P for P (n x r): sum_i S_i B_i S_i'P, row by row of the neighborhoods.
  static Matrix times(const std::vector<std::vector<Index>>& members, const std::vector<Matrix>& inverses,
                      const Matrix& p) {
    Matrix out(p.rows(), p.cols());
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto& rows = members[i];
      for (std::size_t a = 0; a < rows.size(); ++a) {
        double* target = out.row(rows[a]);
        for (std::size_t b = 0; b < rows.size(); ++b) {
          const double weight = inverses[i](static_cast<Index>(a), static_cast<Index>(b));
          const double* from = p.row(rows[b]);
          for (Index j = 0; j < p.cols(); ++j) target[j] += weight * from[j];
        }
      }
    }
    return out;
  }

 private:
  // The same of a centered A = V diag(s^2) V', without the directions in which the rows do not differ: these leave
  // nothing of X, but divided by a small lambda their rounding would be large.
  static Matrix inverse_by_directions(const Matrix& a, double lambda, double least) {
    const Index m = a.rows();
    const EigenPairs pairs = symmetric_eigen(a);
    Index count = 0;
    while (count < m && pairs.values[count] > least) ++count;
    const Matrix v = first_columns(pairs.vectors, count);
    Matrix by = v;
    for (Index i = 0; i < m; ++i) {
      for (Index t = 0; t < count; ++t) by(i, t) /= pairs.values[t] + lambda;
    }
    Matrix inverse = product_transposed_right(by, v);
    center_both(inverse);
    return inverse;
  }

  // H A H
  static void center_both(Matrix& a) {
    const Index m = a.rows();
    const auto count = static_cast<double>(m);
    std::vector<double> mean(m);
    double all = 0;
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j < m; ++j) mean[i] += a(i, j) / count;
      all += mean[i] / count;
    }
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j < m; ++j) a(i, j) += all - mean[i] - mean[j];
    }
  }
};

// All rows of Z, dense.
Matrix dense_rows(const Source& source, const ColumnMoments& moments, Context& context) {
  Matrix out = gather(source, context);
  for (Index i = 0; i < out.rows(); ++i) {
    for (Index j = 0; j < out.cols(); ++j) out(i, j) = (out(i, j) - moments.mean[j]) / moments.unit;
  }
  return out;
}

// Each row and its nearest ones.
std::vector<std::vector<Index>> neighborhoods(const Neighbors& nearest, Index n) {
  std::vector<std::vector<Index>> out(n);
  for (Index i = 0; i < n; ++i) {
    out[i].push_back(i);
    for (Index k = 0; k < nearest.count; ++k) out[i].push_back(nearest.index[i * nearest.count + k]);
    std::sort(out[i].begin(), out[i].end());
  }
  return out;
}

std::vector<Matrix> local_inverses(const Matrix& z, const std::vector<std::vector<Index>>& members, double lambda,
                                   Context& context) {
  std::vector<Matrix> out(members.size());
  constexpr Index kTask = 64;
  context.pool().run((z.rows() + kTask - 1) / kTask, [&](Index task) {
    for (Index i = task * kTask; i < std::min(z.rows(), (task + 1) * kTask); ++i) {
      const auto m = static_cast<Index>(members[i].size());
      Matrix rows(m, z.cols());
      for (Index a = 0; a < m; ++a) {  // less row i, so that products of rows that are near keep their digits
        for (Index j = 0; j < z.cols(); ++j) rows(a, j) = z(members[i][a], j) - z(i, j);
      }
      out[i] = LocalScatter::local_inverse(product_transposed_right(rows, rows), lambda);
    }
  });
  context.check_cancelled();
  return out;
}

// P'Q, panels of P's columns at a time.
Matrix transposed_product(const Matrix& p, const Matrix& q, Context& context) {
  Matrix out(p.cols(), q.cols());
  context.pool().run((p.cols() + kProductRows - 1) / kProductRows, [&](Index task) {
    const Index first = task * kProductRows, count = std::min(kProductRows, p.cols() - first);
    blas::gemm(true, false, count, q.cols(), p.rows(), 1.0, p.data() + first, p.cols(), q.data(), q.cols(), 0.0,
               out.row(first), q.cols());
  });
  return out;
}

// An orthonormal basis V (d x r) of the span of the rows, from ZZ' = U diag U': V = Z'U diag^-1/2.
Matrix basis_of_rows(const Matrix& z, Context& context) {
  const EigenPairs pairs = symmetric_eigen(product_transposed_right(z, z));
  Index rank = 0;
  while (rank < z.rows() && pairs.values[rank] > kRankOfRows * pairs.values[0]) ++rank;
  Matrix basis = transposed_product(z, first_columns(pairs.vectors, rank), context);
  for (Index j = 0; j < basis.rows(); ++j) {
    for (Index t = 0; t < rank; ++t) basis(j, t) /= std::sqrt(pairs.values[t]);
  }
  return basis;
}

struct UdfsFit {
  Matrix w;
  std::vector<double> objective, fit, sparsity;
  bool converged = false;
};

// Columns of W. As many as rows would be a basis of the whole space, whatever M is, and all scores equal.
Index directions_of(const Matrix& m, Index clusters) { return std::min(clusters, std::max<Index>(1, m.rows() - 1)); }

// W = V R in turn with D; V is empty where it is the identity. `root`: of the number of copies of each column.
class UdfsLoop {
 public:
  UdfsLoop(Matrix m, const Matrix& v, const std::vector<double>& root, const UdfsOptions& options, Context& context)
      : m_(std::move(m)), v_(v), root_(root), options_(options), context_(context) {}

  UdfsFit run() const {
    UdfsFit out;
    std::vector<double> d(root_.size(), 1.0);
    while (static_cast<Index>(out.objective.size()) < options_.iterations && !out.converged) {
      const Matrix r = smallest(d);
      out.w = v_.empty() ? r : product(v_, r);
      out.fit.push_back(dot(r, product(m_, r)));
      out.sparsity.push_back(norms(out.w, d));
      out.objective.push_back(out.fit.back() + options_.gamma * out.sparsity.back());
      out.converged = is_still(out.objective);
      context_.phase("iterations",
                     {static_cast<double>(out.objective.size()), static_cast<double>(options_.iterations), true});
      context_.check_cancelled();
    }
    return out;
  }

 private:
  // Eigenvectors of the smallest eigenvalues of M + gamma V'DV.
  Matrix smallest(const std::vector<double>& d) const {
    Matrix a = m_;
    if (v_.empty()) {
      for (Index j = 0; j < a.rows(); ++j) a(j, j) += options_.gamma * d[j];
    } else {
      Matrix dv = v_;
      for (Index j = 0; j < dv.rows(); ++j) {
        for (Index t = 0; t < dv.cols(); ++t) dv(j, t) *= options_.gamma * d[j];
      }
      const Matrix more = transposed_product(v_, dv, context_);
      for (Index i = 0; i < a.size(); ++i) a.data()[i] += more.data()[i];
    }
    for (Index i = 0; i < a.rows(); ++i) {
      for (Index j = 0; j <= i; ++j) a(i, j) = a(j, i) = -0.5 * (a(i, j) + a(j, i));
    }
    return symmetric_eigen_largest(a, directions_of(a, options_.clusters)).vectors;
  }

  // sum_i ||w^i||, and D for the next step. With m copies in one column w~ = sqrt(m) w: the sum has sqrt(m) ||w~||.
  double norms(const Matrix& w, std::vector<double>& d) const {
    double sum = 0;
    for (Index j = 0; j < w.rows(); ++j) {
      double square = kNoRow;
      for (Index t = 0; t < w.cols(); ++t) square += w(j, t) * w(j, t);
      sum += root_[j] * std::sqrt(square);
      d[j] = root_[j] / (2 * std::sqrt(square));
    }
    return sum;
  }

  bool is_still(const std::vector<double>& objective) const {
    if (objective.size() < 2 || options_.tolerance == 0) return false;
    const double before = objective[objective.size() - 2];
    return before - objective.back() <= options_.tolerance * std::abs(before);
  }

  const Matrix m_;
  const Matrix& v_;
  const std::vector<double>& root_;
  const UdfsOptions& options_;
  Context& context_;
};

// How far M is from a multiple of the identity, all of whose vectors are eigenvectors.
double spread_of(const Matrix& m) {
  double mean = 0, sum = 0;
  for (Index j = 0; j < m.rows(); ++j) mean += m(j, j) / static_cast<double>(m.rows());
  for (Index i = 0; i < m.rows(); ++i) {
    for (Index j = 0; j < m.rows(); ++j) {
      const double off = m(i, j) - (i == j ? mean : 0);
      sum += off * off;
    }
  }
  return std::sqrt(sum);
}

// With lambda far below the local scatter, M is the number of rows times I; far above, nothing beside gamma.
void warn_of_ridge(const Matrix& m, const UdfsOptions& options, Report& report) {
  const double size = std::sqrt(squared_norm(m));
  if (m.rows() == 1 || spread_of(m) > kUndecided * (size + options.gamma)) return;
  const bool nothing = size <= kUndecided * options.gamma;
  report.warnings.push_back(
      nothing ? message(MethodName{"udfs"}, ": the local scatter is nothing beside ", OptionName{"ridge"}, " = ",
                        options.ridge, " and ", OptionName{"gamma"}, " = ", options.gamma,
                        ", so rounding decides the selection; use ", Flag{"scale", "standard"}, " or smaller values")
              : message(MethodName{"udfs"}, ": ", OptionName{"ridge"}, " = ", options.ridge,
                        " is nothing beside the local scatter, so rounding decides the selection; use ",
                        Flag{"scale", "standard"}, " or a larger value"));
}

void check_udfs(const Source& source, const UdfsOptions& options) {
  UdfsOptions copy = options;
  validate(describe(copy), "udfs");
  require(options.clusters <= source.rows(), ErrorCode::usage, MethodName{"udfs"}, ": ", OptionName{"clusters"}, " = ",
          options.clusters, ", need 1..n = ", source.rows());
}

}  // namespace

UdfsPlan::UdfsPlan(const Shape& shape, const UdfsOptions& options, int threads)
    : Plan(shape, Code::everything, threads), by_rows(shape.cols >= shape.rows) {
  const double n = shape.n(), d = shape.d(), m = static_cast<double>(std::min(options.neighbors, shape.rows)) + 1;
  const double side = by_rows ? n : d;
  path = by_rows ? "local scatter, W in the span of the rows" : "local scatter";
  GraphOptions exact;
  exact.neighbors = options.neighbors, exact.weights = "binary", exact.recall = 1;
  const GraphCost graph(shape, exact, threads);
  phases = {{"neighbors", graph.searching},
            {"scatter", (by_rows ? 2 : 3) * n * d + n * m * m + (by_rows ? 5 * n * n : d * d)},
            {"eigenvectors", n * d + (by_rows ? 3 * n * d : 0) + 6 * side * side}};
  passes = graph.passes + 2;
  constexpr double kEigenvectors = 1.5e-10, kLocal = 2.5e-10, kSmall = 6e-9;
  const auto steps = static_cast<double>(options.iterations);
  seconds = graph.seconds + (kLocal * n * m * m * d * 2 + kSmall * n * m * m * m) / threads +
            2 * n * d * side / kSquareFlops / threads + steps * kEigenvectors * side * side * side +
            (by_rows ? steps * 2 * side * side * d / kSquareFlops / threads : 0);
}

Options describe(UdfsOptions& o) {
  return {
      shared::clusters(o.clusters),
      {.name = "gamma", .value = &o.gamma, .range = at_least(0), .help = "weight of the row sparsity"},
      {.name = "ridge",
       .value = &o.ridge,
       .range = at_least(0),
       .help = "ridge of the local scatter, in squares of the unit of the data"},
      neighbors_option(o.neighbors),
      shared::iterations(o.iterations),
      shared::tolerance(o.tolerance, "change of the objective"),
  };
}

Selection udfs(const Source& source, const UdfsOptions& options, Context& context) {
  check_udfs(source, options);
  const Stopwatch watch(context);
  const Varying table = varying_columns(source, context);
  const UdfsPlan plan(shape_of(table.source), options, context.threads());
  context.phase("nearest rows");
  const Index n = source.rows();
  const auto members = neighborhoods(nearest_neighbors(table.source, {.count = options.neighbors}, context), n);
  // Neighbors and local scatter are those of all columns; X~ has each group of copies once, so that X~X~' is the same.
  const Distinct distinct = distinct_columns(table, context);
  const Matrix z = dense_rows(distinct.source, distinct.moments, context);
  const double ridge = std::min(kMostRidge, options.ridge / distinct.moments.unit / distinct.moments.unit);
  const std::vector<Matrix> inverses = local_inverses(z, members, ridge, context);
  Matrix v, m;
  if (plan.by_rows) {
    v = basis_of_rows(z, context);
    const Matrix p = product(z, v);
    m = transposed_product(p, LocalScatter::times(members, inverses, p), context);
  } else {
    m = transposed_product(z, LocalScatter::times(members, inverses, z), context);
  }
  Selection out;
  out.report.resolved.emplace_back("clusters", static_cast<double>(directions_of(m, options.clusters)));
  warn_of_ridge(m, options, out.report);
  UdfsFit fit = UdfsLoop(std::move(m), v, distinct.copies.root, options, context).run();

  spread_over_columns(fit.w, table.kept, distinct.copies, source.cols(), 1, out);
  out.report.objective = std::move(fit.objective);
  out.report.terms = {{"fit", std::move(fit.fit)}, {"sparsity", std::move(fit.sparsity)}};
  out.report.status = fit.converged ? Status::converged : Status::max_iterations;
  out.report.iterations = static_cast<Index>(out.report.objective.size());
  out.report.path = plan.path;
  watch.write(out.report);
  return out;
}

Method udfs_method() {
  return {
      .name = "udfs",
      .python_name = "UDFS",
      .summary = "directions with little scatter within neighborhoods, using few columns",
      .formula =
          "minimize tr(W'MW) + gamma sum_i ||w^i|| over W'W = I; M = X'[sum_i S_i H (X~_i X~_i' + lambda I)^-1 H "
          "S_i']X over neighborhoods; score_i = ||w^i||",
      .reference =
          "Yang, Shen, Ma, Huang & Zhou: L2,1-Norm Regularized Discriminative Feature Selection for Unsupervised "
          "Learning. IJCAI 2011",
      .bind = bind<UdfsOptions, UdfsPlan, udfs>,
      .seeded = false,
      .grid = {{"gamma", {"0.001", "0.1", "10"}}},
      .reasons = {.text =
                      "Why: the component (a column of W, counted from 0) with the largest weight for the feature, and "
                      "that weight.",
                  .column = "component"},
  };
}

}  // namespace tamis
