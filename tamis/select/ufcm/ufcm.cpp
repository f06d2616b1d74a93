#include "tamis/select/ufcm/ufcm.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/base/text/spelling.h"
#include "tamis/data/weights.h"
#include "tamis/linalg/dense.h"
#include "tamis/linalg/orthogonal.h"
#include "tamis/select/direct.h"
#include "tamis/select/row_sparse.h"
#include "tamis/select/shared_options.h"
#include "tamis/select/ufcm/fit.h"
#include "tamis/select/ufcm/plan.h"
#include "tamis/select/ufcm/schedule.h"
#include "tamis/select/varying.h"

namespace tamis {

// --- Algorithm 1 of the paper --------------------------------------------------------------------------------------

void Fit::run() {
  show_progress({});
  for (;; ++next_) {
    keep_state();
    const Points<double> y = clusters_.points(w());  // Z W
    finish_terms(y.squared_norm());
    if (next_ > options_.iterations) return;
    const double margin = stopping_margin();
    const std::vector<double> d = sparsity_weights(w(), rows_, options_.p);  // D, Eq. 7
    const bool restart_won = clusters_.update(y, w(), next_, margin);        // U, Eq. 15
    converged_ = margin > 0 && !restart_won;
    if (converged_) return;
    directions_.update(clusters_, beta_, d);  // W, Eq. 14
    go_further();
    // G = (U'U)^-1 U'Z W, Eq. 11, has no step of its own: Eq. 14 and the objective contain it, as B = Z'U (U'U)^-1 U'Z.
    record_objective();
    show_progress(concat("objective ", short_number(objective_.back())));
  }
}

// Where U has settled, or has no weight, W goes on the same way as long as the objective rises.
void Fit::go_further() {
  if (options_.alpha > 0 && clusters_.moved() > kSchedule.settled * clusters_.total()) return;
  const double margin = kSchedule.worth_going * std::max(options_.tolerance, 1e-8);
  directions_.extrapolate(margin * magnitude_of(terms_at(directions_.pairs())),
                          [this](const RitzPairs& w) { return terms_at(w).objective(options_.alpha, beta_); });
}

void Fit::show_progress(const std::string& detail) {
  const Steps steps{static_cast<double>(objective_.size()), static_cast<double>(options_.iterations),
                    options_.tolerance > 0};
  context_.phase("iterations", steps, detail);
}

void Fit::keep_state() {
  if (context_.checkpoint != nullptr) context_.checkpoint->save([this] { return state(); }, next_ == 1);
}

// The scatter of the last W, known once Z W is.
void Fit::finish_terms(double scatter) {
  if (directions_.knows_scatter() || terms_.empty()) return;
  Terms& terms = terms_.back();
  const double margin = terms.scatter - terms.within;
  terms.scatter = std::max(scatter, margin);
  terms.within = terms.scatter - margin;
}

// A small gain ends the run unless new starts find clearly better clusters: what they must gain. 0 where it goes on.
double Fit::stopping_margin() const {
  if (next_ <= 2) return 0;
  const double margin = options_.tolerance * magnitude_of(terms_.back());
  const double gain = objective_.back() - objective_[objective_.size() - 2];
  return margin > 0 && gain <= margin ? kSchedule.restart_margin * margin : 0;
}

Terms Fit::terms_at(const RitzPairs& w) const {
  const double margin = clusters_.between(w.vectors);
  Terms terms;
  terms.sparsity = row_sparsity(w.vectors, rows_, options_.p);
  terms.scatter = directions_.knows_scatter() ? dot(w.vectors, w.image) : margin;
  terms.within = terms.scatter - margin;
  return terms;
}

void Fit::record_objective() {
  const Terms terms = terms_at(directions_.pairs());
  const double value = terms.objective(options_.alpha, beta_);
  if (!objective_.empty()) {
    require(value >= objective_.back() - 1e-9 * magnitude_of(terms), ErrorCode::internal, options_.name,
            ": the objective fell from ", objective_.back(), " to ", value);
  }
  objective_.push_back(value);
  terms_.push_back(terms);
}

// --- The table, and the result -------------------------------------------------------------------------------------

namespace {

void check_exact(const UfcmOptions& options, Index d) {
  if (!options.exact) return;
  const MethodName name{options.name};
  const OptionName exact{"exact"};
  require(options.features.has_value(), ErrorCode::usage, name, ": ", exact, " needs a number of features");
  const Index k = *options.features;
  require(k >= 1 && k <= d, ErrorCode::usage, name, ": ", OptionName{"features"}, " = ", k, ", need 1..d = ", d);
  require(options.dims.value_or(1) <= k || options.groups.any(), ErrorCode::usage, name, ": ", OptionName{"dims"},
          " = ", options.dims.value_or(1), ", need 1..k = ", k, " with ", exact);
  require(options.alpha <= 1, ErrorCode::usage, name, ": ", OptionName{"alpha"}, " = ", options.alpha,
          ", need 0..1 with ", exact, ": above, a step could lower the objective");
  require(options.order == "norm", ErrorCode::usage, name, ": ", OptionName{"order"}, " = ", options.order, " with ",
          exact, ", need norm: the k columns are a set");
}

void check_ufcm(const Source& source, const UfcmOptions& options) {
  require_valid(options, options.name);
  const Index n = source.rows(), d = source.cols();
  require(n >= 2, ErrorCode::bad_data, n, " row", n == 1 ? "" : "s", ", need at least 2");
  require(d >= 1, ErrorCode::bad_data, "0 features, need at least 1");
  require(options.clusters <= n, ErrorCode::usage, MethodName{options.name}, ": ", OptionName{"clusters"}, " = ",
          options.clusters, ", need 1..n = ", n);
  if (source.weighted()) {
    const Index weighed = count_weighted(source.weights());
    require(options.clusters <= weighed, ErrorCode::usage, MethodName{options.name}, ": ", OptionName{"clusters"},
            " = ", options.clusters, ", need 1..", weighed, ", the number of rows of positive weight");
  }
  require(!options.dims || *options.dims <= d, ErrorCode::usage, MethodName{options.name}, ": ", OptionName{"dims"},
          " = ", options.dims.value_or(0), ", need 1..d = ", d);
  check_exact(options, d);
  require(!options.groups.given() || options.groups.columns() == d, ErrorCode::usage, MethodName{options.name},
          ": groups of ", options.groups.columns(), " columns, need d = ", d);
  require(!options.groups.any() || options.order == "norm", ErrorCode::usage, MethodName{options.name}, ": ",
          OptionName{"order"}, " = ", options.order, " with groups, need norm");
  if (options.labels.empty()) return;
  require(static_cast<Index>(options.labels.size()) == n, ErrorCode::usage, MethodName{options.name}, ": ",
          options.labels.size(), " labels, need n = ", n);
  const auto [low, high] = std::minmax_element(options.labels.begin(), options.labels.end());
  require(*low >= -1 && *high < options.clusters, ErrorCode::usage, MethodName{options.name}, ": labels of ", *high + 1,
          " classes, need at most ", OptionName{"clusters"}, " = ", options.clusters);
}

// The rows of W, and the other columns below by diag P.
void score_exactly(const Fit& fit, const UfcmTable& table, Selection& out) {
  const ColumnGroups& groups = table.exact.groups;
  const std::vector<double> scores =
      row_sparse_scores(squared_norms(fit.w(), {groups.of(), std::vector<double>(groups.count(), 1.0)}),
                        groups.in_order(rows_in_use(fit.w())), sums_of_groups(groups, fit.merits()));
  for (Index i = 0; i < groups.columns(); ++i) out.scores[table.kept[i]] = scores[groups.of(i)];
  out.ranking = rank_by_score(out.scores);
}

// ||W_g||_F, or what a group that does not vary as a whole has in its columns that do.
void score_groups(const ColumnGroups& groups, bool exact, Selection& out) {
  std::vector<double> scores(groups.count());
  for (Index g = 0; g < groups.count(); ++g) {
    for (const Index j : groups.members(g)) {
      const double score = out.scores[j];
      scores[g] = exact || groups.members(g).size() == 1 ? std::max(scores[g], score) : std::hypot(scores[g], score);
    }
  }
  rank_groups(groups, scores, out);
}

Selection ufcm_selection(const Fit& fit, const UfcmTable& table, bool exact, Index d) {
  const double unit = table.unit;
  Selection out;
  spread_over_columns(fit.w(), table.kept, table.copies, d, 1, out);
  if (exact) score_exactly(fit, table, out);
  out.clusters = fit.labels();
  out.centers = fit.g();
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
  if (exact) report.terms.pop_back();
  return out;
}

}  // namespace

Options describe(UfcmOptions& o) {
  return {
      shared::clusters(o.clusters),
      {.name = "alpha", .value = &o.alpha, .range = at_least(0), .help = "weight of the within-cluster scatter"},
      shared::sparsity(o.sparsity),
      shared::sparsity_beta(o.beta),
      shared::sparsity_power(o.p),
      shared::dims(o.dims, "min(clusters - 1, rank)"),
      shared::restarts(o.restarts, "per iteration"),
      shared::iterations(o.iterations),
      shared::tolerance(o.tolerance, "gain of the objective"),
      {.name = "order",
       .value = &o.order,
       .choices = {"norm", "qr"},
       .help = "norm: by the norms of the rows of W; qr: by pivoted QR of these rows, which avoids selecting near "
               "copies one after the other",
       .late = true},
      {.name = "exact",
       .value = &o.exact,
       .help = "exactly k rows of W that are not 0 instead of the penalty (sparsity, beta and p are not used); needs a "
               "number of features",
       .late = true},
  };
}

namespace {

bool penalty_is_set(const UfcmOptions& options) {
  const UfcmOptions unset;
  return options.beta || options.sparsity != unset.sparsity || options.p != unset.p;
}

void order_by_qr(Selection& out) {
  std::vector<Index> order = pivoted_rows(out.components, kSchedule.pivoted);
  std::vector<char> placed(out.scores.size());
  for (const Index j : order) placed[j] = 1;
  for (const Index j : out.ranking) {
    if (!placed[j]) order.push_back(j);
  }
  // Rows of W that are 0 score 0, and may tie with others that are not quite: they come last.
  std::stable_partition(order.begin(), order.end(), [&](Index j) { return out.scores[j] > 0; });
  const auto d = static_cast<double>(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    double& score = out.scores[order[i]];
    if (score > 0) score = (d - static_cast<double>(i)) / d;
  }
  out.ranking = std::move(order);
}

// Where k rows of W are counted, each copy counts: none is merged.
Distinct every_column(const Varying& varying) {
  const Index d = varying.source.cols();
  Copies each{std::vector<Index>(d), std::vector<double>(d, 1.0), std::vector<double>(d, 1.0)};
  std::iota(each.group.begin(), each.group.end(), Index{0});
  return {std::move(each), varying.source, varying.moments};
}

// Which rows of W the sparsity term counts as one.
RowGroups rows_of_w(const ColumnGroups& groups, const Copies& copies) {
  RowGroups out{std::vector<Index>(copies.groups()), copies.number};
  std::iota(out.of.begin(), out.of.end(), Index{0});
  if (!groups.any()) return out;
  out.of = groups.among(copies.firsts()).of();
  out.number.assign(out.number.size(), 1.0);
  for (Index i = 0; i < copies.groups(); ++i) out.number[out.of[i]] = copies.number[i];
  out.number.resize(*std::max_element(out.of.begin(), out.of.end()) + 1);
  return out;
}

// Columns that are included in any case; groups of columns that do not vary have no row of W, but count.
ExactRows exact_rows(const UfcmOptions& options, const std::vector<Index>& kept, Index d) {
  const ColumnGroups all = groups_or_columns(options.groups, d);
  const ColumnGroups some = all.among(kept);
  ForcedGroups forced = forced_among(all, some, kept, options.forced);
  const Index k = std::clamp<Index>(*options.features - forced.constant, 1, some.count());
  return {some, k, std::move(forced.varying)};
}

UfcmTable ufcm_table(const Source& source, const UfcmOptions& options, Context& context) {
  context.phase("columns that vary");
  Varying varying = varying_columns(source, context);
  const ColumnGroups groups = options.groups.among(varying.kept);
  Distinct distinct = options.exact ? every_column(varying) : distinct_columns(varying, groups, context);
  RowGroups rows = rows_of_w(groups, distinct.copies);
  const std::vector<double>& scatter = distinct.moments.scatter;
  UfcmTable table{std::move(varying.kept),
                  std::move(varying.source),
                  std::move(distinct.copies),
                  varying.moments.unit,
                  std::accumulate(scatter.begin(), scatter.end(), 0.0),
                  Centered(std::move(distinct.source), distinct.moments),
                  std::move(rows)};
  if (options.exact) table.exact = exact_rows(options, table.kept, source.cols());
  return table;
}

// Goes on where the last run with this checkpoint was. `first_beta`: that of a new run.
void resume(Fit& fit, const std::string& state, bool sampled, const std::function<double()>& first_beta,
            Context& context) {
  try {
    fit.resume(state, sampled);
    if (fit.next_iteration() == 1) fit.require_beta(first_beta());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::bad_data) throw;
    fail(ErrorCode::bad_data, context.checkpoint->where(), ": ", error.message(), "; delete the file to start over");
  }
}

Selection fit_source(const Source& source, const UfcmOptions& options, Context& context) {
  const UfcmTable table = ufcm_table(source, options, context);
  const Centered& z = table.z;
  const UfcmPlan plan(shape_of(table.source), options, context.threads());
  const std::optional<std::string> kept = context.checkpoint == nullptr ? std::nullopt : context.checkpoint->load();

  Start start;
  const bool sampled = plan.sample > 0 && has_rows_to_sample(table, options);
  if (sampled && !kept) start = sampled_start(table, options, plan.sample, context);
  context.phase("first directions");
  std::optional<Scatter> scatter;
  if (plan.scatter != ScatterPath::centroids) scatter.emplace(z, plan.scatter, context);
  const auto complete = [&](Start& some) {
    const Matrix unknown;
    complete_start(table, options, std::min(plan.dims, z.cols()), scatter ? scatter->matrix() : unknown, some, context);
  };
  const auto first_beta = [&] {
    const UncountedPasses uncounted(context);
    Start anew;
    if (!options.beta) complete(anew);
    return options.beta ? given_beta(options, table.unit) : anew.beta;
  };
  kept ? static_cast<void>(start.beta = given_beta(options, table.unit)) : complete(start);
  Fit fit(table, options, scatter ? &*scatter : nullptr, std::move(start), context);
  if (kept) resume(fit, *kept, sampled, first_beta, context);
  const Index begun_at = fit.next_iteration();
  fit.run();

  Selection out = ufcm_selection(fit, table, options.exact, source.cols());
  out.report.path = plan.path;
  out.report.resumed_at = kept ? begun_at : 0;
  if (!options.exact) out.report.resolved.emplace_back("beta", fit.beta() * table.unit * table.unit);
  out.report.resolved.emplace_back("dims", static_cast<double>(fit.w().cols()));
  return out;
}

}  // namespace

Selection ufcm(const Source& source, const UfcmOptions& options, Context& context) {
  const Stopwatch watch(context);
  check_ufcm(source, options);
  UfcmOptions settled = options;
  if (options.exact) settled.beta = 0;
  Selection out = fit_source(source, settled, context);
  if (options.exact && penalty_is_set(options)) {
    out.report.warnings.push_back(message(MethodName{options.name}, ": ", OptionName{"exact"}, " has no penalty; ",
                                          OptionName{"sparsity"}, ", ", OptionName{"beta"}, " and ", OptionName{"p"},
                                          " are not used"));
  }
  if (options.groups.any()) score_groups(options.groups, options.exact, out);
  if (options.order == "qr") order_by_qr(out);
  require(std::isfinite(out.report.objective.back()), ErrorCode::bad_data,
          "values so large that their squares overflow: scale the data");
  const Index used = out.components.cols();
  if (options.dims && used < *options.dims) {
    out.report.warnings.push_back(
        message(MethodName{options.name}, ": ", used, " of ", *options.dims, " directions used: the rest do not vary"));
  }
  watch.write(out.report);
  return out;
}

Method ufcm_method() {
  return {
      .name = "ufcm",
      .python_name = "UFCM",
      .summary = "maximum margin, embedded k-means and row sparsity",
      .formula = "maximize tr(W'SW) - alpha ||XW - UG||^2 - beta sum_i ||w^i||^p over W'W = I, U, G; score_i = ||w^i||",
      .reference =
          "Wang, Nie, Chang, Yao, Li & Sheng: Unsupervised Feature Analysis with Class Margin Optimization. "
          "ECML PKDD 2015",
      .bind = bind<UfcmOptions, UfcmPlan, ufcm>,
      .resumes = true,
      .weighs = true,
      .remote = true,
      .metric = ClusterMetric::directions,
      .in_paper = true,
      .grid = {{"alpha", {"0.1", "1", "10"}}, {"sparsity", {"0.1", "0.3", "1"}}, {"p", {"0.5", "1"}}},
      .reasons = {.text = "Why: the component (a column of W, counted from 0) with the largest weight for the feature, "
                          "that weight, and the two clusters whose centers are farthest apart along it.",
                  .column = "component",
                  .centers_by_column = true},
  };
}

}  // namespace tamis
