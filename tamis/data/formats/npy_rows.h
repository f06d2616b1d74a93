// Rows of .npy files that stay on disk.
#pragma once

#include <memory>
#include <string>

#include "tamis/base/context.h"
#include "tamis/data/stores/disk_store.h"

namespace tamis {

// A regular file with an array of two dimensions; as its columns where it is to be transposed.
std::shared_ptr<const RowReader> open_npy_rows(const std::string& path, bool transpose, Context& context);

}  // namespace tamis
