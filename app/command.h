// The command as one call: parse, call, print. Each sub-command is one file; what it does is in the library.
#pragma once

#include "app/figures.h"
#include "tamis/base/context.h"
#include "tamis/data/table.h"

namespace tamis::app {

// What main() does and returns: 0, or the code of the error, which one line on standard error explains. `foreign` reads
// the formats that the library does not, `figures` draws what it cannot. The process is the command's: its signal
// handlers and its memory settings; `process` is what it held before.
int run_command(int argc, char** argv, const ForeignReader& foreign = {}, const FigureSaver& figures = {},
                const ProcessMemory& process = {});

}  // namespace tamis::app
