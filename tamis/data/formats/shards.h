// A table whose rows are spread over many files of one kind.
#pragma once

#include <string>

#include "tamis/data/table.h"

namespace tamis {

// A folder that is not 10x, or a pattern (* ? [) that is not itself the name of a file.
bool names_shards(const std::string& path);

// The rows of all .npy, or of all .csv and .tsv files (.gz too), in the order of their names, numbers in them by value
// (part-2 before part-10). They stay on disk: .npy where they are, text as numbers in a temporary file.
Reading read_shards(const std::string& path, const ReadOptions& options, Context& context);

}  // namespace tamis
