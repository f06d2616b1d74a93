// What a list of features is worth when the classes are known: k-means on these features alone, compared with the
// classes, beside what all features, the features of largest variance, and random features of the same number give.
// A list that does not beat random ones has shown nothing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/source.h"

namespace tamis {

struct EvaluateOptions {
  Index clusters = 8;
  Index repeats = 10;            // single k-means++ starts, each with its own seed
  Index subsets = 20;            // random ones
  bool redundancy = true;        // of each subset, where that is affordable
  bool unit_rows = false;        // rows of a subset are brought to length 1 again: of tables of rows of length 1
  Index max_cells = 60'000'000;  // rows x columns above which all features are not clustered (n x d numbers, twice)
};

// Over the repeats, or over the random subsets' means.
struct MeanSd {
  double mean = 0.0;
  double sd = 0.0;  // n - 1; 0 where there is one
};

// Of one k-means start.
struct StartScore {
  double accuracy = 0.0, nmi = 0.0, rand = 0.0;
  double inertia = 0.0;  // of the k-means
};

struct SubsetScore {
  Index features = 0;
  MeanSd accuracy, nmi, rand;
  std::vector<StartScore> starts;    // one a repeat, by their seeds; empty in a summary of several subsets
  std::optional<StartScore> best;    // the start of the least inertia, as people who run k-means several times take it
  std::optional<double> redundancy;  // unset where it would take too long
};

// Over the random subsets.
struct RandomBand : SubsetScore {
  // (1 + subsets at least as good as the given list) / (1 + subsets)
  double accuracy_p = 1.0, nmi_p = 1.0, rand_p = 1.0;
};

struct Evaluation {
  SubsetScore given;
  SubsetScore max_variance;
  std::optional<SubsetScore> all;  // unset where the table is too large for it
  RandomBand random;
  std::vector<std::string> notes;  // what was left out, and why
};

// `classes` of the rows, -1: unlabeled (clustered, but not counted). `features` are columns of the source, in any
// order.
Evaluation evaluate_features(const Source& source, const std::vector<int>& classes, std::vector<Index> features,
                             const EvaluateOptions& options, Context& context);

// --- The pieces of it, for those who compare more than one list ------------------------------------------------

// Columns of the source, increasing. Without classes only the redundancy is measured. `measurings`: how many subsets
// of this size will be measured, which decides whether redundancy is affordable.
SubsetScore score_subset(const Source& source, const std::vector<int>& classes, const std::vector<Index>& features,
                         const EvaluateOptions& options, Index measurings, Context& context);

// `options.subsets` random subsets of that many columns, a function of the context's seed.
std::vector<SubsetScore> score_random_subsets(const Source& source, const std::vector<int>& classes, Index features,
                                              const EvaluateOptions& options, Context& context);

// Unset, with a note, where the table is too large for it.
std::optional<SubsetScore> score_all(const Source& source, const std::vector<int>& classes,
                                     const EvaluateOptions& options, std::vector<std::string>& notes, Context& context);

// The mean of paired differences and its interval by Student's t.
struct Difference {
  double mean = 0.0, low = 0.0, high = 0.0;
  bool is_clear() const { return low > 0.0 || high < 0.0; }  // the interval excludes 0
};
// Of a - b, paired over the starts, which have the same seeds; the interval covers 95 %. Unset unless both have the
// same number of starts, two at least.
std::optional<Difference> paired_difference(const SubsetScore& a, const SubsetScore& b, double StartScore::*measure);
// The t with P(|T| <= t) = `covered`, 0 < covered < 1, for Student's distribution.
double student_bound(double covered, Index degrees);

MeanSd mean_sd(const std::vector<double>& values);
double median(std::vector<double> values);  // of two in the middle their mean
// Fills the means and deviations from the starts.
void summarize_starts(SubsetScore& score);
// Mean and deviation of the means of subsets of one size.
SubsetScore summary_of(const std::vector<SubsetScore>& subsets);
// (1 + subsets at least as good) / (1 + subsets), by the means of one measure.
double p_value(const std::vector<SubsetScore>& subsets, MeanSd SubsetScore::*measure, double given);

}  // namespace tamis
