#include "tamis/select/methods/maxvar.h"

#include "tamis/select/direct.h"

namespace tamis {

Options describe(MaxVarOptions&) { return {}; }

Selection maxvar(const Source& source, const MaxVarOptions&, Context& context) {
  const Stopwatch watch(context);
  const ColumnMoments moments = checked_moments(source, context);
  std::vector<double> scores;
  for (Index j = 0; j < source.cols(); ++j) {
    scores.push_back(moments.variance(j));
    require(std::isfinite(scores.back()), ErrorCode::bad_data,
            "values so large that their squares overflow: scale the data");
  }
  Selection out = direct_selection(std::move(scores), watch);
  out.report.path = "moments";
  return out;
}

}  // namespace tamis
