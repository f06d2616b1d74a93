// NumPy's .npz archives: dense arrays, and matrices written by scipy.sparse.save_npz.
#pragma once

#include <memory>

#include "tamis/data/formats/bytes.h"
#include "tamis/data/table.h"

namespace tamis {

Reading read_npz(std::unique_ptr<RandomBytes> bytes, const ReadOptions& options, Context& context);

}  // namespace tamis
