// What the cells come to: Tables 2 and 3 with the controls the paper lacks, and Figures 1 to 5.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tamis/paper/reproduce.h"

namespace tamis {

// One measured subset: a size of a cell.
struct Measured {
  const Cell* cell = nullptr;
  Index features = 0;
  MeanSd value;  // over the k-means starts
};

// The random subsets of one size beside a value.
struct BesideRandom {
  Index features = 0, subsets = 0;
  MeanSd value;  // over the subsets' means
  double min = 0.0, max = 0.0;
  double p = 1.0;             // (1 + subsets at least as good) / (1 + subsets)
  bool beats_random = false;  // p <= 0.05: of 20 subsets none is as good
};
inline constexpr double kBeatsRandom = 0.05;

// One method on one set, by one measure.
struct TableRow {
  std::string set, method;
  Index evaluations = 0;                      // settings x sizes behind best, median and worst
  std::optional<Measured> best;               // by the labels; unset where nothing could be computed
  double median = 0.0, worst = 0.0;           // of the same evaluations
  std::vector<Measured> label_free;           // the defaults, at every size
  std::optional<Measured> chosen;             // the defaults at the size that the protocol chooses
  std::optional<Measured> all, max_variance;  // max_variance: at the best's size
  std::optional<BesideRandom> best_random, chosen_random;
  std::optional<double> gain, gain_error;                // of best over all features, and its standard error
  std::optional<double> chosen_gain, chosen_gain_error;  // of the label-free choice
  std::optional<PaperValue> paper;
  std::optional<double> paper_gain;
};

// Methods in the order of the request, on sets in theirs. Allfea has no row of its own: it stands in every one.
std::vector<TableRow> table_of(const Reproduction& result, Measure measure);

// Guided UFCM, which sees no labels and chooses its number of columns, beside what labels choose for the others.
struct GuidedRow {
  std::string set;
  std::optional<Measured> unknown, given;  // without the number of classes, and with it
  std::optional<Measured> all;
  std::vector<std::optional<Measured>> label_best;  // of every method, in the order of the request
};
// One a set, or none where guided was not asked for.
std::vector<GuidedRow> guided_rows(const Reproduction& result, Measure measure);

// A point of a figure: one setting, or the best of several, measured by accuracy.
struct FigurePoint {
  Settings settings;
  std::optional<Measured> best;    // over the sizes
  std::optional<Measured> chosen;  // at the protocol's size
};

struct Figure1Point {
  Index features = 0;
  std::optional<Measured> best, label_free;  // of UFCM's grid at this size; its defaults
  std::optional<BesideRandom> random;        // beside the best
};

struct Convergence {
  const Cell* cell = nullptr;
  bool monotone = false;
};

struct Figures {
  std::string set;
  std::optional<Measured> all;
  std::vector<Figure1Point> sizes;           // 1
  std::vector<FigurePoint> beta;             // 2: alpha = p = 1
  std::vector<FigurePoint> alpha_p, beta_p;  // 3: beta = 0.1; 4: alpha = 0.1
  std::optional<Convergence> convergence;    // 5: alpha = beta = p = 1
};
// One a set; without UFCM there are only the sets' names in it.
std::vector<Figures> figures_of(const Reproduction& result);

// The time that one method's cells took on one set, when they were computed.
struct Spent {
  std::string set, method;
  Index cells = 0;
  double seconds = 0.0, cpu_seconds = 0.0;
};
std::vector<Spent> spent_by_method(const Reproduction& result);

// No number falls below the one before by more than rounding.
bool never_falls(const std::vector<double>& objective);

}  // namespace tamis
