#include "tamis/run/agreement.h"

#include <algorithm>
#include <numeric>

#include "tamis/data/passes/passes.h"
#include "tamis/data/passes/sample.h"
#include "tamis/eval/evaluate.h"
#include "tamis/select/guided/guided.h"

namespace tamis {

namespace {

constexpr Index kAgreementStarts = 5;
constexpr Index kRowsPerGroup = 10;  // with fewer, chance alone agrees

}  // namespace

std::optional<Agreement> agreement_with_groups(const Guidance& guidance, std::vector<Index> selected,
                                               Context& context) {
  const Source& looked = guidance.looked_at;
  const Index d = looked.cols(), rows = rows_compared(looked.rows(), d);
  const Index groups = guidance.groups.empty() ? 0 : *std::ranges::max_element(guidance.groups) + 1;
  const bool nothing = guidance.outcome == Outcome::no_structure || static_cast<Index>(selected.size()) >= d;
  if (nothing || groups < 2 || rows < kRowsPerGroup * groups) return std::nullopt;
  const UncountedPasses uncounted(context);
  context.phase("k-means on the selected columns");
  const std::vector<Index> drawn = draw_rows(looked.rows(), rows, context.seed);
  const Source some = take_rows(looked, drawn, context);
  std::vector<int> labels;
  for (const Index i : drawn) labels.push_back(guidance.groups[i]);
  EvaluateOptions options;
  options.clusters = groups;
  options.repeats = kAgreementStarts;
  options.redundancy = false;
  std::ranges::sort(selected);
  std::vector<Index> every(d);
  std::iota(every.begin(), every.end(), 0);
  return Agreement{rows, score_subset(some, labels, selected, options, 1, context).nmi.mean,
                   score_subset(some, labels, every, options, 1, context).nmi.mean};
}

}  // namespace tamis
