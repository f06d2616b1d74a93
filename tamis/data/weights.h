// Weights of rows: a row of weight w counts as w rows in every sum over rows.
//
//   mean = sum w x / sum w,   S = sum w (x - mean)(x - mean)',   variance = S_jj / weighted_degrees(sum w)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tamis/base/types.h"

namespace tamis {

struct Labels;

// The positive weights are within this factor of each other: below, a sum would lose the light rows.
inline constexpr double kWeightRange = 1e12;

// Error(usage) unless there is one a row; Error(bad_data) unless all are finite and not negative, two at least are
// positive, and none of these is too far from the others.
void require_weights(const std::vector<double>& weights, Index rows);

// The weights that a column, an array or a file of numbers has, one a row, read as labels are (Table::labels).
// Error(bad_data) where one is no number; `what` says which were read.
std::vector<double> weights_of(const Labels& labels, const std::string& what);

// What a sum of squares is divided by for a variance: n - 1 for n rows. Two rows are the fewest that vary, so weights
// of a smaller sum count as if they came to 2.
double weighted_degrees(double total);

double total_weight(const std::vector<double>& weights);
// (sum w)^2 / sum w^2: as many rows of equal weight say as much.
double effective_rows(const std::vector<double>& weights);
Index count_weighted(const std::vector<double>& weights);  // rows of positive weight

// "12 rows of weight 0.5 to 3, 20.5 together; 2 rows of weight 0"
std::string weights_text(const std::vector<double>& weights);

// Some rows, increasing, and what each counts.
struct WeightedRows {
  std::vector<Index> rows;
  std::vector<double> weights;
};
// All rows of positive weight, where there are at most `count`. Else one drawn from each of `count` stretches of equal
// weight: a row that is drawn several times counts as often.
WeightedRows sample_weighted_rows(const std::vector<double>& weights, Index count, std::uint64_t seed);

}  // namespace tamis
