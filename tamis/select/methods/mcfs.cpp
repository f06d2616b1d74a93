#include "tamis/select/methods/mcfs.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "tamis/base/error.h"
#include "tamis/data/passes/passes.h"
#include "tamis/graph/given.h"
#include "tamis/graph/laplacian.h"
#include "tamis/linalg/dense.h"
#include "tamis/linalg/kernels.h"
#include "tamis/linalg/lars.h"
#include "tamis/select/direct.h"
#include "tamis/select/shared_options.h"
#include "tamis/select/varying.h"

namespace tamis {

namespace {

constexpr Index kActive = 200;        // m where nobody says how many features are wanted
constexpr Index kGramColumns = 4096;  // up to this many X'X is formed at once: 128 MB
constexpr double kOnePart = 1e-9;     // eigenvalues below this belong to further parts of the graph

void check_mcfs(const Source& source, const McfsOptions& options) {
  require_valid(options, "mcfs");
  require_fitting(options.graph, source.rows(), "mcfs");
  const Index n = source.rows(), d = source.cols();
  require(n >= 2, ErrorCode::bad_data, n, " row", n == 1 ? "" : "s", ", need at least 2");
  require(options.clusters <= n, ErrorCode::usage, MethodName{"mcfs"}, ": ", OptionName{"clusters"}, " = ",
          options.clusters, ", need 1..n = ", n);
  require(options.dims.value_or(1) <= n - 1, ErrorCode::usage, MethodName{"mcfs"}, ": ", OptionName{"dims"}, " = ",
          options.dims.value_or(0), ", need 1..n-1 = ", n - 1);
  require(options.active.value_or(1) <= d, ErrorCode::usage, MethodName{"mcfs"}, ": ", OptionName{"active"}, " = ",
          options.active.value_or(0), ", need 1..d = ", d);
  require(options.embedding.empty() || options.embedding.rows() == n, ErrorCode::usage, MethodName{"mcfs"},
          ": an embedding of ", options.embedding.rows(), " rows, need n = ", n);
}

// The columns that vary, not centred, in units that keep squares in the range of double. A constant column would act
// as an intercept, which the method has not; it leaves before the lasso is solved.
struct McfsTable {
  std::vector<Index> kept;
  double unit = 1.0;
  Centered x;
};

McfsTable mcfs_table(const Source& source, Context& context) {
  Varying varying = varying_columns(source, context);
  Centered x(varying.source, std::vector<double>(varying.kept.size()), varying.unit);
  return {std::move(varying.kept), varying.unit, std::move(x)};
}

Matrix columns_of(const McfsTable& data, const std::vector<Index>& columns, Context& context) {
  Matrix out = gather(data.x.source().with_columns(columns), context);
  for (Index i = 0; i < out.size(); ++i) out.data()[i] /= data.unit;
  return out;
}

// Which of the columns are not kept yet.
std::vector<Index> fresh(const std::vector<Index>& columns, const std::vector<std::vector<double>>& kept) {
  std::vector<Index> out;
  for (const Index j : columns) {
    if (kept[j].empty()) out.push_back(j);
  }
  return out;
}

void keep(const std::vector<Index>& columns, const Matrix& values, std::vector<std::vector<double>>& kept) {
  for (std::size_t k = 0; k < columns.size(); ++k) {
    std::vector<double>& column = kept[columns[k]];
    column.resize(values.rows());
    for (Index i = 0; i < values.rows(); ++i) column[i] = values(i, static_cast<Index>(k));
  }
}

// Columns of X'X when they are first needed: for many columns and at least as many rows.
class GramOnDemand final : public LarsColumns {
 public:
  explicit GramOnDemand(const McfsTable& data) : data_(data), column_(data.x.cols()) {}

  Index count() const override { return data_.x.cols(); }

  void prepare(const std::vector<Index>& columns, Context& context) override {
    const std::vector<Index> wanted = fresh(columns, column_);
    if (wanted.empty()) return;
    keep(wanted, multiply_transposed(data_.x, columns_of(data_, wanted, context), context), column_);
  }

  void inner(Index j, const std::vector<Index>& columns, double* out) const override {
    const std::vector<double>& products = column_[j];
    for (std::size_t i = 0; i < columns.size(); ++i) out[i] = products[columns[i]];
  }

  Matrix images(const std::vector<Combination>& directions, Context& context) override {
    constexpr Index kPiece = 1024;  // columns of one piece of work, for all paths
    Matrix out(static_cast<Index>(directions.size()), count());
    context.pool().run((count() + kPiece - 1) / kPiece, [&](Index piece) {
      const Index first = piece * kPiece, width = std::min(kPiece, count() - first);
      for (Index k = 0; k < out.rows(); ++k) {
        const Combination& direction = directions[k];
        for (std::size_t i = 0; i < direction.columns.size(); ++i) {
          const double* values = column_[direction.columns[i]].data();
          kernels<double>().axpy(width, direction.values[i], values + first, out.row(k) + first);
        }
      }
    });
    return out;
  }

 private:
  const McfsTable& data_;
  std::vector<std::vector<double>> column_;  // those that were asked for
};

// The active columns themselves: for fewer rows than columns. An image is X'(X_A g), one pass for all paths.
class ActiveColumns final : public LarsColumns {
 public:
  explicit ActiveColumns(const McfsTable& data) : data_(data), column_(data.x.cols()) {}

  Index count() const override { return data_.x.cols(); }

  void prepare(const std::vector<Index>& columns, Context& context) override {
    const std::vector<Index> wanted = fresh(columns, column_);
    if (!wanted.empty()) keep(wanted, columns_of(data_, wanted, context), column_);
  }

  void inner(Index j, const std::vector<Index>& columns, double* out) const override {
    const std::vector<double>& x = column_[j];
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const std::vector<double>& other = column_[columns[k]];
      double sum = 0;
      for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * other[i];
      out[k] = sum;
    }
  }

  Matrix images(const std::vector<Combination>& directions, Context& context) override {
    const auto paths = static_cast<Index>(directions.size());
    Matrix fitted(data_.x.rows(), paths);  // X_A g of every path
    context.pool().run(paths, [&](Index k) {
      const Combination& direction = directions[k];
      std::vector<double> sum(data_.x.rows());
      for (std::size_t q = 0; q < direction.columns.size(); ++q) {
        const std::vector<double>& x = column_[direction.columns[q]];
        kernels<double>().axpy(data_.x.rows(), direction.values[q], x.data(), sum.data());
      }
      for (std::size_t i = 0; i < sum.size(); ++i) fitted(static_cast<Index>(i), k) = sum[i];
    });
    const Matrix products = multiply_transposed(data_.x, fitted, context);
    Matrix out(paths, count());
    for (Index j = 0; j < count(); ++j) {
      for (Index k = 0; k < paths; ++k) out(k, j) = products(j, k);
    }
    return out;
  }

 private:
  const McfsTable& data_;
  std::vector<std::vector<double>> column_;  // those that were asked for
};

std::unique_ptr<LarsColumns> columns_for(McfsView view, const McfsTable& data, Context& context) {
  if (view == McfsView::active_columns) return std::make_unique<ActiveColumns>(data);
  if (view == McfsView::gram_columns) return std::make_unique<GramOnDemand>(data);
  return std::make_unique<GramColumns>(gram(data.x, context));
}

// Y = D^-1/2 xi; a row without a neighbour is 0.
Matrix embed(const Source& source, const McfsOptions& options, Index dims, Report& report, Context& context) {
  if (!options.embedding.empty()) return options.embedding;
  const auto joined = graph_of_rows(source, options.graph, context);
  const Graph& graph = *joined;
  report_graph(graph, options.graph, report);
  Spectrum spectrum = smoothest_eigenvectors(graph, dims, context);
  const auto flat =
      std::count_if(spectrum.values.begin(), spectrum.values.end(), [](double v) { return v < kOnePart; });
  if (flat > 0) {
    report.warnings.push_back(message(MethodName{"mcfs"}, ": the graph is in ", flat + 1,
                                      flat + 1 > dims ? " parts or more" : " parts",
                                      ": its embedding, and so the scores, are one choice of many",
                                      options.graph.given ? "" : "; more neighbors join them"));
  }
  scale_rows(inverse_roots(graph), spectrum.vectors);
  return std::move(spectrum.vectors);
}

void warn_of_paths(const LarsFit& fit, Index active, Report& report) {
  if (fit.active.empty()) return;
  const auto least = *std::min_element(fit.active.begin(), fit.active.end());
  const auto dependent = *std::max_element(fit.dependent.begin(), fit.dependent.end());
  if (least < active) {
    report.warnings.push_back(message(MethodName{"mcfs"}, ": a path ended with ", least, " of ", active,
                                      " active features: the others add nothing to the fit",
                                      dependent > 0 ? ", or depend linearly on them" : ""));
  }
  if (std::count(fit.stuck.begin(), fit.stuck.end(), 1) > 0) {
    report.warnings.push_back(
        message(MethodName{"mcfs"}, ": a path was given up before its end: it kept dropping and adding features"));
  }
}

// score_j = max_k |a_kj|, of a_k / ||a_k|| where normalised.
std::vector<double> scores_of(const Matrix& coefficients, bool normalize) {
  std::vector<double> out(coefficients.rows());
  for (Index k = 0; k < coefficients.cols(); ++k) {
    double largest = 0, sum = 0;
    for (Index j = 0; j < coefficients.rows(); ++j) largest = std::max(largest, std::abs(coefficients(j, k)));
    if (largest == 0) continue;
    for (Index j = 0; j < coefficients.rows(); ++j) sum += std::pow(coefficients(j, k) / largest, 2);
    const double norm = normalize ? largest * std::sqrt(sum) : 1.0;
    for (Index j = 0; j < coefficients.rows(); ++j) {
      double& score = out[j];
      score = std::max(score, std::abs(coefficients(j, k)) / norm);
    }
  }
  return out;
}

// Coefficients of all columns, in the units of the table.
Matrix spread(const Matrix& coefficients, const McfsTable& data, Index d) {
  Matrix out(d, coefficients.cols());
  for (Index i = 0; i < coefficients.rows(); ++i) {
    const Index j = data.kept[i];
    for (Index k = 0; k < coefficients.cols(); ++k) {
      out(j, k) = coefficients(i, k) / data.unit;
      require(std::isfinite(out(j, k)), ErrorCode::bad_data, MethodName{"mcfs"},
              ": values so small that coefficients overflow: scale the data");
    }
  }
  return out;
}

const char* name_of(McfsView view) {
  return view == McfsView::gram ? "gram" : view == McfsView::gram_columns ? "gram columns" : "active columns";
}

// X'X at once takes n d^2 of work where its columns one by one take 2 n d for each in use, but in larger pieces; and
// then K m^2 d for the images, where X'(X_A g) takes 2 n d K m.
McfsView choose_view(const Shape& x, Index paths, Index active) {
  const auto steps = static_cast<double>(paths) * static_cast<double>(active);
  const double by_columns = x.n() * x.d() + steps * static_cast<double>(active);
  const bool worthwhile = x.d() <= 4 * steps && (x.cols <= x.rows || by_columns <= 2 * x.n() * steps);
  if (!x.sparse && x.cols <= kGramColumns && worthwhile) return McfsView::gram;
  return x.rows < x.cols ? McfsView::active_columns : McfsView::gram_columns;
}

Index eigenvectors_for(const McfsOptions& options, Index rows) {
  if (!options.embedding.empty()) return options.embedding.cols();
  return options.dims.value_or(std::min(options.clusters, rows - 1));
}

Index active_for(const McfsOptions& options, const Shape& x) {
  const Index most = std::min(x.cols, x.rows - 1);
  return std::max<Index>(1, std::min(options.active.value_or(options.features.value_or(kActive)), most));
}

// Numbers and seconds of the paths; fitted to bench/forecast.py.
double path_numbers(const McfsPlan& plan, const Shape& x) {
  constexpr double kGramCopies = 2.1, kGramBuffers = 1e6, kPathVectors = 5.5;
  const auto k = static_cast<double>(plan.dims), m = static_cast<double>(plan.active);
  const double triangles = 0.5 * k * m * m;
  if (plan.view == McfsView::gram)
    return triangles + kGramCopies * x.d() * x.d() + std::min(x.d() * x.d(), kGramBuffers);
  return triangles + std::min(x.n(), x.d()) * std::min(x.d(), k * m) + kPathVectors * x.d() * k;
}

double path_seconds(const McfsPlan& plan, const Shape& x, int threads) {
  constexpr double kTriangle = 1.2e-9, kColumn = 3.3e-8, kImage = 7.6e-11;
  const auto k = static_cast<double>(plan.dims), m = static_cast<double>(plan.active);
  double seconds = kTriangle * k * m * m * m + kColumn * k * m * x.d();
  if (plan.view == McfsView::gram) seconds += x.entries * x.d() / (kSquareFlops * threads);
  if (plan.view == McfsView::active_columns) {
    seconds += kImage * m * x.entries * k / threads + kTriangle * k * m * m * x.n();
  }
  return seconds;
}

}  // namespace

McfsPlan::McfsPlan(const Shape& shape, const McfsOptions& options, int threads)
    : Plan(shape, Code::everything, threads),
      dims(eigenvectors_for(options, shape.rows)),
      active(active_for(options, shape)),
      view(choose_view(shape, dims, active)) {
  const bool embedded = !options.embedding.empty();
  const GraphCost graph(shape, options.graph, threads);
  path = (embedded ? "" : graph_path(options.graph, shape.rows) + "; ") + name_of(view);
  phases = {{"nearest rows", graph.searching},
            {"graph", graph.making},
            {"eigenvectors", graph.kept + eigenvector_numbers(shape.rows, dims)},
            {"lasso paths", graph.kept + path_numbers(*this, shape)}};
  seconds = graph.seconds + eigenvector_seconds(shape.rows, dims, threads) + path_seconds(*this, shape, threads);
  passes = graph.passes + (view == McfsView::active_columns ? 2 * static_cast<double>(active) : 0);
}

Options describe(McfsOptions& o) {
  const Options own = {
      shared::clusters(o.clusters),
      {.name = "dims",
       .python_name = "n_components",
       .value = &o.dims,
       .range = at_least(1),
       .help = "number of eigenvectors K",
       .unset_text = "clusters"},
      {.name = "active",
       .python_name = "n_active",
       .value = &o.active,
       .range = at_least(1),
       .help = "number of active features m at which each lasso stops, at most n - 1",
       .unset_text = "the number of features to select, or 200"},
      {.name = "normalize", .value = &o.normalize, .help = "divide each a_k by its 2-norm"},
      {.name = "ridge",
       .value = &o.ridge,
       .range = at_least(0),
       .help = "added to the diagonal of the active features' Gram matrix when a direction is computed; 0 is the "
               "lasso"},
  };
  return join(own, describe(o.graph));
}

Selection mcfs(const Source& source, const McfsOptions& options, Context& context) {
  const Stopwatch watch(context);
  check_mcfs(source, options);
  context.phase("columns that vary");
  const McfsTable data = mcfs_table(source, context);
  const McfsPlan plan(shape_of(data.x.source()), options, context.threads());

  Report report;
  const Matrix y = embed(source, options, plan.dims, report, context);
  LarsOptions lars;
  lars.active = plan.active;
  lars.ridge = options.ridge / data.unit / data.unit;
  require(std::isfinite(lars.ridge), ErrorCode::bad_data, MethodName{"mcfs"}, ": ", OptionName{"ridge"}, " = ",
          options.ridge, " is out of all proportion to the data: scale the data");
  lars.progress = [&](double fraction) { context.share_done("lasso paths", fraction); };
  context.phase("products of the columns");
  const auto columns = columns_for(plan.view, data, context);
  const LarsFit fit = lars_lasso(*columns, multiply_transposed(data.x, y, context), lars, context);
  warn_of_paths(fit, lars.active, report);

  Selection out;
  out.components = spread(fit.coefficients, data, source.cols());
  out.scores = scores_of(out.components, options.normalize);
  out.ranking = rank_by_score(out.scores);
  out.report = std::move(report);
  const auto scored = std::count_if(out.scores.begin(), out.scores.end(), [](double score) { return score > 0; });
  if (scored < options.features.value_or(0)) {
    out.report.warnings.push_back(message(MethodName{"mcfs"}, ": ", scored,
                                          " features have a score above 0, fewer than the ", *options.features,
                                          " requested; the others follow by index"));
  }
  out.report.path = plan.path;
  out.report.resolved.emplace_back("dims", static_cast<double>(y.cols()));
  out.report.resolved.emplace_back("active", static_cast<double>(lars.active));
  watch.write(out.report);
  return out;
}

Method mcfs_method() {
  return {
      .name = "mcfs",
      .python_name = "MCFS",
      .summary = "sparse regression on the embedding of a nearest-neighbor graph",
      .formula = "score_j = max_k |a_kj|, a_k = lasso of y_k on X with m active columns, L y_k = lambda_k D y_k",
      .reference = "Cai, Zhang & He: Unsupervised Feature Selection for Multi-Cluster Data. KDD 2010",
      .bind = bind<McfsOptions, McfsPlan, mcfs>,
      .in_paper = true,
      .grid = {{"neighbors", {"3", "5", "10"}}},
      .reasons =
          {.text =
               "Why: the eigenvector of the graph (counted from 0) with the largest coefficient for the feature, and "
               "that coefficient.",
           .column = "eigenvector"},
  };
}

}  // namespace tamis
