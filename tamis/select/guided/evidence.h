// Evidence that a column goes with groups that *other* columns show: a p-value per column, without labels.
//
// The columns are cut in two halves at random, a guide (guide.h) is made of each, and each half is judged by the guide
// of the other. For a column of independent noise the share s = x'Px / x'x is then a ratio of quadratic forms,
// sum_i v_i z_i^2 / sum_i z_i^2 with v the n - 1 eigenvalues of HPH, and its upper tail is the p-value.
// Exact copies of a column stay in one half, so that none testifies for another.
#pragma once

#include <span>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/source.h"
#include "tamis/select/guided/guide.h"

namespace tamis {

// P(sum v_i z_i^2 / sum z_i^2 > s) for normal z, by integration through the saddlepoint: to 1e-6 of itself. `values`
// are the v_i that are not 0, of `count` in all.
double quadratic_ratio_tail(const std::vector<double>& values, Index count, double s);

// 0 or 1 for every column; empty where all are copies of one.
std::vector<char> column_halves(const Source& source, Context& context);

// A p-value for every column of `source`, all of which must vary, given these halves and the graphs of each; 1 where
// there are none.
std::vector<double> column_evidence(const Source& source, const std::vector<char>& half,
                                    std::span<const GuideGraphs> graphs, const GuideOptions& options, Context& context);

// Which p-values pass at that false discovery rate (Benjamini & Hochberg 1995).
std::vector<char> discoveries(const std::vector<double>& p, double rate);

}  // namespace tamis
