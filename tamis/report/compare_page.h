// The page of one comparison: how every method's features compare with random ones and all of them, how far the
// methods agree, and what they cost.
#pragma once

#include <string>
#include <vector>

#include "tamis/report/page.h"
#include "tamis/run/compare.h"

namespace tamis {

// The request and result of a comparison; refers to the caller's objects.
struct ComparisonRecord {
  const Table& table;
  const CompareRequest& request;
  const Comparison& comparison;
  std::string labels;  // as requested
  std::uint64_t seed = 0;
  int threads = 1;
  std::vector<std::string> warnings;
  std::vector<page::Origin> origin = {};  // how the page came about, see page::Page
};

page::Page compare_page(const ComparisonRecord& record);

}  // namespace tamis
