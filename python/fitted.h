// What is left of a selection in Python: for the page about it, and for the clusters of other rows.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "python/arrays.h"
#include "tamis/base/text/spelling.h"
#include "tamis/run/select.h"

namespace tamis::python {

// The request and result of a run, without the rows.
struct Fitted {
  const Method* method;
  std::shared_ptr<BoundMethod> bound;
  SelectRequest request;
  SelectResult result;
  std::uint64_t seed;
  int threads;
  std::uint64_t memory_limit;
  std::vector<std::string> warnings;
};

// Each once, those of the result first.
std::vector<std::string> warning_texts(const std::vector<Warning>& reported, const std::vector<Warning>& others,
                                       const Speller& speller);

void register_fitted(nb::module_& m);

}  // namespace tamis::python
