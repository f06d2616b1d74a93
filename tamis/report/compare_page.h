// The page of one comparison: what every method's features are worth beside random ones and all of them, what the
// methods agree on, and what they cost.
#pragma once

#include <string>
#include <vector>

#include "tamis/report/page.h"
#include "tamis/run/compare.h"

namespace tamis {

// All that a comparison was and gave; refers to the caller's objects.
struct ComparisonRecord {
  const Table& table;
  const CompareRequest& request;
  const Comparison& comparison;
  std::string labels;  // as they were asked for
  std::uint64_t seed = 0;
  int threads = 1;
  std::vector<std::string> warnings;
};

page::Page compare_page(const ComparisonRecord& record);

}  // namespace tamis
