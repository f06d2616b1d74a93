#include "tamis/select/css/css.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "tamis/data/scale.h"
#include "tamis/select/css/residual.h"
#include "tamis/select/css/subset.h"
#include "tamis/select/direct.h"
#include "tamis/select/varying.h"

namespace tamis {

namespace {

// `constant`: groups that are selected too, and explain nothing.
void css_report(const CssSubset& subset, Index constant, Index swapped, const CssOptions& options, Report& report) {
  report.terms = {{"explained", subset.explained()}};
  report.terms[0].second.insert(report.terms[0].second.end(), constant, subset.share());
  report.resolved.emplace_back("explained", subset.share());
  report.resolved.emplace_back("least_r2", subset.least_r2());
  if (options.swaps > 0) report.resolved.emplace_back("swapped", static_cast<double>(swapped));
}

}  // namespace

CssPlan::CssPlan(const Shape& shape, const CssOptions& options, int threads)
    : Plan(shape, Code::systems, threads),
      by_rows(shape.cols > shape.rows),
      length(std::min(shape.cols, options.length.value_or(shape.cols))) {
  const double n = shape.n(), d = shape.d();
  const auto steps = static_cast<double>(std::min(length, shape.rows));
  const double work = steps * (1 + static_cast<double>(options.swaps));
  const double basis = options.swaps > 0 ? 2 * d * steps : 0;
  if (options.groups.any()) kept += 2 * options.groups.pairs() + std::sqrt(options.groups.pairs()) * d;
  path = by_rows ? "gram of rows, products" : "gram";
  constexpr double kTouched = 1.5e-9, kSparseProduct = 1e-9, kProduct = 4e-10;  // seconds of a number
  if (by_rows) {
    constexpr double kRowMatrices = 6;
    const double pieces = std::ceil(n / static_cast<double>(CssResidual::kPiece));
    passes = 2 + 2 * work + pieces;
    phases = {{"gram", row_gram_numbers(shape, threads)},
              {"path", kRowMatrices * n * n + d * (steps + 4 * static_cast<double>(CssResidual::kPiece)) + basis}};
    const double product = shape.sparse ? kSparseProduct : kProduct;
    seconds = (3 * product * shape.entries * n + 8 * product * shape.entries * work) / threads + kTouched * d * steps;
  } else {
    const double terms = static_cast<double>(CssResidual::kPending);
    passes = shape.sparse ? 1 + std::ceil(d / static_cast<double>(CssResidual::kPiece)) : 2;
    phases = {{"gram", column_gram_numbers(shape, threads)}, {"path", d * d + 4 * terms * d + basis}};
    seconds = (shape.sparse ? sparse_gram_seconds(shape, d) : shape.entries * d / kSquareFlops) / threads +
              kTouched * d * (d / threads + terms) * work;
  }
  seconds += kStatisticsSeconds * shape.entries / threads;
}

Options describe(CssOptions& o) {
  const Range share = {.low = 0, .high = 1, .low_open = true};
  return {
      {.name = "variance",
       .value = &o.variance,
       .range = share,
       .help = "select no more columns once they explain this share of the variance of all",
       .unset_text = "no limit"},
      {.name = "r2",
       .value = &o.r2,
       .range = share,
       .help = "select no more columns once every column has this R^2 on them",
       .unset_text = "no limit"},
      {.name = "swaps",
       .python_name = "n_swaps",
       .value = &o.swaps,
       .range = at_least(0),
       .help = "maximum number of rounds in which each selected column is exchanged for a better one"},
      {.name = "standardize",
       .value = &o.standardize,
       .help = "divide columns by their standard deviation first, unless a scaling is requested"},
  };
}

Selection css(const Source& source, const CssOptions& options, Context& context) {
  CssOptions copy = options;
  validate(describe(copy), "css");
  require(options.swaps == 0 || !options.groups.any(), ErrorCode::usage, MethodName{"css"}, ": ", OptionName{"swaps"},
          " = ", options.swaps, " with groups, need 0");
  const Stopwatch watch(context);
  context.phase("moments of the columns");
  const Varying table = varying_columns(source, context);
  const UnitDeviations x = options.standardize ? unit_deviations(table.source, table.moments, context)
                                               : UnitDeviations{table.source, table.moments};
  const CssPlan plan(shape_of(x.source), options, context.threads());
  const Centered z(x.source, x.moments);
  context.phase("products of columns");
  const std::unique_ptr<CssResidual> residual =
      plan.by_rows ? residual_by_rows(z, context) : residual_by_columns(z, context);
  const ColumnGroups all = groups_or_columns(options.groups, source.cols()), groups = all.among(table.kept);
  const ForcedGroups forced_groups = forced_among(all, groups, table.kept, options.forced);
  const Index length = options.length ? *options.length - forced_groups.constant : groups.count();
  CssSubset subset(*residual, groups, options, length, context);
  subset.force(forced_groups.varying);
  const std::size_t forced = subset.chosen().size();
  subset.grow();
  const Index swapped = options.swaps > 0 ? subset.swap(forced) : 0;

  Selection out;
  order_groups(all, order_among_all(subset.order(), groups, all, table.kept), static_cast<std::size_t>(groups.count()),
               out);
  if (options.variance || options.r2) {
    out.limit = std::max<Index>(1, static_cast<Index>(subset.chosen().size()) + forced_groups.constant);
  }
  out.report.path = plan.path;
  css_report(subset, forced_groups.constant, swapped, options, out.report);
  watch.write(out.report);
  return out;
}

Method css_method() {
  return {
      .name = "css",
      .python_name = "CSS",
      .summary =
          "greedy column subset selection: columns from which all others can be reconstructed; avoids redundancy",
      .formula =
          "minimize ||X - X_S X_S^+ X||^2 greedily, columns scaled to unit standard deviation; R = X'X, j = argmax "
          "||R_:j||^2 / R_jj, "
          "R <- R - R_:j R_j: / R_jj; score_j = (d - rank_j + 1) / d",
      .reference =
          "Farahat, Ghodsi & Kamel: An Efficient Greedy Method for Unsupervised Feature Selection. ICDM 2011; Puggini "
          "& "
          "McLoone: Forward Selection Component Analysis. TPAMI 2017",
      .bind = bind<CssOptions, CssPlan, css>,
      .is_order = true,
      .seeded = false,
      .weighs = true,
      .remote = true,
      .reasons = {.text =
                      "In the order of entry: each column adds most to the variance of all columns that the columns "
                      "above it explain. Columns that are repeated by others above them come late."},
  };
}

}  // namespace tamis
