// The page of the reproduced experiments: a plain verdict, the paper's tables with every control beside every number,
// its five figures, the chosen pixels, and what it all took.
#pragma once

#include <string>
#include <vector>

#include "tamis/paper/reproduce.h"
#include "tamis/report/machine.h"
#include "tamis/report/page.h"

namespace tamis {

page::Page reproduce_page(const Reproduction& result, const Machine& machine);
// What the page says first: where the paper's method improves on all features, and where it beats random ones.
std::vector<std::string> reproduce_verdict(const Reproduction& result);

}  // namespace tamis
