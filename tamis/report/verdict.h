// A run in words: the same on the terminal, in JSON and on the page. One sentence each, the verdict first.
#pragma once

#include <string>
#include <vector>

#include "tamis/run/compare.h"
#include "tamis/run/select.h"

namespace tamis {

// What carries weight, how many groups of rows it separates, and what repeats.
std::vector<std::string> verdict(const SelectResult& result);

// Which differences are real: the best method at each size against every other one, where the interval of the paired
// difference of ACC excludes 0, and against random features.
std::vector<std::string> verdict(const CompareRequest& request, const Comparison& comparison);
std::vector<std::string> verdict(const Evaluation& evaluation);

// The method of the largest mean ACC at the size of that position; null where no method finished.
const ComparedMethod* best_method(const Comparison& comparison, std::size_t size);

// "converged after 12 iterations"
std::string status_text(const Report& report);

// With a capital letter and a full stop.
std::string sentence(std::string text);

// "3.2 points (95 %: 1.3 to 5.1)", of accuracies.
std::string points_text(const Difference& difference);

}  // namespace tamis
