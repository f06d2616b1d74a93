// The methods as Python sees them: their descriptions, from which signatures and documentation are made, and the way a
// dictionary of Python values becomes their options.
#pragma once

#include "python/arrays.h"
#include "tamis/run/settings.h"
#include "tamis/select/registry.h"

namespace tamis::python {

// [{"name", "python_name", "summary", "formula", "reference", "takes_classes", "takes_init", "graph_options" (of the
//   graph that `connectivity` replaces; empty: it takes none), "options": [{"name",
//   "python_name", "type", "default", "range", "help", "unset"}]}]
nb::list describe_methods();

// Options by their Python names, as `compare` takes and returns them. None: the method decides.
Settings settings_of(const Method& method, const nb::dict& values);
nb::dict values_of(const Method& method, const Settings& settings);

// Options by their Python names. None leaves an optional one unset. Error(usage) on a value of another type.
void set_options(BoundMethod& bound, const nb::dict& values, const std::string& where);

}  // namespace tamis::python
