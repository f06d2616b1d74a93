// The page of the reproduced experiments: a plain verdict, the paper's tables with every control beside every number,
// its five figures, the chosen pixels, and what it all took.
#pragma once

#include "tamis/paper/reproduce.h"
#include "tamis/report/machine.h"
#include "tamis/report/page.h"

namespace tamis {

page::Page reproduce_page(const Reproduction& result, const Machine& machine);

}  // namespace tamis
