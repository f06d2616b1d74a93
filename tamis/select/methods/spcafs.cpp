#include "tamis/select/methods/spcafs.h"

#include <algorithm>

#include "tamis/data/passes/passes.h"
#include "tamis/select/shared_options.h"
#include "tamis/select/ufcm/plan.h"

namespace tamis {

namespace {

constexpr Index kDims = 7;  // as UFCM takes with its default of 8 clusters

UfcmOptions as_ufcm(const SpcafsOptions& options, Index rows) {
  UfcmOptions out;
  out.name = "spcafs";
  out.alpha = 0;
  out.clusters = std::max<Index>(1, std::min(kDims + 1, rows));  // which says d' where it is not given
  out.sparsity = options.sparsity;
  out.beta = options.beta;
  out.p = options.p;
  out.dims = options.dims;
  out.iterations = options.iterations;
  out.tolerance = options.tolerance;
  out.groups = options.groups;
  return out;
}

// tr(S), in the units of the table.
double total_scatter(const Source& source, Context& context) {
  const ColumnMoments moments = column_moments(source, context);
  double sum = 0;
  for (const double scatter : moments.scatter) sum += scatter;
  return sum * moments.unit * moments.unit;
}

}  // namespace

SpcafsPlan::SpcafsPlan(const Shape& shape, const SpcafsOptions& options, int threads)
    : Plan(UfcmPlan(shape, as_ufcm(options, shape.rows), threads)) {}

Options describe(SpcafsOptions& o) {
  return {
      shared::sparsity(o.sparsity),     shared::sparsity_beta(o.beta),
      shared::sparsity_power(o.p),      shared::dims(o.dims, "min(7, rank)"),
      shared::iterations(o.iterations), shared::tolerance(o.tolerance, "gain of the objective"),
  };
}

Selection spcafs(const Source& source, const SpcafsOptions& options, Context& context) {
  require_valid(options, "spcafs");
  UfcmOptions as = as_ufcm(options, source.rows());
  as.labels.assign(source.rows(), 0);  // U is given, so no k-means looks for it
  Selection out = ufcm(source, as, context);
  out.clusters.clear();
  out.centers = Matrix();

  // tr(S) - (tr(W'SW) - beta R(W)): the objective as published, which falls.
  const double total = total_scatter(source, context);
  const std::vector<double> sparsity = out.report.terms[2].second;
  std::vector<double> residual = out.report.terms[0].second;
  for (double& value : out.report.objective) value = total - value;
  for (double& value : residual) value = std::max(0.0, total - value);
  out.report.terms = {{"residual", residual}, {"sparsity", sparsity}};
  return out;
}

Method spcafs_method() {
  return {
      .name = "spcafs",
      .python_name = "SPCAFS",
      .summary = "sparse principal directions: ufcm at alpha = 0",
      .formula = "minimize ||X - XWW'||^2 + beta sum_i ||w^i||^p over W'W = I; score_i = ||w^i||",
      .reference =
          "Li, Nie, Bian, Wu & Li: Sparse PCA via l2,p-Norm Regularization for Unsupervised Feature Selection. "
          "TPAMI 2021",
      .bind = bind<SpcafsOptions, SpcafsPlan, spcafs>,
      .resumes = true,
      .remote = true,
      .grid = {{"sparsity", {"0.1", "0.3", "1"}}, {"p", {"0.5", "1"}}},
      .reasons = {.text =
                      "Why: the component (a column of W, counted from 0) with the largest weight for the feature, and "
                      "that weight.",
                  .column = "component"},
  };
}

}  // namespace tamis
