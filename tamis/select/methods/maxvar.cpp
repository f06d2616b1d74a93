#include "tamis/select/methods/maxvar.h"

#include <cmath>

#include "tamis/select/direct.h"

namespace tamis {

Options describe(MaxVarOptions&) { return {}; }

MaxVarPlan::MaxVarPlan(const Shape& shape, const MaxVarOptions&, int threads) : Plan(shape, Code::moments, threads) {
  constexpr double kColumnSeconds = 5e-7;
  path = "moments";
  passes = 1;
  seconds = kStatisticsSeconds * shape.entries / threads + kColumnSeconds * shape.d();
}

Selection maxvar(const Source& source, const MaxVarOptions& options, Context& context) {
  const Stopwatch watch(context);
  context.phase("moments of the columns");
  const ColumnMoments moments = checked_moments(source, context);
  std::vector<double> scores;
  for (Index j = 0; j < source.cols(); ++j) {
    scores.push_back(moments.variance(j));
    require(std::isfinite(scores.back()), ErrorCode::bad_data,
            "values so large that their squares overflow: scale the data");
  }
  return direct_selection(std::move(scores), MaxVarPlan(shape_of(source), options, context.threads()), watch);
}

Method maxvar_method() {
  return {
      .name = "maxvar",
      .python_name = "MaxVariance",
      .summary = "largest variance",
      .formula = "score_j = variance of column j (n - 1)",
      .reference = "folklore",
      .bind = bind<MaxVarOptions, MaxVarPlan, maxvar>,
      .one_pass = true,
      .scores_are_variances = true,
      .seeded = false,
      .weighs = true,
      .remote = true,
      .in_paper = true,
  };
}

}  // namespace tamis
