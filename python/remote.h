// Rows that live on other machines, as Python's door to them (tamis.dask) runs the passes.
#pragma once

#include <optional>

#include "python/arrays.h"

namespace tamis::python {

// The source behind a RemoteRows; nothing where `data` is something else.
std::optional<Source> remote_source_of(const nb::handle& data);

// The class RemoteRows, and what a worker calls: remote_partial, remote_merge.
void register_remote(nb::module_& m);

}  // namespace tamis::python
