#include "tamis/select/methods/fspca.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tamis/data/passes/principal.h"
#include "tamis/select/direct.h"
#include "tamis/select/groups.h"
#include "tamis/select/row_sparse.h"
#include "tamis/select/shared_options.h"
#include "tamis/select/varying.h"

namespace tamis {

namespace {

constexpr Index kSubspace = 7;         // directions, as many as ufcm takes by default
constexpr Index kRowsOfDirection = 2;  // at least: with k directions tr(W'AW) = tr(A_SS), which is maxvar

// The leading eigenvectors of A_SS, as rows of all columns.
struct RowSparseSubspace {
  std::vector<Index> columns;  // S, increasing
  Matrix w;                    // d x m
  std::vector<double> values;  // W'AW is diagonal

  double objective() const { return std::accumulate(values.begin(), values.end(), 0.0); }
};

RowSparseSubspace subspace_of(const Centered& z, std::vector<Index> columns, Index dims, Context& context) {
  const RitzPairs found = principal_directions(z.with_columns(columns), dims, Accuracy::full, {}, context);
  RowSparseSubspace out{std::move(columns), Matrix(z.cols(), found.vectors.cols()), found.values};
  for (std::size_t i = 0; i < out.columns.size(); ++i) {
    std::copy_n(found.vectors.row(static_cast<Index>(i)), out.w.cols(), out.w.row(out.columns[i]));
  }
  return out;
}

// diag P = sum_t (AW)_jt^2 / lambda_t
std::vector<double> merits_of(const Centered& z, const RowSparseSubspace& now, Context& context) {
  const Matrix aw = scatter_product(z, now.w, context);
  std::vector<double> out(z.cols());
  for (Index j = 0; j < z.cols(); ++j) {
    for (Index t = 0; t < aw.cols(); ++t) {
      if (now.values[t] > 0) out[j] += aw(j, t) / now.values[t] * aw(j, t);
    }
  }
  return out;
}

// diag of the rank-m part of A.
std::vector<double> first_merits(const RitzPairs& leading) {
  std::vector<double> out(leading.vectors.rows());
  for (Index j = 0; j < leading.vectors.rows(); ++j) {
    for (Index t = 0; t < leading.vectors.cols(); ++t) {
      out[j] += leading.values[t] * leading.vectors(j, t) * leading.vectors(j, t);
    }
  }
  return out;
}

std::vector<double> squared_rows(const Matrix& w) {
  std::vector<double> out(w.rows());
  for (Index j = 0; j < w.rows(); ++j) {
    for (Index t = 0; t < w.cols(); ++t) out[j] += w(j, t) * w(j, t);
  }
  return out;
}

void spread_fspca(const RowSparseSubspace& best, const std::vector<double>& merits, const std::vector<Index>& kept,
                  Index d, Selection& out) {
  const std::vector<double> scores = row_sparse_scores(squared_rows(best.w), best.columns, merits);
  out.scores.assign(d, 0.0);
  out.components = Matrix(d, best.w.cols());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    out.scores[kept[i]] = scores[i];
    std::copy_n(best.w.row(static_cast<Index>(i)), best.w.cols(), out.components.row(kept[i]));
  }
  out.ranking = rank_by_score(out.scores);
}

void check_fspca(const Source& source, const FspcaOptions& options) {
  FspcaOptions copy = options;
  validate(describe(copy), "fspca");
  const Index d = source.cols(), k = std::min(d, options.features.value_or(d));
  require(options.dims.value_or(1) <= k, ErrorCode::usage, MethodName{"fspca"}, ": ", OptionName{"dims"}, " = ",
          options.dims.value_or(1), ", need 1..", options.features ? "k" : "d", " = ", k);
}

// The columns that are in S in any case, among those that vary; the others of them have no row of W, but count.
std::pair<std::vector<Index>, FspcaPlan> fspca_rows(const Varying& table, FspcaOptions options, Index d,
                                                    Context& context) {
  const ColumnGroups all = ColumnGroups::each(d);
  ForcedGroups forced = forced_among(all, all.among(table.kept), table.kept, options.forced);
  if (options.features) options.features = std::max<Index>(1, *options.features - forced.constant);
  return {std::move(forced.varying), FspcaPlan(shape_of(table.source), options, context.threads())};
}

}  // namespace

FspcaPlan::FspcaPlan(const Shape& shape, const FspcaOptions& options, int threads)
    : Plan(shape, Code::systems, threads), rows(std::min(shape.cols, options.features.value_or(shape.cols))) {
  const auto rank = std::max<Index>(1, std::min(shape.cols, shape.rows - 1));
  const Index unset = std::max<Index>(1, std::min(kSubspace, rows / kRowsOfDirection));
  dims = std::max<Index>(1, std::min({options.dims.value_or(unset), rows, rank}));
  path = rows == shape.cols ? "principal directions" : "principal directions of k columns";
  const double w = static_cast<double>(dims) + 4, steps = rows == shape.cols ? 0 : 4;
  const PrincipalPath principal = principal_path(shape.rows, shape.cols, shape.sparse, false);
  phases = {{"directions", directions_numbers(shape, principal, w, threads)}};
  kept += 4 * shape.d() * w;
  constexpr double kPasses = 12;
  passes = 1 + kPasses + steps * (2 + kPasses);
  const double flops = shape.sparse ? kSparseSkinnyFlops : kSkinnyFlops;
  const double share = static_cast<double>(rows) / std::max(1.0, shape.d());
  const double products = 4 * shape.entries * w / flops;
  seconds =
      (kStatisticsSeconds * shape.entries + kPasses * products + steps * products * (1 + kPasses * share)) / threads;
}

Options describe(FspcaOptions& o) {
  return {shared::dims(o.dims, "min(7, k/2, rank)"), shared::iterations(o.iterations)};
}

Selection fspca(const Source& source, const FspcaOptions& options, Context& context) {
  check_fspca(source, options);
  const Stopwatch watch(context);
  const Varying table = varying_columns(source, context);
  const Index d = table.source.cols();
  const auto [forced, plan] = fspca_rows(table, options, source.cols(), context);
  const Centered z(table.source, table.moments);
  const double total = std::accumulate(table.moments.scatter.begin(), table.moments.scatter.end(), 0.0);

  Selection out;
  std::vector<double> merits = first_merits(principal_directions(z, plan.dims, Accuracy::full, {}, context));
  RowSparseSubspace best;
  out.report.status = Status::max_iterations;
  for (Index step = 0; step < options.iterations; ++step) {
    RowSparseSubspace next = subspace_of(z, largest_of(merits, plan.rows, forced), plan.dims, context);
    const bool same = next.columns == best.columns;
    // Rounding alone, or a spectrum whose order rounding decides, could lower it.
    if (!best.columns.empty() && next.objective() < best.objective()) next = best;
    best = std::move(next);
    out.report.objective.push_back(total > 0 ? best.objective() / total : 0);
    context.phase("iterations", {static_cast<double>(step + 1), static_cast<double>(options.iterations), true});
    if (same || plan.rows == d) {
      out.report.status = Status::converged;
      break;
    }
    merits = merits_of(z, best, context);
  }
  spread_fspca(best, merits, table.kept, source.cols(), out);
  out.report.iterations = static_cast<Index>(out.report.objective.size());
  out.report.resolved.emplace_back("dims", static_cast<double>(best.w.cols()));
  out.report.path = plan.path;
  watch.write(out.report);
  return out;
}

Method fspca_method() {
  return {
      .name = "fspca",
      .python_name = "FSPCA",
      .summary = "PCA with exactly k columns",
      .formula = "maximize tr(W'X'XW) over W'W = I with at most k rows that are not 0; score_i = ||w^i||",
      .reference = "Tian, Nie, Wang & Li: Learning Feature Sparse Principal Subspace. NeurIPS 2020",
      .bind = bind<FspcaOptions, FspcaPlan, fspca>,
      .remote = true,
      .reasons = {.text =
                      "Why: the component (a column of W, counted from 0) with the largest weight for the feature, and "
                      "that weight.",
                  .column = "component"},
  };
}

}  // namespace tamis
