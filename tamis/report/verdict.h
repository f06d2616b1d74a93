// The verdict of a guided UFCM run in words: the same on the terminal, in JSON and on the page.
#pragma once

#include <string>
#include <vector>

#include "tamis/run/select.h"

namespace tamis {

// One sentence each, the verdict first; empty if there is no guide.
std::vector<std::string> verdict(const SelectResult& result);

}  // namespace tamis
