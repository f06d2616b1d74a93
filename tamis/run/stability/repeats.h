// The same selection again, with other seeds or on half of the rows: how much of it is chance.
//
// A half sample has floor(n / 2) rows, drawn without replacement. Half, after Meinshausen & Bühlmann (2010): it
// disturbs a selection about as much as a bootstrap sample does, and has no row twice, which graphs of nearest rows and
// k-means would take for structure.
//
// What is found is reported next to the selection. It changes nothing about it, and no setting is chosen by it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tamis/eval/stability.h"
#include "tamis/select/method.h"

namespace tamis {

struct SelectRequest;
struct SelectResult;

inline constexpr Index kMostRepeats = 1000;

// By the positions of all features: NaN and -1 where they were excluded.
struct RepeatedRuns : Stability {
  bool resampled = false;  // half samples; else seeds, the first of which is that of the selection itself
  Index rows = 0;          // of each run
};

// The rows of a half sample, increasing; samples are counted from 0.
std::vector<Index> half_of_rows(Index rows, std::uint64_t seed, Index number);

// Throws Error(usage) where the request says how often in a way that cannot be met.
void require_repeats(const SelectRequest& request);
// The same of a method that draws no random numbers; `automatic`: the guide, which does, says how many columns to take.
void require_seeds(const SelectRequest& request, const Method& method, bool automatic);

bool wants_repeats(const SelectRequest& request);

// Adds the runs to the costs of the first one, which is all of `plan`.
void add_repeats(const BoundMethod& bound, const Shape& shape, const SelectRequest& request, int threads, Plan& plan);

// Runs of `request`, of which `first` is the result. One half sample is held at a time: in memory where it fits, else
// in temporary files, or where the rows live.
RepeatedRuns repeat(const Source& source, const Method& method, const BoundMethod& bound, const SelectRequest& request,
                    const SelectResult& first, Context& context);

// "10 of 12 selected columns are chosen by at least 4 of 5 seeds; Nogueira's index 0.81 [0.74, 0.88]"
std::string stability_text(const SelectResult& result);

}  // namespace tamis
