#include "tamis/select/ufcm/start.h"

#include <algorithm>
#include <utility>

#include "tamis/base/elementary.h"
#include "tamis/base/error.h"
#include "tamis/data/passes/principal.h"
#include "tamis/data/weights.h"
#include "tamis/select/ufcm/schedule.h"

namespace tamis {

namespace {

// beta = b tr(W0'SW0) / sum_i ||w0^i||^p: multiplying X by a constant changes nothing.
double scale_free_beta(const RitzPairs& start, const RowGroups& groups, double sparsity, double p) {
  double scatter = 0, norms = 0;
  for (const double value : start.values) scatter += value;
  const std::vector<double> squares = squared_norms(start.vectors, groups);
  for (std::size_t g = 0; g < squares.size(); ++g) {
    const double m = groups.number[g];
    norms += m * elementary::pow(squares[g] / m, p / 2);
  }
  return sparsity * scatter / norms;
}

// W of the distinct columns from that of all, where copies have equal rows.
Matrix gathered(const Matrix& w, const Copies& copies) {
  const std::vector<Index> firsts = copies.firsts();
  Matrix out(copies.groups(), w.cols());
  for (Index g = 0; g < out.rows(); ++g) {
    for (Index k = 0; k < w.cols(); ++k) out(g, k) = copies.root[g] * w(firsts[g], k);
  }
  return out;
}

}  // namespace

double given_beta(const UfcmOptions& options, double unit) {
  const double beta = options.beta.value_or(0) / unit / unit;
  require(beta < 1e150, ErrorCode::bad_data, MethodName{options.name}, ": ", OptionName{"beta"}, " = ",
          options.beta.value_or(0),
          " is out of all proportion to the scatter of the data: scale the data, or give sparsity");
  return beta;
}

bool has_rows_to_sample(const UfcmTable& table, const UfcmOptions& options) {
  const std::vector<double>& weights = table.source.weights();
  return weights.empty() ||
         effective_rows(weights) >= static_cast<double>(std::max(kSchedule.sample_least,
                                                                 kSchedule.sample_rows_per_cluster * options.clusters));
}

Start sampled_start(const UfcmTable& table, const UfcmOptions& options, Index count, Context& context) {
  const Source& source = table.source;
  const WeightedRows drawn = sample_weighted_rows(source.weights(), count, context.seed);
  const std::vector<Index> rows = source.weighted() ? drawn.rows : sample_rows(source.rows(), count, context.seed);
  const Matrix values = gather_rows(source, rows, context);
  UfcmOptions sampled = options;
  sampled.order = "norm";
  sampled.groups = options.groups.among(table.kept);
  sampled.forced = table.exact.groups.expand(table.exact.forced);
  if (options.exact) sampled.features = table.exact.k;
  sampled.restarts = options.restarts * kSchedule.sample_restarts;
  const double share = source.weighted() ? total_weight(drawn.weights) / total_weight(source.weights())
                                         : static_cast<double>(count) / static_cast<double>(source.rows());
  if (options.beta) sampled.beta = *options.beta * share;
  if (options.dims) sampled.dims = std::min(*options.dims, source.cols());
  for (std::size_t i = 0; i < options.labels.size() && i < rows.size(); ++i) {
    sampled.labels[i] = options.labels[rows[i]];
  }
  if (!options.labels.empty()) sampled.labels.resize(rows.size());
  const UncountedPasses uncounted(context);
  const Stage stage(context, concat("sample of ", rows.size(), " rows"));
  const Restored<CheckpointStore*> unkept(context.checkpoint, nullptr);  // over soon: its states are not worth keeping
  Source some(make_dense_store(view_of(values)));
  if (source.weighted()) some = some.with_weights(drawn.weights);
  const Selection fit = ufcm(some, sampled, context);
  Start start;
  start.w.vectors = gathered(fit.components, table.copies);
  start.centers = fit.centers;
  for (Index i = 0; i < start.centers.size(); ++i) start.centers.data()[i] /= table.unit;
  return start;
}

void complete_start(const UfcmTable& table, const UfcmOptions& options, Index dims, const Matrix& scatter, Start& start,
                    Context& context) {
  const bool sampled = !start.w.vectors.empty();
  start.beta = given_beta(options, table.unit);
  if (options.beta && sampled) return;
  const Accuracy accuracy = options.beta && !options.exact ? Accuracy::rough : Accuracy::fixed;
  RitzPairs principal = principal_directions(table.z, dims, accuracy, scatter, context);
  if (principal.vectors.empty()) throw NoVariation("no variation left above rounding");
  if (!options.beta) start.beta = scale_free_beta(principal, table.rows_of_w, options.sparsity, options.p);
  if (!sampled) start.w = std::move(principal);
}

}  // namespace tamis
