#include "tamis/select/ufcm/ufcm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/data/passes/principal.h"
#include "tamis/linalg/dense.h"
#include "tamis/linalg/orthogonal.h"
#include "tamis/select/direct.h"
#include "tamis/select/ufcm/scatter.h"
#include "tamis/select/ufcm/ufcm_fit.h"

namespace tamis {

namespace {

// With many rows, a fit of a sample of them comes first: most iterations then cost a fraction of a pass.
constexpr Index kSampleRows = 16384;
constexpr Index kSampleRestarts = 2;             // starts are cheap there, and decide where the whole fit ends
constexpr Index kSampleFrom = 262144;            // rows from which it pays: fewer find better optima on their own
constexpr Index kSampleCells = 8 * 1024 * 1024;  // numbers in the sample at most: 64 MB
// Products with S that a fit takes: after a fit of a sample only a few are left.
constexpr Index kProducts = 40;
constexpr Index kProductsAfterSample = 12;

void check_ufcm(const Source& source, const UfcmOptions& options) {
  UfcmOptions copy = options;
  validate(describe(copy), "ufcm");
  const Index n = source.rows(), d = source.cols();
  require(n >= 2, ErrorCode::bad_data, n, " row", n == 1 ? "" : "s", ", need at least 2");
  require(d >= 1, ErrorCode::bad_data, "0 features, need at least 1");
  require(options.clusters <= n, ErrorCode::usage, "ufcm: clusters = ", options.clusters, ", need 1..n = ", n);
  require(!options.dims || *options.dims <= d, ErrorCode::usage, "ufcm: dims = ", options.dims.value_or(0),
          ", need 1..d = ", d);
  if (options.labels.empty()) return;
  require(static_cast<Index>(options.labels.size()) == n, ErrorCode::usage, "ufcm: ", options.labels.size(),
          " labels, need n = ", n);
  const auto [low, high] = std::minmax_element(options.labels.begin(), options.labels.end());
  require(*low >= -1 && *high < options.clusters, ErrorCode::usage, "ufcm: labels of ", *high + 1,
          " classes, need at most clusters = ", options.clusters);
}

std::vector<Index> varying_columns(const ColumnMoments& moments) {
  std::vector<Index> out;
  for (Index j = 0; j < static_cast<Index>(moments.mean.size()); ++j) {
    if (moments.varies(j)) out.push_back(j);
  }
  return out;
}

ColumnMoments subset(const ColumnMoments& all, const std::vector<Index>& keep) {
  ColumnMoments out;
  out.rows = all.rows;
  out.unit = all.unit;
  for (const Index j : keep) {
    const auto k = static_cast<std::size_t>(j);
    out.mean.push_back(all.mean[k]);
    out.scatter.push_back(all.scatter[k]);
    out.min.push_back(all.min[k]);
    out.max.push_back(all.max[k]);
    out.varying.push_back(all.varying[k]);
    out.stored.push_back(all.stored[k]);
  }
  return out;
}

// d' = min(c - 1, rank): more directions than that are arbitrary at alpha = 1; d' = d would give every score 1.
Index wanted_dims(const UfcmOptions& options, Index varying) {
  if (options.dims) return std::min(*options.dims, varying);
  return std::max<Index>(1, std::min(options.clusters - 1, varying - 1));
}

// beta = b tr(W0'SW0) / sum_i ||w0^i||^p: multiplying X by a constant changes nothing.
double scale_free_beta(const RitzPairs& start, double sparsity, double p) {
  double scatter = 0, norms = 0;
  for (const double value : start.values) scatter += value;
  for (Index i = 0; i < start.vectors.rows(); ++i) {
    double norm = 0;
    for (Index k = 0; k < start.vectors.cols(); ++k) norm += start.vectors(i, k) * start.vectors(i, k);
    norms += std::pow(norm, p / 2);
  }
  return sparsity * scatter / norms;
}

std::string path_name(const UfcmOptions& options, ScatterPath path, Index sample) {
  std::string name = options.alpha == 1 ? "centroids" : path == ScatterPath::gram ? "gram" : "products";
  if (sample > 0) name += text(", from a sample of ", sample, " rows");
  return name;
}

Selection ufcm_selection(const Fit& fit, const std::vector<Index>& kept, Index d, double unit) {
  Selection out;
  out.scores.assign(static_cast<std::size_t>(d), 0.0);
  out.components = Matrix(d, fit.w().cols());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const double* row = fit.w().row(static_cast<Index>(i));
    double norm = 0;
    for (Index k = 0; k < fit.w().cols(); ++k) norm += row[k] * row[k];
    out.scores[static_cast<std::size_t>(kept[i])] = std::sqrt(norm);
    std::copy_n(row, fit.w().cols(), out.components.row(kept[i]));
  }
  out.ranking = rank_by_score(out.scores);
  out.clusters = fit.labels();
  out.centers = fit.centers();
  for (Index i = 0; i < out.centers.size(); ++i) out.centers.data()[i] *= unit;
  Report& report = out.report;
  report.iterations = static_cast<Index>(fit.objective().size());
  report.status = fit.converged() ? Status::converged : Status::max_iterations;
  report.terms = {{"scatter", {}}, {"within", {}}, {"sparsity", {}}};
  for (std::size_t t = 0; t < fit.objective().size(); ++t) {
    report.objective.push_back(fit.objective()[t] * unit * unit);
    report.terms[0].second.push_back(fit.terms()[t].scatter * unit * unit);
    report.terms[1].second.push_back(fit.terms()[t].within * unit * unit);
    report.terms[2].second.push_back(fit.terms()[t].sparsity);
  }
  return out;
}

}  // namespace

Options describe(UfcmOptions& o) {
  const double inf = std::numeric_limits<double>::infinity();
  return {
      {"clusters", "n_clusters", &o.clusters, {1, inf}, {}, "number of clusters c", ""},
      {"alpha", "alpha", &o.alpha, {0, inf}, {}, "weight of the within-cluster scatter", ""},
      {"sparsity",
       "sparsity",
       &o.sparsity,
       {0, inf},
       {},
       "scale-free weight b of the row sparsity: beta = b tr(W0'SW0) / sum_i ||w0^i||^p",
       ""},
      {"beta",
       "beta",
       &o.beta,
       {0, inf},
       {},
       "weight of the row sparsity in units of the scatter; overrides sparsity",
       "from sparsity"},
      {"p", "p", &o.p, {0, 2, true, false}, {}, "power of the row norms: smaller is sparser, 2 is a ridge", ""},
      {"dims", "n_components", &o.dims, {1, inf}, {}, "number of directions d'", "min(clusters - 1, rank)"},
      {"restarts", "n_init", &o.restarts, {1, inf}, {}, "k-means starts in an iteration", ""},
      {"iterations", "max_iter", &o.iterations, {1, inf}, {}, "iterations at most", ""},
      {"tolerance",
       "tol",
       &o.tolerance,
       {0, inf},
       {},
       "stop when the gain is at most this part of the sum of the terms; 0 runs every iteration",
       ""},
      {"order",
       "order",
       &o.order,
       {},
       {"norm", "qr"},
       "norm: by the norms of the rows of W; qr: by pivoted QR on them, which does not take near copies one after "
       "the other",
       "",
       true},
  };
}

namespace {

constexpr Index kPivoted = 2048;  // rows of W that are put in order by QR at most; the others follow by their norms

void order_by_qr(Selection& out) {
  std::vector<Index> order = pivoted_rows(out.components, kPivoted);
  std::vector<char> placed(out.scores.size());
  for (const Index j : order) placed[static_cast<std::size_t>(j)] = 1;
  for (const Index j : out.ranking) {
    if (!placed[static_cast<std::size_t>(j)]) order.push_back(j);
  }
  const auto d = static_cast<double>(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    double& score = out.scores[static_cast<std::size_t>(order[i])];
    if (score > 0) score = (d - static_cast<double>(i)) / d;
  }
  out.ranking = std::move(order);
}

// A source without its constant columns, centred.
struct UfcmTable {
  std::vector<Index> kept;
  double unit;
  Centered z;
};

UfcmTable ufcm_table(const Source& source, Context& context) {
  const ColumnMoments all = column_moments(source, context);
  std::vector<Index> kept = varying_columns(all);
  require(!kept.empty(), ErrorCode::bad_data, "no variation: all ", source.cols(), " columns are constant");
  Centered z(source.with_columns(kept), subset(all, kept));
  return {std::move(kept), all.unit, std::move(z)};
}

// The number of rows worth fitting first; 0 where the whole is as quick.
Index sample_size(const Source& source, const UfcmOptions& options) {
  if (source.sparse() || source.rows() < kSampleFrom) return 0;
  const Index rows = std::min(kSampleRows, kSampleCells / source.cols());
  return rows >= std::max<Index>(2048, 50 * options.clusters) ? rows : 0;
}

Selection fit_source(const Source& source, const UfcmOptions& options, Context& context);

// W and G of a fit of some rows, in the columns and units of `whole`.
Start sampled_start(const UfcmTable& whole, const UfcmOptions& options, Index count, Context& context) {
  const Source& source = whole.z.source();
  const std::vector<Index> rows = sample_rows(source.rows(), count, context.seed);
  const Matrix values = gather_rows(source, rows, context);
  UfcmOptions sampled = options;
  sampled.restarts = options.restarts * kSampleRestarts;
  const double share = static_cast<double>(count) / static_cast<double>(source.rows());
  if (options.beta) sampled.beta = *options.beta * share;
  for (std::size_t i = 0; i < options.labels.size() && i < rows.size(); ++i) {
    sampled.labels[i] = options.labels[static_cast<std::size_t>(rows[i])];
  }
  if (!options.labels.empty()) sampled.labels.resize(rows.size());
  const DenseView view{values.data(), DType::f64, values.rows(), values.cols(), values.cols(), 1};
  const UncountedPasses uncounted(context);
  const Restored<Keeper*> unkept(context.keeper, nullptr);  // over soon: its states are not worth keeping
  const Selection fit = fit_source(Source(make_dense_store(view)), sampled, context);
  Start start;
  start.w.vectors = fit.components;
  start.centers = fit.centers;
  for (Index i = 0; i < start.centers.size(); ++i) start.centers.data()[i] /= whole.unit;
  return start;
}

void take_up(Fit& fit, const std::string& state, bool sampled, Context& context) {
  try {
    fit.take_up(state, sampled);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::bad_data) throw;
    fail(ErrorCode::bad_data, context.keeper->where(), ": ", error.what(), "; delete the file to start over");
  }
}

Selection fit_source(const Source& source, const UfcmOptions& options, Context& context) {
  const UfcmTable prepared = ufcm_table(source, context);
  const Centered& z = prepared.z;
  const double unit = prepared.unit;
  const Index dims = wanted_dims(options, z.cols()), sample = sample_size(z.source(), options);
  const std::optional<std::string> kept = context.keeper == nullptr ? std::nullopt : context.keeper->load();

  Start start;
  if (sample > 0 && !kept) start = sampled_start(prepared, options, sample, context);
  double beta = options.beta.value_or(0) / unit / unit;
  require(beta < 1e150, ErrorCode::bad_data, "ufcm: beta = ", options.beta.value_or(0),
          " is out of all proportion to the scatter of the data: scale the data, or give sparsity");
  const ScatterPath path = choose_scatter_path(z.source(), dims, sample > 0 ? kProductsAfterSample : kProducts);
  std::optional<Scatter> scatter;
  if (options.alpha != 1) scatter.emplace(z, path, context);
  if (!kept && (!options.beta || sample == 0)) {
    const Matrix unknown;
    const Accuracy accuracy = options.beta ? Accuracy::rough : Accuracy::full;
    RitzPairs principal = principal_directions(z, dims, accuracy, scatter ? scatter->matrix() : unknown, context);
    require(principal.vectors.cols() > 0, ErrorCode::bad_data, "no variation left above rounding");
    if (!options.beta) beta = scale_free_beta(principal, options.sparsity, options.p);
    if (sample == 0) start.w = std::move(principal);
  }
  Fit fit(z, options, beta, scatter ? &*scatter : nullptr, std::move(start), context);
  if (kept) take_up(fit, *kept, sample > 0, context);
  const Index begun_at = fit.next_iteration();
  fit.run();

  Selection out = ufcm_selection(fit, prepared.kept, source.cols(), unit);
  out.report.path = path_name(options, path, sample);
  out.report.resumed_at = kept ? begun_at : 0;
  out.report.resolved = {{"beta", fit.beta() * unit * unit}, {"dims", static_cast<double>(fit.w().cols())}};
  return out;
}

}  // namespace

Selection ufcm(const Source& source, const UfcmOptions& options, Context& context) {
  const Stopwatch watch(context);
  check_ufcm(source, options);
  Selection out = fit_source(source, options, context);
  if (options.order == "qr") order_by_qr(out);
  require(std::isfinite(out.report.objective.back()), ErrorCode::bad_data,
          "values so large that their squares overflow: scale the data");
  const Index used = out.components.cols();
  if (options.dims && used < *options.dims) {
    out.report.warnings.push_back(
        text("ufcm: ", used, " of ", *options.dims, " directions used: the rest do not vary"));
  }
  watch.write(out.report);
  return out;
}

}  // namespace tamis
